"""What looks like a fault and is none."""

from __future__ import annotations

import pytest

from a2a_fn.iac.review import Severity, review

HEAD = "ROSTemplateFormatVersion: '2015-09-01'\n"
NET = "Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n"


def ros(text):
    return [(f.rule, f.line) for f in review({"t.yml": HEAD + text}).findings]


def terraform(text):
    found = review({"main.tf": text}).findings
    return [(f.rule, f.line) for f in found if f.severity > Severity.LOW]


@pytest.mark.parametrize(
    "value",
    [
        "!Ref Net",
        "!GetAtt Net.VpcId",
        "!GetAtt [Net, VpcId]",
        "!Sub 'vpc ${Net.VpcId} ${ALIYUN::Region}'",
        "!Sub ['${a}', {a: !Ref Net}]",
        "!Sub ['${a}', [{a: 1}]]",
        "!Sub '${!Literal} ${PATH:-/bin} ${#list[@]} $HOME'",
        "{Ref: 'Net[0]'}",
        "{Ref: [Net]}",
        "{Ref: {Fn::Sub: Net}}",
        "{Ref: 12}",
        "{Ref: ~}",
        "{'Fn::GetAtt': [{Ref: Net}, VpcId]}",
        "{'Fn::GetAtt': []}",
        "{'Fn::Sub': []}",
        "{'Fn::Sub': 3}",
        "{'Fn::FindInMap': [{Ref: Net}, a, b]}",
        "{'Fn::If': [{'Fn::Equals': [a, b]}, 1, 2]}",
        "{Ref: Net, Other: Key}",
        "plain ${Nothing} text",
    ],
)
def test_references_that_resolve_or_cannot_be_judged(value):
    assert ros(NET + f"Outputs:\n  Out:\n    Value: {value}\n") == []


def test_short_tags_are_judged_as_the_functions_they_stand_for():
    text = NET + "Outputs:\n  A:\n    Value: !Ref Nett\n  B:\n    Value: !GetAtt Nett.VpcId\n"
    text += "  C:\n    Value: !Sub '${Nett}'\n"
    assert ros(text) == [
        ("ros-unresolved-ref", 7),
        ("ros-unresolved-getatt", 9),
        ("ros-unresolved-sub", 11),
    ]


def test_merge_keys_and_anchors_bring_what_they_name():
    text = (
        "Resources:\n  A: &vpc\n    Type: ALIYUN::ECS::VPC\n    Properties:\n"
        "      CidrBlock: 10.0.0.0/16\n  B:\n    <<: *vpc\n"
    )
    assert ros(text) == []


def test_text_in_a_template_body_is_a_template_of_its_own():
    text = (
        "Resources:\n  Inner:\n    Type: ALIYUN::ROS::Stack\n    Properties:\n"
        "      TemplateBody: |\n"
        "        ROSTemplateFormatVersion: '2015-09-01'\n"
        "        Resources:\n"
        "          Sub:\n"
        "            Type: ALIYUN::ECS::VSwitch\n"
        "            Properties:\n"
        "              VpcId: {Ref: Vpc}\n"
    )
    [finding] = review({"t.yml": HEAD + text}).findings
    assert (finding.file, finding.line, finding.column) == ("t.yml", 12, 28)


def test_inner_templates_may_name_what_is_outside():
    text = (
        "Parameters:\n  Zone:\n    Type: String\n"
        "Resources:\n  Inner:\n    Type: ALIYUN::ROS::Stack\n    Properties:\n"
        "      TemplateBody:\n"
        "        ROSTemplateFormatVersion: '2015-09-01'\n"
        "        Resources:\n"
        "          Sub:\n            Type: ALIYUN::ECS::VSwitch\n"
        "            Properties:\n              ZoneId: {Ref: Zone}\n"
    )
    assert ros(text) == []


def test_a_circle_through_branches_of_if_may_never_close():
    text = (
        "Resources:\n"
        "  A:\n    Type: ALIYUN::ECS::SecurityGroup\n    Properties:\n"
        "      Description:\n        Fn::If: [true, {Ref: B}, none]\n"
        "  B:\n    Type: ALIYUN::ECS::SecurityGroup\n    DependsOn: A\n"
    )
    assert ros(text) == []


def test_a_circle_of_resources_under_different_conditions_may_never_exist():
    text = (
        "Conditions:\n  X: {'Fn::Equals': [a, b]}\n  Y: {'Fn::Not': X}\n"
        "Resources:\n"
        "  A:\n    Type: ALIYUN::OSS::Bucket\n    Condition: X\n    DependsOn: B\n"
        "  B:\n    Type: ALIYUN::OSS::Bucket\n    Condition: Y\n    DependsOn: A\n"
    )
    assert ros(text) == []


def subnets(first, second, more=""):
    return (
        "Conditions:\n  X: {'Fn::Equals': [a, b]}\n  Y: {'Fn::Not': X}\n"
        + NET
        + f"    Properties: {{CidrBlock: 10.0.0.0/16{more}}}\n"
        + f"  A: {{Type: 'ALIYUN::ECS::VSwitch', {first}}}\n"
        + f"  B: {{Type: 'ALIYUN::ECS::VSwitch', {second}}}\n"
        + "  C: {Type: 'ALIYUN::OSS::Bucket', Condition: Y}\n"
        + "  D: {Type: 'ALIYUN::OSS::Bucket', Condition: X}\n"
    )


HERE = "Properties: {VpcId: {Ref: Net}, CidrBlock: 10.0.0.0/24}"


@pytest.mark.parametrize(
    ("first", "second", "overlap"),
    [
        (HERE, HERE, True),
        (f"Condition: X, {HERE}", f"Condition: X, {HERE}", True),
        (f"Condition: X, {HERE}", HERE, True),
        (f"Condition: X, {HERE}", f"Condition: Y, {HERE}", False),
        (HERE, "Properties: {VpcId: {Ref: Net}, CidrBlock: {'Fn::Select': [0, []]}}", False),
        (HERE, "Properties: {VpcId: vpc-1, CidrBlock: 10.0.0.0/24}", False),
    ],
)
def test_vswitches_overlap_only_where_both_can_exist(first, second, overlap):
    found = [rule for rule, _ in ros(subnets(first, second))]
    assert found == (["ros-vswitch-overlap"] if overlap else [])


def test_copies_of_a_vswitch_share_its_block():
    text = subnets(f"Count: 3, {HERE}", "Properties: {}")
    [finding] = review({"t.yml": HEAD + text}).findings
    assert finding.rule == "ros-vswitch-overlap"
    assert "3 times" in finding.message
    assert finding.fix == "use a free block, such as 10.0.1.0/24"
    assert ros(text.replace("Count: 3", "Count: 1")) == []
    assert ros(text.replace("Count: 3", "Count: {Ref: Net}")) == []


def test_a_vpc_with_further_blocks_has_no_known_outside():
    far = "Properties: {VpcId: {Ref: Net}, CidrBlock: 172.16.0.0/24}"
    assert [r for r, _ in ros(subnets(HERE, far))] == ["ros-vswitch-outside-vpc"]
    assert ros(subnets(HERE, far, ", SecondaryCidrBlocks: [172.16.0.0/16]")) == []


GROUP = (
    "Resources:\n  Group:\n    Type: ALIYUN::ECS::SecurityGroup\n    Properties:\n"
    "      SecurityGroupIngress:\n"
)
RULE = "        - {{IpProtocol: {0}, PortRange: {1}, SourceCidrIp: {2}{3}}}\n"


@pytest.mark.parametrize(
    ("protocol", "ports", "source", "more", "rules"),
    [
        ("tcp", "22/22", "0.0.0.0/0", "", ["ros-admin-port-open"]),
        ("TCP", "20/30", "0.0.0.0/0", "", ["ros-admin-port-open"]),
        ("tcp", "3389/3389", "0.0.0.0/0", "", ["ros-admin-port-open"]),
        ("tcp", "1/65535", "0.0.0.0/0", "", ["ros-all-ports-open"]),
        ("all", "-1/-1", "0.0.0.0/0", "", ["ros-all-ports-open"]),
        ("tcp", "22/22", "10.0.0.0/8", "", []),
        ("tcp", "22/22", "0.0.0.0/0", ", Policy: drop", []),
        ("tcp", "80/80", "0.0.0.0/0", "", []),
        ("udp", "22/22", "0.0.0.0/0", "", []),
        ("icmp", "-1/-1", "0.0.0.0/0", "", []),
        ("tcp", "a/b", "0.0.0.0/0", "", []),
        ("tcp", "{Ref: Group}", "0.0.0.0/0", "", []),
        ("tcp", "22/22", "{Ref: Group}", "", []),
        ("tcp", "22/22", "10.0.0.1", ", Ipv6SourceCidrIp: '::/0'", ["ros-admin-port-open"]),
    ],
)
def test_which_inbound_rules_are_too_open(protocol, ports, source, more, rules):
    text = GROUP + RULE.format(protocol, ports, source, more)
    assert [rule for rule, _ in ros(text) if "port" in rule] == rules


def test_a_rule_that_drops_first_closes_the_port():
    accept = RULE.format("tcp", "22/22", "0.0.0.0/0", ", Priority: 10")
    drop = RULE.format("tcp", "1/65535", "0.0.0.0/0", ", Policy: drop, Priority: 5")
    late = RULE.format("tcp", "1/65535", "0.0.0.0/0", ", Policy: drop, Priority: 50")
    assert ros(GROUP + accept + drop) == []
    assert [rule for rule, _ in ros(GROUP + accept + late)] == ["ros-admin-port-open"]


def test_an_inbound_rule_as_a_resource_of_its_own():
    text = (
        "Resources:\n  In:\n    Type: ALIYUN::ECS::SecurityGroupIngress\n    Properties:\n"
        "      SecurityGroupId: sg-1\n      IpProtocol: tcp\n      PortRange: 22/22\n"
        "      SourceCidrIp: 0.0.0.0/0\n"
    )
    assert ros(text) == [("ros-admin-port-open", 9)]


@pytest.mark.parametrize(
    "properties",
    [
        "PasswordInherit: true",
        "SecretName: my-secret",
        "Password: {Ref: ALIYUN::StackName}",
        "Password: '{{resolve:kms-secret:mine}}'",
        "Password: '******'",
        "Password: ''",
        "Password: <your password>",
        "PasswordPolicy: {Length: strong}",
        "ClientToken: abc-123",
    ],
)
def test_what_is_no_secret(properties):
    text = f"Resources:\n  R:\n    Type: ALIYUN::X::Y\n    Properties: {{{properties}}}\n"
    assert ros(text) == []


@pytest.mark.parametrize(
    "parameter",
    [
        "PasswordLength: {Type: Number}",
        "KeepPassword: {Type: Boolean}",
        "UsePassword: {Type: String, AllowedValues: [a, b]}",
        "SecretName: {Type: String}",
        "Password: {Type: String, NoEcho: 'True'}",
    ],
)
def test_which_parameters_need_no_noecho(parameter):
    text = f"Parameters:\n  {parameter}\n" + NET
    assert [rule for rule, _ in ros(text)] == ["ros-unused-parameter"]


def test_a_form_that_depends_on_a_parameter_uses_it():
    text = (
        "Parameters:\n  Zone: {Type: String}\n"
        "  Size: {Type: String, AssociationPropertyMetadata: {ZoneId: '${Zone}'}}\n"
        + NET
        + "    Properties:\n      VpcName: {Ref: Size}\n"
    )
    assert ros(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'output "x" {\n  value = [for alicloud_x in ["a"] : alicloud_x.id]\n}\n',
        'output "x" {\n  value = { for k, my_v in {} : k => my_v.id if my_v.ok }\n}\n',
        'output "x" {\n  value = "%{for a_b in ["x"]}${a_b.id}%{endfor}"\n}\n',
        'output "x" {\n  value = path.module\n}\n',
        'output "x" {\n  value = terraform.workspace\n}\n',
        'resource "a_b" "c" {\n  provider = a_b.west\n}\n',
        'module "m" {\n  source = "./m"\n  providers = {\n    a_b = a_b.west\n  }\n}\n',
        "moved {\n  from = a_b.old\n  to   = a_b.new\n}\n",
        'variable "v" {\n  type = object({ a_b = string })\n}\n',
        'resource "a_b" "c" {\n  lifecycle {\n    ignore_changes = [a_x.y]\n  }\n}\n',
        'resource "a_b" "c" {\n  dynamic "my_set" {\n    for_each = []\n    iterator = my_it\n'
        "    content {\n      x = my_it.value\n    }\n  }\n}\n",
        'check "up" {\n  data "http_get" "x" {}\n  assert {\n    condition = data.http_get.x.ok\n'
        '    error_message = "no"\n  }\n}\n',
    ],
)
def test_terraform_names_that_are_no_declarations(text):
    assert terraform(text) == []


def test_terraform_modules_in_a_circle_need_not_be_one():
    text = (
        'module "a" {\n  source = "./a"\n  x = a_b.c.id\n}\n'
        'resource "a_b" "c" {\n  x = module.a.y\n}\n'
    )
    assert terraform(text) == []


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        ('protocol = "tcp"\n from_port = 22\n to_port = 22\n cidr_blocks = ["0.0.0.0/0"]',
         ["tf-admin-port-open"]),
        ('protocol = "tcp"\n from_port = 0\n to_port = 65535\n cidr_blocks = ["0.0.0.0/0"]',
         ["tf-all-ports-open"]),
        ('protocol = "-1"\n from_port = 0\n to_port = 0\n ipv6_cidr_blocks = ["::/0"]',
         ["tf-all-ports-open"]),
        ('protocol = "tcp"\n from_port = 22\n to_port = 22\n cidr_blocks = ["10.0.0.0/8"]', []),
        ('protocol = "udp"\n from_port = 22\n to_port = 22\n cidr_blocks = ["0.0.0.0/0"]', []),
        ('protocol = "tcp"\n from_port = each.key\n to_port = 22\n cidr_blocks = ["0.0.0.0/0"]',
         []),
    ],
)  # fmt: skip
def test_aws_security_groups(body, rules):
    text = f'resource "aws_security_group" "g" {{\n  ingress {{\n {body}\n  }}\n}}\n'
    assert [rule for rule, _ in terraform(text)] == rules
    assert terraform(text.replace("ingress {", "egress {")) == []


def test_other_clouds_firewalls():
    google = (
        'resource "google_compute_firewall" "f" {\n  source_ranges = ["0.0.0.0/0"]\n'
        '  allow {\n    protocol = "tcp"\n    ports = ["80", "20-25"]\n  }\n}\n'
    )
    azure = (
        'resource "azurerm_network_security_rule" "r" {\n  direction = "Inbound"\n'
        '  access = "Allow"\n  protocol = "Tcp"\n  destination_port_range = "3389"\n'
        '  source_address_prefix = "*"\n}\n'
    )
    assert terraform(google) == [("tf-admin-port-open", 2)]
    assert terraform(google.replace("20-25", "443")) == []
    assert terraform(azure) == [("tf-admin-port-open", 6)]
    assert terraform(azure.replace("Allow", "Deny")) == []
