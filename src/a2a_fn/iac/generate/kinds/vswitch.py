"""vSwitch (a subnet in one zone): `ALIYUN::ECS::VSwitch`, `alicloud_vswitch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a_fn.iac.generate import addresses
from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import Ask, Attribute, Field, Output, Resource, Unanswered

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner


def plan(planner: Planner, ask: Ask) -> None:
    """Add the vSwitches, carved out of their VPCs and dealt over the zones in turn."""
    zones = planner.zone_count
    alone = len(planner.asks("vswitch")) == 1 and not (ask.per or ask.cidrs)
    count = planner.count(ask, default=zones if alone else 1)
    if ask.count and not ask.per and planner.request.zones and count < zones:
        raise Unanswered("zones-exceed-vswitches", count=count, zones=zones)
    homes = planner.deal(ask, count)
    if ask.cidrs and len(ask.cidrs) != len(homes):
        raise Unanswered("cidr-count", kind="vswitch", count=len(homes), given=len(ask.cidrs))
    names = planner.names(ask, len(homes))
    given = dict(enumerate(ask.cidrs))
    blocks: dict[int, str] = {}
    for vpc in dict.fromkeys(home.id for home in homes):
        places = [place for place, home in enumerate(homes) if home.id == vpc]
        fitted = addresses.carve(
            planner.network(vpc),
            [given.get(place) for place in places],
            ask.attributes.get("prefix"),
            planner.vswitch_ranges(vpc, ask),
            reserve=planner.vswitches_to_come(ask),
        )
        blocks.update(zip(places, map(str, fitted), strict=True))
    exposure = ask.attributes.get("exposure", "")
    for place, home in enumerate(homes):
        planner.add(
            "vswitch",
            ask,
            name=names[place],
            count=len(homes),
            vpc=home.id,
            cidr=blocks[place],
            zone=planner.next_zone(home.id, exposure),
            exposure=exposure,
        )
    if exposure:
        planner.note("vswitch-exposure")


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write name, VPC, zone and range."""
    return (
        Field("VSwitchName", "vswitch_name", resource["label"]),
        Field("VpcId", "vpc_id", Attribute(resource["vpc"])),
        Field("ZoneId", "zone_id", resource["zone"]),
        Field("CidrBlock", "cidr_block", resource["cidr"]),
    )


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give the vSwitch's id."""
    return (Output(f"{resource.id}Id", Attribute(resource.id), f"vSwitch ID ({resource.id})"),)


KIND = Kind(
    name="vswitch",
    id="VSwitch",
    order=20,
    ros="ALIYUN::ECS::VSwitch",
    terraform="alicloud_vswitch",
    called={
        "en": ("vSwitch", "vSwitches"),
        "zh": ("交换机", ""),
        "fr": ("vSwitch", "vSwitchs"),
    },
    words={
        "en": "vswitch|v switch|virtual switch|subnet|subnetwork|switch",
        "zh": "虚拟交换机|交换机vswitch|vswitch交换机|交换机|子网",
        "fr": "commutateur virtuel|commutateurs virtuels|commutateur|sous reseau|sous reseaux",
    },
    takes=frozenset({"cidr", "prefix", "exposure"}),
    needs=("vpc",),
    limit=24,
    plan=plan,
    fields=fields,
    outputs=outputs,
)
