"""Every rule explains itself with a bad and a good example: are they what they say?"""

from __future__ import annotations

import re

import pytest

from a2a_fn.iac.review import Severity, review, rules

HEAD = "ROSTemplateFormatVersion: '2015-09-01'\n"


def reviewed(rule_id, text):
    if rule_id.startswith("tf-"):
        return review({"main.tf": text})
    whole = text if text.startswith("ROSTemplateFormatVersion") else HEAD + text
    return review({"template.yml": whole})


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_bad_example_has_the_fault_and_good_example_has_none(rule):
    bad = [f for f in reviewed(rule.id, rule.bad).findings if f.rule == rule.id]
    assert bad, "the bad example is not found"
    assert max(f.severity for f in bad) == rule.severity
    good = reviewed(rule.id, rule.good).findings
    assert [f for f in good if f.rule == rule.id] == []
    assert [f for f in good if f.severity >= Severity.MEDIUM] == []


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_bad_example_has_no_other_serious_fault(rule):
    found = {f.rule for f in reviewed(rule.id, rule.bad).findings if f.severity > Severity.LOW}
    assert found <= {rule.id}


def test_every_rule_says_what_and_why_under_an_id_of_its_own():
    ids = [rule.id for rule in rules()]
    assert len(ids) == len(set(ids))
    for rule in rules():
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.id)
        assert rule.title
        assert rule.why.endswith(".")
