"""Input that is meant to hurt: bounded time, bounded memory, an answer, no exception."""

from __future__ import annotations

import json
import time

import pytest

from a2a_fn.iac.findings import to_json, to_sarif, to_text
from a2a_fn.iac.review import review

HEAD = "ROSTemplateFormatVersion: '2015-09-01'\n"
SIZE = 200_000
SECONDS = 10  # of CPU; each case takes well under one


def fill(unit):
    return unit * (SIZE // len(unit))


def number(unit, size=SIZE):
    return "".join(unit.replace("#", str(n)) for n in range(size // (len(unit) + 4)))


BOMB = HEAD + "a0: &a0 [x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 8) + "]\n" for n in range(1, 20)
)  # fmt: skip
CASES = {
    "alias bomb": BOMB,
    "merge bomb": HEAD + "b: &b {" + ",".join(f"k{n}: 1" for n in range(1000)) + "}\n"
    + number("m#: {<<: *b}\n"),
    "deep lists": HEAD + "a: " + fill("["),
    "deep maps": HEAD + "a: " + fill("{a: "),
    "deep blocks": HEAD + "".join(" " * n + "a:\n" for n in range(800)),
    "deep keys": HEAD + fill("? "),
    "long key": HEAD + "Outputs:\n  " + "k" * 900 + ":\n" + number("    - {Ref: a#}\n"),
    "many parameters": HEAD + "Parameters:\n" + number("  P#: {Type: String}\n"),
    "many names unknown": HEAD + "Parameters:\n" + number("  P#: {Type: String}\n", SIZE // 2)
    + "Outputs:\n" + number("  O#: {Value: {Ref: Q#}}\n", SIZE // 2),
    "many sections": number("Section#: {}\n") + "Transform: Aliyun::Terraform-v1.5\n",
    "many vpcs": HEAD + "Resources:\n" + number(
        "  V#: {Type: 'ALIYUN::ECS::VPC', Properties: {CidrBlock: 10.0.0.0/8}}\n"
        "  S#: {Type: 'ALIYUN::ECS::VSwitch', Properties: {VpcId: {Ref: V#}, "
        "CidrBlock: 11.0.0.0/24}}\n"),
    "one crowded vpc": HEAD + "Resources:\n"
    "  V: {Type: 'ALIYUN::ECS::VPC', Properties: {CidrBlock: 10.0.0.0/8}}\n" + number(
        "  S#: {Type: 'ALIYUN::ECS::VSwitch', Properties: {VpcId: {Ref: V}, "
        "CidrBlock: 10.0.0.0/24}}\n"),
    "many rules": HEAD + "Resources:\n  G:\n    Type: ALIYUN::ECS::SecurityGroup\n"
    "    Properties:\n      SecurityGroupIngress:\n" + fill(
        "        - {IpProtocol: tcp, PortRange: 22/22, SourceCidrIp: 0.0.0.0/0}\n"
        "        - {IpProtocol: tcp, PortRange: 22/22, SourceCidrIp: 0.0.0.0/0, "
        "Policy: drop, Priority: 9}\n"),
    "long chain": HEAD + "Resources:\n" + number("  R#: {Type: X, DependsOn: R1#}\n"),
    "many circles": HEAD + "Resources:\n"
    + number("  R#: {Type: X, DependsOn: S#}\n  S#: {Type: X, DependsOn: R#}\n"),
    "one great circle": HEAD + "Resources:\n  R0: {Type: X, DependsOn: R5000}\n" + "".join(
        f"  R{n}: {{Type: X, DependsOn: R{n - 1}}}\n" for n in range(1, 5001)),
    "escaped names": HEAD + 'Outputs:\n  a:\n    Fn::Sub: "' + fill("${A\\x41}") + '"\n',
    "open names": HEAD + 'Outputs:\n  a:\n    Fn::Sub: "' + fill("${") + '"\n',
    "many templates": HEAD + "Resources:\n" + number(
        "  S#: {Type: 'ALIYUN::ROS::Stack', Properties: {TemplateBody: "
        "{ROSTemplateFormatVersion: '2015-09-01', Resources: {A: {Type: X, DependsOn: Q}}}}}\n"),
    "great number": HEAD + "Parameters: " + fill("9"),
    "deep json": '{"ROSTemplateFormatVersion": ' + fill("["),
    "great json number": '{"ROSTemplateFormatVersion": ' + fill("9") + "}",
    "deep hcl": "locals {\n  a = " + fill("["),
    "deep templates": 'locals {\n  a = "' + fill('${"'),
    "deep hcl blocks": fill("a {\n"),
    "long sum": "locals {\n  a = 1" + fill(" + 1") + "\n}\n",
    "long conditional": "locals {\n  a = 1" + fill("?1:1") + "\n}\n",
    "long access": "locals {\n  a = a" + fill(".b[0]") + "\n}\n",
    "open comment": "locals {\n  a = 1 " + fill("/* ") + "\n}\n",
    "heredocs": "locals {\n" + number("  a# = <<M#\nx\nM#\n") + "}\n",
    "doubling locals": "locals {\n" + "".join(
        f'  a{n} = "{f"${{local.a{n + 1}}}" * 4}"\n' for n in range(40)
    ) + '}\nresource "alicloud_vpc" "v" {\n  cidr_block = local.a0\n}\n',
    "spaces": "resource" + fill(" ") + "\n{",
    "keys in clear": "# " + fill("-----BEGIN PRIVATE KEY-----"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_hostile_text_is_answered_in_bounded_time(name):
    before = time.process_time()
    report = review({"": CASES[name]})
    assert time.process_time() - before < SECONDS
    assert len(report.files) == 1
    assert len(report.findings) <= 500
    for write in (to_text, to_json, to_sarif):
        assert len(write(report)) < 2_000_000


def test_time_grows_with_size_and_not_faster():
    def cost(n):
        text = (
            HEAD + "Outputs:\n" + "".join(f"  O{k}: {{Value: {{Ref: Q{k}}}}}\n" for k in range(n))
        )
        start = time.process_time()
        review({"t.yml": text})
        return time.process_time() - start

    cost(100)
    assert cost(8000) < 20 * max(cost(1000), 0.01)


@pytest.mark.parametrize(
    ("name", "unit", "kind"),
    [("t.yml", HEAD, "ros-yaml"), ("main.tf", "", "terraform"), ("x.bin", "", "unknown")],
)
def test_ten_megabytes_are_not_read_and_that_is_said(name, unit, kind):
    report = review({name: unit + "#" * 10_000_000})
    assert report.files[0].kind == kind
    assert "not reviewed" in report.files[0].note
    assert [f.rule for f in report.findings] == ([] if kind == "unknown" else ["too-large"])


WRONG = [
    None,
    1,
    True,
    1.5,
    "",
    "x",
    [],
    [[]],
    {},
    {"a": None},
    {"Ref": None},
    {"Ref": {}},
    {"Ref": "A"},
    {"Fn::GetAtt": None},
    {"Fn::GetAtt": [1, 2]},
    {"Fn::Sub": [{}]},
    {"Fn::If": {}},
    {"Fn::FindInMap": [[], {}]},
    {"Fn::Not": [None]},
    10**400,
    "\ud800",
    "\0",
]
PATHS = [
    ("Parameters",), ("Parameters", "P"), ("Parameters", "Password"),
    ("Parameters", "Password", "NoEcho"), ("Parameters", "Password", "Default"),
    ("Conditions",), ("Conditions", "C"), ("Mappings",), ("Mappings", "M"), ("Locals",),
    ("Locals", "L"), ("Rules",), ("Rules", "R"), ("Resources",), ("Resources", "A"),
    ("Resources", "A", "Type"), ("Resources", "A", "DependsOn"), ("Resources", "A", "Condition"),
    ("Resources", "A", "Count"), ("Resources", "A", "Properties"),
    ("Resources", "A", "Properties", "CidrBlock"), ("Resources", "A", "Properties", "VpcId"),
    ("Resources", "G", "Properties", "SecurityGroupIngress"), ("Outputs",), ("Outputs", "O"),
    ("Transform",), ("Workspace",), ("Metadata",), ("ROSTemplateFormatVersion",),
    ("Resources", "A", "Properties", "TemplateBody"),
]  # fmt: skip


@pytest.mark.parametrize("path", PATHS, ids=".".join)
def test_wrong_types_anywhere(path):
    for wrong in WRONG:
        tree = {
            "ROSTemplateFormatVersion": "2015-09-01",
            "Resources": {
                "A": {"Type": "ALIYUN::ECS::VSwitch", "Properties": {}},
                "G": {"Type": "ALIYUN::ECS::SecurityGroup", "Properties": {}},
            },
        }
        at = tree
        for key in path[:-1]:
            at = at.setdefault(key, {})
        at[path[-1]] = wrong
        report = review({"t.json": json.dumps(tree)})
        assert report.files[0].kind == "ros-json"
        json.loads(to_json(report))
        json.loads(to_sarif(report))
