"""Does each name that a template uses exist in it."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac import schema
from a2a_fn.iac.documents.tree import Map
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.ros.scan import is_pseudo
from a2a_fn.iac.review.ros.template import Kind, Reference, Template
from a2a_fn.iac.review.words import Names, show

_NET = "Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n"
_SUB = _NET + "  Sub:\n    Type: ALIYUN::ECS::VSwitch\n    Properties:\n      VpcId:\n        "
_WHY = "ROS refuses a template that refers to something it does not declare."


def _rule(name: str, title: str, bad: str, good: str) -> Rule:
    return Rule(f"ros-unresolved-{name}", Severity.ERROR, title, _WHY, bad, good)


REF = _rule("ref", "Ref to nothing", _SUB + "Ref: Nett\n", _SUB + "Ref: Net\n")
GETATT = _rule(
    "getatt",
    "Fn::GetAtt of nothing",
    _SUB + "Fn::GetAtt: [Nett, VpcId]\n",
    _SUB + "Fn::GetAtt: [Net, VpcId]\n",
)
SUB = _rule(
    "sub",
    "A variable of Fn::Sub that is nothing",
    _NET + "Outputs:\n  Id:\n    Value:\n      Fn::Sub: vpc ${Nett.VpcId}\n",
    _NET + "Outputs:\n  Id:\n    Value:\n      Fn::Sub: vpc ${Net.VpcId}\n",
)
DEPENDENCY = _rule(
    "dependency",
    "DependsOn names no resource",
    _NET + "  Bucket:\n    Type: ALIYUN::OSS::Bucket\n    DependsOn: Nett\n",
    _NET + "  Bucket:\n    Type: ALIYUN::OSS::Bucket\n    DependsOn: Net\n",
)
MAPPING = _rule(
    "mapping",
    "Fn::FindInMap of a mapping or key that is not there",
    "Mappings:\n  Sizes:\n    small:\n      Cores: 2\n"
    + _NET
    + "Outputs:\n  Cores:\n    Value:\n      Fn::FindInMap: [Sizes, large, Cores]\n",
    "Mappings:\n  Sizes:\n    small:\n      Cores: 2\n"
    + _NET
    + "Outputs:\n  Cores:\n    Value:\n      Fn::FindInMap: [Sizes, small, Cores]\n",
)
CONDITION = _rule(
    "condition",
    "A condition that is not defined",
    _NET + "    Condition: WithNet\n",
    "Parameters:\n  New:\n    Type: Boolean\n"
    "Conditions:\n  WithNet:\n    Fn::Equals: [true, {Ref: New}]\n"
    + _NET
    + "    Condition: WithNet\n",
)
ATTRIBUTE = Rule(
    id="ros-unknown-attribute",
    severity=Severity.ERROR,
    title="Fn::GetAtt of an attribute that the resource type does not have",
    why="ROS refuses it. Judged only for types whose attributes are known here.",
    bad=_SUB + "Fn::GetAtt: [Net, VpcID]\n",
    good=_SUB + "Fn::GetAtt: [Net, VpcId]\n",
)
RULES = (REF, GETATT, ATTRIBUTE, SUB, DEPENDENCY, MAPPING, CONDITION)


def names(template: Template) -> Iterator[Finding]:
    """Ref, GetAtt, Sub and DependsOn name something that is declared."""
    if template.opaque:
        return
    resources = Names(_declared(template, "Resources"))
    values = Names(_declared(template, "Parameters", "Resources", "Locals"))
    owners = Names(_declared(template, "Resources", "Locals"))
    for reference in template.references:
        if is_pseudo(reference.name):
            continue
        match reference.kind:
            case Kind.REF:
                yield from _look_up(template, reference, values, REF, "parameter or resource")
            case Kind.SUB if reference.attribute is None:
                yield from _look_up(template, reference, values, SUB, "parameter or resource")
            case Kind.SUB:
                yield from _look_up(template, reference, owners, SUB, "resource")
            case Kind.GETATT:
                yield from _look_up(template, reference, owners, GETATT, "resource")
            case Kind.DEPENDS_ON:
                yield from _look_up(template, reference, resources, DEPENDENCY, "resource")


def _declared(template: Template, *sections: str) -> list[str]:
    """Return the names in scope. A nested template may also be written against the outer one."""
    return [
        name
        for scope in template.scopes()
        for section in sections
        for name in scope.section(section)
    ]


def _look_up(
    template: Template, reference: Reference, known: Names, rule: Rule, noun: str
) -> Iterator[Finding]:
    if reference.name in known:
        return
    if any(scope.opaque for scope in template.scopes()):
        return
    if rule is GETATT and reference.name in template.parameters:
        message = f"{show(reference.name)} is a parameter: Fn::GetAtt takes resources"
        fix: str | None = f"use Ref: {reference.name}"
    else:
        message = f"there is no {noun} {show(reference.name)}"
        fix = known.meant(reference.name) or "declare it, or correct the name"
    yield rule.at(template.source, reference.index, message, fix=fix, path=reference.path)


def conditions(template: Template) -> Iterator[Finding]:
    """Conditions that are used are defined."""
    if template.opaque:
        return
    known = Names(template.section("Conditions"))
    for reference in template.references:
        if reference.kind is Kind.CONDITION:
            yield from _look_up(template, reference, known, CONDITION, "condition")


def mappings(template: Template) -> Iterator[Finding]:
    """Mappings that are looked up exist, and so do the keys that are written out."""
    if template.opaque:
        return
    known = Names(template.section("Mappings"))
    keys: dict[int, Names] = {}
    for reference in template.references:
        if reference.kind is not Kind.MAP:
            continue
        if reference.name not in known:
            yield from _look_up(template, reference, known, MAPPING, "mapping")
        else:
            yield from _keys(template, reference, keys)


def _keys(template: Template, reference: Reference, names: dict[int, Names]) -> Iterator[Finding]:
    """Look up the keys that are written out; `names` keeps what each map holds, by its id."""
    if len(reference.keys) != 2:  # a third argument is a default for keys that are missing
        return
    node = template.section("Mappings")[reference.name].node
    for key in reference.keys:
        if key is None or not isinstance(node, Map):
            return
        if (inner := node.get(key)) is None:
            if id(node) not in names:
                names[id(node)] = Names(node.values)
            yield MAPPING.at(
                template.source,
                reference.index,
                f"the mapping {show(reference.name)} has no key {show(key)} there",
                fix=names[id(node)].meant(key) or "add the key, or correct it",
                path=reference.path,
            )
            return
        node = inner


def attributes(template: Template) -> Iterator[Finding]:
    """GetAtt and Sub take attributes that the type has.

    One that resembles none may be newer than the data here: that is milder.
    """
    names: dict[str, Names] = {}
    for reference in template.references:
        entry = template.resources.get(reference.name)
        if entry is None or reference.attribute is None:
            continue
        kind = entry.text("Type") or ""
        known = schema.attributes(kind)
        attribute = reference.attribute.partition(".")[0]
        if known is None or attribute in known:
            continue
        if kind not in names:
            names[kind] = Names(sorted(known))
        close = names[kind].closest(attribute)
        yield ATTRIBUTE.at(
            template.source,
            reference.attribute_index,
            f"{kind} is not known to have an attribute {show(attribute)}",
            fix=f"did you mean {show(close)}?" if close else "take one that the type has",
            path=reference.path,
            severity=Severity.ERROR if close else Severity.MEDIUM,
        )


CHECKS = (names, attributes, conditions, mappings)
