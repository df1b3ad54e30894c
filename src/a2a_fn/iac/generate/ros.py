"""A plan as a ROS template in YAML: https://help.aliyun.com/document_detail/28857.html (structure).

References are written in their long form (`Ref`, `Fn::GetAtt`), which every YAML reader accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from textwrap import indent
from types import MappingProxyType
from typing import Any

import yaml

from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.model import (
    Attribute,
    Block,
    Field,
    First,
    Input,
    Joined,
    Label,
    Pair,
    Parameter,
    Plan,
    Resource,
)

FILE = "template.yml"
_GROUP_LABELS = {
    "network": ("Network", "网络"),
    "compute": ("Instances", "实例"),
    "database": ("Database", "数据库"),
    "storage": ("Storage", "存储"),
    "access": ("Access", "访问"),
}


class _Inline(list[Any]):
    """A list that is written on one line."""


class _Dumper(yaml.SafeDumper):
    """Block style throughout, lists indented under their key, inline lists on one line."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


_Dumper.add_representer(
    _Inline,
    lambda dumper, data: dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=True),
)


def render(plan: Plan, description: Mapping[str, str]) -> dict[str, str]:
    """Return the files of a plan; `description` is the template's, by language (`en`, `zh-cn`)."""
    parts = [
        _dump({"ROSTemplateFormatVersion": "2015-09-01"})
        + _dump({"Description": dict(description)})
    ]
    if plan.parameters:
        parts.append(_section("Parameters", ((p.id, _parameter(p)) for p in plan.parameters)))
    parts.append(_section("Resources", ((r.id, _resource(r)) for r in plan.resources)))
    outputs = [
        (output.id, {"Description": output.description, "Value": _value(output.value)})
        for resource in plan.resources
        for output in kinds()[resource.kind].outputs(resource)
    ]
    if outputs:
        parts.append(_section("Outputs", outputs))
    if plan.parameters:
        parts.append(_dump({"Metadata": {"ALIYUN::ROS::Interface": _interface(plan.parameters)}}))
    return {FILE: "\n".join(parts)}


def _dump(data: Any) -> str:
    text: str = yaml.dump(
        data,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=10_000,
    )
    return text


def _section(name: str, entries: Iterable[tuple[str, Any]]) -> str:
    body = "\n".join(indent(_dump({key: entry}), "  ") for key, entry in entries)
    return f"{name}:\n{body}"


def _parameter(parameter: Parameter) -> dict[str, Any]:
    en, zh = parameter.label
    found: dict[str, Any] = {
        "Type": parameter.type,
        "Label": {"en": en, "zh-cn": zh},
        "Description": parameter.description,
        "NoEcho": True if parameter.secret else None,
        "Default": parameter.default,
        "AssociationProperty": parameter.association or None,
        "AssociationPropertyMetadata": {
            key: f"${{{value.parameter}}}" if isinstance(value, Input) else value
            for key, value in parameter.metadata.items()
        }
        or None,
        "AllowedPattern": f"^{parameter.pattern}$" if parameter.pattern else None,
        "ConstraintDescription": parameter.constraint or None,
        "MinLength": parameter.length[0] if parameter.length else None,
        "MaxLength": parameter.length[1] if parameter.length else None,
        "MinValue": parameter.bounds[0] if parameter.bounds else None,
        "MaxValue": parameter.bounds[1] if parameter.bounds else None,
    }
    return {key: value for key, value in found.items() if value is not None}


def _resource(resource: Resource) -> dict[str, Any]:
    kind = kinds()[resource.kind]
    found: dict[str, Any] = {"Type": kind.ros_type(resource)}
    if kind.stateful:
        found["DeletionPolicy"] = "Retain"
    return found | {"Properties": _fields(kind.fields(resource))}


def _fields(fields: Iterable[Field]) -> dict[str, Any]:
    return {field.ros: _value(field.value) for field in fields if field.ros}


def _value(value: Any) -> Any:
    write = _WRITERS.get(type(value))
    return write(value) if write else value


def _attribute(value: Attribute) -> dict[str, Any]:
    if value.ros:
        return {"Fn::GetAtt": _Inline([value.resource, value.ros])}
    return {"Ref": value.resource}


def _label(value: Label) -> dict[str, Any]:
    return {"Fn::Sub": f"${{ALIYUN::StackName}}-{value.suffix}"}


def _joined(value: Joined) -> dict[str, Any]:
    return {"Fn::Join": [value.separator, [_value(item) for item in value.items]]}


def _block(value: Block) -> Any:
    body = _fields(value.fields)
    return [body] if value.many else body


_WRITERS: Mapping[type, Callable[[Any], Any]] = MappingProxyType(
    {
        Attribute: _attribute,
        Block: _block,
        First: lambda value: {"Fn::Select": ["0", _value(value.of)]},
        Input: lambda value: {"Ref": value.parameter},
        Joined: _joined,
        Label: _label,
        Pair: lambda value: _value(value.ros),
        list: lambda value: [_value(item) for item in value],
    }
)


def _interface(parameters: Iterable[Parameter]) -> dict[str, Any]:
    groups: dict[str, list[str]] = {}
    for parameter in parameters:
        groups.setdefault(parameter.group, []).append(parameter.id)
    return {
        "ParameterGroups": [
            {
                "Label": {"default": dict(zip(("en", "zh-cn"), _GROUP_LABELS[group], strict=True))},
                "Parameters": ids,
            }
            for group, ids in groups.items()
        ]
    }
