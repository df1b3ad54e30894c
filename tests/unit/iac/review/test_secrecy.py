"""No output ever shows a secret."""

from __future__ import annotations

import pytest

from a2a_fn.iac.findings import to_json, to_sarif, to_text
from a2a_fn.iac.review import Severity, review

HEAD = "ROSTemplateFormatVersion: '2015-09-01'\n"
# Put together here, so that no scanner takes this file for a leak.
KEY = "LTAI" + "4GsR7yUc1bVx6JwE8oTi"
AWS = "AKIA" + "QW3RTY7UPASD4FGH"
GITHUB = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
PEM = "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEowIBAAKCAQEAx7f3Zq9vT2wLk8sYbN4u\n"


def outputs(report):
    return to_text(report) + to_json(report) + to_sarif(report) + repr(report)


@pytest.mark.parametrize("key", [KEY, AWS, GITHUB])
@pytest.mark.parametrize(
    "text",
    [
        HEAD + "# key: {}\nResources:\n  N:\n    Type: ALIYUN::ECS::VPC\n",
        HEAD + "Outputs:\n  {}:\n    Value: {{Ref: {}}}\n",
        HEAD + "Resources:\n  {}:\n    Type: ALIYUN::ECS::VPC\n    DependsOn: {}\n",
        HEAD + "{}: [\n",
        'variable "{}" {{}}\nresource "a_b" "{}" {{}}\nresource "a_b" "{}" {{}}\n',
        'provider "alicloud" {{\n  access_key = "{}"\n',
    ],
)
def test_keys_are_found_anywhere_and_shown_nowhere(key, text):
    report = review({"": text.format(*[key] * 3)})
    found = [f for f in report.findings if f.rule == "credential-in-clear"]
    assert found
    assert {f.severity for f in found} == {Severity.ERROR}
    assert key not in outputs(report)


def test_private_keys():
    body = PEM.replace("\n", "\n      ")
    report = review({"": HEAD + f"Resources:\n  N:\n    Type: |\n      {body}\n"})
    assert "credential-in-clear" in {f.rule for f in report.findings}
    assert "MIIEow" not in outputs(report)


@pytest.mark.parametrize(
    "text",
    ["LTAIexamplekeyexample", "AKIAIOSFODNN7EXAMPLE", "LTAIxxxxxxxxxxxxxxxx", "XLTAI" + KEY[4:]],
)
def test_examples_are_no_credentials(text):
    report = review({"main.tf": f"# {text}\n"})
    assert report.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "Parameters:\n  P:\n    Type: String\n    NoEcho: true\n    Default: {0}\n"
        "Resources:\n  N:\n    Type: ALIYUN::ECS::VPC\n    Properties:\n"
        "      CidrBlock: {{Ref: P}}\n",
        "Parameters:\n  DbPassword:\n    Type: String\n    Default: {0}\n",
        "Resources:\n  N:\n    Type: ALIYUN::ECS::Instance\n    Properties:\n      Password: {0}\n",
        "Resources:\n  N:\n    Type: X\n    Properties:\n      Password: {0}\n"
        "      Password: {0}\n",
    ],
)
def test_passwords_are_found_and_shown_nowhere(text):
    report = review({"t.yml": HEAD + text.format("Hunter-22-secret")})
    assert [f for f in report.findings if "secret" in f.rule]
    assert "Hunter-22-secret" not in outputs(report)


def test_terraform_passwords_are_shown_nowhere():
    text = (
        'variable "password" {\n  default = "Hunter-22-secret"\n}\n'
        'resource "alicloud_vpc" "v" {\n  cidr_block = var.password\n}\n'
    )
    report = review({"main.tf": text})
    assert "tf-secret-default" in {f.rule for f in report.findings}
    assert "Hunter-22-secret" not in outputs(report)
