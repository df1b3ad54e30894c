"""VPC: `ALIYUN::ECS::VPC`, `alicloud_vpc`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from a2a_fn.iac.generate import addresses
from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import Ask, Attribute, Field, Output, Resource

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner


def plan(planner: Planner, ask: Ask) -> None:
    """Add the VPCs, each with its own range: the asked one, else 10.N.0.0/16."""
    count = planner.count(ask)
    ranges = addresses.vpc_ranges(
        count, ask.cidrs, ask.attributes.get("prefix"), planner.vpc_ranges()
    )
    for name, block in zip(planner.names(ask, count), ranges, strict=True):
        planner.add("vpc", ask, name=name, count=count, cidr=str(block))
    if not ask.cidrs:
        planner.note("vpc-range", ranges=", ".join(map(str, ranges)))


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write name and range."""
    return (
        Field("VpcName", "vpc_name", resource["label"]),
        Field("CidrBlock", "cidr_block", resource["cidr"]),
    )


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give the VPC's id."""
    return (Output(f"{resource.id}Id", Attribute(resource.id), f"VPC ID ({resource.id})"),)


KIND = Kind(
    name="vpc",
    id="Vpc",
    order=10,
    ros="ALIYUN::ECS::VPC",
    terraform="alicloud_vpc",
    called={"en": ("VPC", "VPCs"), "zh": ("VPC", ""), "fr": ("VPC", "VPC")},
    words={
        "en": "vpc|virtual private cloud|virtual private network|private network|virtual network",
        "zh": "专有网络vpc|vpc专有网络|专有网络|虚拟专有网络|私有网络|虚拟私有云|vpc网络|虚拟网络",
        "fr": "cloud prive virtuel|reseau prive virtuel|reseau prive|reseau virtuel",
    },
    takes=frozenset({"cidr", "prefix"}),
    limit=10,
    plan=plan,
    fields=fields,
    outputs=outputs,
)
