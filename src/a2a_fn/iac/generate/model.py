"""The values between reading a request and writing a template.

    text -> Mark*  -> Request (Ask*, Rule*)  -> Plan (Resource*, Parameter*)  -> files
            reading   grammar                   planning                         ros, terraform

A `Plan` names no format. What differs between ROS and Terraform is a pair of names in a `Field`, or
a `Pair` of values; everything else is said once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

# ---------------------------------------------------------------- what was read


@dataclass(frozen=True)
class Mark:
    """One recognised piece of the request: what it is, its value, and where it stood."""

    type: str
    value: Any
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Rule:
    """One inbound opening: a port range, a protocol, and from where.

    `source` is a CIDR block, `world`, `vpc` (the VPC's own range), `stack` (other
    resources of the request), `admin` (asked of whoever deploys), or empty when the request did
    not say.
    """

    low: int
    high: int
    protocol: str = "tcp"
    source: str = ""
    name: str = ""


@dataclass(frozen=True)
class Ask:
    """Resources of one kind that the request asks for together.

    `count` is None where no number was said. `per` is the kind, or `zone`, of which each has
    `count`. `near` is the index of the ask that this one was said to belong to.
    """

    kind: str
    count: int | None = None
    plural: bool = False
    per: str = ""
    near: int | None = None
    names: tuple[str, ...] = ()
    cidrs: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    rules: tuple[Rule, ...] = ()


@dataclass(frozen=True)
class Request:
    """What a text asks for, before anything is added to it."""

    language: str
    format: str
    asks: tuple[Ask, ...] = ()
    closed: tuple[Rule, ...] = ()
    banned: frozenset[str] = frozenset()
    zones: int | None = None
    zone_ids: tuple[str, ...] = ()
    region: str = ""
    facts: frozenset[str] = frozenset()
    not_understood: tuple[str, ...] = ()
    problems: tuple[Message, ...] = ()


@dataclass(frozen=True)
class Message:
    """A sentence by its code, to be said in the request's language with these values."""

    code: str
    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


# ---------------------------------------------------------------- what will be written


@dataclass(frozen=True)
class Attribute:
    """A value of another resource. `ros` empty means its `Ref`."""

    resource: str
    ros: str = ""
    terraform: str = "id"


@dataclass(frozen=True)
class Input:
    """The value of a parameter (ROS) or variable (Terraform)."""

    parameter: str


@dataclass(frozen=True)
class Label:
    """A display name made of the stack's name, or the `name_prefix` variable, and a suffix."""

    suffix: str


@dataclass(frozen=True)
class Joined:
    """Values joined by a separator."""

    separator: str
    items: tuple[Any, ...]


@dataclass(frozen=True)
class First:
    """The first element of a list."""

    of: Attribute


@dataclass(frozen=True)
class Pair:
    """A value that is written differently in the two formats."""

    ros: Any
    terraform: Any


@dataclass(frozen=True)
class Block:
    """A nested object: a map in ROS, a block in Terraform. `many`: the only one of a list."""

    fields: tuple[Field, ...]
    many: bool = False


@dataclass(frozen=True)
class Field:
    """One property: its name in ROS, its name in Terraform (either may be empty), its value."""

    ros: str
    terraform: str
    value: Any


@dataclass(frozen=True)
class Output:
    """One output of a resource, with its description."""

    id: str
    value: Any
    description: str


@dataclass(frozen=True)
class Parameter:
    """A value that whoever deploys the template chooses.

    `association` is ROS's AssociationProperty: what the console offers to choose from. Inside
    `metadata`, a `Input` is written as `${Name}`. `pattern` is a full match in both formats.
    """

    id: str
    group: str
    label: tuple[str, str]
    description: str
    type: str = "String"
    default: Any = None
    association: str = ""
    metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    pattern: str = ""
    constraint: str = ""
    length: tuple[int, int] | None = None
    bounds: tuple[int, int] | None = None
    secret: bool = False
    terraform_default: Any = None


@dataclass(frozen=True)
class Resource:
    """One planned resource.

    `why` is `asked`, or the id of the resource that needs it. `settings` are the kind's own planned
    values; its `fields` function turns them into properties.
    """

    id: str
    kind: str
    why: str = "asked"
    name: str = ""
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __getitem__(self, key: str) -> Any:
        return self.settings[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return a planned value, or the default."""
        return self.settings.get(key, default)


@dataclass(frozen=True)
class Plan:
    """Everything that will be written, in order; empty `resources` when a question blocks."""

    resources: tuple[Resource, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    region: str = ""
    notes: tuple[Message, ...] = ()
    questions: tuple[Message, ...] = ()


class Unanswered(Exception):
    """Planning cannot go on before this question is answered."""

    def __init__(self, code: str, **values: Any) -> None:
        super().__init__(code)
        self.message = Message(code, MappingProxyType(values))
