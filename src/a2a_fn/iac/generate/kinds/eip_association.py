"""Binding of an EIP: `ALIYUN::VPC::EIPAssociation`, `alicloud_eip_association`."""

from __future__ import annotations

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import Attribute, Field, Resource


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write the two ids; Terraform also wants the host's type."""
    return (
        Field("AllocationId", "allocation_id", Attribute(resource["address"])),
        Field("InstanceId", "instance_id", resource["host_id"]),
        Field("", "instance_type", resource["host_type"]),
    )


KIND = Kind(
    name="eip_association",
    id="EipAssociation",
    order=71,
    ros="ALIYUN::VPC::EIPAssociation",
    terraform="alicloud_eip_association",
    called={
        "en": ("EIP binding", "EIP bindings"),
        "zh": ("EIP 绑定", ""),
        "fr": ("liaison d'EIP", "liaisons d'EIP"),
    },
    words={},
    limit=100,
    fields=fields,
)
