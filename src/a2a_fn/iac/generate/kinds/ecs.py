"""ECS instance: `ALIYUN::ECS::Instance`, `alicloud_instance`.

ROS cannot encrypt the disks of `Instance`; an encrypted one is an `InstanceGroup` of one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from a2a_fn.iac.generate.kind import Kind, label
from a2a_fn.iac.generate.kinds import eip, security_group
from a2a_fn.iac.generate.model import (
    Ask,
    Attribute,
    Block,
    Field,
    First,
    Output,
    Pair,
    Parameter,
    Resource,
    Unanswered,
)

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner

#: Memory GiB per vCPU of the g7, c7 and r7 families, and their sizes by vCPU.
_FAMILIES = {2: "c7", 4: "g7", 8: "r7"}
_SIZES = {
    2: "large",
    4: "xlarge",
    8: "2xlarge",
    12: "3xlarge",
    16: "4xlarge",
    24: "6xlarge",
    32: "8xlarge",
    64: "16xlarge",
}
_DISK = (20, 500)
_DATA_DISK = (20, 32768)


def plan(planner: Planner, ask: Ask) -> None:
    """Add the instances, dealt over the vSwitches of their VPC, with group, login and EIP."""
    count = planner.count(ask)
    homes = planner.deal(ask, count)
    given = ask.attributes
    disk, data_disk = _disks(planner, given)
    inputs = _parameters(planner, ask)
    names = planner.names(ask, len(homes))
    own_group: dict[str, Resource] = {}
    made: list[Resource] = []
    for place, (home, name) in enumerate(zip(homes, names, strict=True)):
        groups = planner.groups_for(ask, home.id, place)
        if groups:
            security_group.open_ports(planner, groups[0], ask.rules)
        elif home.id not in own_group:
            own_group[home.id] = security_group.bring(planner, ask, home.id)
        vswitch = planner.next_vswitch(home.id, given.get("exposure", ""))
        made.append(
            planner.add(
                "ecs",
                ask,
                name=name,
                count=len(homes),
                vswitch=vswitch.id,
                vpc=home.id,
                groups=tuple(each.id for each in groups or [own_group[home.id]]),
                disk=disk,
                data_disk=data_disk,
                encrypted=bool(given.get("encrypted")),
                **inputs,
            )
        )
    if given.get("exposure") == "public" and not eip.claimed(planner, ask):
        for host in made:
            eip.bring(planner, host, "ecs", given.get("bandwidth"))
    if given.get("encrypted"):
        planner.note("ecs-encrypted")


def _disks(planner: Planner, given: Any) -> tuple[int, int]:
    disk, data_disk = given.get("disk", 0), given.get("data_disk", 0)
    if disk > _DISK[1] and not data_disk:
        planner.note("disk-is-data", size=disk, limit=_DISK[1])
        disk, data_disk = 0, disk
    for size, (low, high) in ((disk, _DISK), (data_disk, _DATA_DISK)):
        if size and not low <= size <= high:
            raise Unanswered("disk-size", size=size, low=low, high=high)
    return disk or 40, data_disk


def _parameters(planner: Planner, ask: Ask) -> dict[str, Any]:
    given, prefix = ask.attributes, planner.prefix(ask)
    default = given.get("instance_type") or _instance_type(planner, given)
    zone = planner.zone(0)
    instance_type = planner.parameter(
        Parameter(
            id=f"{prefix}InstanceType",
            group="compute",
            label=label(prefix, "Instance type", "实例规格"),
            description="ECS instance type that is in stock in the chosen zone, such as "
            "ecs.g7.large.",
            default=default,
            association="ALIYUN::ECS::Instance::InstanceType",
            metadata={"ZoneId": zone, "InstanceChargeType": "PostPaid"},
        )
    )
    image = planner.parameter(
        Parameter(
            id=f"{prefix}ImageId",
            group="compute",
            label=label(prefix, "Image", "镜像"),
            description=_image_text(given.get("os", "")),
            association="ALIYUN::ECS::Image::ImageId",
            metadata={"InstanceType": instance_type},
        )
    )
    if given.get("key_pair"):
        login = planner.parameter(
            Parameter(
                id="KeyPairName",
                group="access",
                label=("Key pair", "密钥对"),
                description="Name of an existing ECS key pair for the login.",
                association="ALIYUN::ECS::KeyPair::KeyPairName",
            )
        )
        return {"instance_type": instance_type, "image": image, "key_pair": login}
    password = planner.parameter(
        Parameter(
            id="InstancePassword",
            group="access",
            label=("Login password", "登录密码"),
            description="Password of the ECS instances' login: 8 to 30 characters of three kinds "
            "at least (upper case, lower case, digits, special characters).",
            pattern=r"[0-9A-Za-z()`~!@#$%^&*_+=|{}\[\]:;'<>,.?/-]{8,30}",
            constraint="8 to 30 characters, at least three of: upper case, lower case, digits, "
            "special characters.",
            length=(8, 30),
            association="ALIYUN::ECS::Instance::Password",
            secret=True,
        )
    )
    return {"instance_type": instance_type, "image": image, "password": password}


def _image_text(system: str) -> str:
    wanted = f" The request asked for {system}." if system else ""
    return (
        "ID of the image, such as a public image (aliyun_3_x64_20G_alibase_20240819.vhd) or one of "
        f"your own (m-...).{wanted}"
    )


def _instance_type(planner: Planner, given: Any) -> str | None:
    cpu, memory = given.get("cpu"), given.get("memory")
    if memory is None and given.get("gb"):
        if cpu is None:
            raise Unanswered("gb-ambiguous", size=given["gb"])
        memory = given["gb"]
    if cpu is None and memory is None:
        return None
    offered = {
        (cores, cores * ratio): f"ecs.{family}.{size}"
        for cores, size in _SIZES.items()
        for ratio, family in _FAMILIES.items()
    }
    fitting = [
        size
        for size in offered
        if (cpu is None or size[0] == cpu) and (memory is None or size[1] == memory)
    ]
    if not fitting:
        raise Unanswered("no-such-size", **_nearest(list(offered), cpu, memory))
    usual = [size for size in fitting if size[1] == 4 * size[0]]
    chosen = (usual or fitting)[0]
    planner.note("instance-type", cpu=chosen[0], memory=chosen[1], type=offered[chosen])
    return offered[chosen]


def _nearest(offered: list[tuple[int, int]], cpu: int | None, memory: int | None) -> dict[str, Any]:
    enough = [size for size in offered if size[0] >= (cpu or 0) and size[1] >= (memory or 0)]
    best = min(enough or offered[-1:])
    return {
        "cpu": cpu or "-",
        "memory": memory or "-",
        "near_cpu": best[0],
        "near_memory": best[1],
    }


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write the instance; IMDSv2 is required, and the disk is an ESSD."""
    encrypted = resource["encrypted"]
    groups = [Attribute(group) for group in resource["groups"]]
    found = [
        Field("MaxAmount", "", 1) if encrypted else None,
        Field("InstanceName", "instance_name", resource["label"]),
        Field("InstanceType", "instance_type", resource["instance_type"]),
        Field("ImageId", "image_id", resource["image"]),
        Field("VpcId", "", Attribute(resource["vpc"])),
        Field("VSwitchId", "vswitch_id", Attribute(resource["vswitch"])),
        Field("SecurityGroupIds", "security_groups", groups),
        Field("SystemDiskCategory", "system_disk_category", "cloud_essd"),
        Field("SystemDiskSize", "system_disk_size", resource["disk"]),
        Field("SystemDiskEncrypted", "system_disk_encrypted", True) if encrypted else None,
        Field("InstanceChargeType", "instance_charge_type", "PostPaid"),
        Field("HttpTokens", "http_tokens", "required"),
        Field("KeyPairName", "key_name", resource["key_pair"])
        if resource.get("key_pair")
        else None,
        Field("Password", "password", resource["password"]) if resource.get("password") else None,
        _data_disks(resource["data_disk"], encrypted),
    ]
    return tuple(field for field in found if field)


def _data_disks(size: int, encrypted: bool) -> Field | None:
    if not size:
        return None
    parts = [Field("Category", "category", "cloud_essd"), Field("Size", "size", size)]
    if encrypted:
        parts.append(Field("Encrypted", "encrypted", True))
    return Field("DiskMappings", "data_disks", Block(tuple(parts), many=True))


def address(resource: Resource) -> Any:
    """Return the value of the instance's private address."""
    one = Attribute(resource.id, "PrivateIp", "primary_ip_address")
    if resource["encrypted"]:
        return Pair(First(Attribute(resource.id, "PrivateIps")), one)
    return one


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give id and private address."""
    return (
        Output(f"{resource.id}Id", eip.host_id(resource), f"ECS instance ID ({resource.id})"),
        Output(
            f"{resource.id}PrivateIp",
            address(resource),
            f"Private address ({resource.id})",
        ),
    )


KIND = Kind(
    name="ecs",
    id="Instance",
    order=40,
    ros="ALIYUN::ECS::Instance",
    terraform="alicloud_instance",
    called={
        "en": ("ECS instance", "ECS instances"),
        "zh": ("ECS 实例", ""),
        "fr": ("instance ECS", "instances ECS"),
    },
    words={
        "en": "ecs instance|ecs server|ecs vm|ecs|elastic compute service|elastic compute service "
        "instance|elastic compute instance|compute instance|virtual machine|vm|server|instance"
        "|host|linux server|machine|web server|webserver|bastion host|jump server|jump host"
        "|backend server|cloud server|app server|application server",
        "zh": "web服务器|网站服务器|应用服务器|跳板机|ecs云服务器|云服务器ecs|ecs服务器|ecs实例"
        "|云服务器|云主机|虚拟机|虚机|服务器|主机|计算实例|实例",
        "fr": "serveur web|serveurs web|serveur bastion|instance ecs|instances ecs|serveur ecs"
        "|serveurs ecs|serveur virtuel|serveurs virtuels|machine virtuelle|machines virtuelles"
        "|serveur|instance|serveur cloud|serveur d'application|serveur applicatif|serveurs "
        "applicatifs",
    },
    takes=frozenset(
        {"cpu", "memory", "gb", "disk", "data_disk", "instance_type", "exposure", "outbound", "os"}
        | {"encrypted", "key_pair", "bandwidth"}
    ),
    needs=("vpc", "vswitch"),
    limit=20,
    plan=plan,
    fields=fields,
    outputs=outputs,
    ros_variant=lambda resource: (
        "ALIYUN::ECS::InstanceGroup" if resource["encrypted"] else "ALIYUN::ECS::Instance"
    ),
)
