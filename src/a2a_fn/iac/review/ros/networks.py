"""Are the address blocks right, and do they fit together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from a2a_fn.iac.documents.tree import Map, Node, Scalar, Sequence, step
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review import cidr
from a2a_fn.iac.review.ros.template import Entry, Known, Template
from a2a_fn.iac.review.words import show

VPC = "ALIYUN::ECS::VPC"
VSWITCH = "ALIYUN::ECS::VSwitch"
_BLOCKS = ("CidrBlock",)
# Properties that also take a single address.
_PEERS = (
    "DestinationCidrBlock",
    "SourceCidrIp",
    "DestCidrIp",
    "Ipv6SourceCidrIp",
    "Ipv6DestCidrIp",
)


def _net(block: str) -> str:
    return (
        "Resources:\n  Net:\n    Type: ALIYUN::ECS::VPC\n"
        f"    Properties:\n      CidrBlock: {block}\n"
    )


def _sub(name: str, block: str) -> str:
    return (
        f"  {name}:\n    Type: ALIYUN::ECS::VSwitch\n    Properties:\n"
        f"      VpcId:\n        Ref: Net\n      CidrBlock: {block}\n"
    )


INVALID = Rule(
    id="ros-invalid-cidr",
    severity=Severity.ERROR,
    title="An address block that is none",
    why="The service refuses addresses over 255, prefix lengths over 32 and the like.",
    bad=_net("10.0.0.0/33"),
    good=_net("10.0.0.0/16"),
)
HOST_BITS = Rule(
    id="ros-cidr-host-bits",
    severity=Severity.ERROR,
    title="An address block that does not begin at its network address",
    why="The block of a VPC or vSwitch is given by its first address.",
    bad=_net("10.0.1.0/16"),
    good=_net("10.0.0.0/16"),
)
OUTSIDE = Rule(
    id="ros-vswitch-outside-vpc",
    severity=Severity.ERROR,
    title="A vSwitch outside its VPC",
    why="A vSwitch's block is a part of its VPC's block.",
    bad=_net("10.0.0.0/16") + _sub("Sub", "10.1.0.0/24"),
    good=_net("10.0.0.0/16") + _sub("Sub", "10.0.1.0/24"),
)
OVERLAP = Rule(
    id="ros-vswitch-overlap",
    severity=Severity.ERROR,
    title="vSwitches of one VPC that overlap",
    why="Two vSwitches of a VPC cannot hold the same address.",
    bad=_net("10.0.0.0/16") + _sub("A", "10.0.0.0/23") + _sub("B", "10.0.1.0/24"),
    good=_net("10.0.0.0/16") + _sub("A", "10.0.0.0/23") + _sub("B", "10.0.2.0/24"),
)
RULES = (INVALID, HOST_BITS, OUTSIDE, OVERLAP)


def blocks(template: Template) -> Iterator[Finding]:
    """Each block that can be told from the template is one, and begins where it should."""
    for name, entry in template.resources.items():
        if not (entry.text("Type") or "").startswith("ALIYUN::") or entry.properties is None:
            continue
        for key, node, path in _values(entry.properties, f"{step('Resources', name)}.Properties"):
            known = template.known(node)
            if known is None or not known.text:
                continue
            if key in _PEERS and cidr.is_address(known.text):
                continue
            yield from _block(template, entry, key, known, known.text, path)


def _block(
    template: Template, entry: Entry, key: str, known: Known, text: str, path: str
) -> Iterator[Finding]:
    where = f"the default of {show(known.default)}" if known.default else key
    at = template.place("Parameters", known.default, "Default") if known.default else ""
    at = at or template.place(path)
    if fault := cidr.fault(text):
        # The text itself stays out of the message: it may be anything, a secret too.
        yield INVALID.at(
            template.source,
            known.node.start,
            f"{where} is no address block: {fault}",
            fix="write it like 10.0.0.0/16",
            path=at,
        )
        return
    network = cidr.parse(text)
    if network is None or entry.text("Type") not in (VPC, VSWITCH):
        return
    if cidr.has_host_bits(text, network):
        yield HOST_BITS.at(
            template.source,
            known.node.start,
            f"{where} is {text}, but that network begins at {network.network_address}",
            fix=f"write {network}",
            path=at,
        )


def _values(node: Node, path: str) -> Iterator[tuple[str, Node, str]]:
    """Yield the values of block properties, at any depth; not inside functions' arguments."""
    stack: list[tuple[Node, str]] = [(node, path)]
    while stack:
        at, where = stack.pop()
        if isinstance(at, Sequence):
            stack += [(item, step(where, n)) for n, item in enumerate(at.items)]
        elif isinstance(at, Map):
            for key, value in at.values.items():
                if key in _BLOCKS or key in _PEERS:
                    yield key, value, step(where, key)
                elif key != "TemplateBody" and not isinstance(value, Scalar):
                    stack.append((value, step(where, key)))


@dataclass(frozen=True, slots=True)
class _Subnet:
    """A vSwitch, or the VPC around some, whose block is known."""

    entry: Entry
    known: Known
    network: cidr.Network
    vpc: str = ""

    def __str__(self) -> str:
        by = f" by the default of {show(self.known.default)}" if self.known.default else ""
        return f"{show(self.entry.name)} ({self.network}{by})"

    @property
    def condition(self) -> str | None:
        return self.entry.text("Condition")


def subnets(template: Template) -> Iterator[Finding]:
    """vSwitches lie inside their VPC and beside each other."""
    groups: dict[str, list[_Subnet]] = {}
    for subnet in _subnets(template):
        groups.setdefault(subnet.vpc, []).append(subnet)
    # A resource of such a type adds a block to a VPC.
    grows = any("cidrblock" in (e.text("Type") or "").lower() for e in template.resources.values())
    for vpc, members in groups.items():
        outer = None if grows else _vpc(template, template.resources.get(vpc))
        taken = [member.network for member in members]
        room = cidr.Room(outer.network, taken) if outer else None
        overlaps = cidr.Overlaps(taken)
        for member in members:
            if outer is not None and not cidr.within(member.network, outer.network):
                yield _finding(OUTSIDE, template, member, f"is not inside its VPC {outer}", room)
            what = None
            # Those under different conditions may never exist together.
            if (hit := overlaps.add(member.network, member.condition)) is not None:
                more = f" and {hit.count - 1} more" if hit.count > 1 else ""
                what = f"overlaps vSwitch {members[hit.first]}{more}"
            elif (copies := _copies(template, member.entry)) > 1:
                what = f"exists {copies} times, with one block for all"
            if what is not None:
                yield _finding(OVERLAP, template, member, what, room)


def _subnets(template: Template) -> Iterator[_Subnet]:
    for entry in template.of_type(VSWITCH):
        properties = entry.properties
        known = template.known(properties.get("CidrBlock")) if properties else None
        network = cidr.parse(known.text) if known and known.text else None
        vpc = _same(template, properties.get("VpcId")) if properties else None
        if known and network and vpc:
            yield _Subnet(entry, known, network, vpc)


def _same(template: Template, node: Node | None) -> str | None:
    """Return a key that is equal for vSwitches of the same VPC: its name, if it is declared."""
    resource = template.refers_to(node)
    if resource is not None:
        return resource if template.resources[resource].get("Count") is None else None
    only = node.only() if isinstance(node, Map) else None
    if only and only[0] == "Ref" and isinstance(only[1], Scalar):
        return f"Ref {only[1].value}"
    return None


def _vpc(template: Template, entry: Entry | None) -> _Subnet | None:
    """Return a VPC, if it has one block that can be told and no further ones."""
    if entry is None or entry.text("Type") != VPC or entry.properties is None:
        return None
    if any("secondary" in key.lower() for key in entry.properties.values):
        return None
    known = template.known(entry.properties.get("CidrBlock"))
    network = cidr.parse(known.text) if known and known.text else None
    return _Subnet(entry, known, network) if known and network else None


def _copies(template: Template, entry: Entry) -> int:
    """Return a resource's `Count` where it is written out, otherwise 1."""
    count = entry.get("Count")
    known = template.known(count) if isinstance(count, Scalar) else None
    return known.value if known and type(known.value) is int else 1


def _finding(
    rule: Rule, template: Template, member: _Subnet, what: str, room: cidr.Room | None
) -> Finding:
    free = room.free(member.network.prefixlen) if room else None
    return rule.at(
        template.source,
        member.known.node.start,
        f"vSwitch {member} {what}",
        fix=f"use a free block, such as {free}" if free else "give it a block of its own",
        path=template.place("Resources", member.entry.name, "Properties", "CidrBlock"),
    )


CHECKS = (blocks, subnets)
