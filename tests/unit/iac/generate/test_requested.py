"""Is everything that was asked for found back in the output?"""

from __future__ import annotations

from ipaddress import ip_network

import pytest
import yaml
from tests.unit.iac.generate.outputs import (
    dangling_in_ros,
    dangling_in_terraform,
    kinds_in_files,
    kinds_of,
    of_type,
    ros,
    severe,
    terraform_resources,
)

from a2a_fn.iac.generate import generate

VPC, VSWITCH = "ALIYUN::ECS::VPC", "ALIYUN::ECS::VSwitch"


@pytest.mark.parametrize(
    "text",
    [
        "Create a VPC with two vSwitches",
        "创建一个VPC和两个交换机",
        "Créer un VPC avec deux vSwitchs",
    ],
)
def test_a_vpc_with_two_vswitches_in_ranges_that_do_not_overlap(text: str) -> None:
    template = ros(text)
    (vpc,) = of_type(template, VPC)
    first, second = (ip_network(each["CidrBlock"]) for each in of_type(template, VSWITCH))
    assert len(template["Resources"]) == 3
    assert not first.overlaps(second)
    assert first.subnet_of(ip_network(vpc["CidrBlock"]))
    assert second.subnet_of(ip_network(vpc["CidrBlock"]))


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("two VPCs, each with two vSwitches", {"vpc": 2, "vswitch": 4}),
        ("two vSwitches per zone in three zones", {"vpc": 1, "vswitch": 6}),
        ("a VPC with two public and two private vSwitches", {"vpc": 1, "vswitch": 4}),
        ("VPC with public and private subnets", {"vpc": 1, "vswitch": 2}),
        ("twelve OSS buckets", {"oss": 12, "oss_block": 12}),
        ("twenty-four vSwitches", {"vpc": 1, "vswitch": 24}),
        ("MySQL and PostgreSQL databases", {"vpc": 1, "vswitch": 1, "rds": 2, "rds_account": 2}),
        ("two databases, one MySQL and one PostgreSQL 14",
         {"vpc": 1, "vswitch": 1, "rds": 2, "rds_account": 2}),
        ("创建两个VPC，每个VPC两个交换机", {"vpc": 2, "vswitch": 4}),
        ("三个交换机分布在三个可用区", {"vpc": 1, "vswitch": 3}),
        ("十二个存储桶", {"oss": 12, "oss_block": 12}),
        ("deux VPC avec chacun deux vSwitchs", {"vpc": 2, "vswitch": 4}),
        ("trois sous-réseaux dans trois zones", {"vpc": 1, "vswitch": 3}),
    ],
)  # fmt: skip
def test_counts(text: str, counts: dict[str, int]) -> None:
    result = generate(text)
    assert result.not_understood == ()
    assert kinds_of(result) == counts


@pytest.mark.parametrize(
    "text",
    [
        "Three ECS instances with a public IP",
        "three servers, each with an EIP",
        "三台ECS，每台带一个公网IP",
        "trois instances ECS avec une adresse IP publique chacune",
        "three public ECS instances",
        "三台公网的服务器",
        "trois serveurs publics",
    ],
)
def test_each_public_instance_gets_its_own_eip(text: str) -> None:
    template = ros(text)
    bindings = of_type(template, "ALIYUN::VPC::EIPAssociation")
    assert len({each["InstanceId"]["Ref"] for each in bindings}) == 3
    assert len({each["AllocationId"]["Ref"] for each in bindings}) == 3


@pytest.mark.parametrize(
    "text",
    [
        "a VPC 172.16.0.0/12 with vSwitches 172.16.1.0/24 and 172.16.2.0/24",
        "VPC网段172.16.0.0/12，两个交换机，网段为172.16.1.0/24和172.16.2.0/24",
        "Un VPC 172.16.0.0/12 avec deux vSwitchs 172.16.1.0/24 et 172.16.2.0/24",
    ],
)
def test_ranges(text: str) -> None:
    result = generate(text.replace("with vSwitches", "with two vSwitches"))
    template = yaml.safe_load(result.files["template.yml"])
    assert of_type(template, VPC)[0]["CidrBlock"] == "172.16.0.0/12"
    found = [each["CidrBlock"] for each in of_type(template, VSWITCH)]
    assert found == ["172.16.1.0/24", "172.16.2.0/24"]


def test_given_ranges_are_kept_clear_by_those_that_are_carved() -> None:
    template = ros("a VPC 10.0.0.0/16, one vSwitch, and one vSwitch 10.0.0.0/24")
    found = [each["CidrBlock"] for each in of_type(template, VSWITCH)]
    assert sorted(found) == ["10.0.0.0/24", "10.0.1.0/24"]


def test_a_small_vpc_is_shared_evenly() -> None:
    template = ros("a VPC 10.9.8.0/26 with three vSwitches")
    found = [ip_network(each["CidrBlock"]) for each in of_type(template, VSWITCH)]
    assert [each.prefixlen for each in found] == [28, 28, 28]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a VPC called prod-net with two vSwitches called app and db", ["prod-net", "app", "db"]),
        ("名为prod-net的VPC，两个名为app的交换机", ["prod-net", "app-1", "app-2"]),
        ("un VPC nommé prod-net avec deux vSwitchs nommés app et db", ["prod-net", "app", "db"]),
        ('a VPC "prod-net" with a vSwitch named "app"', ["prod-net", "app"]),
        ("a VPC named public with a vSwitch", ["public", "vswitch"]),
        ("一个VPC，名称为测试环境", ["测试环境"]),
    ],
)  # fmt: skip
def test_names(text: str, names: list[str]) -> None:
    template = ros(text)
    found = [each["VpcName"] for each in of_type(template, VPC)]
    found += [each["VSwitchName"] for each in of_type(template, VSWITCH)]
    plain = [
        each["Fn::Sub"].partition("}-")[2] if isinstance(each, dict) else each for each in found
    ]
    assert plain == names


@pytest.mark.parametrize(
    "text",
    [
        "an ECS instance called web with 4 vCPU, 16 GiB of RAM and a 120 GB system disk",
        "一台名为web的ECS，4核16G，系统盘120GB",
        "une instance ECS nommée web avec 4 vCPU, 16 Go de RAM et un disque système de 120 Go",
    ],
)
def test_instance_sizes(text: str) -> None:
    template = ros(text)
    (instance,) = of_type(template, "ALIYUN::ECS::Instance")
    assert (instance["InstanceName"], instance["SystemDiskSize"]) == ("web", 120)
    assert template["Parameters"]["InstanceType"]["Default"] == "ecs.g7.xlarge"


@pytest.mark.parametrize(
    ("text", "engine", "version", "storage"),
    [
        ("a MySQL 5.7 database with 100 GB", "MySQL", "5.7", 100),
        ("a PostgreSQL 14 with 200 GB of storage", "PostgreSQL", "14.0", 200),
        ("SQL Server 2019 数据库，存储500GB", "SQLServer", "2019_std_ha", 500),
        ("创建一个MySQL8.0数据库，100GB存储", "MySQL", "8.0", 100),
        ("une base MariaDB 10.3 de 50 Go", "MariaDB", "10.3", 50),
    ],
)
def test_databases(text: str, engine: str, version: str, storage: int) -> None:
    (database,) = of_type(ros(text), "ALIYUN::RDS::DBInstance")
    assert database["Engine"] == engine
    assert database["EngineVersion"] == version
    assert database["DBInstanceStorage"] == storage


@pytest.mark.parametrize(
    "text",
    [
        "a highly available MySQL database in two zones",
        "创建一个高可用的MySQL数据库，跨可用区",
        "une base MySQL en haute disponibilité",
    ],
)
def test_a_database_across_zones_has_a_vswitch_in_each(text: str) -> None:
    (database,) = of_type(ros(text), "ALIYUN::RDS::DBInstance")
    assert database["ZoneId"] == {"Ref": "ZoneId1"}
    assert database["SlaveZoneIds"] == [{"Ref": "ZoneId2"}]
    assert len(database["VSwitchId"]["Fn::Join"][1]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "an encrypted ECS instance, an encrypted MySQL database and a versioned OSS bucket with "
        "KMS",
        "一台加密的ECS、一个加密的MySQL数据库，一个开启版本控制并用KMS加密的OSS存储桶",
        "une instance ECS chiffrée, une base MySQL chiffrée et un bucket OSS versionné avec KMS",
    ],
)
def test_encryption_and_versions(text: str) -> None:
    template = ros(text)
    (group,) = of_type(template, "ALIYUN::ECS::InstanceGroup")
    (database,) = of_type(template, "ALIYUN::RDS::DBInstance")
    (bucket,) = of_type(template, "ALIYUN::OSS::Bucket")
    assert group["SystemDiskEncrypted"] is True and group["MaxAmount"] == 1
    assert database["EncryptionKey"] == "ServiceKey"
    assert bucket["ServerSideEncryptionConfiguration"] == {"SSEAlgorithm": "KMS"}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}


@pytest.mark.parametrize(
    "text",
    [
        "two vSwitches in cn-hangzhou-h and cn-hangzhou-i",
        "两个交换机，分别在cn-hangzhou-h和cn-hangzhou-i",
        "deux vSwitchs dans cn-hangzhou-h et cn-hangzhou-i",
    ],
)
def test_named_zones_become_the_defaults_of_their_parameters(text: str) -> None:
    template = ros(text)
    assert [template["Parameters"][f"ZoneId{n}"]["Default"] for n in (1, 2)] == [
        "cn-hangzhou-h",
        "cn-hangzhou-i",
    ]
    assert [each["ZoneId"]["Ref"] for each in of_type(template, VSWITCH)] == ["ZoneId1", "ZoneId2"]


@pytest.mark.parametrize("text", ["a VPC in Hangzhou", "在杭州创建一个VPC", "un VPC à cn-hangzhou"])
def test_a_region_is_acknowledged(text: str) -> None:
    assert any("cn-hangzhou" in note for note in generate(text).notes)
    variables = generate(text, format="terraform").files["variables.tf"]
    assert 'default     = "cn-hangzhou"' in variables


@pytest.mark.parametrize(
    "text",
    [
        "two private ECS instances with outbound internet access in a VPC with two vSwitches",
        "两台私网ECS，可以访问公网，VPC里有两个交换机",
        "deux instances ECS privées avec un accès Internet sortant, et deux vSwitchs",
    ],
)
def test_private_with_a_way_out_is_a_nat_gateway_with_snat_for_each_vswitch(text: str) -> None:
    template = ros(text)
    assert len(of_type(template, "ALIYUN::VPC::NatGateway")) == 1
    served = [each["SourceVSwitchIds"] for each in of_type(template, "ALIYUN::VPC::SnatEntry")]
    assert served == [[{"Ref": "VSwitch1"}], [{"Ref": "VSwitch2"}]]
    hosts = [each["InstanceId"] for each in of_type(template, "ALIYUN::VPC::EIPAssociation")]
    assert hosts == [{"Ref": "NatGateway"}]


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("a VPC as Terraform", "terraform"),
        ("用 Terraform 创建一个VPC", "terraform"),
        ("un VPC en Terraform", "terraform"),
        ("a VPC as a ROS template, not Terraform", "ros"),
        ("a VPC, not ROS", "terraform"),
        ("a VPC", "ros"),
    ],
)
def test_the_format_is_what_the_text_asks_for(text: str, format: str) -> None:
    assert generate(text).format == format


def test_the_argument_wins_over_the_text() -> None:
    result = generate("a VPC as Terraform or ROS", format="ros")
    assert list(result.files) == ["template.yml"] and result.questions == ()


#: One request that uses most of the engine.
WHOLE = (
    "Create a VPC 10.2.0.0/16 with two public and two private vSwitches in two zones, a NAT "
    "gateway with two EIPs, three private encrypted ECS instances called app with 2 vCPU and 8 "
    "GiB and a 100 GB data disk, one public ECS instance called edge with port 443 open to the "
    "internet and ssh from 203.0.113.0/24, a highly available PostgreSQL 15 database, and two "
    "versioned buckets in Hangzhou"
)


def test_a_whole_environment_agrees_in_both_formats_and_passes_review() -> None:
    in_ros, in_terraform = generate(WHOLE, format="ros"), generate(WHOLE, format="terraform")
    assert in_ros.not_understood == ()
    assert kinds_of(in_ros) == {
        "vpc": 1, "vswitch": 4, "security_group": 2, "security_rule": 2, "ecs": 4, "rds": 1,
        "rds_account": 1, "nat": 1, "snat": 2, "eip": 3, "eip_association": 3, "oss": 2,
        "oss_block": 2,
    }  # fmt: skip
    assert kinds_in_files(in_ros) == kinds_in_files(in_terraform)
    assert dangling_in_ros(ros(WHOLE)) == []
    assert dangling_in_terraform(dict(in_terraform.files)) == []
    assert severe(in_ros) == severe(in_terraform) == []


def test_terraform_holds_the_requested_values() -> None:
    found = terraform_resources(dict(generate(WHOLE, format="terraform").files))
    by_type: dict[str, list[dict]] = {}
    for type_, _, body in found:
        by_type.setdefault(type_, []).append(body)
    assert by_type["alicloud_vpc"][0]["cidr_block"] == '"10.2.0.0/16"'
    names = [body["instance_name"] for body in by_type["alicloud_instance"]]
    assert names == ['"app-1"', '"app-2"', '"app-3"', '"edge"']
    ports = [body["port_range"] for body in by_type["alicloud_security_group_rule"]]
    assert ports == ['"443/443"', '"22/22"']
    assert by_type["alicloud_db_instance"][0]["engine_version"] == '"15.0"'
    assert by_type["alicloud_snat_entry"][0]["depends_on"]


@pytest.mark.parametrize("text", [WHOLE, "创建一个VPC和两个交换机", "un bucket OSS"])
def test_the_same_text_gives_the_same_bytes(text: str) -> None:
    assert generate(text) == generate(text)


def test_passwords_are_secret_parameters_with_a_pattern() -> None:
    template = ros(WHOLE)
    secrets = {name: p for name, p in template["Parameters"].items() if "Password" in name}
    assert set(secrets) == {"InstancePassword", "DBAccountPassword"}
    for each in secrets.values():
        assert each["NoEcho"] is True and each["AllowedPattern"] and "Default" not in each
    variables = generate(WHOLE, format="terraform").files["variables.tf"]
    assert variables.count("sensitive   = true") == 2


def test_stateful_resources_and_what_guards_them_outlive_the_stack() -> None:
    template = ros(WHOLE)
    kept = {each["Type"] for each in template["Resources"].values() if "DeletionPolicy" in each}
    assert kept == {
        "ALIYUN::RDS::DBInstance",
        "ALIYUN::RDS::Account",
        "ALIYUN::OSS::Bucket",
        "ALIYUN::OSS::BucketPublicAccessBlock",
    }
    main = generate(WHOLE, format="terraform").files["main.tf"]
    assert main.count("prevent_destroy = true") == 6


def test_stock_values_are_parameters_that_the_console_can_offer() -> None:
    parameters = ros(WHOLE)["Parameters"]
    for name in ("ZoneId1", "AppInstanceType", "AppImageId", "DBInstanceClass"):
        assert parameters[name]["AssociationProperty"], name
        assert set(parameters[name]["Label"]) == {"en", "zh-cn"}
