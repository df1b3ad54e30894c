"""A Terraform module as rules see it: what its files declare, and who refers to whom."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from a2a_fn.iac.documents.hcl import Access, Array, Block, Body, Expr, For, Template, children
from a2a_fn.iac.documents.reading import Document
from a2a_fn.iac.documents.source import Source

_RESERVED = frozenset({"each", "count", "self", "path", "terraform", "ephemeral", "provider"})
_NAMED = {"var": "variable", "local": "local", "module": "module"}
_DECLARED = {"variable": "variable", "module": "module", "output": "output"}
# Arguments that hold types, providers, attributes of the block itself or former addresses.
_SKIPPED = {
    "variable": {"type"},
    "resource": {"provider"},
    "data": {"provider"},
    "module": {"providers"},
    "lifecycle": {"ignore_changes"},
    "moved": {"from", "to"},
    "removed": {"from"},
    "import": {"to", "provider"},
}


@dataclass(frozen=True, slots=True, eq=False)
class Declaration:
    """Something with a name. `kind` is `variable`, `local`, `module`, `output`, `resource` or
    `data`; the name of the last two is `type.name`. A local has an `expr`, all others a `block`.
    """

    kind: str
    name: str
    source: Source
    start: int
    block: Block | None = None
    expr: Expr | None = None

    @property
    def address(self) -> str:
        """The name as expressions write it: `var.x`, `alicloud_vpc.main`."""
        prefix = {"variable": "var.", "resource": ""}.get(self.kind, f"{self.kind}.")
        return prefix + self.name

    @property
    def type(self) -> str:
        """The type of a resource or data source."""
        return self.name.partition(".")[0]

    def get(self, name: str) -> Expr | None:
        """Return the value of an argument."""
        return self.block.body.get(name) if self.block else None


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """A place that names a declaration of the same module; `owner` is the address it stands in."""

    kind: str
    name: str
    source: Source
    start: int
    owner: str


@dataclass(slots=True, eq=False)
class Module:
    """The Terraform files of one folder.

    `whole` is False if a file could not be read: what is declared is then not known in full.
    `repeats` pairs a second declaration of a name with the first.
    """

    documents: Sequence[Document]
    whole: bool = True
    declared: dict[str, dict[str, Declaration]] = field(default_factory=dict)
    references: list[Reference] = field(default_factory=list)
    repeats: list[tuple[Declaration, Declaration]] = field(default_factory=list)
    bodies: list[tuple[Source, Body]] = field(default_factory=list)
    settings: list[tuple[Source, Body]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for document in self.documents:
            if document.body is None:
                self.whole = False
            elif document.kind == "terraform-variables":
                self.settings.append((document.source, document.body))
            else:
                self.bodies.append((document.source, document.body))
        for source, body in self.bodies:
            for block in body.blocks:
                self._declare(source, block)
        for source, body in self.bodies:
            for block in body.blocks:
                self._refer(source, block)

    @property
    def size(self) -> int:
        """How many resources it declares, data sources left out."""
        return len(self.all("resource"))

    def all(self, kind: str) -> dict[str, Declaration]:
        """Return the declarations of a kind by name."""
        return self.declared.get(kind, {})

    def _declare(self, source: Source, block: Block) -> None:
        if block.type == "locals":
            for attribute in block.body.attributes:
                self._add(
                    Declaration(
                        "local", attribute.name, source, attribute.start, expr=attribute.value
                    )
                )
        elif block.type in ("resource", "data") and len(block.labels) == 2:
            name = ".".join(label.text for label in block.labels)
            self._add(Declaration(block.type, name, source, block.labels[0].start, block))
        elif block.type in _DECLARED and len(block.labels) == 1:
            label = block.labels[0]
            self._add(Declaration(block.type, label.text, source, label.start, block))
        elif block.type == "check":  # a check may hold a data source of its own
            for inner in block.body.all("data"):
                self._declare(source, inner)

    def _add(self, declaration: Declaration) -> None:
        names = self.declared.setdefault(declaration.kind, {})
        first = names.setdefault(declaration.name, declaration)
        if first is not declaration and not _overrides(declaration.source.name):
            self.repeats.append((first, declaration))

    def _refer(self, source: Source, block: Block) -> None:
        if block.type == "locals":
            for attribute in block.body.attributes:
                self._expression(source, attribute.value, f"local.{attribute.name}", frozenset())
            return
        labels = [label.text for label in block.labels]
        prefix = {"variable": "var", "resource": ""}.get(block.type, block.type)
        owner = ".".join([prefix, *labels] if prefix else labels)
        self._body(source, block.type, block.body, owner, frozenset())

    def _body(
        self, source: Source, kind: str, body: Body, owner: str, bound: frozenset[str]
    ) -> None:
        if kind == "required_providers":
            return
        skipped = _SKIPPED.get(kind, ())
        for attribute in body.attributes:
            if attribute.name not in skipped:
                self._expression(source, attribute.value, owner, bound)
        for block in body.blocks:
            inside = bound | _iterator(block) if block.type == "dynamic" else bound
            self._body(source, block.type, block.body, owner, inside)

    def _expression(self, source: Source, expr: Expr, owner: str, bound: frozenset[str]) -> None:
        for access in accesses(expr, bound):
            found = _target(access)
            if found is not None:
                kind, name = found
                self.references.append(Reference(kind, name, source, access.start, owner))


def _iterator(block: Block) -> frozenset[str]:
    """Return the name that a dynamic block gives to its current element."""
    iterator = block.body.get("iterator")
    if isinstance(iterator, Access) and isinstance(iterator.root, str):
        return frozenset({iterator.root})
    return frozenset(label.text for label in block.labels)


def _overrides(name: str) -> bool:
    base = posixpath.basename(name)
    return base == "override.tf" or base.endswith("_override.tf")


def accesses(expr: Expr, bound: frozenset[str] = frozenset()) -> Iterator[Access]:
    """Yield every access in an expression whose root is no name of an enclosing `for`."""
    stack = [(expr, bound)]
    while stack:
        at, names = stack.pop()
        if isinstance(at, Access) and isinstance(at.root, str) and at.root not in names:
            yield at
        if isinstance(at, For):
            stack.append((at.source, names))
            inside = names.union(at.names)
            stack += [(part, inside) for part in at.parts]
            continue
        if isinstance(at, Template):  # the names of a for directive hold for what follows it
            directives = [p for p in at.parts if isinstance(p, For) and not p.parts]
            names = names.union(name for for_ in directives for name in for_.names)
        stack += [(child, names) for child in children(at)]


def _target(access: Access) -> tuple[str, str] | None:
    """Return kind and name of what an access refers to; None if that is no declaration."""
    names = access.names()
    if len(names) < 2:
        return None
    root = names[0]
    if root in _NAMED:
        return _NAMED[root], names[1]
    if root == "data":
        return ("data", ".".join(names[1:3])) if len(names) > 2 else None
    if root in _RESERVED:
        return None
    return "resource", ".".join(names[:2])


def items(expr: Expr | None) -> list[Expr]:
    """Return the items of a list that is written out; a single value is a list of one."""
    if expr is None:
        return []
    return expr.items if isinstance(expr, Array) else [expr]
