"""Inbound rule: `ALIYUN::ECS::SecurityGroupIngress`, `alicloud_security_group_rule`.

Nothing sensitive is opened to the world: such a rule takes its source from the AdminCidr parameter,
which has no default and refuses ranges wider than /8.
"""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from a2a_fn.iac.generate import addresses
from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import (
    Attribute,
    Field,
    Input,
    Parameter,
    Resource,
    Rule,
    Unanswered,
)

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner

WORLD = "0.0.0.0/0"
WEB = frozenset({80, 443})
#: Remote administration, databases, caches and control ports: what scanners look for first.
SENSITIVE = frozenset({
    21, 22, 23, 111, 135, 139, 445, 873, 1433, 1521, 2049, 2375, 2376, 3306, 3389, 5432, 5900,
    5985, 5986, 6379, 6443, 9200, 9300, 10250, 11211, 27017,
})  # fmt: skip
#: Ports for logging in: without a word on the source, the administrators' range is meant.
LOGIN = frozenset({22, 23, 3389, 5900, 5985, 5986})

_ADMIN = Parameter(
    id="AdminCidr",
    group="access",
    label=("Administrators' range", "管理来源网段"),
    description=(
        "IPv4 range from which the protected ports may be reached, such as 203.0.113.0/24. "
        "It has no default, and a range wider than /8 is refused."
    ),
    pattern=r"(?:[0-9]{1,3}\.){3}[0-9]{1,3}/(?:[89]|[12][0-9]|3[0-2])",
    constraint="An IPv4 range with a mask of /8 to /32, such as 203.0.113.0/24.",
)


def add(planner: Planner, group: Resource, rule: Rule) -> None:
    """Add a rule to a group, its source made safe and every assumption noted."""
    _check(planner, rule)
    title = _title(rule)
    cidr, code = _source(planner, group, rule)
    if code:
        planner.note(code, port=title, cidr=cidr if isinstance(cidr, str) else "")
    planner.add(
        "security_rule",
        None,
        stem=f"{group['prefix']}Allow{_stem(rule)}",
        why=group.id,
        group=group.id,
        protocol=rule.protocol,
        ports=f"{rule.low}/{rule.high}",
        cidr=cidr,
        title=title,
    )


def _check(planner: Planner, rule: Rule) -> None:
    if rule.protocol in ("tcp", "udp") and not 1 <= rule.low <= rule.high <= 65535:
        raise Unanswered("port-range", low=rule.low, high=rule.high)
    for closed in planner.request.closed:
        overlap = closed.low <= rule.high and rule.low <= closed.high
        if rule.protocol == "all" or (overlap and closed.protocol == rule.protocol):
            raise Unanswered("port-open-and-closed", port=_title(rule))


def _source(planner: Planner, group: Resource, rule: Rule) -> tuple[Any, str]:
    """Return the source, and the code of the note that it deserves ("" for none)."""
    network = str(planner.network(group["vpc"]))
    if rule.source == "vpc":
        return network, ""
    if rule.source == "stack":
        return network, "source-is-stack"
    if rule.source not in ("", "world", "admin"):
        block = addresses.block(rule.source)
        if block.prefixlen >= VPC_WIDE:
            return str(block), ""
        rule = Rule(rule.low, rule.high, rule.protocol, "world", rule.name)
    if rule.source == "admin" or (not rule.source and _holds(rule, LOGIN)):
        return planner.parameter(_ADMIN), "protected-port"
    if rule.source == "world":
        if _holds(rule, SENSITIVE):
            return planner.parameter(_ADMIN), "protected-from-world"
        return WORLD, ""
    if rule.protocol == "tcp" and {rule.low, rule.high} <= WEB:
        return WORLD, "web-port-world"
    return network, "port-vpc-only"


def _holds(rule: Rule, ports: frozenset[int]) -> bool:
    return rule.protocol == "all" or any(rule.low <= port <= rule.high for port in ports)


#: A range wider than this is "the world", however it is written.
VPC_WIDE = IPv4Network("10.0.0.0/8").prefixlen


def _title(rule: Rule) -> str:
    ports = f"{rule.low}" if rule.low == rule.high else f"{rule.low}-{rule.high}"
    if rule.protocol in ("icmp", "all"):
        return {"icmp": "ICMP", "all": "ALL"}[rule.protocol]
    label = f"{ports}/{rule.protocol}"
    return f"{rule.name} ({label})" if rule.name else label


def _stem(rule: Rule) -> str:
    if rule.protocol in ("icmp", "all"):
        return rule.protocol.title()
    if rule.name:
        return "".join(part for part in rule.name.title() if part.isalnum())
    ports = f"{rule.low}" if rule.low == rule.high else f"{rule.low}To{rule.high}"
    return f"{rule.protocol.title()}{ports}"


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write an inbound accept rule; in a VPC the NIC type is always intranet."""
    source = resource["cidr"]
    return (
        Field("SecurityGroupId", "security_group_id", Attribute(resource["group"])),
        Field("", "type", "ingress"),
        Field("IpProtocol", "ip_protocol", resource["protocol"]),
        Field("PortRange", "port_range", resource["ports"]),
        Field("SourceCidrIp", "cidr_ip", source),
        Field("NicType", "nic_type", "intranet"),
        Field("Policy", "policy", "accept"),
        Field("Priority", "priority", 1),
        Field(
            "Description",
            "description",
            f"{resource['title']} from "
            + ("the administrators' range" if isinstance(source, Input) else source),
        ),
    )


KIND = Kind(
    name="security_rule",
    id="Allow",
    order=31,
    ros="ALIYUN::ECS::SecurityGroupIngress",
    terraform="alicloud_security_group_rule",
    called={
        "en": ("inbound rule", "inbound rules"),
        "zh": ("入方向规则", ""),
        "fr": ("règle entrante", "règles entrantes"),
    },
    words={},
    limit=100,
    fields=fields,
)
