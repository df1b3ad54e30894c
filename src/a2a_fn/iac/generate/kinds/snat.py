"""SNAT entry, the way out for one vSwitch: `ALIYUN::VPC::SnatEntry`, `alicloud_snat_entry`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import Attribute, Field, Joined, Pair, Resource

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner


def share(
    planner: Planner, gateways: Sequence[Resource], bindings: Mapping[str, Sequence[Resource]]
) -> None:
    """Give each vSwitch of the gateways' VPCs one entry, dealt over the VPC's gateways in turn.

    Where some vSwitches were asked to be private and others public, only the private ones need one.
    """
    for vpc in dict.fromkeys(gateway["vpc"] for gateway in gateways):
        own = [gateway for gateway in gateways if gateway["vpc"] == vpc]
        all_of_it = planner.vswitches(vpc)
        private = [vswitch for vswitch in all_of_it if vswitch["exposure"] == "private"]
        for place, vswitch in enumerate(private or all_of_it):
            gateway = own[place % len(own)]
            planner.add(
                "snat",
                None,
                stem=f"{vswitch.id}Snat",
                why=gateway.id,
                gateway=gateway.id,
                vswitch=vswitch.id,
                bindings=tuple((each.id, each["address"]) for each in bindings[gateway.id]),
            )


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write table, vSwitch and address.

    An address may be used only once it is bound: ROS reads it from the binding, Terraform depends
    on the binding.
    """
    vswitch = Attribute(resource["vswitch"])
    return (
        Field("SnatEntryName", "snat_entry_name", resource["label"]),
        Field(
            "SnatTableId",
            "snat_table_id",
            Attribute(resource["gateway"], "SNatTableId", "snat_table_ids"),
        ),
        Field("SourceVSwitchIds", "source_vswitch_id", Pair([vswitch], vswitch)),
        Field("SnatIp", "snat_ip", _addresses(resource["bindings"])),
    )


def _addresses(bindings: Sequence[tuple[str, str]]) -> Any:
    found = [
        Pair(
            Attribute(binding, "EipAddress"),
            Attribute(address, terraform="ip_address"),
        )
        for binding, address in bindings
    ]
    return found[0] if len(found) == 1 else Joined(",", tuple(found))


def after(resource: Resource) -> tuple[str, ...]:
    """Return the ids of the bindings that must exist first."""
    return tuple(binding for binding, _ in resource["bindings"])


KIND = Kind(
    name="snat",
    id="Snat",
    order=61,
    ros="ALIYUN::VPC::SnatEntry",
    terraform="alicloud_snat_entry",
    called={
        "en": ("SNAT entry", "SNAT entries"),
        "zh": ("SNAT 条目", ""),
        "fr": ("entrée SNAT", "entrées SNAT"),
    },
    words={},
    limit=100,
    fields=fields,
    after=after,
)
