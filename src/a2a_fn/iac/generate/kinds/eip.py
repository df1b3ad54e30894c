"""Elastic IP address: `ALIYUN::VPC::EIP`, `alicloud_eip_address`, and whom it is given to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import (
    Ask,
    Attribute,
    Field,
    First,
    Output,
    Pair,
    Resource,
    Unanswered,
)

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner

HOSTS = ("ecs", "nat")
_BANDWIDTH = (1, 200)


def owner(planner: Planner, ask: Ask) -> Ask | None:
    """Return the ask whose resources this ask's addresses are for."""
    if ask.near is not None:
        near = planner.request.asks[ask.near]
        if near.kind in HOSTS:
            return near
    for kind in ("nat", "ecs"):
        for other in planner.asks(kind):
            if other.attributes.get("exposure") != "private":
                return other
    return None


def claimed(planner: Planner, host: Ask) -> list[Ask]:
    """Return the EIP asks that are for this host ask."""
    return [ask for ask in planner.asks("eip") if owner(planner, ask) is host]


def plan(planner: Planner, ask: Ask) -> None:
    """Add the addresses and bind each to a host, as far as there are both."""
    if planner.is_done(ask):
        return
    host = owner(planner, ask)
    hosts = planner.made(host) if host else []
    count = planner.count(ask, default=len(hosts) or 1)
    if ask.per and hosts:
        count = len(hosts) * (ask.count or 1)
    addresses = add(planner, ask, count)
    for address, target in zip(addresses, hosts, strict=False):
        bind(planner, address, target)
    if not hosts:
        planner.note("eip-unbound", count=count)
    elif count != len(hosts):
        planner.note("eip-count", eips=count, hosts=len(hosts))


def add(planner: Planner, ask: Ask, count: int) -> list[Resource]:
    """Add the addresses of an ask."""
    return [
        planner.add(
            "eip",
            ask,
            name=name,
            count=count,
            bandwidth=_bandwidth(ask.attributes.get("bandwidth")),
        )
        for name in planner.names(ask, count)
    ]


def bring(planner: Planner, host: Resource, kind: str, bandwidth: int | None) -> Resource:
    """Add the address that a host needs, and bind it; return the binding."""
    address = planner.add(
        "eip",
        None,
        stem=f"{host.id}Eip",
        why=host.id,
        name=f"{host.name}-eip" if host.name else "",
        bandwidth=_bandwidth(bandwidth),
    )
    return bind(planner, address, host)


def bind(planner: Planner, address: Resource, host: Resource) -> Resource:
    """Bind an address to a host."""
    return planner.add(
        "eip_association",
        None,
        stem=f"{host.id}EipAssociation",
        why=host.id,
        address=address.id,
        host=host.id,
        host_id=host_id(host),
        host_type={"ecs": "EcsInstance", "nat": "Nat"}[host.kind],
    )


def host_id(host: Resource) -> Any:
    """Return the value of a host's id; an encrypted instance is the first of its group."""
    if host.get("encrypted"):
        return Pair(First(Attribute(host.id, "InstanceIds")), Attribute(host.id))
    return Attribute(host.id)


def _bandwidth(asked: int | None) -> int:
    if asked and not _BANDWIDTH[0] <= asked <= _BANDWIDTH[1]:
        raise Unanswered("bandwidth", size=asked, low=_BANDWIDTH[0], high=_BANDWIDTH[1])
    return asked or 5


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write name, bandwidth and billing (by traffic, pay as you go)."""
    return (
        Field("Name", "address_name", resource["label"]),
        Field("Bandwidth", "bandwidth", Pair(resource["bandwidth"], str(resource["bandwidth"]))),
        Field("InternetChargeType", "internet_charge_type", "PayByTraffic"),
        Field("InstanceChargeType", "payment_type", Pair("PostPaid", "PayAsYouGo")),
    )


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give the address."""
    value = Attribute(resource.id, "EipAddress", "ip_address")
    return (Output(f"{resource.id}Address", value, f"Public address ({resource.id})"),)


KIND = Kind(
    name="eip",
    id="Eip",
    order=70,
    ros="ALIYUN::VPC::EIP",
    terraform="alicloud_eip_address",
    called={
        "en": ("EIP", "EIPs"),
        "zh": ("弹性公网 IP", ""),
        "fr": ("EIP", "EIP"),
    },
    words={
        "en": "eip|eip address|elastic ip|elastic ip address|public ip|public ip address|external "
        "ip|public ipv4 address|public ipv4|public address|static ip|static ip address",
        "zh": "弹性公网ip地址|弹性公网ip|弹性ip|公网ip地址|公网ip|公网地址|外网ip|弹性公网",
        "fr": "ip elastique|ip elastiques|adresse ip elastique|adresses ip elastiques|ip publique"
        "|ip publiques|adresse ip publique|adresses ip publiques|adresse publique|adresses "
        "publiques|adresse elastique",
    },
    takes=frozenset({"bandwidth"}),
    limit=20,
    plan=plan,
    fields=fields,
    outputs=outputs,
)
