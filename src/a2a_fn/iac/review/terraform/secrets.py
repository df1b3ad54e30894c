"""Do secrets stand in the files, or show up when they are used."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.documents.hcl import Access, Body, Expr, Literal, Mapping, children
from a2a_fn.iac.documents.source import Source
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.secrets import is_clear, is_secret_name
from a2a_fn.iac.review.terraform.module import Declaration, Module
from a2a_fn.iac.review.words import show

_VARIABLE = 'variable "password" {\n  type      = string\n  sensitive = true\n'
_WEB = 'resource "alicloud_instance" "web" {\n  password = '
_GOOD = _VARIABLE + "}\n" + _WEB + "var.password\n}\n"

LITERAL = Rule(
    "tf-secret-literal",
    Severity.HIGH,
    "A password written into a file",
    "Whoever can read the file, or a copy of it, can use the password.",
    _WEB + '"Tr0ub4dor-3"\n}\n',
    _GOOD,
)
DEFAULT = Rule(
    "tf-secret-default",
    Severity.HIGH,
    "A secret variable with a default",
    "The default can be read in the file, and everything that keeps it shares it.",
    _VARIABLE + '  default   = "Tr0ub4dor-3"\n}\n' + _WEB + "var.password\n}\n",
    _GOOD,
)
SENSITIVE = Rule(
    "tf-not-sensitive",
    Severity.HIGH,
    "A secret variable that is not sensitive",
    "Without sensitive = true, plans and logs show the value.",
    _GOOD.replace("  sensitive = true\n", ""),
    _GOOD,
)
RULES = (LITERAL, DEFAULT, SENSITIVE)

_VISITED = ("resource", "data", "module", "provider")
_OPEN_TYPES = ("string", "any")


def literals(module: Module) -> Iterator[Finding]:
    """No argument that holds a password has one written out, nor has a variable's setting."""
    for source, body in module.bodies:
        for block in body.blocks:
            if block.type in _VISITED:
                path = ".".join(label.text for label in block.labels)
                yield from _body(source, block.body, path)
            elif block.type == "locals":
                yield from _body(source, block.body, "local")
    for source, body in module.settings:
        yield from _body(source, body, "")


def _body(source: Source, body: Body, path: str) -> Iterator[Finding]:
    stack = [body]
    while stack:
        at = stack.pop()
        stack += [block.body for block in at.blocks]
        for attribute in at.attributes:
            yield from _value(source, attribute.name, attribute.value, path)


def _value(source: Source, name: str, value: Expr, path: str) -> Iterator[Finding]:
    """Look at a value and at the maps inside it."""
    stack = [(name, value)]
    while stack:
        key, expr = stack.pop()
        if isinstance(expr, Literal):
            if is_secret_name(key) and is_clear(expr.value):
                yield LITERAL.at(
                    source,
                    expr.start,
                    f"{show(key)} is written out in clear",
                    fix="take it from a variable with sensitive = true, and change the secret",
                    path=f"{path}.{key}" if path else key,
                )
        elif isinstance(expr, Mapping):
            for item, inner in expr.items:
                stack.append((str(item.value) if isinstance(item, Literal) else "", inner))
        elif not isinstance(expr, Access):
            stack += [("", child) for child in children(expr)]


def defaults(module: Module) -> Iterator[Finding]:
    """Secret variables have no default. One that is only sensitive is milder."""
    for variable in module.all("variable").values():
        default = variable.get("default")
        if not isinstance(default, Literal) or not is_clear(default.value):
            continue
        secret = _is_secret(variable)
        if secret or _is_sensitive(variable):
            yield DEFAULT.at(
                variable.source,
                default.start,
                f"the default of the {'secret' if secret else 'sensitive'} variable "
                f"{show(variable.name)} can be read here",
                fix="delete the default, and set it from outside, as in TF_VAR_...",
                path=f"{variable.address}.default",
                severity=Severity.HIGH if secret else Severity.MEDIUM,
            )


def sensitive(module: Module) -> Iterator[Finding]:
    """Secret variables are sensitive."""
    for variable in module.all("variable").values():
        if _is_secret(variable) and not _is_sensitive(variable):
            yield SENSITIVE.at(
                variable.source,
                variable.start,
                f"the variable {show(variable.name)} holds a secret and is not sensitive",
                fix="add sensitive = true",
                path=variable.address,
            )


def _is_secret(variable: Declaration) -> bool:
    """Say if a variable takes a secret: text, and named as one."""
    type_ = variable.get("type")
    named = type_.root if isinstance(type_, Access) else getattr(type_, "value", "any")
    return is_secret_name(variable.name) and named in _OPEN_TYPES


def _is_sensitive(variable: Declaration) -> bool:
    """Say if it is marked; what cannot be told counts as marked."""
    mark = variable.get("sensitive")
    ephemeral = variable.get("ephemeral")
    for expr in (mark, ephemeral):
        if expr is not None and not (isinstance(expr, Literal) and expr.value is False):
            return True
    return False


CHECKS = (literals, defaults, sensitive)
