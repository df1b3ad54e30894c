"""Block of public access to a bucket: `ALIYUN::OSS::BucketPublicAccessBlock` and its like."""

from __future__ import annotations

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import Attribute, Field, Resource


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write the bucket's name and the block."""
    return (
        Field("Bucket", "bucket", Attribute(resource["bucket"], "Name", "bucket")),
        Field("BlockPublicAccess", "block_public_access", True),
    )


KIND = Kind(
    name="oss_block",
    id="PublicAccessBlock",
    order=81,
    ros="ALIYUN::OSS::BucketPublicAccessBlock",
    terraform="alicloud_oss_bucket_public_access_block",
    called={
        "en": ("public access block", "public access blocks"),
        "zh": ("阻止公共访问", ""),
        "fr": ("blocage d'accès public", "blocages d'accès public"),
    },
    words={},
    limit=100,
    stateful=True,
    fields=fields,
)
