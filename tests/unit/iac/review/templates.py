"""Templates of our own for the tests: sound ones, into which tests inject faults."""

NETWORK = """\
ROSTemplateFormatVersion: '2015-09-01'
Description: A network with two vSwitches and a web server.
Parameters:
  ZoneA:
    Type: String
    AssociationProperty: ALIYUN::ECS::Instance:ZoneId
  ZoneB:
    Type: String
  Size:
    Type: String
    AssociationPropertyMetadata:
      ZoneId: ${ZoneA}
  LoginPassword:
    Type: String
    NoEcho: true
  Office:
    Type: String
    Default: 203.0.113.0/24
  WithAddress:
    Type: Boolean
    Default: true
Mappings:
  Disks:
    small:
      Gigabytes: 40
    large:
      Gigabytes: 200
Conditions:
  Public:
    Fn::Equals:
      - true
      - Ref: WithAddress
  Private:
    Fn::Not: Public
Resources:
  Net:
    Type: ALIYUN::ECS::VPC
    Properties:
      CidrBlock: 10.0.0.0/16
      VpcName:
        Ref: ALIYUN::StackName
  SubA:
    Type: ALIYUN::ECS::VSwitch
    Properties:
      VpcId:
        Ref: Net
      ZoneId:
        Ref: ZoneA
      CidrBlock: 10.0.0.0/24
  SubB:
    Type: ALIYUN::ECS::VSwitch
    Properties:
      VpcId:
        Fn::GetAtt:
          - Net
          - VpcId
      ZoneId:
        Ref: ZoneB
      CidrBlock: 10.0.1.0/24
  Group:
    Type: ALIYUN::ECS::SecurityGroup
    Properties:
      VpcId:
        Ref: Net
      SecurityGroupIngress:
        - IpProtocol: tcp
          PortRange: 443/443
          SourceCidrIp: 0.0.0.0/0
        - IpProtocol: tcp
          PortRange: 22/22
          SourceCidrIp:
            Ref: Office
  Web:
    Type: ALIYUN::ECS::Instance
    DependsOn:
      - SubB
    Properties:
      VpcId:
        Ref: Net
      VSwitchId:
        Ref: SubA
      SecurityGroupId:
        Ref: Group
      InstanceType:
        Ref: Size
      Password:
        Ref: LoginPassword
      SystemDiskSize:
        Fn::FindInMap:
          - Disks
          - small
          - Gigabytes
      UserData:
        Fn::Sub:
          - |
            #!/bin/sh
            echo ${Greeting} from ${ALIYUN::Region} in ${Net.VpcId} > /etc/motd
            echo ${!HOME}
          - Greeting: hello
  Address:
    Type: ALIYUN::VPC::EIP
    Condition: Public
Outputs:
  Address:
    Condition: Public
    Value:
      Fn::GetAtt:
        - Address
        - EipAddress
  Inner:
    Condition: Private
    Value:
      Fn::If:
        - Private
        - Fn::GetAtt:
            - Web
            - PrivateIp
        - none
"""

STACKS = """\
ROSTemplateFormatVersion: '2015-09-01'
Parameters:
  Servers:
    Type: Number
    Default: 2
Locals:
  Prefix:
    Type: Macro
    Value:
      Fn::Join:
        - '-'
        - - Ref: ALIYUN::StackName
          - web
  Images:
    Type: DATASOURCE::ECS::Images
    Properties:
      ImageName:
        Ref: Prefix
Resources:
  Fleet:
    Type: ALIYUN::ECS::Instance
    Count:
      Ref: Servers
    Properties:
      InstanceName:
        Fn::Sub: ${Prefix}-${ALIYUN::Index}
      ImageId:
        Fn::Select:
          - 0
          - Fn::GetAtt:
              - Images
              - ImageIds
  Inner:
    Type: ALIYUN::ROS::Stack
    Properties:
      Parameters:
        NetId: vpc-1
      TemplateBody:
        ROSTemplateFormatVersion: '2015-09-01'
        Parameters:
          NetId:
            Type: String
        Resources:
          Sub:
            Type: ALIYUN::ECS::VSwitch
            Properties:
              VpcId:
                Ref: NetId
        Outputs:
          SubId:
            Value:
              Ref: Sub
Outputs:
  First:
    Value:
      Fn::GetAtt:
        - Fleet[0]
        - PrivateIp
  All:
    Value:
      Ref: Fleet
  SubId:
    Value:
      Fn::GetAtt:
        - Inner
        - Outputs.SubId
"""

WORKSPACE = """\
ROSTemplateFormatVersion: '2015-09-01'
Transform: Aliyun::Terraform-v1.5
Parameters:
  zone:
    Type: String
Workspace:
  main.tf: |
    variable "zone" {
      type = string
    }

    resource "alicloud_vpc" "main" {
      cidr_block = "10.0.0.0/16"
    }

    resource "alicloud_vswitch" "main" {
      vpc_id     = alicloud_vpc.main.id
      zone_id    = var.zone
      cidr_block = "10.0.1.0/24"
    }
"""

MODULE = {
    "variables.tf": """\
variable "zones" {
  type = list(string)
}

variable "password" {
  type      = string
  sensitive = true
}

variable "office" {
  type    = string
  default = "203.0.113.0/24"
}
""",
    "main.tf": """\
terraform {
  required_providers {
    alicloud = {
      source                = "aliyun/alicloud"
      configuration_aliases = [alicloud.other]
    }
  }
}

locals {
  prefix = "web"
  tags = {
    for name in ["a", "b"] : name => "${local.prefix}-${name}"
  }
}

data "alicloud_images" "linux" {
  name_regex = "^aliyun"
}

resource "alicloud_vpc" "main" {
  vpc_name   = local.prefix
  cidr_block = "10.0.0.0/16"
  tags       = local.tags
}

resource "alicloud_vswitch" "a" {
  vpc_id     = alicloud_vpc.main.id
  cidr_block = cidrsubnet("10.0.0.0/16", 8, 0)
  zone_id    = var.zones[0]
}

resource "alicloud_vswitch" "b" {
  vpc_id     = alicloud_vpc.main.id
  cidr_block = cidrsubnet("10.0.0.0/16", 8, 1)
  zone_id    = var.zones[1]
}

resource "alicloud_security_group" "web" {
  vpc_id = alicloud_vpc.main.id
}

resource "alicloud_security_group_rule" "https" {
  security_group_id = alicloud_security_group.web.id
  type              = "ingress"
  ip_protocol       = "tcp"
  port_range        = "443/443"
  cidr_ip           = "0.0.0.0/0"
}

resource "alicloud_security_group_rule" "ssh" {
  security_group_id = alicloud_security_group.web.id
  type              = "ingress"
  ip_protocol       = "tcp"
  port_range        = "22/22"
  cidr_ip           = var.office
}

resource "alicloud_instance" "web" {
  count           = 2
  instance_name   = "${local.prefix}-${count.index}"
  image_id        = data.alicloud_images.linux.images[0].id
  security_groups = [alicloud_security_group.web.id]
  vswitch_id      = count.index == 0 ? alicloud_vswitch.a.id : alicloud_vswitch.b.id
  password        = var.password
  user_data       = <<-EOT
    #!/bin/sh
    echo "$${HOME} ${local.prefix}"
    %{for zone in var.zones~}
    echo ${zone}
    %{endfor~}
  EOT

  dynamic "data_disks" {
    for_each = [40, 80]
    content {
      size = data_disks.value
    }
  }

  lifecycle {
    ignore_changes = [image_id, user_data]
  }
}
""",
    "outputs.tf": """\
output "addresses" {
  value = alicloud_instance.web[*].private_ip
}
""",
}
