"""RDS instance: `ALIYUN::RDS::DBInstance`, `alicloud_db_instance`. Never open beyond its VPC."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from a2a_fn.iac.generate.kind import Kind, label
from a2a_fn.iac.generate.model import (
    Ask,
    Attribute,
    Field,
    Joined,
    Output,
    Pair,
    Parameter,
    Resource,
    Unanswered,
)

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner

#: What a request says -> EngineVersion, by engine; the first is the default.
VERSIONS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "MySQL": {"8.0": "8.0", "8": "8.0", "5.7": "5.7"},
        "PostgreSQL": {"17.0": "17.0"}
        | {
            text: f"{major}.0" for major in range(17, 11, -1) for text in (str(major), f"{major}.0")
        },
        "SQLServer": {
            year: f"{year}_std_ha" for year in ("2019", "2022", "2017", "2016", "2014", "2012")
        },
        "MariaDB": {"10.3": "10.3"},
    }
)
ENCRYPTS = frozenset({"MySQL", "PostgreSQL", "SQLServer"})
_STORAGE = (20, 32000)


def plan(planner: Planner, ask: Ask) -> None:
    """Add the instances with an account each, reachable from their VPC only."""
    given = ask.attributes
    if given.get("exposure") == "public":
        raise Unanswered("database-public")
    engine = given.get("engine", "MySQL")
    if given.get("encrypted") and engine not in ENCRYPTS:
        raise Unanswered("engine-not-encrypted", engine=engine)
    version = _version(engine, given.get("version"))
    if "engine" not in given or "version" not in given:
        planner.note("database-engine", engine=engine, version=version)
    count = planner.count(ask)
    homes = planner.deal(ask, count)
    inputs = _parameters(planner, ask, engine, version)
    for name, home in zip(planner.names(ask, len(homes)), homes, strict=True):
        across = _across_zones(planner, home.id, given)
        first = across[0] if across else planner.next_vswitch(home.id, "private")
        database = planner.add(
            "rds",
            ask,
            name=name,
            count=len(homes),
            engine=engine,
            version=version,
            vpc=home.id,
            vswitches=tuple(each.id for each in across) or (first.id,),
            zones=tuple(each["zone"] for each in across) or (first["zone"],),
            encrypted=bool(given.get("encrypted")),
            network=str(planner.network(home.id)),
            **inputs,
        )
        planner.add(
            "rds_account",
            None,
            stem=f"{database.id}Account",
            why=database.id,
            database=database.id,
            **_account(planner, planner.prefix(ask)),
        )
    planner.note("kept-with-network", kind="rds")


def _version(engine: str, asked: str | None) -> str:
    versions = VERSIONS[engine]
    if asked is None:
        return next(iter(versions.values()))
    if asked not in versions:
        known = ", ".join(dict.fromkeys(versions.values()))
        raise Unanswered("engine-version", engine=engine, version=asked, known=known)
    return versions[asked]


def _across_zones(planner: Planner, vpc: str, given: Mapping[str, Any]) -> list[Resource]:
    """Return a vSwitch in each of two zones when the database is to span zones."""
    found = planner.vswitches(vpc)
    private = [each for each in found if each["exposure"] == "private"]
    vswitches = private if len({each["zone"] for each in private}) > 1 else found
    other = next((each for each in vswitches if each["zone"] != vswitches[0]["zone"]), None)
    if not given.get("ha"):
        return []
    if other is None:
        raise Unanswered("ha-needs-two-zones")
    return [vswitches[0], other]


def _parameters(planner: Planner, ask: Ask, engine: str, version: str) -> dict[str, Any]:
    given, prefix = ask.attributes, planner.prefix(ask)
    size = ", ".join(
        text
        for text in (
            f"{given['cpu']} vCPU" if given.get("cpu") else "",
            f"{given['memory']} GiB of memory" if given.get("memory") else "",
        )
        if text
    )
    wanted = f" The request asked for {size}." if size else ""
    db_class = planner.parameter(
        Parameter(
            id=f"{prefix}DBInstanceClass",
            group="database",
            label=label(prefix, "Database class", "数据库规格"),
            description=f"RDS class for {engine} {version}, in stock in the chosen zone.{wanted}",
            association="ALIYUN::RDS::Instance::InstanceType",
            metadata={
                "Engine": engine,
                "EngineVersion": version,
                "Category": "HighAvailability",
                "DBInstanceStorageType": "cloud_essd",
                "ZoneId": planner.zone(0),
            },
        )
    )
    asked = given.get("disk") or given.get("gb")
    if asked:
        if not _STORAGE[0] <= asked <= _STORAGE[1] or asked % 5:
            raise Unanswered("database-storage", size=asked, low=_STORAGE[0], high=_STORAGE[1])
        return {"db_class": db_class, "storage": asked}
    storage = planner.parameter(
        Parameter(
            id=f"{prefix}DBInstanceStorage",
            group="database",
            label=label(prefix, "Storage (GB)", "存储空间（GB）"),
            description="Storage of the database in GB, in steps of 5.",
            type="Number",
            default=50,
            bounds=_STORAGE,
        )
    )
    return {"db_class": db_class, "storage": storage}


def _account(planner: Planner, prefix: str) -> dict[str, Any]:
    name = planner.parameter(
        Parameter(
            id=f"{prefix}DBAccountName",
            group="database",
            label=label(prefix, "Account name", "账号名称"),
            description="Name of the database's privileged account.",
            default="dbadmin",
            pattern=r"[a-z][a-z0-9_]{0,14}[a-z0-9]",
            constraint="2 to 16 lower-case letters, digits and underscores, a letter first.",
            length=(2, 16),
        )
    )
    password = planner.parameter(
        Parameter(
            id=f"{prefix}DBAccountPassword",
            group="database",
            label=label(prefix, "Account password", "账号密码"),
            description="Password of the account: 8 to 32 characters of three kinds at least "
            "(upper case, lower case, digits, special characters).",
            pattern=r"[0-9A-Za-z!@#$%^&*()_+=-]{8,32}",
            constraint="8 to 32 characters, at least three of: upper case, lower case, digits, "
            "!@#$%^&*()_+-=.",
            length=(8, 32),
            association="ALIYUN::RDS::Instance::AccountPassword",
            secret=True,
        )
    )
    return {"account": name, "password": password}


def fields(resource: Resource) -> tuple[Field, ...]:
    """Write the instance: high-availability edition on ESSD, whitelisted to its VPC's range."""
    network = resource["network"]
    vswitches = tuple(Attribute(each) for each in resource["vswitches"])
    found = [
        Field("DBInstanceDescription", "instance_name", resource["label"]),
        Field("Engine", "engine", resource["engine"]),
        Field("EngineVersion", "engine_version", resource["version"]),
        Field("Category", "category", "HighAvailability"),
        Field("DBInstanceClass", "instance_type", resource["db_class"]),
        Field("DBInstanceStorageType", "db_instance_storage_type", "cloud_essd"),
        Field("DBInstanceStorage", "instance_storage", resource["storage"]),
        Field("PayType", "instance_charge_type", Pair("Postpaid", "Postpaid")),
        Field("ZoneId", "zone_id", resource["zones"][0]),
    ]
    if len(vswitches) > 1:
        second = resource["zones"][1]
        found += [
            Field("SlaveZoneIds", "zone_id_slave_a", Pair([second], second)),
            Field("VpcId", "vpc_id", Attribute(resource["vpc"])),
            Field("VSwitchId", "vswitch_id", Joined(",", vswitches)),
        ]
    else:
        found += [
            Field("VpcId", "vpc_id", Attribute(resource["vpc"])),
            Field("VSwitchId", "vswitch_id", vswitches[0]),
        ]
    if resource["encrypted"]:
        found.append(Field("EncryptionKey", "encryption_key", "ServiceKey"))
    return (
        *found,
        Field("SecurityIPList", "security_ips", Pair(network, [network])),
        Field("DeletionProtection", "deletion_protection", True),
    )


def outputs(resource: Resource) -> tuple[Output, ...]:
    """Give address and port inside the VPC."""
    return (
        Output(
            f"{resource.id}ConnectionString",
            Attribute(resource.id, "InnerConnectionString", "connection_string"),
            f"Database address inside the VPC ({resource.id})",
        ),
        Output(
            f"{resource.id}Port",
            Attribute(resource.id, "InnerPort", "port"),
            f"Database port ({resource.id})",
        ),
    )


KIND = Kind(
    name="rds",
    id="Database",
    order=50,
    ros="ALIYUN::RDS::DBInstance",
    terraform="alicloud_db_instance",
    called={
        "en": ("RDS instance", "RDS instances"),
        "zh": ("RDS 实例", ""),
        "fr": ("instance RDS", "instances RDS"),
    },
    words={
        "en": "rds instance|rds|apsaradb rds|apsaradb|rds database|relational database|database"
        "|database instance|db instance|database server|db|sql database|relational database service"
        "|managed database",
        "zh": "rds数据库实例|rds数据库|数据库rds|rds实例|云数据库rds|云数据库|关系型数据库"
        "|数据库实例|数据库",
        "fr": "instance rds|instances rds|base de donnees rds|bases de donnees rds|base de donnees"
        "|bases de donnees|base de donnees relationnelle|bases de donnees relationnelles|bdd"
        "|instance de base de donnees|instances de base de donnees|base",
    },
    takes=frozenset(
        {"engine", "version", "disk", "gb", "cpu", "memory", "encrypted", "ha", "exposure"}
    ),
    needs=("vpc", "vswitch"),
    limit=10,
    plan=plan,
    fields=fields,
    outputs=outputs,
    stateful=True,
)
