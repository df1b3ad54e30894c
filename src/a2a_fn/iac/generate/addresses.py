"""Address ranges: check the asked ones, carve the others so that none overlap. Pure arithmetic.

Limits are the VPC product's own: a VPC's mask is /8 to /28, a vSwitch's /16 to /29.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network, ip_network

from a2a_fn.iac.generate.model import Unanswered

VPC_MASKS = (8, 28)
VSWITCH_MASKS = (16, 29)
USUAL_MASK = 24

#: Ranges that the platform keeps for itself (alicloud_vpc, `cidr_block`).
_RESERVED = tuple(
    IPv4Network(block)
    for block in ("100.64.0.0/10", "224.0.0.0/4", "127.0.0.0/8", "169.254.0.0/16")
)


def block(text: str) -> IPv4Network:
    """Return the IPv4 network that a text names; a question if it is not one, or has host bits."""
    address, _, mask = text.partition("/")
    try:
        loose = ip_network(text, strict=False)
    except ValueError:
        raise Unanswered("cidr-invalid", cidr=text) from None
    if not isinstance(loose, IPv4Network):
        raise Unanswered("cidr-invalid", cidr=text)
    if mask and str(loose.network_address) != address:
        raise Unanswered("cidr-host-bits", cidr=text, network=str(loose))
    return loose


def vpc_ranges(
    count: int, cidrs: Sequence[str], prefix: int | None, taken: Iterable[IPv4Network]
) -> list[IPv4Network]:
    """Return one range for each VPC: the given ones, else 10.N.0.0/16 (or of the given mask)."""
    if cidrs and len(cidrs) != count:
        raise Unanswered("cidr-count", kind="vpc", count=count, given=len(cidrs))
    used = list(taken)
    if cidrs:
        found = [block(cidr) for cidr in cidrs]
    else:
        mask = prefix or 16
        _check_mask(f"/{mask}", mask, VPC_MASKS, "vpc")
        found = _free(IPv4Network("10.0.0.0/8"), mask, count, used, step=min(mask, 16))
    for network in found:
        _check_mask(str(network), network.prefixlen, VPC_MASKS, "vpc")
        if any(network.overlaps(reserved) for reserved in _RESERVED) or network.prefixlen == 0:
            raise Unanswered("cidr-reserved", cidr=str(network))
    return found


def carve(
    network: IPv4Network,
    wanted: Sequence[str | None],
    prefix: int | None,
    taken: Sequence[IPv4Network],
    reserve: int = 0,
) -> list[IPv4Network]:
    """Return one range for each wanted place inside `network`, none overlapping another.

    A place with a CIDR keeps it. The others share a mask: the asked one, else /24 where that fits,
    else the widest that fits them and `reserve` more to come.
    """
    given: dict[int, IPv4Network] = {}
    used = list(taken)
    for place, text in enumerate(wanted):
        if text is None:
            continue
        found = block(text)
        _check_mask(text, found.prefixlen, VSWITCH_MASKS, "vswitch")
        if not found.subnet_of(network):
            raise Unanswered("vswitch-outside-vpc", cidr=text, vpc=str(network))
        other = next((each for each in used if each.overlaps(found)), None)
        if other is not None:
            raise Unanswered("vswitch-overlap", cidr=text, other=str(other))
        given[place] = found
        used.append(found)
    open_places = [place for place, text in enumerate(wanted) if text is None]
    given.update(
        zip(open_places, _fit(network, len(open_places), prefix, used, reserve), strict=True)
    )
    return [given[place] for place in range(len(wanted))]


def _fit(
    network: IPv4Network, count: int, prefix: int | None, used: list[IPv4Network], reserve: int
) -> list[IPv4Network]:
    if not count:
        return []
    first = max(USUAL_MASK, network.prefixlen, VSWITCH_MASKS[0])
    masks = [prefix] if prefix else list(range(first, VSWITCH_MASKS[1] + 1))
    for mask in masks:
        _check_mask(f"/{mask}", mask, VSWITCH_MASKS, "vswitch")
        if mask < network.prefixlen:
            break
        try:
            return _free(network, mask, count + reserve, used, step=mask)[:count]
        except Unanswered:
            continue
    raise Unanswered("does-not-fit", count=count, mask=prefix or VSWITCH_MASKS[1], vpc=str(network))


def _free(
    network: IPv4Network, mask: int, count: int, used: Iterable[IPv4Network], step: int
) -> list[IPv4Network]:
    """Return the first `count` free blocks of a mask, at multiples of the step's mask."""
    taken = list(used)
    found: list[IPv4Network] = []
    address = int(network.network_address)
    end = int(network.broadcast_address)
    while len(found) < count:
        if address + (1 << (32 - mask)) - 1 > end:
            raise Unanswered("does-not-fit", count=count, mask=mask, vpc=str(network))
        candidate = IPv4Network((address, mask))
        clash = next((each for each in taken if each.overlaps(candidate)), None)
        stride = 1 << (32 - step)
        if clash is None:
            found.append(candidate)
            address += stride
        else:
            after = int(clash.broadcast_address) + 1
            address = max(address + stride, -(-after // stride) * stride)
    return found


def _check_mask(text: str, mask: int, allowed: tuple[int, int], kind: str) -> None:
    if not allowed[0] <= mask <= allowed[1]:
        raise Unanswered("mask", kind=kind, cidr=text, low=allowed[0], high=allowed[1])
