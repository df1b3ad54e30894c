"""Tell what kind of file a text is, by its content first and its name second, and parse it."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

from a2a_fn.iac.documents.hcl import Body
from a2a_fn.iac.documents.hcltext import read_hcl
from a2a_fn.iac.documents.jsontext import read_json
from a2a_fn.iac.documents.source import Problem, Source
from a2a_fn.iac.documents.tree import Map, Node, string
from a2a_fn.iac.documents.yamltext import read_yaml

MAX_CHARACTERS = 1_048_576  # twice what ROS takes as a template body (524,288 bytes)
_BEGINNING = 65_536
_ENDINGS = ("", ".yml", ".yaml", ".json", ".template", ".ros", ".txt", ".tpl", ".hcl")

_HCL_BLOCK = re.compile(
    r"^(?:(?:resource|data)[ \t]+\"?[\w-]+\"?[ \t]+\"?[\w-]+\"?"
    r"|(?:variable|output|module|provider)[ \t]+\"?[\w-]+\"?"
    r"|terraform|locals)[ \t]*\{",
    re.MULTILINE,
)
_ROS_MARK = re.compile(
    r"^ROSTemplateFormatVersion|\"ROSTemplateFormatVersion\""
    r"|^Resources[ \t]*:|\"Resources\"[ \t]*:"
    r"|\bType[\"']?[ \t]*:[ \t]*[\"']?ALIYUN::",
    re.MULTILINE,
)
_ROS_TYPE = re.compile(r"(?:ALIYUN|DATASOURCE|MODULE)::")
_OTHERS = (
    ("heat_template_version", "this is an OpenStack Heat template"),
    ("apiVersion", "this is a Kubernetes manifest"),
    ("FormatVersion", "this is an Operation Orchestration Service template"),
    ("edition", "this is a Serverless Devs file"),
    ("services", "this is a Compose file"),
)


@dataclass(frozen=True, slots=True)
class Document:
    """A text that has been read.

    `kind` as in `ReviewedFile`. `tree` is set for ROS, `body` for Terraform, neither after a
    syntax error. `note` says why a file of unknown kind was not read. `folder` groups the files
    of a Terraform module.
    """

    kind: str
    source: Source
    tree: Map | None = None
    body: Body | None = None
    problems: tuple[Problem, ...] = ()
    note: str = ""
    folder: str = ""


def read(name: str, text: str) -> Document:
    """Read one file. Never raises; `name` may be empty."""
    lower = name.lower()
    if len(text) > MAX_CHARACTERS:
        return _too_large(Source(name or "template", text[:_BEGINNING]), lower)
    source = Source(name or "template", text.removeprefix("\ufeff"))
    if lower.endswith((".tf.json", ".tfvars.json")):
        return _unknown(source, "Terraform's JSON syntax is not read")
    if lower.endswith((".tftest.hcl", ".lock.hcl")):
        return _unknown(source, "only Terraform's .tf and .tfvars files are reviewed")
    if lower.endswith((".tfvars", ".auto.tfvars")):
        return _hcl("terraform-variables", source)
    if lower.endswith((".tf", ".tofu")):
        return _terraform_by_name(source)
    ending = posixpath.splitext(lower)[1]
    if ending not in _ENDINGS:
        return _unknown(source, f"{ending[:20]!a} is no ending of a template")
    return _by_content(source, lower)


def _too_large(source: Source, name: str) -> Document:
    """Tell the kind from the beginning, which is all that `source` holds."""
    problem = Problem("limit", 0, f"larger than {MAX_CHARACTERS} characters")
    if name.endswith((".tf", ".tfvars")) or _HCL_BLOCK.search(source.text):
        return Document("terraform", source, problems=(problem,))
    if _ROS_MARK.search(source.text):
        kind = "ros-json" if source.text.lstrip().startswith("{") else "ros-yaml"
        return Document(kind, source, problems=(problem,))
    return _unknown(source, problem.message)


def _unknown(source: Source, why: str) -> Document:
    return Document("unknown", source, note=f"not reviewed: {why}")


def _hcl(kind: str, source: Source) -> Document:
    body, problems = read_hcl(source)
    folder = posixpath.dirname(source.name)
    return Document(kind, source, body=body, problems=problems, folder=folder)


def _terraform_by_name(source: Source) -> Document:
    document = _hcl("terraform", source)
    if document.body is None and not _HCL_BLOCK.search(source.text):
        other = _by_content(source, "")
        if other.tree is not None:  # a ROS template with the wrong ending
            return other
    return document


def _by_content(source: Source, name: str) -> Document:
    text = source.text
    if not text.strip():
        return _unknown(source, "it is empty")
    if _HCL_BLOCK.search(text) and not _ROS_MARK.search(text):
        return _hcl("terraform", source)
    named_data = name.endswith((".yml", ".yaml", ".json", ".template"))
    marked = _ROS_MARK.search(text) is not None
    if not named_data and not marked and not text.lstrip().startswith(("{", "[")):
        return _unknown(source, "it is neither a ROS template nor Terraform")
    format_, tree, problems = _data(source, name)
    if tree is None:
        if marked:
            return Document(f"ros-{format_}", source, problems=problems)
        line, _ = source.position(problems[0].index if problems else 0)
        what = problems[0].message if problems else "there is nothing in it"
        return _unknown(source, f"it cannot be read as {format_.upper()}: line {line}: {what}")
    return _classify(source, format_, tree, problems)


def _data(source: Source, name: str) -> tuple[str, Node | None, tuple[Problem, ...]]:
    """Parse as JSON or YAML: JSON if it looks so, YAML if it is no JSON but is YAML."""
    if not source.text.lstrip().startswith(("{", "[")) and not name.endswith(".json"):
        return ("yaml", *read_yaml(source))
    tree, problems = read_json(source)
    if tree is None and not name.endswith(".json"):
        other, other_problems = read_yaml(source)
        if other is not None:  # {a: b} is YAML too
            return "yaml", other, other_problems
    return "json", tree, problems


def _classify(source: Source, format_: str, tree: Node, problems: tuple[Problem, ...]) -> Document:
    if not isinstance(tree, Map):
        if _ROS_MARK.search(source.text) and format_ == "yaml":
            problem = Problem("syntax", tree.start, "a template is a map of sections; this is not")
            return Document("ros-yaml", source, problems=(*problems, problem))
        return _unknown(source, "it holds no map of template sections")
    if looks_like_ros(tree):
        return Document(f"ros-{format_}", source, tree=tree, problems=problems)
    if "AWSTemplateFormatVersion" in tree.values or _has_types(tree, re.compile("AWS::")):
        why = "not reviewed: this is a CloudFormation template"
        return Document("cloudformation", source, note=why)
    for key, what in _OTHERS:
        if key in tree.values:
            return _unknown(source, what)
    return _unknown(source, "no section of a ROS template is in it")


def looks_like_ros(tree: Map) -> bool:
    """Say if a map is a ROS template, even one whose version line is missing or misspelt."""
    if any(key.lower().startswith("rostemplate") for key in tree.values):
        return True
    transform = string(tree.get("Transform"))
    if transform is not None and transform.startswith("Aliyun::"):
        return True
    return _has_types(tree, _ROS_TYPE)


def _has_types(tree: Map, prefix: re.Pattern[str]) -> bool:
    resources = tree.get("Resources")
    if not isinstance(resources, Map):
        return False
    for resource in resources.values.values():
        kind = string(resource.get("Type")) if isinstance(resource, Map) else None
        if kind is not None and prefix.match(kind):
            return True
    return False
