"""Privileged account of a database: `ALIYUN::RDS::Account`, `alicloud_rds_account`."""

from __future__ import annotations

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.model import Attribute, Field, Resource


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write the account; its password is always a secret parameter."""
    return (
        Field("DBInstanceId", "db_instance_id", Attribute(resource["database"])),
        Field("AccountName", "account_name", resource["account"]),
        Field("AccountPassword", "account_password", resource["password"]),
        Field("AccountType", "account_type", "Super"),
    )


KIND = Kind(
    name="rds_account",
    id="Account",
    order=51,
    ros="ALIYUN::RDS::Account",
    terraform="alicloud_rds_account",
    called={
        "en": ("database account", "database accounts"),
        "zh": ("数据库账号", ""),
        "fr": ("compte de base de données", "comptes de base de données"),
    },
    words={},
    limit=100,
    stateful=True,
    fields=fields,
)
