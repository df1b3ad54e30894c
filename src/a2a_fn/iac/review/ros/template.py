"""A ROS template as rules see it: its sections, the names in scope, who refers to whom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from a2a_fn.iac.documents.source import Source
from a2a_fn.iac.documents.tree import Map, Node, Scalar, Value, string

SECTIONS = (
    "ROSTemplateFormatVersion",
    "Transform",
    "Description",
    "Conditions",
    "Metadata",
    "Parameters",
    "Mappings",
    "Locals",
    "Rules",
    "Resources",
    "Outputs",
    "Workspace",
)
PSEUDO = "ALIYUN::"


class Kind(Enum):
    """The ways to refer to something by name."""

    REF = "Ref"
    GETATT = "Fn::GetAtt"
    SUB = "Fn::Sub"
    DEPENDS_ON = "DependsOn"
    MAP = "Fn::FindInMap"
    CONDITION = "Condition"


@dataclass(frozen=True, slots=True)
class Reference:
    """A place that names a parameter, resource, local, mapping or condition.

    `name` is without index and attribute; `owner` is the section and entry it stands in;
    `guarded` says that it stands in a branch of `Fn::If`, which may not be taken; `keys` are the
    arguments of `Fn::FindInMap` after the first, where they are plain text.
    """

    kind: Kind
    name: str
    index: int
    owner: tuple[str, str]
    path: str
    attribute: str | None = None
    attribute_index: int = 0
    guarded: bool = False
    keys: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """One named entry of a section."""

    name: str
    key: Scalar
    node: Node

    def get(self, key: str) -> Node | None:
        """Return a value of the entry, if it is a map that has it."""
        return self.node.get(key) if isinstance(self.node, Map) else None

    def text(self, key: str) -> str | None:
        """Return a value of the entry if it is text."""
        return string(self.get(key))

    @property
    def properties(self) -> Map | None:
        """The `Properties` of a resource, if they are a map."""
        found = self.get("Properties")
        return found if isinstance(found, Map) else None


@dataclass(frozen=True, slots=True)
class Known:
    """A value that can be told from the template alone, and the place it comes from.

    `default` is the name of the parameter whose `Default` it is, empty for a literal.
    """

    value: Value
    node: Node
    default: str = ""

    @property
    def text(self) -> str | None:
        """The value, if it is text."""
        return self.value if isinstance(self.value, str) else None


@dataclass(slots=True, eq=False)
class Template:
    """A template, or one nested in it (`outer` is then the template around it).

    `path` leads to a nested template from the outermost one. `opaque` says why names in it
    cannot be judged (a macro rewrites it), and is empty if they can. `mentions` are names in
    texts that may use a parameter; `dynamic` holds the kinds of reference of which some name is
    computed; `inner` counts the templates inside the outermost one.
    """

    source: Source
    root: Map
    outer: Template | None = None
    path: str = ""
    opaque: str = ""
    references: list[Reference] = field(default_factory=list)
    mentions: set[str] = field(default_factory=set)
    dynamic: set[Kind] = field(default_factory=set)
    nested: list[Template] = field(default_factory=list)
    inner: int = 0
    _sections: dict[str, dict[str, Entry]] = field(default_factory=dict)

    def section(self, name: str) -> dict[str, Entry]:
        """Return the entries of a section; empty if it is missing or no map."""
        if name not in self._sections:
            node = self.root.get(name)
            entries = node.entries() if isinstance(node, Map) else ()
            self._sections[name] = {key: Entry(key, at, value) for key, at, value in entries}
        return self._sections[name]

    @property
    def parameters(self) -> dict[str, Entry]:
        """The declared parameters."""
        return self.section("Parameters")

    @property
    def resources(self) -> dict[str, Entry]:
        """The declared resources."""
        return self.section("Resources")

    @property
    def is_terraform(self) -> bool:
        """Whether the template carries Terraform files in `Workspace`."""
        transform = string(self.root.get("Transform")) or ""
        return transform.startswith(("Aliyun::Terraform", "Aliyun::OpenTofu"))

    def place(self, *parts: str) -> str:
        """Return the path of something in this template, from the outermost template."""
        return ".".join((self.path, *parts) if self.path else parts)

    def of_type(self, *types: str) -> Iterator[Entry]:
        """Yield the resources that have one of the types."""
        for entry in self.resources.values():
            if entry.text("Type") in types:
                yield entry

    def scopes(self) -> Iterator[Template]:
        """Yield this template and those around it."""
        at: Template | None = self
        while at is not None:
            yield at
            at = at.outer

    def known(self, node: Node | None) -> Known | None:
        """Return what a value is: a literal, or a parameter's default; None if it varies.

        In a nested template a `Ref` is not followed: the outer template sets its parameters.
        """
        if isinstance(node, Scalar):
            return None if node.value is None else Known(node.value, node)
        only = node.only() if isinstance(node, Map) else None
        name = string(only[1]) if only and only[0] == "Ref" else None
        if name is None or name not in self.parameters or self.outer is not None:
            return None
        default = self.parameters[name].get("Default")
        if not isinstance(default, Scalar) or default.value is None:
            return None
        return Known(default.value, default, name)

    def refers_to(self, node: Node | None) -> str | None:
        """Return the name of the resource that a value is taken from by `Ref` or `GetAtt`."""
        only = node.only() if isinstance(node, Map) else None
        if only is None:
            return None
        key, value = only
        name = string(value)
        if key == "Fn::GetAtt" and not isinstance(value, (Map, Scalar)) and value.items:
            name = string(value.items[0])
        elif key == "Fn::GetAtt" and name:
            name = name.partition(".")[0]
        elif key != "Ref":
            return None
        return name if name in self.resources else None
