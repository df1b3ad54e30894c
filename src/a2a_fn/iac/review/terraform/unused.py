"""Is anything declared that nothing uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from a2a_fn.iac.documents.hcl import Literal
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.terraform.module import Module
from a2a_fn.iac.review.words import Names, show

_WHY = "Whoever reads the module, or fills it in, is misled; or a use of it was forgotten."
_ZONE = 'variable "zone" {}\n'
_NAME = 'locals {\n  name = "web"\n}\n'


def _net(value: str) -> str:
    return f'resource "alicloud_vpc" "main" {{\n  vpc_name = {value}\n}}\n'


VARIABLE = Rule(
    "tf-unused-variable",
    Severity.LOW,
    "A variable that nothing uses",
    _WHY,
    _ZONE + _net('"a"'),
    _ZONE + _net("var.zone"),
)
LOCAL = Rule(
    "tf-unused-local",
    Severity.LOW,
    "A local value that nothing uses",
    _WHY,
    _NAME + _net('"a"'),
    _NAME + _net("local.name"),
)
RULES = (VARIABLE, LOCAL)

_MENTION = re.compile(r"\$\{\s*(?:var\.)?([\w-]+)\s*\}")
_BY_KIND = {"variable": (VARIABLE, "variable"), "local": (LOCAL, "local value")}
_USERS = ("resource", "data", "module", "output")


def unused(module: Module) -> Iterator[Finding]:
    """Every variable and local is used.

    Not judged if a file cannot be read, or if none holds anything that could use one: then the
    rest of the module is elsewhere.
    """
    if not module.whole or not any(module.all(kind) for kind in _USERS):
        return
    used = {
        (reference.kind, reference.name)
        for reference in module.references
        if reference.owner != f"var.{reference.name}"
    }
    used |= {("variable", name) for name in _mentioned(module)}
    for kind, (rule, noun) in _BY_KIND.items():
        names = Names(module.all(kind))
        # What a misspelt reference probably meant is a fault of the reference, not of its target.
        unknown = [name for of, name in used if of == kind and name not in names]
        used |= {(kind, names.closest(name) or name) for name in unknown}
        for name, declaration in module.all(kind).items():
            if (kind, name) not in used:
                yield rule.at(
                    declaration.source,
                    declaration.start,
                    f"nothing uses the {noun} {show(name)}",
                    fix="delete it, or use it",
                    path=declaration.address,
                )


def _mentioned(module: Module) -> Iterator[str]:
    """Yield the variables that descriptions name as `${name}`.

    ROS reads a form from them, in which the choices of one variable may depend on another.
    """
    for variable in module.all("variable").values():
        description = variable.get("description")
        if isinstance(description, Literal) and isinstance(description.value, str):
            yield from _MENTION.findall(description.value)


CHECKS = (unused,)
