"""Address blocks: what is wrong with one, how two of them stand to each other."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_ANY = object()  # every group

_SHAPE = re.compile(r"[0-9A-Fa-f.:]{2,45}(?:/[0-9]{1,3})?")


def parse(text: str) -> Network | None:
    """Return the network that a CIDR block lies in, host bits dropped; None if it is none."""
    if not _SHAPE.fullmatch(text) or "/" not in text:
        return None
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None


def fault(text: str) -> str | None:
    """Say what makes a text no CIDR block; None if it is one."""
    address, slash, length = text.partition("/")
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "its address part is not an IP address"
    if not slash:
        return "it has no prefix length"
    if not (length.isascii() and length.isdigit()) or int(length[:9]) > parsed.max_prefixlen:
        return f"its prefix length is not a number from 0 to {parsed.max_prefixlen}"
    return None


def is_address(text: str) -> bool:
    """Say if a text is a single IP address, without a prefix length."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def has_host_bits(text: str, network: Network) -> bool:
    """Say if a block's address is not the first one of its network."""
    return ipaddress.ip_address(text.partition("/")[0]) != network.network_address


def within(inner: Network, outer: Network) -> bool:
    """Say if a network lies wholly inside another."""
    return (
        inner.version == outer.version
        and outer.network_address <= inner.network_address  # type: ignore[operator]
        and inner.broadcast_address <= outer.broadcast_address  # type: ignore[operator]
    )


def is_world(text: str) -> bool:
    """Say if a block holds every address: `0.0.0.0/0`, `::/0`."""
    network = parse(text)
    return network is not None and network.prefixlen == 0


@dataclass(frozen=True, slots=True)
class Overlap:
    """The blocks that one overlaps: the first of them by its number, and how many there are."""

    first: int
    count: int


class Overlaps:
    """Blocks in the order they are added, and which of the earlier ones each overlaps.

    Two networks overlap only if one holds the other. So a block is looked up under the networks
    of each prefix length that occurs: the work grows with the number of blocks, not its square.
    A `group` names blocks that exist together; those of group None exist with all the others.
    """

    def __init__(self, networks: Iterable[Network]) -> None:
        self._lengths = sorted({(network.version, network.prefixlen) for network in networks})
        self._added = 0
        self._around: dict[tuple[object, ...], Overlap] = {}
        self._inside: dict[tuple[object, ...], Overlap] = {}

    def add(self, network: Network, group: str | None = None) -> Overlap | None:
        """Add a block; return the earlier ones that it overlaps and can exist with, or None."""
        number, self._added = self._added, self._added + 1
        address, places = int(network.network_address), []
        for version, length in self._lengths:
            if version == network.version and length <= network.prefixlen:
                places.append((version, length, address >> (network.max_prefixlen - length)))
        wanted: tuple[object, ...] = (_ANY,) if group is None else (None, group)
        found = [self._inside.get((*places[-1], g)) for g in wanted]
        # Equal blocks lie inside each other: they are counted once, above.
        found += [self._around.get((*place, g)) for place in places[:-1] for g in wanted]
        for kind in (_ANY, group):
            _note(self._around, (*places[-1], kind), number)
            for place in places:
                _note(self._inside, (*place, kind), number)
        hits = [hit for hit in found if hit is not None]
        if not hits:
            return None
        return Overlap(min(hit.first for hit in hits), sum(hit.count for hit in hits))


def _note(index: dict[tuple[object, ...], Overlap], key: tuple[object, ...], number: int) -> None:
    known = index.get(key)
    index[key] = Overlap(known.first, known.count + 1) if known else Overlap(number, 1)


class Room:
    """What is free in a network beside the blocks that are taken."""

    def __init__(self, outer: Network, taken: Iterable[Network]) -> None:
        self._outer = outer
        self._spans = sorted(
            (int(other.network_address), int(other.broadcast_address))
            for other in taken
            if other.version == outer.version
        )
        self._known: dict[int, Network | None] = {}

    def free(self, length: int) -> Network | None:
        """Return the first block of a prefix length that overlaps nothing taken, if any."""
        if length not in self._known:
            self._known[length] = self._search(length)
        return self._known[length]

    def _search(self, length: int) -> Network | None:
        outer = self._outer
        if not outer.prefixlen <= length <= outer.max_prefixlen:
            return None
        size = 1 << (outer.max_prefixlen - length)
        start, end = int(outer.network_address), int(outer.broadcast_address)
        for first, last in self._spans:
            if first < start + size and last >= start:
                start = (last // size + 1) * size
        if start + size - 1 > end:
            return None
        address = type(outer.network_address)(start)
        return ipaddress.ip_network(f"{address}/{length}")
