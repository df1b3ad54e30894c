"""Is anything declared that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.ros.template import SECTIONS, Kind, Template
from a2a_fn.iac.review.words import Names, show

_NET = "Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n"
_PARAMETER = "Parameters:\n  Name:\n    Type: String\n"
_CONDITION = "Conditions:\n  Named:\n    Fn::Equals: [a, b]\n"
_MAPPING = "Mappings:\n  Blocks:\n    small:\n      Block: 10.0.0.0/24\n"
_LOCAL = "Locals:\n  Block:\n    Type: Macro\n    Value: 10.0.0.0/16\n"
_WHY = "Whoever reads the template, or fills in its form, is misled; or a use of it was forgotten."


def _rule(noun: str, bad: str, good: str) -> Rule:
    title = f"A {noun} that nothing uses"
    return Rule(f"ros-unused-{noun}", Severity.LOW, title, _WHY, bad, good)


PARAMETER = _rule(
    "parameter",
    _PARAMETER + _NET,
    _PARAMETER + _NET + "    Properties:\n      VpcName:\n        Ref: Name\n",
)
CONDITION = _rule("condition", _CONDITION + _NET, _CONDITION + _NET + "    Condition: Named\n")
MAPPING = _rule(
    "mapping",
    _MAPPING + _NET,
    _MAPPING
    + _NET
    + "    Properties:\n      CidrBlock:\n        Fn::FindInMap: [Blocks, small, Block]\n",
)
LOCAL = _rule(
    "local",
    _LOCAL + _NET,
    _LOCAL + _NET + "    Properties:\n      CidrBlock:\n        Ref: Block\n",
)
RULES = (PARAMETER, CONDITION, MAPPING, LOCAL)

_VALUES = (Kind.REF, Kind.GETATT, Kind.SUB)
_SECTIONS = (
    ("Parameters", PARAMETER, "parameter", _VALUES),
    ("Conditions", CONDITION, "condition", (Kind.CONDITION,)),
    ("Mappings", MAPPING, "mapping", (Kind.MAP,)),
    ("Locals", LOCAL, "local", _VALUES),
)


def unused(template: Template) -> Iterator[Finding]:
    """Every entry is used, here or in a nested template.

    Not judged: templates that something rewrites, those that hand their parameters to Terraform,
    nested ones, whose parameters the outer template may set, and those with a section that is
    not read, which may hold the use.
    """
    if template.opaque or template.is_terraform or template.outer is not None:
        return
    if any(key not in SECTIONS for key in template.root.values):
        return
    for section, rule, noun, kinds in _SECTIONS:
        if template.dynamic.intersection(kinds):
            continue
        used = _used(template, kinds)
        declared = template.section(section)
        names = Names(declared)
        # What a misspelt reference probably meant is a fault of the reference, not of its target.
        known = {name for other, *_ in _SECTIONS for name in template.section(other)}
        known.update(template.resources)
        used |= {names.closest(name) or name for name in used - known}
        for name, entry in declared.items():
            if name not in used:
                yield rule.at(
                    template.source,
                    entry.key.start,
                    f"nothing uses the {noun} {show(name)}",
                    fix="delete it, or use it",
                    path=template.place(section, name),
                )


def _used(template: Template, kinds: tuple[Kind, ...]) -> set[str]:
    used = set(template.mentions) if Kind.REF in kinds else set()
    stack = [template]
    while stack:
        at = stack.pop()
        used.update(reference.name for reference in at.references if reference.kind in kinds)
        stack += at.nested
    return used


CHECKS = (unused,)
