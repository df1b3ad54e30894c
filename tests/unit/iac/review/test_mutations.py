"""One fault put into a sound template: found once, at its place, and nothing else is said."""

from __future__ import annotations

import pytest
from tests.unit.iac.review.templates import MODULE, NETWORK, STACKS, WORKSPACE

from a2a_fn.iac.review import Severity, review

E, H, M, L = Severity.ERROR, Severity.HIGH, Severity.MEDIUM, Severity.LOW


def place(text, needle, nth=1):
    """Line and column, from 1, of the nth time that a piece of a text occurs."""
    at = -1
    for _ in range(nth):
        at = text.index(needle, at + 1)
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def mutate(text, old, new, nth=1):
    parts = text.split(old)
    assert len(parts) > nth, f"{old!r} is not in the template"
    return old.join(parts[:nth]) + new + old.join(parts[nth:])


@pytest.mark.parametrize("template", [NETWORK, STACKS, WORKSPACE], ids=["net", "stacks", "tf"])
def test_sound_templates_have_no_findings(template):
    report = review({"template.yml": template})
    assert report.findings == ()
    assert report.worst is None
    assert report.files[0].note == ""


def test_sound_module_has_no_findings():
    assert review(MODULE).findings == ()


# id, text that is replaced, its replacement, rule, severity, what the finding points at
ROS = [
    ("tab", "Description: A", "Description:\tA: b", "syntax-error", E, ": b"),
    ("bracket", "CidrBlock: 10.0.0.0/16", "CidrBlock: [10.0.0.0/16", "syntax-error", E, None),
    ("version", "'2015-09-01'", "'2015-09-10'", "ros-format-version", E, "'2015-09-10'"),
    ("no version", "ROSTemplateFormatVersion: '2015-09-01'\n", "", "ros-format-version", E, ""),
    ("section", "Outputs:", "Output:", "ros-unknown-section", E, "Output:"),
    ("new section", "Outputs:", "Extra: {}\nOutputs:", "ros-unknown-section", M, "Extra"),
    ("shape", "Type: ALIYUN::VPC::EIP\n    ", "", "ros-wrong-shape", E, "Address:\n    Condition"),
    ("attribute", "DependsOn", "DependOn", "ros-misspelt-attribute", E, "DependOn"),
    ("ref", "Ref: SubA", "Ref: SubC", "ros-unresolved-ref", E, "SubC"),
    ("getatt", "- Net\n", "- Nett\n", "ros-unresolved-getatt", E, "Nett"),
    ("getatt attr", "- VpcId", "- VpcID", "ros-unknown-attribute", E, "VpcID"),
    ("new attr", "- EipAddress", "- Flavour", "ros-unknown-attribute", M, "Flavour"),
    ("sub", "${Greeting}", "${Greetin}", "ros-unresolved-sub", E, "${Greetin}"),
    ("sub attr", "${Net.VpcId}", "${Nat.VpcId}", "ros-unresolved-sub", E, "${Nat.VpcId}"),
    ("depends", "- SubB", "- SubC", "ros-unresolved-dependency", E, "SubC"),
    ("condition", "Condition: Public", "Condition: Publik", "ros-unresolved-condition", E,
     "Publik"),
    ("if", "- Private\n        - Fn", "- Hidden\n        - Fn", "ros-unresolved-condition", E,
     "Hidden"),
    ("map", "- Disks", "- Disk", "ros-unresolved-mapping", E, "Disk\n"),
    ("map key", "- small", "- medium", "ros-unresolved-mapping", E, "Disks\n"),
    ("cidr", "10.0.0.0/16", "10.0.0.256/16", "ros-invalid-cidr", E, "10.0.0.256/16"),
    ("prefix", "10.0.1.0/24", "10.0.1.0/64", "ros-invalid-cidr", E, "10.0.1.0/64"),
    ("no prefix", "10.0.1.0/24", "10.0.1.0", "ros-invalid-cidr", E, "10.0.1.0"),
    ("peer", "203.0.113.0/24", "203.0.113.0/33", "ros-invalid-cidr", E, "203.0.113.0/33"),
    ("host bits", "10.0.1.0/24", "10.0.1.1/24", "ros-cidr-host-bits", E, "10.0.1.1/24"),
    ("outside", "10.0.1.0/24", "10.1.1.0/24", "ros-vswitch-outside-vpc", E, "10.1.1.0/24"),
    ("overlap", "10.0.1.0/24", "10.0.0.128/25", "ros-vswitch-overlap", E, "10.0.0.128/25"),
    ("literal", "Password:\n        Ref: LoginPassword\n      System",
     "Password: Hunter22!\n      DeletionProtection:\n        Ref: LoginPassword\n      System",
     "ros-secret-literal", H, "Hunter22!"),
    ("default", "NoEcho: true", "NoEcho: true\n    Default: Hunter22!", "ros-secret-default", H,
     "Hunter22!"),
    ("echo", "NoEcho: true", "NoEcho: false", "ros-no-echo", H, "false"),
    ("ssh", "443/443", "22/22", "ros-admin-port-open", H, "0.0.0.0/0"),
    ("rdp in range", "443/443", "3000/4000", "ros-admin-port-open", H, "0.0.0.0/0"),
    ("all ports", "443/443", "1/65535", "ros-all-ports-open", H, "0.0.0.0/0"),
    ("by default", "203.0.113.0/24", "0.0.0.0/0", "ros-admin-port-open", M, "Ref: Office"),
    ("parameter", "Mappings:", "  Left:\n    Type: String\nMappings:", "ros-unused-parameter", L,
     "Left"),
    ("unused condition", "Resources:", "  Left:\n    Fn::Not: Public\nResources:",
     "ros-unused-condition", L, "Left"),
    ("mapping", "Conditions:", "  Left:\n    a:\n      b: c\nConditions:", "ros-unused-mapping", L,
     "Left"),
    ("key", "Description: A", "Description: B\nDescription: A", "duplicate-key", E,
     "Description: A"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "rule", "severity", "points_at"), [r[1:] for r in ROS], ids=[r[0] for r in ROS]
)
def test_ros(old, new, rule, severity, points_at):
    text = mutate(NETWORK, old, new)
    findings = review({"net.yml": text}).findings
    assert [(f.rule, f.severity, f.file) for f in findings] == [(rule, severity, "net.yml")]
    if points_at is not None:
        assert (findings[0].line, findings[0].column) == place(text, points_at)


def test_cycle_names_the_whole_path():
    text = mutate(NETWORK, "    Type: ALIYUN::ECS::VPC\n", "    Type: ALIYUN::ECS::VPC\n"
                  "    DependsOn: Web\n")  # fmt: skip
    [finding] = review({"net.yml": text}).findings
    assert (finding.rule, finding.severity) == ("ros-cycle", E)
    assert "Net -> Web -> " in finding.message
    assert finding.message.endswith(" -> Net")
    assert (finding.line, finding.column) == place(text, "Web")


def test_local_cycle():
    text = mutate(STACKS, "- web", "- Ref: Images")
    [finding] = review({"stacks.yml": text}).findings
    assert finding.message.endswith("Prefix -> Images -> Prefix")


def test_condition_cycle():
    text = mutate(NETWORK, "      - true\n      - Ref: WithAddress",
                  "      - Ref: WithAddress\n      - Fn::Not: Private")  # fmt: skip
    [finding] = review({"net.yml": text}).findings
    assert finding.message.endswith("Public -> Private -> Public")


def test_unused_local():
    text = mutate(STACKS, "Resources:", "  Left:\n    Type: Macro\n    Value: 1\nResources:")
    [finding] = review({"stacks.yml": text}).findings
    assert (finding.rule, finding.line, finding.column) == (
        "ros-unused-local",
        *place(text, "Left"),
    )


def test_fault_in_a_nested_template():
    text = mutate(STACKS, "Ref: NetId", "Ref: NetIdd")
    [finding] = review({"stacks.yml": text}).findings
    assert (finding.rule, finding.line, finding.column) == (
        "ros-unresolved-ref", *place(text, "NetIdd"),
    )  # fmt: skip
    assert finding.path == (
        "Resources.Inner.Properties.TemplateBody.Resources.Sub.Properties.VpcId"
    )


# file, text that is replaced, its replacement, rule, severity, what the finding points at
TERRAFORM = [
    ("syntax", "main.tf", 'prefix = "web"', "prefix = ", "syntax-error", E, None),
    ("open text", "main.tf", 'prefix = "web"', 'prefix = "web', "syntax-error", E, '"web\n'),
    ("open block", "outputs.tf", "\n}\n", "\n", "syntax-error", E, "output"),
    ("var", "main.tf", "var.zones[1]", "var.zone[1]", "tf-undeclared-variable", E, "var.zone["),
    ("local", "main.tf", "= local.prefix", "= local.prefx", "tf-undeclared-local", E,
     "local.prefx"),
    ("data", "main.tf", "data.alicloud_images.linux.", "data.alicloud_images.unix.",
     "tf-undeclared-data", E, "data.alicloud_images.unix."),
    ("resource", "main.tf", "[alicloud_security_group.web.id]", "[alicloud_security_group.wb.id]",
     "tf-undeclared-resource", E, "alicloud_security_group.wb"),
    ("module", "outputs.tf", "alicloud_instance.web[*].private_ip", "module.web.ip",
     "tf-undeclared-module", E, "module.web"),
    ("twice", "variables.tf", 'variable "office"', 'variable "zones" {\n}\nvariable "office"',
     "tf-duplicate-declaration", E, '"zones" {\n}'),
    ("argument", "main.tf", "  tags       =", "  vpc_name = null\n  tags       =",
     "tf-duplicate-argument", E, "vpc_name = null"),
    ("cycle", "main.tf", "  vpc_id = alicloud_vpc.main.id\n",
     "  vpc_id = alicloud_instance.web[0].vpc_id\n", "tf-cycle", E, "alicloud_instance.web[0]"),
    ("cidr", "main.tf", 'cidr_block = "10.0.0.0/16"', 'cidr_block = "10.0.0/16"',
     "tf-invalid-cidr", E, '"10.0.0/16"'),
    ("host bits", "main.tf", 'cidr_block = "10.0.0.0/16"', 'cidr_block = "10.0.2.0/16"',
     "tf-cidr-host-bits", E, '"10.0.2.0/16"'),
    ("outside", "main.tf", 'cidrsubnet("10.0.0.0/16", 8, 1)', '"10.1.0.0/24"',
     "tf-subnet-outside-network", E, '"10.1.0.0/24"'),
    ("overlap", "main.tf", "8, 1)", "8, 0)", "tf-subnet-overlap", E,
     'cidrsubnet("10.0.0.0/16", 8, 0)\n  zone_id    = var.zones[1]'),
    ("literal", "main.tf", "var.password", 'coalesce("", var.password)\n  kms_password = "Hun7er"',
     "tf-secret-literal", H, '"Hun7er"'),
    ("default", "variables.tf", "sensitive = true", 'sensitive = true\n  default = "Hun7er"',
     "tf-secret-default", H, '"Hun7er"'),
    ("sensitive", "variables.tf", "sensitive = true", "nullable = false", "tf-not-sensitive", H,
     '"password"'),
    ("ssh", "main.tf", "443/443", "22/22", "tf-admin-port-open", H, '"0.0.0.0/0"'),
    ("by default", "variables.tf", "203.0.113.0/24", "::/0", "tf-admin-port-open", M, None),
    ("all ports", "main.tf", "443/443", "1/65535", "tf-all-ports-open", H, '"0.0.0.0/0"'),
    ("variable", "variables.tf", 'variable "office"', 'variable "left" {}\nvariable "office"',
     "tf-unused-variable", L, '"left"'),
    ("unused local", "main.tf", "  tags = {", "  left = 1\n  tags = {", "tf-unused-local", L,
     "left"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("file", "old", "new", "rule", "severity", "points_at"),
    [row[1:] for row in TERRAFORM],
    ids=[row[0] for row in TERRAFORM],
)
def test_terraform(file, old, new, rule, severity, points_at):
    text = mutate(MODULE[file], old, new)
    findings = review({**MODULE, file: text}).findings
    assert [(f.rule, f.severity) for f in findings] == [(rule, severity)]
    if points_at is not None:
        assert (findings[0].file, findings[0].line, findings[0].column) == (
            file, *place(text, points_at),
        )  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "rule", "points_at"),
    [
        ("var.zone", "var.zon", "tf-undeclared-variable", "var.zon"),
        ("10.0.1.0/24", "10.1.1.0/24", "tf-subnet-outside-network", '"10.1.1.0/24"'),
        ('"10.0.0.0/16"', '"10.0.0.0/16', "syntax-error", '"10.0.0.0/16'),
    ],
)
def test_terraform_in_a_template_is_found_at_its_place_in_the_template(old, new, rule, points_at):
    text = mutate(WORKSPACE, old, new)
    serious = [f for f in review({"t.yml": text}).findings if f.severity > L]
    assert [(f.rule, f.file, f.line, f.column) for f in serious] == [
        (rule, "t.yml", *place(text, points_at))
    ]
