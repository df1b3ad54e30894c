"""What tests read out of generated files: resources by type, properties, references."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import hcl2
import yaml

from a2a_fn.iac.generate import Generation, generate
from a2a_fn.iac.review import Severity, review

PSEUDO = ("ALIYUN::StackName", "ALIYUN::Region", "ALIYUN::StackId")


def ros(text: str) -> dict[str, Any]:
    """Generate ROS from a request and parse it; fails if a question blocks."""
    result = generate(text, format="ros")
    assert not result.questions, result.questions
    return yaml.safe_load(result.files["template.yml"])


def of_type(template: dict[str, Any], type_: str) -> list[dict[str, Any]]:
    """Return the properties of the resources of a type, in order."""
    return [each["Properties"] for each in template["Resources"].values() if each["Type"] == type_]


def terraform_resources(files: dict[str, str]) -> list[tuple[str, str, dict[str, Any]]]:
    """Parse main.tf and return (type, name, body) of each resource."""
    parsed = hcl2.loads(files["main.tf"])
    return [
        (type_.strip('"'), name.strip('"'), body)
        for block in parsed["resource"]
        for type_, named in block.items()
        if not type_.startswith("__")
        for name, body in named.items()
        if not name.startswith("__")
    ]


def dangling_in_ros(template: dict[str, Any]) -> list[str]:
    """Return references that lead nowhere: Ref, Fn::GetAtt, Fn::Sub, and ${} in metadata."""
    resources, parameters = set(template["Resources"]), set(template.get("Parameters", {}))
    found: list[str] = []

    def walk(value: Any) -> None:
        if isinstance(value, list):
            for each in value:
                walk(each)
        if not isinstance(value, dict):
            return
        for key, inner in value.items():
            if key == "Ref" and inner not in resources | parameters | set(PSEUDO):
                found.append(f"Ref {inner}")
            if key == "Fn::GetAtt" and inner[0] not in resources:
                found.append(f"GetAtt {inner[0]}")
            if key == "Fn::Sub":
                names = re.findall(r"\$\{([^}]*)\}", inner)
                found.extend(n for n in names if n not in resources | parameters | set(PSEUDO))
            if key == "AssociationPropertyMetadata":
                names = re.findall(r"\$\{([^}]*)\}", str(inner))
                found.extend(name for name in names if name not in parameters)
            walk(inner)

    walk(template)
    groups = (
        template.get("Metadata", {}).get("ALIYUN::ROS::Interface", {}).get("ParameterGroups", [])
    )
    grouped = [name for group in groups for name in group["Parameters"]]
    assert sorted(grouped) == sorted(parameters)
    return found


def dangling_in_terraform(files: dict[str, str]) -> list[str]:
    """Return references to resources and variables that are not declared, and unused variables."""
    declared = set(re.findall(r'^resource "(\w+)" "(\w+)"', files["main.tf"], re.M))
    variables = set(re.findall(r'^variable "(\w+)"', files["variables.tf"], re.M))
    text = "\n".join(files.values())
    used = set(re.findall(r"\b(alicloud_\w+)\.(\w+)\.\w+", text))
    used |= set(re.findall(r"[\[, ](alicloud_\w+)\.(\w+)[\],]", text))
    wanted = set(re.findall(r"\bvar\.(\w+)", files["main.tf"] + files["outputs.tf"]))
    missing = [f"{kind}.{name}" for kind, name in used - declared]
    return missing + sorted(wanted ^ variables)


def severe(result: Generation) -> list[str]:
    """Return what our own review finds at HIGH or above."""
    report = review(dict(result.files))
    return [str(each) for each in report.findings if each.severity >= Severity.HIGH]


def kinds_of(result: Generation) -> Counter[str]:
    """Count the resources of a result by kind."""
    return Counter(resource.kind for resource in result.resources)


def kinds_in_files(result: Generation) -> Counter[str]:
    """Count the resources that are in the files, by kind."""
    if result.format == "ros":
        types = {resource.ros_type: resource.kind for resource in result.resources}
        template = yaml.safe_load(result.files["template.yml"])
        return Counter(types[each["Type"]] for each in template["Resources"].values())
    types = {resource.terraform_type: resource.kind for resource in result.resources}
    return Counter(types[type_] for type_, _, _ in terraform_resources(dict(result.files)))
