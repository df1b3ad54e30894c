"""HCL as a tree: bodies of attributes and blocks, and expressions.

Only as much of an expression is kept as a reader of references and constants needs: operators
are one flat `Operation` without precedence.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Literal:
    """A constant: text, number, truth or null. `start`, `end` are indexes into the source."""

    value: str | int | float | bool | None
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Template:
    """A quoted text or heredoc with interpolations: pieces of text and expressions in turn."""

    parts: list[str | Expr]
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class Array:
    """`[a, b]`."""

    items: list[Expr]
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class Mapping:
    """`{ a = b }`. A bare word as a key is a `Literal`."""

    items: list[tuple[Expr, Expr]]
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class Access:
    """A root and what is taken from it: `var.a[0].b`.

    `root` is a name, or the expression before the dot. A step is an attribute's name, `*`, or
    the expression of an index.
    """

    root: str | Expr
    steps: list[str | Expr]
    start: int
    end: int = 0

    def names(self) -> list[str]:
        """Return the root's name and the attribute names up to the first index or splat."""
        found = [self.root] if isinstance(self.root, str) else []
        for step in self.steps:
            if not isinstance(step, str) or step == "*":
                break
            found.append(step)
        return found


@dataclass(slots=True, eq=False)
class Call:
    """A function call."""

    name: str
    args: list[Expr]
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class Operation:
    """Operands joined by operators, a conditional among them: never a known value."""

    operands: list[Expr]
    start: int
    end: int = 0


@dataclass(slots=True, eq=False)
class For:
    """A `for` expression. `source` is outside the scope of `names`, `parts` are inside.

    In a `Template` a `For` without parts is the directive `%{ for x in y }`: what follows it in
    the template is its body.
    """

    names: tuple[str, ...]
    source: Expr
    parts: list[Expr]
    start: int
    end: int = 0


Expr = Literal | Template | Array | Mapping | Access | Call | Operation | For


@dataclass(slots=True, eq=False)
class Attribute:
    """`name = value`."""

    name: str
    value: Expr
    start: int


@dataclass(slots=True, eq=False)
class Label:
    """A block's label and its place."""

    text: str
    start: int


@dataclass(slots=True, eq=False)
class Body:
    """What stands between a block's braces, or in a file. `attributes` keeps repeats."""

    attributes: list[Attribute] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)

    def get(self, name: str) -> Expr | None:
        """Return the value of an attribute, or None."""
        return next((a.value for a in self.attributes if a.name == name), None)

    def all(self, kind: str) -> Iterator[Block]:
        """Yield the blocks of one kind."""
        return (block for block in self.blocks if block.type == kind)


@dataclass(slots=True, eq=False)
class Block:
    """`type "label" { body }`."""

    type: str
    labels: list[Label]
    body: Body
    start: int


def children(expr: Expr) -> Iterator[Expr]:
    """Yield the expressions that stand directly inside an expression."""
    match expr:
        case Template(parts=parts) | Access(steps=parts):
            if isinstance(expr, Access) and not isinstance(expr.root, str):
                yield expr.root
            yield from (part for part in parts if not isinstance(part, str))
        case Array(items=items) | Call(args=items) | Operation(operands=items):
            yield from items
        case Mapping(items=pairs):
            for key, value in pairs:
                yield key
                yield value
        case For(source=source, parts=inner):
            yield source
            yield from inner
