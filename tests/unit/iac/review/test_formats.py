"""How findings are written out."""

from __future__ import annotations

import json

from tests.unit.iac.review.templates import NETWORK

from a2a_fn.iac.findings import Finding, Report, ReviewedFile, Severity, to_json, to_sarif, to_text
from a2a_fn.iac.review import review, rules

BROKEN = NETWORK.replace("Ref: SubA", "Ref: SubC").replace("443/443", "22/22")
REPORT = review({"dir/net work.yml": BROKEN, "notes.md": "hello"})


def test_report_knows_its_worst_and_counts():
    assert REPORT.worst is Severity.ERROR
    assert REPORT.counts == {Severity.ERROR: 1, Severity.HIGH: 1}
    assert Report().worst is None
    assert Report().counts == {}


def test_findings_are_in_reading_order():
    places = [(f.file, f.line, f.column) for f in REPORT.findings]
    assert places == sorted(places)
    assert len(places) == 2


def test_json_is_a_list_with_the_agreed_keys():
    rows = json.loads(to_json(REPORT))
    assert [set(row) for row in rows] == [
        {"file", "line", "column", "rule", "severity", "message", "fix"}
    ] * 2
    assert [row["severity"] for row in rows] == ["high", "error"]
    assert json.loads(to_json(Report())) == []


def test_text_has_a_line_per_finding_its_fix_and_a_summary():
    lines = to_text(REPORT).splitlines()
    first = REPORT.findings[0]
    assert lines[0] == (
        f"dir/net work.yml:{first.line}:{first.column}: high: {first.message} [{first.rule}]"
    )
    assert lines[1].strip() == f"fix: {first.fix}"
    assert "notes.md: not reviewed" in lines[-2]
    assert lines[-1] == "2 files, 6 resources: 2 findings (1 error, 1 high)"
    assert to_text(Report((), (ReviewedFile("a", "terraform", 1),))) == (
        "1 file, 1 resource: nothing found\n"
    )


def test_sarif_describes_its_rules_and_places_its_results():
    document = json.loads(to_sarif(REPORT))
    assert document["version"] == "2.1.0"
    [run] = document["runs"]
    described = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in described] == [rule.id for rule in rules()]
    assert all(rule["fullDescription"]["text"] for rule in described)
    for result, finding in zip(run["results"], REPORT.findings, strict=True):
        assert described[result["ruleIndex"]]["id"] == result["ruleId"] == finding.rule
        place = result["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "dir/net%20work.yml"
        assert place["region"] == {"startLine": finding.line, "startColumn": finding.column}
        assert result["level"] == "error"
    [note] = run["invocations"][0]["toolExecutionNotifications"]
    assert "not reviewed" in note["message"]["text"]


def test_sarif_takes_a_rule_that_it_does_not_know():
    report = Report((Finding("a", 1, 1, "other", Severity.LOW, "m"),))
    [result] = json.loads(to_sarif(report))["runs"][0]["results"]
    assert "ruleIndex" not in result
    assert result["level"] == "note"


def test_a_flood_of_findings_is_cut_and_said_to_be():
    flood = "ROSTemplateFormatVersion: '2015-09-01'\nOutputs:\n" + "".join(
        f"  O{n}:\n    Value: {{Ref: X{n}}}\n" for n in range(600)
    )
    report = review({"f.yml": flood})
    assert len(report.findings) == 500
    assert report.files[0].note == "there are more findings than the 500 that are kept"
