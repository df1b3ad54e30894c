"""Does anything need itself."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.cycles import cycles
from a2a_fn.iac.review.ros.template import Kind, Reference, Template
from a2a_fn.iac.review.words import show

_GROUPS = (
    "Resources:\n"
    "  A:\n    Type: ALIYUN::ECS::SecurityGroup\n    DependsOn: B\n"
    "  B:\n    Type: ALIYUN::ECS::SecurityGroup\n"
)
CYCLE = Rule(
    id="ros-cycle",
    severity=Severity.ERROR,
    title="Resources, locals or conditions that need each other in a circle",
    why="Nothing in a circle can be created first, so ROS refuses the template.",
    bad=_GROUPS + "    DependsOn: A\n",
    good=_GROUPS,
)
RULES = (CYCLE,)

_VALUES = (Kind.REF, Kind.GETATT, Kind.SUB, Kind.DEPENDS_ON)
_SHOWN = 12

Edges = dict[str, dict[str, Reference]]


def values(template: Template) -> Iterator[Finding]:
    """Follow Ref, GetAtt, Sub and DependsOn between resources and locals.

    A reference in a branch of `Fn::If` may never be taken, and resources under different
    conditions may never exist together: such circles are not reported.
    """
    if template.opaque:
        return
    graph: Edges = {name: {} for name in (*template.resources, *template.section("Locals"))}
    for reference in template.references:
        section, owner = reference.owner
        if section not in ("Resources", "Locals") or reference.kind not in _VALUES:
            continue
        if reference.guarded or reference.name in template.parameters:
            continue
        if reference.name in graph:
            graph[owner].setdefault(reference.name, reference)
    for cycle in cycles(graph):
        guards = {
            template.resources[name].text("Condition")
            for name in cycle
            if name in template.resources
        }
        if len(guards - {None}) <= 1:
            yield _finding(template, graph, cycle)


def conditions(template: Template) -> Iterator[Finding]:
    """Follow conditions that are made of conditions."""
    graph: Edges = {name: {} for name in template.section("Conditions")}
    for reference in template.references:
        section, owner = reference.owner
        is_edge = section == "Conditions" and reference.kind is Kind.CONDITION
        if is_edge and reference.name in graph:
            graph[owner].setdefault(reference.name, reference)
    for cycle in cycles(graph):
        yield _finding(template, graph, cycle)


def _finding(template: Template, graph: Edges, cycle: list[str]) -> Finding:
    first = graph[cycle[0]][cycle[1 % len(cycle)]]
    shown = [*cycle, cycle[0]]
    if len(shown) > _SHOWN:
        shown = [*shown[: _SHOWN - 1], "…", cycle[0]]
    path = " -> ".join(show(name)[1:-1] for name in shown)
    what = "needs itself" if len(cycle) == 1 else "is part of a circle"
    return CYCLE.at(
        template.source,
        first.index,
        f"{show(cycle[0])} {what}: {path}",
        fix="drop one of these references, or move what both need into a third resource",
        path=first.path,
    )


CHECKS = (values, conditions)
