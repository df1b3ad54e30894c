"""Does each name that a module uses exist in it, and only once."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.documents.hcl import Body
from a2a_fn.iac.documents.source import Source
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.terraform.module import Module
from a2a_fn.iac.review.words import Names, show

_WHY = "Terraform stops at a name that the module does not declare."


def _rule(kind: str, noun: str, bad: str, good: str) -> Rule:
    return Rule(
        f"tf-undeclared-{kind}", Severity.ERROR, f"A {noun} that is not declared", _WHY, bad, good
    )


_ZONE = 'variable "zone" {}\n'
_NET = 'resource "alicloud_vpc" "main" {}\n'
VARIABLE = _rule(
    "variable",
    "variable",
    _ZONE + 'output "zone" {\n  value = var.zones\n}\noutput "z" {\n  value = var.zone\n}\n',
    _ZONE + 'output "zone" {\n  value = var.zone\n}\n',
)
LOCAL = _rule(
    "local",
    "local value",
    'locals {\n  name = "a"\n}\noutput "name" {\n  value = local.name + local.nam\n}\n',
    'locals {\n  name = "a"\n}\noutput "name" {\n  value = local.name\n}\n',
)
MODULE = _rule(
    "module",
    "module call",
    'module "net" {\n  source = "./net"\n}\noutput "id" {\n  value = module.nett.id\n}\n',
    'module "net" {\n  source = "./net"\n}\noutput "id" {\n  value = module.net.id\n}\n',
)
RESOURCE = _rule(
    "resource",
    "resource",
    _NET + 'output "id" {\n  value = alicloud_vpc.man.id\n}\n',
    _NET + 'output "id" {\n  value = alicloud_vpc.main.id\n}\n',
)
DATA = _rule(
    "data",
    "data source",
    'data "alicloud_zones" "all" {}\noutput "id" {\n  value = data.alicloud_zones.al.id\n}\n',
    'data "alicloud_zones" "all" {}\noutput "id" {\n  value = data.alicloud_zones.all.id\n}\n',
)
DUPLICATE = Rule(
    "tf-duplicate-declaration",
    Severity.ERROR,
    "A name that is declared twice in one module",
    "Terraform allows each variable, local, module, output, resource and data source once.",
    _NET + _NET,
    _NET + 'resource "alicloud_vpc" "other" {}\n',
)
ARGUMENT = Rule(
    "tf-duplicate-argument",
    Severity.ERROR,
    "An argument that is set twice in one block",
    "Terraform allows each argument once in a block.",
    'resource "alicloud_vpc" "main" {\n  vpc_name = "a"\n  vpc_name = "b"\n}\n',
    'resource "alicloud_vpc" "main" {\n  vpc_name = "a"\n}\n',
)
RULES = (VARIABLE, LOCAL, MODULE, RESOURCE, DATA, DUPLICATE, ARGUMENT)

_BY_KIND = {
    "variable": (VARIABLE, "variable"),
    "local": (LOCAL, "local value"),
    "module": (MODULE, "module"),
    "resource": (RESOURCE, "resource"),
    "data": (DATA, "data source"),
}


def undeclared(module: Module) -> Iterator[Finding]:
    """Everything referred to is declared. Not judged if a file of the module cannot be read."""
    if not module.whole:
        return
    known = {kind: Names(module.all(kind)) for kind in _BY_KIND}
    types = {declaration.type for declaration in module.all("resource").values()}
    for reference in module.references:
        if reference.name in known[reference.kind]:
            continue
        type_ = reference.name.partition(".")[0]
        if reference.kind == "resource" and type_ not in types and "_" not in type_:
            continue  # types have an underscore; this is some other object
        rule, noun = _BY_KIND[reference.kind]
        yield rule.at(
            reference.source,
            reference.start,
            f"no {noun} {show(reference.name)} is declared in the files given",
            fix=known[reference.kind].meant(reference.name) or "declare it, or correct the name",
            path=reference.owner,
        )


def declared_twice(module: Module) -> Iterator[Finding]:
    """Every name is declared once."""
    for first, second in module.repeats:
        line, _ = first.source.position(first.start)
        yield DUPLICATE.at(
            second.source,
            second.start,
            f"{show(second.address)} is already declared in {first.source.name}, line {line}",
            fix="delete or rename one of them",
            path=second.address,
        )


def set_twice(module: Module) -> Iterator[Finding]:
    """Every argument is set once in its block."""
    stack = [*module.bodies, *module.settings]
    while stack:
        source, body = stack.pop()
        yield from _set_twice(source, body)
        # A repeated local is a repeated declaration.
        stack += [(source, block.body) for block in body.blocks if block.type != "locals"]


def _set_twice(source: Source, body: Body) -> Iterator[Finding]:
    seen: set[str] = set()
    for attribute in body.attributes:
        if attribute.name in seen:
            yield ARGUMENT.at(
                source,
                attribute.start,
                f"{show(attribute.name)} is set twice in this block",
                fix="delete one of them",
            )
        seen.add(attribute.name)


CHECKS = (undeclared, declared_twice, set_twice)
