"""Whatever the text, a review answers; and what it answers is well formed."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.iac.review.templates import MODULE, NETWORK, STACKS, WORKSPACE

from a2a_fn.iac.findings import to_json, to_sarif, to_text
from a2a_fn.iac.review import review, rules

SOUND = [NETWORK, STACKS, WORKSPACE, json.dumps({"Resources": {"A": {"Type": "ALIYUN::X::Y"}},
         "ROSTemplateFormatVersion": "2015-09-01"}, indent=1), *MODULE.values()]  # fmt: skip
PIECES = st.sampled_from(
    ["\n", "  ", "\t", ":", ": ", "- ", "{", "}", "[", "]", '"', "'", "${", "%{", "<<E\n", "#",
     "/*", "*/", "&a ", "*a", "!Ref ", "!GetAtt ", "<<: ", "|", ">", "? ", "Ref", "Fn::GetAtt",
     "Fn::Sub", "Resources", "\0", "\ud800", "\x85", "\u2028", "\ufeff", "é", "0", "=", "==", ",",
     "...", ".", "resource", 'variable "a" {', "for", " in ", "?", "\r", "\r\n", "0.0.0.0/0",
     "---\n", "10.0.0.0/8", "password", "ALIYUN::ECS::VPC"]
)  # fmt: skip
NAMES = st.sampled_from(["", "t.yml", "t.json", "main.tf", "a/b.tf", "x.tfvars", "t", "x.md"])


@st.composite
def mutated(draw):
    """A sound template with pieces cut out, put in, or moved."""
    text = draw(st.sampled_from(SOUND))
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 40)))
        filling = draw(PIECES | st.text(max_size=6) | st.just(text[end : end + 30]))
        text = text[:start] + filling + text[end:]
    return text


def check(files):
    report = review(files)
    known = {rule.id for rule in rules()}
    assert len(report.files) == len(files)
    for finding in report.findings:
        assert finding.rule in known
        assert finding.line >= 1
        assert finding.column >= 1
        assert finding.message.isprintable()
        assert finding.path.isprintable()
        name = finding.file if finding.file != "template" else ""
        if name in files:  # not one inside another
            lines = files[name].replace("\r\n", "\n").replace("\r", "\n").split("\n")
            assert finding.line <= len(lines)
            assert finding.column <= len(lines[finding.line - 1]) + 1
    to_text(report).encode()
    json.loads(to_json(report))
    json.loads(to_sarif(report))
    assert review(files) == report


@settings(max_examples=150, deadline=None)
@given(NAMES, st.text(max_size=200) | st.lists(PIECES, max_size=40).map("".join))
def test_any_text(name, text):
    check({name: text})


@settings(max_examples=150, deadline=None)
@given(NAMES, st.lists(PIECES, max_size=30).map("".join))
def test_any_text_that_begins_as_a_template(name, text):
    check({name: "ROSTemplateFormatVersion: '2015-09-01'\n" + text})


@settings(max_examples=150, deadline=None)
@given(NAMES, mutated())
def test_any_mutated_template(name, text):
    check({name: text})


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(sorted(MODULE)), mutated(), min_size=1))
def test_any_mutated_module(files):
    check(files)


YAMLISH = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8)
    | st.sampled_from(["A", "P", "10.0.0.0/8", "22/22", "0.0.0.0/0", "ALIYUN::ECS::VPC"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["Ref", "Fn::GetAtt", "Fn::Sub", "Fn::If", "Fn::Not", "Fn::FindInMap",
                         "Type", "Properties", "Condition", "DependsOn", "Count", "CidrBlock",
                         "VpcId", "TemplateBody", "Default", "NoEcho", "Password", "A", "P",
                         "SecurityGroupIngress", "ROSTemplateFormatVersion", "Resources"]),
        inner, max_size=3),
    max_leaves=25,
)  # fmt: skip
SECTION = st.sampled_from(
    ["Parameters", "Conditions", "Mappings", "Locals", "Rules", "Resources", "Outputs",
     "Workspace", "Transform", "Metadata"]
)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(SECTION, st.dictionaries(st.sampled_from("ABP"), YAMLISH) | YAMLISH))
def test_any_tree_in_any_section(sections):
    check({"t.json": json.dumps({"ROSTemplateFormatVersion": "2015-09-01", **sections})})
