"""A plan as Terraform for the `aliyun/alicloud` provider, laid out as `terraform fmt` would.

Attributes on consecutive lines have their `=` aligned; a nested block stands between blank lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
from a2a_fn.iac.generate.naming import snake

#: `security_group_name` came with 1.239.0; 2.0 may break anything.
_VERSIONS = """\
terraform {
  required_version = ">= 1.3"

  required_providers {
    alicloud = {
      source  = "aliyun/alicloud"
      version = ">= 1.239.0, < 2.0.0"
    }
  }
}

provider "alicloud" {
  region = var.region
}
"""
_REGION = Parameter(
    id="Region",
    group="network",
    label=("Region", "地域"),
    description="Region in which everything is made, such as cn-hangzhou.",
)
_PREFIX = Parameter(
    id="NamePrefix",
    group="network",
    label=("Name prefix", "名称前缀"),
    description="Start of the names of resources that were given none.",
    default="demo",
    pattern="[A-Za-z][A-Za-z0-9-]{1,31}",
    constraint="2 to 32 letters, digits and hyphens, a letter first.",
)


@dataclass(frozen=True)
class _Raw:
    """An expression that is written as it is."""

    text: str


def render(plan: Plan, description: str) -> dict[str, str]:
    """Return the files of a plan; `description` heads main.tf as a comment."""
    by_id = {resource.id: resource for resource in plan.resources}
    write = _Writer(by_id)
    main = [f"# {description}\n\n{_VERSIONS}"]
    main += [write.resource(resource) for resource in plan.resources]
    outputs = [
        _block(
            f'output "{snake(output.id)}"',
            [("description", output.description), ("value", _Raw(write.value(output.value)))],
        )
        for resource in plan.resources
        for output in kinds()[resource.kind].outputs(resource)
    ]
    region = Parameter(**{**_REGION.__dict__, "default": plan.region or None})
    prefix = [_PREFIX] if write.labels else []
    variables = [_variable(parameter) for parameter in (region, *prefix, *plan.parameters)]
    return {
        "main.tf": "\n".join(main),
        "variables.tf": "\n".join(variables),
        "outputs.tf": "\n".join(outputs),
    }


class _Writer:
    """Writes resources and values; knows the type of each resource, to refer to it."""

    def __init__(self, resources: Mapping[str, Resource]) -> None:
        self._resources = resources
        self.labels = False

    def resource(self, resource: Resource) -> str:
        """Return a resource block."""
        kind = kinds()[resource.kind]
        lines: list[tuple[str, Any]] = []
        blocks: list[str] = []
        for field in kind.fields(resource):
            if isinstance(field.value, Block):
                blocks.append(_block(field.terraform, self._pairs(field.value.fields)))
            elif field.terraform:
                lines += self._pairs([field])
        if after := kind.after(resource):
            names = ", ".join(self.address(each) for each in after)
            blocks.append(f"depends_on = [{names}]\n")
        if kind.stateful:
            blocks.append(_block("lifecycle", [("prevent_destroy", True)]))
        head = f'resource "{kind.terraform}" "{snake(resource.id)}"'
        return _block(head, lines, blocks)

    def _pairs(self, fields: Iterable[Field]) -> list[tuple[str, Any]]:
        return [(field.terraform, _Raw(self.value(field.value))) for field in fields]

    def address(self, identifier: str) -> str:
        """Return the address of a resource: its type and name."""
        return f"{kinds()[self._resources[identifier].kind].terraform}.{snake(identifier)}"

    def value(self, value: Any) -> str:
        """Return a value as an expression."""
        write = self._writers().get(type(value))
        return write(value) if write else _literal(value)

    def _writers(self) -> Mapping[type, Callable[[Any], str]]:
        return {
            Attribute: lambda value: f"{self.address(value.resource)}.{value.terraform}",
            First: lambda value: f"{self.value(value.of)}[0]",
            Input: lambda value: f"var.{snake(value.parameter)}",
            Joined: lambda value: f'join("{value.separator}", {self.value(list(value.items))})',
            Label: self._label,
            Pair: lambda value: self.value(value.terraform),
            list: lambda value: f"[{', '.join(self.value(item) for item in value)}]",
        }

    def _label(self, value: Label) -> str:
        self.labels = True
        return f'"${{var.name_prefix}}-{value.suffix}"'


def _literal(value: Any) -> str:
    if isinstance(value, str):
        # JSON's escapes are HCL's, except that HCL also reads ${ and %{ as templates.
        quoted = json.dumps(value, ensure_ascii=False)
        return quoted.replace("${", "$${").replace("%{", "%%{")
    return json.dumps(value)


def _block(head: str, pairs: Sequence[tuple[str, Any]], blocks: Sequence[str] = ()) -> str:
    width = max((len(name) for name, _ in pairs), default=0)
    lines = [
        f"  {name.ljust(width)} = {value.text if isinstance(value, _Raw) else _literal(value)}\n"
        for name, value in pairs
    ]
    parts = ["".join(lines)] if lines else []
    parts += ["".join(f"  {line}" for line in block.splitlines(keepends=True)) for block in blocks]
    return f"{head} {{\n" + "\n".join(parts) + "}\n"


def _variable(parameter: Parameter) -> str:
    name = snake(parameter.id)
    pairs: list[tuple[str, Any]] = [
        ("description", parameter.description),
        ("type", _Raw({"Number": "number"}.get(parameter.type, "string"))),
    ]
    if parameter.default is not None:
        pairs.append(("default", parameter.default))
    if parameter.secret:
        pairs.append(("sensitive", True))
    checks = [
        _block(
            "validation",
            [("condition", _Raw(condition)), ("error_message", parameter.constraint + ending)],
        )
        for condition, ending in _conditions(name, parameter)
    ]
    return _block(f'variable "{name}"', pairs, checks)


def _conditions(name: str, parameter: Parameter) -> list[tuple[str, str]]:
    if parameter.bounds:
        low, high = parameter.bounds
        return [(f"var.{name} >= {low} && var.{name} <= {high}", f"From {low} to {high}.")]
    if parameter.pattern:
        pattern = _literal(f"^{parameter.pattern}$")
        return [(f"can(regex({pattern}, var.{name}))", "")]
    return []
