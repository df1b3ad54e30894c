"""Security group: `ALIYUN::ECS::SecurityGroup`, `alicloud_security_group`. Closed unless opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.kinds import security_rule
from a2a_fn.iac.generate.model import Ask, Attribute, Field, Output, Resource, Rule

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner


def plan(planner: Planner, ask: Ask) -> None:
    """Add the groups with the openings said of them."""
    count = planner.count(ask)
    homes = planner.deal(ask, count)
    for name, home in zip(planner.names(ask, len(homes)), homes, strict=True):
        group = planner.add("security_group", ask, name=name, count=len(homes), vpc=home.id)
        open_ports(planner, group, ask.rules)


def bring(planner: Planner, ask: Ask, vpc: str) -> Resource:
    """Add the group that the instances of this ask need; those with nothing open share one."""
    opened = {rule["group"] for rule in planner.of("security_rule")}
    if not ask.rules:
        for group in planner.of("security_group"):
            if group["vpc"] == vpc and group.id not in opened:
                return group
    group = planner.add(
        "security_group",
        None,
        stem=planner.stem(ask, "security_group"),
        name=f"{ask.names[0]}-sg" if ask.names else "",
        why="@ecs",
        vpc=vpc,
    )
    open_ports(planner, group, ask.rules)
    return group


def open_ports(planner: Planner, group: Resource, rules: Sequence[Rule]) -> None:
    """Add one rule for each opening, once."""
    said: dict[tuple[object, ...], Rule] = {}
    for rule in rules:
        # "SSH (port 22)" is one opening, and its name the better one.
        key = (rule.low, rule.high, rule.protocol, rule.source)
        said[key] = max(said.get(key, rule), rule, key=lambda each: bool(each.name))
    for rule in said.values():
        security_rule.add(planner, group, rule)


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write name and VPC."""
    return (
        Field("SecurityGroupName", "security_group_name", resource["label"]),
        Field("VpcId", "vpc_id", Attribute(resource["vpc"])),
        Field("SecurityGroupType", "security_group_type", "normal"),
    )


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give the group's id."""
    return (
        Output(f"{resource.id}Id", Attribute(resource.id), f"security group ID ({resource.id})"),
    )


KIND = Kind(
    name="security_group",
    id="SecurityGroup",
    order=30,
    ros="ALIYUN::ECS::SecurityGroup",
    terraform="alicloud_security_group",
    called={
        "en": ("security group", "security groups"),
        "zh": ("安全组", ""),
        "fr": ("groupe de sécurité", "groupes de sécurité"),
    },
    words={
        "en": "security group|securitygroup|sg|firewall|firewall group",
        "zh": "安全组|防火墙",
        "fr": "groupe de securite|groupes de securite|pare feu|pare feux",
    },
    needs=("vpc",),
    limit=20,
    plan=plan,
    fields=fields,
    outputs=outputs,
)
