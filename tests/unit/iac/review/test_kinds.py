"""What is a file: told from its content, with its name as a hint."""

from __future__ import annotations

import json

import pytest
from tests.unit.iac.review.templates import MODULE, NETWORK, WORKSPACE

from a2a_fn.iac.review import review

AS_JSON = json.dumps(
    {
        "ROSTemplateFormatVersion": "2015-09-01",
        "Resources": {"Net": {"Type": "ALIYUN::ECS::VPC"}},
    },
    indent=2,
)


def kind(name, text):
    [file] = review({name: text}).files
    return file.kind, file.resources


@pytest.mark.parametrize("name", ["net.yml", "net.yaml", "", "template", "paste.txt", "net.tf"])
def test_ros_yaml(name):
    assert kind(name, NETWORK) == ("ros-yaml", 6)


@pytest.mark.parametrize("name", ["net.json", "net.yml", "", "template"])
def test_ros_json(name):
    assert kind(name, AS_JSON) == ("ros-json", 1)


@pytest.mark.parametrize("name", ["main.tf", "", "template.yml", "paste.txt"])
def test_terraform(name):
    assert kind(name, MODULE["main.tf"]) == ("terraform", 7)


def test_terraform_in_a_template_counts_its_resources():
    assert kind("t.yml", WORKSPACE) == ("ros-yaml", 2)


def test_pasted_text_without_a_name_is_called_template():
    [finding] = review({"": NETWORK.replace("Ref: SubA", "Ref: SubC")}).findings
    assert finding.file == "template"


def test_variables_file():
    report = review({"prod.tfvars": 'db_password = "Hun7er-2"\nzones = ["a"]\n'})
    assert report.files[0].kind == "terraform-variables"
    assert [f.rule for f in report.findings] == ["tf-secret-literal"]


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("k.yaml", "apiVersion: v1\nkind: Pod\n", "Kubernetes"),
        ("c.yml", "services:\n  web:\n    image: nginx\n", "Compose"),
        ("h.yml", "heat_template_version: 2015-10-15\n", "Heat"),
        ("o.yml", "FormatVersion: OOS-2019-06-01\nTasks: []\n", "Operation Orchestration"),
        ("p.json", '{"name": "x"}', "no section"),
        ("l.json", "[1, 2]", "no map"),
        ("hello", "Hello, please review my template.", "neither"),
        ("README.md", NETWORK, "'.md'"),
        ("main.tf.json", "{}", "JSON syntax"),
        (".terraform.lock.hcl", 'provider "x" {}', ".tf"),
        ("empty.yml", " \n", "empty"),
        ("chart.yaml", "a: {{ .Values.x }}\nb: [", "line"),
    ],
)
def test_other_files_are_said_not_to_be_reviewed_and_why(name, text, why):
    report = review({name: text})
    assert report.findings == ()
    assert report.files[0].kind == "unknown"
    assert report.files[0].note.startswith("not reviewed: ")
    assert why in report.files[0].note


def test_cloudformation_is_recognised_and_not_reviewed():
    report = review({"c.yml": "Resources:\n  B:\n    Type: AWS::S3::Bucket\n"})
    assert (report.files[0].kind, report.findings) == ("cloudformation", ())
    assert "CloudFormation" in report.files[0].note


def test_macros_are_said_to_keep_names_unchecked():
    text = NETWORK.replace("Description", "Transform: Aliyun::Serverless-2018-04-03\nDescription")
    report = review({"s.yml": text.replace("Ref: SubA", "Ref: Generated")})
    assert report.findings == ()
    assert "transform" in report.files[0].note


def test_files_of_one_folder_are_a_module_and_of_two_are_not():
    variables, main = MODULE["variables.tf"], 'output "z" {\n  value = var.zones\n}\n'
    together = review({"a/variables.tf": variables, "a/main.tf": main}).findings
    apart = review({"a/variables.tf": variables, "b/main.tf": main}).findings
    assert [f.rule for f in together] == ["tf-unused-variable", "tf-unused-variable"]
    assert [(f.file, f.rule) for f in apart] == [("b/main.tf", "tf-undeclared-variable")]


def test_an_unreadable_file_keeps_names_of_its_module_unjudged():
    files = {"main.tf": 'output "z" {\n  value = var.zones\n}\n', "variables.tf": "variable {"}
    assert {f.rule for f in review(files).findings} == {"syntax-error"}


def test_nothing_to_review():
    assert review({}).files == ()
