"""What a review says: findings with a place, a rule and a fix, and how they are written out.

The severity ladder, the same for every rule:

| severity | meaning |
| --- | --- |
| ERROR | it cannot be deployed as written, part of it is lost, or a live credential is in it |
| HIGH | it deploys, and exposes something: a password in clear, an admin port open to the world |
| MEDIUM | probably not what its author meant |
| LOW | dead or untidy, harmless |
| INFO | worth knowing |
"""

from __future__ import annotations

import enum
import json
from collections import Counter
from dataclasses import dataclass
from urllib.parse import quote

from a2a_fn.iac.documents.source import Source

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


class Severity(enum.IntEnum):
    """How bad a finding is; comparable, `INFO` is the least."""

    INFO = 1
    LOW = 2
    MEDIUM = 3
    HIGH = 4
    ERROR = 5

    @property
    def word(self) -> str:
        """The name as reports write it: `error`, `high`, ..."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a review looks for.

    `bad` and `good` are small examples: text with the fault, and the same without it. For ROS
    they leave out the line `ROSTemplateFormatVersion`. The tests review both.
    """

    id: str
    severity: Severity
    title: str
    why: str
    bad: str
    good: str

    def at(
        self,
        source: Source,
        index: int,
        message: str,
        *,
        fix: str | None = None,
        path: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding of this rule at the character `index` of a source.

        `severity` replaces the rule's own where a case is milder than the rule.
        """
        line, column = source.position(index)
        level = self.severity if severity is None else severity
        return Finding(source.name, line, column, self.id, level, message, fix, path)


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement about one place. `line` and `column` count from 1.

    `path` names the place in the template's own terms (`Resources.Web.Properties.ZoneId`,
    `alicloud_vpc.main.cidr_block`); `fix` says in words what to do. Secrets never appear in it.
    """

    file: str
    line: int
    column: int
    rule: str
    severity: Severity
    message: str
    fix: str | None = None
    path: str = ""


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """One file that was handed in.

    `kind` is `ros-yaml`, `ros-json`, `terraform`, `terraform-variables`, `cloudformation` or
    `unknown`. `note` is empty if the file was reviewed in full; otherwise it says what was
    not, and why.
    """

    name: str
    kind: str
    resources: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a review: findings sorted by file, line and column, and the files read.

    `rules` holds the rules that the review knew, for formats that describe them.
    """

    findings: tuple[Finding, ...] = ()
    files: tuple[ReviewedFile, ...] = ()
    rules: tuple[Rule, ...] = ()

    @property
    def worst(self) -> Severity | None:
        """The highest severity found, or None if nothing was."""
        return max((finding.severity for finding in self.findings), default=None)

    @property
    def counts(self) -> dict[Severity, int]:
        """How many findings of each severity, the worst first, without zeros."""
        found = Counter(finding.severity for finding in self.findings)
        return {severity: found[severity] for severity in sorted(found, reverse=True)}


def to_text(report: Report) -> str:
    """Write a report for people: a line per finding, its fix below, and a summary at the end."""
    lines = []
    for finding in report.findings:
        place = f"{finding.file}:{finding.line}:{finding.column}"
        lines.append(f"{place}: {finding.severity.word}: {finding.message} [{finding.rule}]")
        if finding.fix:
            lines.append(f"    fix: {finding.fix}")
    lines += [f"{file.name}: {file.note}" for file in report.files if file.note]
    lines.append(_summary(report))
    return "\n".join(lines) + "\n"


def _summary(report: Report) -> str:
    resources = sum(file.resources for file in report.files)
    seen = f"{_count(len(report.files), 'file')}, {_count(resources, 'resource')}"
    if not report.findings:
        return f"{seen}: nothing found"
    found = ", ".join(f"{n} {severity.word}" for severity, n in report.counts.items())
    return f"{seen}: {_count(len(report.findings), 'finding')} ({found})"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def to_json(report: Report) -> str:
    """Write the findings as a JSON list of `{file, line, column, rule, severity, message, fix}`."""
    rows = [
        {
            "file": finding.file,
            "line": finding.line,
            "column": finding.column,
            "rule": finding.rule,
            "severity": finding.severity.word,
            "message": finding.message,
            "fix": finding.fix,
        }
        for finding in report.findings
    ]
    return json.dumps(rows, ensure_ascii=False, indent=2) + "\n"


_LEVELS = {
    Severity.INFO: "note",
    Severity.LOW: "note",
    Severity.MEDIUM: "warning",
    Severity.HIGH: "error",
    Severity.ERROR: "error",
}


def to_sarif(report: Report) -> str:
    """Write a report as SARIF 2.1.0; files that were not reviewed are tool notifications."""
    position = {rule.id: n for n, rule in enumerate(report.rules)}
    driver = {
        "name": "a2a-fn",
        "informationUri": "https://a2a-protocol.org",
        "rules": [_sarif_rule(rule) for rule in report.rules],
    }
    invocation = {
        "executionSuccessful": True,
        "toolExecutionNotifications": [
            {
                "level": "note",
                "message": {"text": file.note},
                "locations": [{"physicalLocation": _artifact(file.name)}],
            }
            for file in report.files
            if file.note
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": [_sarif_result(finding, position) for finding in report.findings],
    }
    document = {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _sarif_rule(rule: Rule) -> dict[str, object]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"severity": rule.severity.word},
    }


def _sarif_result(finding: Finding, position: dict[str, int]) -> dict[str, object]:
    text = f"{finding.message} Fix: {finding.fix}" if finding.fix else finding.message
    place = _artifact(finding.file)
    place["region"] = {"startLine": finding.line, "startColumn": finding.column}
    location: dict[str, object] = {"physicalLocation": place}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": finding.path}]
    result: dict[str, object] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": text},
        "locations": [location],
        "properties": {"severity": finding.severity.word},
    }
    if finding.rule in position:
        result["ruleIndex"] = position[finding.rule]
    return result


def _artifact(name: str) -> dict[str, object]:
    # A SARIF artifact URI is percent-encoded; a relative path keeps its slashes.
    return {"artifactLocation": {"uri": quote(name, errors="replace")}}
