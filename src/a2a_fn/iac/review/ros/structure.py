"""Is it shaped like a template: version, sections, parameters, resources."""

from __future__ import annotations

from collections.abc import Iterator

from a2a_fn.iac.documents.tree import Map, Node, Scalar, string, text_of
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.ros.template import SECTIONS, Template
from a2a_fn.iac.review.words import Names, show

_VERSION = "2015-09-01"
_MAPS = ("Conditions", "Parameters", "Mappings", "Locals", "Rules", "Resources", "Outputs")
_ATTRIBUTES = (
    "Type",
    "Properties",
    "DependsOn",
    "Condition",
    "Count",
    "DeletionPolicy",
    "Metadata",
    "UpdatePolicy",
    "CreationPolicy",
    "Description",
    "Version",
)
_NET = "Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n"

VERSION = Rule(
    id="ros-format-version",
    severity=Severity.ERROR,
    title="ROSTemplateFormatVersion is missing or wrong",
    why=f"ROS takes a template only with this line, and {_VERSION} is the only version.",
    bad="ROSTemplateFormatVersion: '2015-09-10'\n" + _NET,
    good=f"ROSTemplateFormatVersion: '{_VERSION}'\n" + _NET,
)
SECTION = Rule(
    id="ros-unknown-section",
    severity=Severity.ERROR,
    title="A section that ROS does not know",
    why="What stands in a misspelt section is not deployed.",
    bad="Parametres:\n  Zone:\n    Type: String\n" + _NET,
    good="Parameters:\n  Zone:\n    Type: String\n" + _NET,
)
SHAPE = Rule(
    id="ros-wrong-shape",
    severity=Severity.ERROR,
    title="A section, resource or parameter has the wrong shape",
    why="Sections map names to entries; a resource is a map with a Type, and so is a parameter.",
    bad="Resources:\n  Net:\n    Properties: {}\n",
    good="Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n    Properties: {}\n",
)
ATTRIBUTE = Rule(
    id="ros-misspelt-attribute",
    severity=Severity.ERROR,
    title="A misspelt attribute of a resource",
    why="Type, Properties, DependsOn, Count and so on count only if they are spelt right.",
    bad=_NET + "  Sub:\n    Type: ALIYUN::ECS::VSwitch\n    DepensOn: Net\n",
    good=_NET + "  Sub:\n    Type: ALIYUN::ECS::VSwitch\n    DependsOn: Net\n",
)
RULES = (VERSION, SECTION, SHAPE, ATTRIBUTE)


def version(template: Template) -> Iterator[Finding]:
    """The template says which format it is written in."""
    node = template.root.get(SECTIONS[0])
    fix = f"write ROSTemplateFormatVersion: '{_VERSION}'"
    path = template.place(SECTIONS[0])
    if node is None:
        names = Names(SECTIONS)
        if not any(names.closest(key) == SECTIONS[0] for key in template.root.values):
            yield VERSION.at(
                template.source,
                template.root.start,
                "ROSTemplateFormatVersion is missing",
                fix=fix,
                path=path,
            )
    elif not isinstance(node, Scalar) or text_of(node) != _VERSION:
        found = show(text_of(node)) if isinstance(node, Scalar) else "no text"
        yield VERSION.at(
            template.source,
            node.start,
            f"ROSTemplateFormatVersion is {found}, not {_VERSION}",
            fix=fix,
            path=path,
        )


def sections(template: Template) -> Iterator[Finding]:
    """Each section is one that ROS knows; a macro may bring its own."""
    names = Names(SECTIONS)
    for key, at, _ in template.root.entries():
        close = None if key in names else names.closest(key)
        if key in names or (template.opaque and close is None):
            continue
        yield SECTION.at(
            template.source,
            at.start,
            f"ROS knows no section {show(key)}",
            fix=f"did you mean {show(close)}?" if close else "delete it, or move it to Metadata",
            path=template.place(key),
            severity=Severity.ERROR if close else Severity.MEDIUM,
        )


def shapes(template: Template) -> Iterator[Finding]:
    """Sections are maps; resources and parameters are maps with a Type."""
    for section in _MAPS:
        node = template.root.get(section)
        if node is None or isinstance(node, Map) or _is_null(node):
            continue
        yield SHAPE.at(
            template.source,
            node.start,
            f"{section} is not a map of names to entries",
            fix=f"write {section} as a map",
            path=template.place(section),
        )
    if template.opaque:
        return
    types = Names(["Type"])
    for section, noun in (("Resources", "resource"), ("Parameters", "parameter")):
        for name, entry in template.section(section).items():
            what = _fault(entry.node, types)
            if what:
                yield SHAPE.at(
                    template.source,
                    entry.key.start,
                    f"the {noun} {show(name)} {what}",
                    fix=f"give the {noun} a Type",
                    path=template.place(section, name),
                )


def _fault(node: Node, types: Names) -> str | None:
    if not isinstance(node, Map):
        return "is not a map"
    if node.get("Type") is None:
        close = types.closest(next(iter(node.values), ""))
        return "has no Type" if close is None else f"has no Type; did you mean {show(close)}?"
    return None if string(node.get("Type")) else "has a Type that is not text"


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.value is None


def attributes(template: Template) -> Iterator[Finding]:
    """A resource's own keys are spelt right. Keys that resemble none are left alone."""
    if template.opaque:
        return
    names = Names(_ATTRIBUTES)
    for name, entry in template.resources.items():
        if not isinstance(entry.node, Map):
            continue
        for key, at, _ in entry.node.entries():
            close = None if key in _ATTRIBUTES else names.closest(key)
            if close:
                yield ATTRIBUTE.at(
                    template.source,
                    at.start,
                    f"a resource has no attribute {show(key)}",
                    fix=f"did you mean {show(close)}?",
                    path=template.place("Resources", name, key),
                )


CHECKS = (version, sections, shapes, attributes)
