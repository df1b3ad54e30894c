"""OSS bucket: `ALIYUN::OSS::Bucket`, `alicloud_oss_bucket`. Private, encrypted, never dropped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from a2a_fn.iac.generate.kind import Kind, label
from a2a_fn.iac.generate.model import (
    Ask,
    Attribute,
    Block,
    Field,
    Output,
    Parameter,
    Resource,
)

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner

_NAME = r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]"


def plan(planner: Planner, ask: Ask) -> None:
    """Add the buckets, each with its name as a parameter and public access blocked."""
    given = ask.attributes
    count = planner.count(ask)
    for name in planner.names(ask, count):
        bucket_id = planner.reserve("oss", ask, name, count)
        parameter = planner.parameter(
            Parameter(
                id=f"{bucket_id}Name",
                group="storage",
                label=label(bucket_id.removesuffix("Bucket"), "Bucket name", "存储空间名称"),
                description="Bucket name, unique among all buckets of the cloud: 3 to 63 "
                "lower-case letters, digits and hyphens.",
                default=name or None,
                pattern=_NAME,
                constraint="3 to 63 lower-case letters, digits and hyphens; no hyphen at either "
                "end.",
                length=(3, 63),
            )
        )
        planner.add(
            "oss",
            ask,
            own_id=bucket_id,
            name=name,
            bucket=parameter,
            algorithm="KMS" if given.get("kms") else "AES256",
            versioned=bool(given.get("versioned")),
        )
        planner.add(
            "oss_block", None, stem=f"{bucket_id}PublicAccessBlock", why=bucket_id, bucket=bucket_id
        )
    if given.get("exposure") == "public":
        planner.note("bucket-stays-private")
    if given.get("encrypted") is False:
        planner.note("bucket-stays-encrypted")
    planner.note("kept-on-deletion", kind="oss")


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write name, encryption at rest and, if asked, versions."""
    found = [
        Field("BucketName", "bucket", resource["bucket"]),
        Field("AccessControl", "", "private"),
        Field("StorageClass", "storage_class", "Standard"),
        Field(
            "ServerSideEncryptionConfiguration",
            "server_side_encryption_rule",
            Block((Field("SSEAlgorithm", "sse_algorithm", resource["algorithm"]),)),
        ),
    ]
    if resource["versioned"]:
        block = Block((Field("Status", "status", "Enabled"),))
        found.append(Field("VersioningConfiguration", "versioning", block))
    return tuple(found)


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give the bucket's name and the endpoint inside the cloud."""
    return (
        Output(
            f"{resource.id}Name",
            Attribute(resource.id, "Name", "bucket"),
            f"Bucket name ({resource.id})",
        ),
        Output(
            f"{resource.id}InternalEndpoint",
            Attribute(resource.id, "InternalDomainName", "intranet_endpoint"),
            f"Bucket endpoint inside the region ({resource.id})",
        ),
    )


KIND = Kind(
    name="oss",
    id="Bucket",
    order=80,
    ros="ALIYUN::OSS::Bucket",
    terraform="alicloud_oss_bucket",
    called={
        "en": ("OSS bucket", "OSS buckets"),
        "zh": ("OSS 存储空间", ""),
        "fr": ("bucket OSS", "buckets OSS"),
    },
    words={
        "en": "oss bucket|oss|bucket|object storage|object storage service|object storage bucket"
        "|storage bucket|object store",
        "zh": "oss对象存储桶|oss对象存储|oss存储空间|oss存储桶|oss桶|oss bucket|对象存储oss"
        "|对象存储桶|对象存储|存储空间|存储桶|bucket",
        "fr": "bucket oss|buckets oss|compartiment oss|compartiments oss|compartiment|stockage "
        "objet|stockage d'objets|seau oss|compartiment de stockage|bucket de stockage",
    },
    takes=frozenset({"encrypted", "kms", "versioned", "exposure"}),
    limit=20,
    name_pattern=re.compile(_NAME),
    plan=plan,
    fields=fields,
    outputs=outputs,
    stateful=True,
)
