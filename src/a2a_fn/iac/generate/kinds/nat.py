"""Internet NAT gateway with SNAT: `ALIYUN::VPC::NatGateway`, `alicloud_nat_gateway` (enhanced)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.kinds import eip, snat
from a2a_fn.iac.generate.model import Ask, Attribute, Field, Output, Resource

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner


def plan(planner: Planner, ask: Ask) -> None:
    """Add the gateways, each with an EIP, and SNAT for the vSwitches of its VPC."""
    count = planner.count(ask)
    homes = planner.deal(ask, count)
    gateways = [
        planner.add(
            "nat",
            ask,
            name=name,
            count=len(homes),
            vpc=home.id,
            vswitch=planner.next_vswitch(home.id, "public").id,
        )
        for name, home in zip(planner.names(ask, len(homes)), homes, strict=True)
    ]
    bindings = {gateway.id: _bind(planner, ask, gateway, gateways) for gateway in gateways}
    snat.share(planner, gateways, bindings)


def _bind(
    planner: Planner, ask: Ask, gateway: Resource, gateways: list[Resource]
) -> list[Resource]:
    claims = eip.claimed(planner, ask)
    if not claims:
        return [eip.bring(planner, gateway, "nat", ask.attributes.get("bandwidth"))]
    found = []
    for claim in claims:
        planner.mark_done(claim)
        each = 1 if claim.per else len(gateways)
        share = -(-planner.count(claim, default=len(gateways)) // each)
        for address in eip.add(planner, claim, share):
            found.append(eip.bind(planner, address, gateway))
    return found


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write an enhanced gateway billed by use."""
    return (
        Field("NatGatewayName", "nat_gateway_name", resource["label"]),
        Field("VpcId", "vpc_id", Attribute(resource["vpc"])),
        Field("VSwitchId", "vswitch_id", Attribute(resource["vswitch"])),
        Field("NatType", "nat_type", "Enhanced"),
        Field("", "payment_type", "PayAsYouGo"),
        Field("InternetChargeType", "internet_charge_type", "PayByLcu"),
        Field("NetworkType", "network_type", "internet"),
    )


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give the gateway's id."""
    return (Output(f"{resource.id}Id", Attribute(resource.id), f"NAT gateway ID ({resource.id})"),)


KIND = Kind(
    name="nat",
    id="NatGateway",
    order=60,
    ros="ALIYUN::VPC::NatGateway",
    terraform="alicloud_nat_gateway",
    called={
        "en": ("NAT gateway", "NAT gateways"),
        "zh": ("NAT 网关", ""),
        "fr": ("passerelle NAT", "passerelles NAT"),
    },
    words={
        "en": "nat gateway|internet nat gateway|nat|natgw|nat gw",
        "zh": "公网nat网关|nat网关|nat",
        "fr": "passerelle nat|passerelles nat|passerelle internet nat",
    },
    takes=frozenset({"bandwidth"}),
    needs=("vpc", "vswitch"),
    limit=5,
    plan=plan,
    fields=fields,
    outputs=outputs,
)
