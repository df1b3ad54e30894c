"""The tree that YAML and JSON are read into: scalars, lists and maps with their places."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

Value = str | int | float | bool | None

MAX_DEPTH = 100
MAX_NODES = 150_000
_LONGEST_PATH = 300
_LONGEST_KEY = 100


@dataclass(slots=True, eq=False)
class Scalar:
    """A single value. `start` and `end` are indexes into the source; `style` is `plain`,
    `quoted`, `literal` (a YAML block that keeps its lines) or `folded`."""

    value: Value
    start: int
    end: int
    style: str = "plain"


@dataclass(slots=True, eq=False)
class Sequence:
    """A list."""

    items: list[Node]
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class Map:
    """A mapping with scalar keys; keys are text, whatever they looked like in the source.

    The last of several equal keys counts, as it does for the usual loaders.
    """

    start: int
    end: int = 0
    keys: dict[str, Scalar] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)

    def get(self, key: str) -> Node | None:
        """Return the value of `key`, or None."""
        return self.values.get(key)

    def put(self, key: Scalar, value: Node) -> None:
        """Set a value under the key's text."""
        name = text_of(key)
        self.keys[name] = key
        self.values[name] = value

    def entries(self) -> Iterator[tuple[str, Scalar, Node]]:
        """Yield name, key and value of each entry, in order."""
        for name, key in self.keys.items():
            yield name, key, self.values[name]

    def only(self) -> tuple[str, Node] | None:
        """Return name and value of the only entry; None if there are none or several."""
        if len(self.values) != 1:
            return None
        return next(iter(self.values.items()))


Node = Scalar | Sequence | Map


def text_of(scalar: Scalar) -> str:
    """Return a scalar as text, the way it would be written in JSON."""
    match scalar.value:
        case str(text):
            return text
        case None:
            return "null"
        case bool(truth):
            return "true" if truth else "false"
        case number:
            return str(number)


def step(path: str, key: str | int) -> str:
    """Return a path one step longer: `a.b`, `a[0]`. A path stays within about 400 characters."""
    if len(path) > _LONGEST_PATH:
        return path
    return f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key[:_LONGEST_KEY]}"


def string(node: Node | None) -> str | None:
    """Return the text of a string scalar; None for anything else."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None
