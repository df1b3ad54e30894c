"""Are the address blocks right, and do they fit together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from a2a_fn.iac.documents.hcl import Access, Block, Expr, Literal
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review import cidr
from a2a_fn.iac.review.terraform.module import Declaration, Module
from a2a_fn.iac.review.terraform.values import Known, each, known
from a2a_fn.iac.review.words import show


@dataclass(frozen=True, slots=True)
class _Family:
    """How one provider writes subnets: type, block and parent argument, and the same of its
    network; `more` are types that add blocks to a network."""

    subnet: str
    block: str
    parent: str
    network: str
    network_block: str
    more: tuple[str, ...] = ()


_FAMILIES = (
    _Family(
        "alicloud_vswitch",
        "cidr_block",
        "vpc_id",
        "alicloud_vpc",
        "cidr_block",
        ("alicloud_vpc_ipv4_cidr_block",),
    ),
    _Family(
        "aws_subnet",
        "cidr_block",
        "vpc_id",
        "aws_vpc",
        "cidr_block",
        ("aws_vpc_ipv4_cidr_block_association",),
    ),
    _Family(
        "tencentcloud_subnet",
        "cidr_block",
        "vpc_id",
        "tencentcloud_vpc",
        "cidr_block",
        ("tencentcloud_vpc_assistant_cidr",),
    ),
    _Family("huaweicloud_vpc_subnet", "cidr", "vpc_id", "huaweicloud_vpc", "cidr"),
)
_BLOCKS = frozenset({"cidr_block"})
_LISTS = frozenset({"cidr_blocks", "ipv6_cidr_blocks"})
# Arguments that also take a single address.
_PEERS = frozenset({"cidr_ip", "ipv6_cidr_ip", "cidr_ipv4", "cidr_ipv6", "destination_cidrblock"})
_STRICT = frozenset({"alicloud_vpc", "alicloud_vswitch", "aws_vpc", "aws_subnet"})


def _net(block: str) -> str:
    return f'resource "alicloud_vpc" "main" {{\n  cidr_block = "{block}"\n}}\n'


def _sub(name: str, block: str) -> str:
    return (
        f'resource "alicloud_vswitch" "{name}" {{\n  vpc_id     = alicloud_vpc.main.id\n'
        f'  cidr_block = "{block}"\n}}\n'
    )


INVALID = Rule(
    "tf-invalid-cidr",
    Severity.ERROR,
    "An address block that is none",
    "The provider refuses addresses over 255, prefix lengths over 32 and the like.",
    _net("10.0.0.0/33"),
    _net("10.0.0.0/16"),
)
HOST_BITS = Rule(
    "tf-cidr-host-bits",
    Severity.ERROR,
    "An address block that does not begin at its network address",
    "The block of a network or subnet is given by its first address.",
    _net("10.0.1.0/16"),
    _net("10.0.0.0/16"),
)
OUTSIDE = Rule(
    "tf-subnet-outside-network",
    Severity.ERROR,
    "A subnet outside its network",
    "A subnet's block is a part of its network's block.",
    _net("10.0.0.0/16") + _sub("a", "10.1.0.0/24"),
    _net("10.0.0.0/16") + _sub("a", "10.0.1.0/24"),
)
OVERLAP = Rule(
    "tf-subnet-overlap",
    Severity.ERROR,
    "Subnets of one network that overlap",
    "Two subnets of a network cannot hold the same address.",
    _net("10.0.0.0/16") + _sub("a", "10.0.0.0/23") + _sub("b", "10.0.1.0/24"),
    _net("10.0.0.0/16") + _sub("a", "10.0.0.0/23") + _sub("b", "10.0.2.0/24"),
)
RULES = (INVALID, HOST_BITS, OUTSIDE, OVERLAP)


def blocks(module: Module) -> Iterator[Finding]:
    """Each block that can be told from the files is one, and begins where it should."""
    for declaration in module.all("resource").values():
        if declaration.block is None:
            continue
        stack = [declaration.block]
        while stack:
            block = stack.pop()
            stack += block.body.blocks
            for name, value, expr in _values(module, block):
                yield from _block(declaration, name, value, expr)


def _values(module: Module, block: Block) -> Iterator[tuple[str, Known, Expr]]:
    for attribute in block.body.attributes:
        if attribute.name in _LISTS:
            for value, expr in each(module, attribute.value):
                yield attribute.name, value, expr
        elif attribute.name in _BLOCKS or attribute.name in _PEERS:
            found = known(module, attribute.value)
            if found is not None:
                yield attribute.name, found, attribute.value


def _block(declaration: Declaration, name: str, value: Known, expr: Expr) -> Iterator[Finding]:
    text = value.text
    if not text or (name in _PEERS and cidr.is_address(text)):
        return
    by = f", by the default of {value.default}," if value.default else ""
    source, path = declaration.source, f"{declaration.address}.{name}"
    if fault := cidr.fault(text):
        # The text itself stays out of the message: it may be anything, a secret too.
        yield INVALID.at(
            source,
            expr.start,
            f"{name}{by} is no address block: {fault}",
            fix="write it like 10.0.0.0/16",
            path=path,
        )
        return
    network = cidr.parse(text)
    if network is None or declaration.type not in _STRICT or name != "cidr_block":
        return
    if cidr.has_host_bits(text, network):
        yield HOST_BITS.at(
            source,
            expr.start,
            f"{name}{by} is {text}, but that network begins at {network.network_address}",
            fix=f"write {network}",
            path=path,
        )


@dataclass(frozen=True, slots=True)
class _Subnet:
    """A subnet, or the network around some, whose block is known.

    `parent` is equal for subnets of one network; `single` says that it exists exactly once.
    """

    declaration: Declaration
    expr: Expr
    known: Known
    network: cidr.Network
    parent: str = ""
    single: bool = True

    def __str__(self) -> str:
        by = f" by the default of {self.known.default}" if self.known.default else ""
        return f"{show(self.declaration.address)} ({self.network}{by})"


def subnets(module: Module) -> Iterator[Finding]:
    """Subnets lie inside their network and beside each other."""
    for family in _FAMILIES:
        groups: dict[str, list[_Subnet]] = {}
        for subnet in _subnets(module, family):
            groups.setdefault(subnet.parent, []).append(subnet)
        grows = any(other.type in family.more for other in module.all("resource").values())
        for parent, members in groups.items():
            outer = None if grows else _network(module, family, parent)
            yield from _group(outer, members)


def _subnets(module: Module, family: _Family) -> Iterator[_Subnet]:
    for declaration in module.all("resource").values():
        if declaration.type != family.subnet:
            continue
        found = _known(module, declaration, family.block)
        parent = _same(declaration.get(family.parent))
        if found is not None and parent:
            single = declaration.get("count") is None and declaration.get("for_each") is None
            yield replace(found, parent=parent, single=single)


def _known(module: Module, declaration: Declaration, argument: str) -> _Subnet | None:
    expr = declaration.get(argument)
    found = known(module, expr)
    network = cidr.parse(found.text) if found and found.text else None
    if expr is None or found is None or network is None:
        return None
    return _Subnet(declaration, expr, found, network)


def _same(expr: Expr | None) -> str | None:
    """Return a key that is equal for values of the same network: the access, written out."""
    if not isinstance(expr, Access) or not isinstance(expr.root, str):
        return None
    parts = [expr.root]
    for step in expr.steps:
        if isinstance(step, Literal):
            parts.append(f"[{step.value}]")
        elif isinstance(step, str) and step != "*":
            parts.append(step)
        else:
            return None
    return ".".join(parts) if expr.steps else None


def _network(module: Module, family: _Family, parent: str) -> _Subnet | None:
    """Return the parent, if it has one block that can be told and no further ones."""
    type_, _, rest = parent.partition(".")
    name = rest.partition(".")[0]
    declaration = module.all("resource").get(f"{family.network}.{name}")
    if type_ != family.network or declaration is None:
        return None
    if declaration.get("secondary_cidr_blocks") is not None:
        return None
    return _known(module, declaration, family.network_block)


def _group(outer: _Subnet | None, members: list[_Subnet]) -> Iterator[Finding]:
    taken = [member.network for member in members]
    room = cidr.Room(outer.network, taken) if outer else None
    # With count or for_each it is open which of two exist.
    single = [member for member in members if member.single]
    overlaps = cidr.Overlaps(member.network for member in single)
    for member in members:
        if outer is not None and not cidr.within(member.network, outer.network):
            yield _finding(OUTSIDE, member, f"is not inside its network {outer}", room)
        if member.single and (hit := overlaps.add(member.network)) is not None:
            more = f" and {hit.count - 1} more" if hit.count > 1 else ""
            yield _finding(OVERLAP, member, f"overlaps {single[hit.first]}{more}", room)


def _finding(rule: Rule, member: _Subnet, what: str, room: cidr.Room | None) -> Finding:
    free = room.free(member.network.prefixlen) if room else None
    return rule.at(
        member.declaration.source,
        member.expr.start,
        f"{member} {what}",
        fix=f"use a free block, such as {free}" if free else "give it a block of its own",
        path=member.declaration.address,
    )


CHECKS = (blocks, subnets)
