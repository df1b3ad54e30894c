"""Does anything need itself."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.cycles import cycles
from a2a_fn.iac.review.terraform.module import Module, Reference
from a2a_fn.iac.review.words import show

_A = 'resource "alicloud_security_group" "a" {\n  description = alicloud_security_group.b.id\n}\n'
CYCLE = Rule(
    id="tf-cycle",
    severity=Severity.ERROR,
    title="Resources, data sources or locals that need each other in a circle",
    why="Nothing in a circle can be evaluated first: Terraform stops with a cycle.",
    bad=_A
    + 'resource "alicloud_security_group" "b" {\n'
    + "  description = alicloud_security_group.a.id\n}\n",
    good=_A + 'resource "alicloud_security_group" "b" {}\n',
)
RULES = (CYCLE,)

_SHOWN = 12


def circles(module: Module) -> Iterator[Finding]:
    """Follow references between resources, data sources and locals.

    Not through modules: their inputs and outputs are separate nodes, which may form no circle.
    """
    graph: dict[str, dict[str, Reference]] = {
        declaration.address: {}
        for kind in ("resource", "data", "local")
        for declaration in module.all(kind).values()
    }
    for reference in module.references:
        needed = reference.name
        if reference.kind in ("data", "local"):
            needed = f"{reference.kind}.{needed}"
        elif reference.kind != "resource":
            continue
        if reference.owner in graph and needed in graph:
            graph[reference.owner].setdefault(needed, reference)
    for cycle in cycles(graph):
        first = graph[cycle[0]][cycle[1 % len(cycle)]]
        shown = [*cycle, cycle[0]]
        if len(shown) > _SHOWN:
            shown = [*shown[: _SHOWN - 1], "…", cycle[0]]
        what = "needs itself" if len(cycle) == 1 else "is part of a circle"
        yield CYCLE.at(
            first.source,
            first.start,
            f"{show(cycle[0])} {what}: " + " -> ".join(show(name)[1:-1] for name in shown),
            fix="drop one of these references",
            path=cycle[0],
        )


CHECKS = (circles,)
