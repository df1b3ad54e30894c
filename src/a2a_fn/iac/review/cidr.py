"""Address blocks: what is wrong with one, how two of them stand to each other."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

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


def overlap(one: Network, other: Network) -> bool:
    """Say if two networks share an address; IPv4 and IPv6 never do."""
    return one.version == other.version and one.overlaps(other)


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


def free_block(outer: Network, length: int, taken: Iterable[Network]) -> Network | None:
    """Return the first block of a prefix length in `outer` that overlaps nothing taken."""
    if not outer.prefixlen <= length <= outer.max_prefixlen:
        return None
    size = 1 << (outer.max_prefixlen - length)
    start, end = int(outer.network_address), int(outer.broadcast_address)
    spans = [
        (int(other.network_address), int(other.broadcast_address))
        for other in taken
        if other.version == outer.version
    ]
    for first, last in sorted(spans):
        if first < start + size and last >= start:
            start = (last // size + 1) * size
    if start + size - 1 > end:
        return None
    return ipaddress.ip_network((start, length))
