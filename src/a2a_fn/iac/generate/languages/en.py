"""English. Also the home of the technical words that every language borrows."""

from __future__ import annotations

from types import MappingProxyType

from a2a_fn.iac.generate.languages import Language

TERMS = {
    "num:0": "zero",
    "num:1": "one|the other|the other one|single|exactly one|just one|only one",
    "num:2": "two|couple of|a couple of|pair of|a pair of|both",
    "num:3": "three",
    "num:4": "four",
    "num:5": "five",
    "num:6": "six",
    "num:7": "seven",
    "num:8": "eight",
    "num:9": "nine",
    "num:10": "ten",
    "num:11": "eleven",
    "num:12": "twelve|dozen|a dozen",
    "num:13": "thirteen",
    "num:14": "fourteen",
    "num:15": "fifteen",
    "num:16": "sixteen",
    "num:17": "seventeen",
    "num:18": "eighteen",
    "num:19": "nineteen",
    "num:20": "twenty",
    "num:30": "thirty",
    "num:40": "forty",
    "num:50": "fifty",
    "num:60": "sixty",
    "num:70": "seventy",
    "num:80": "eighty",
    "num:90": "ninety",
    "times:100": "hundred|a hundred|one hundred",
    "times:1000": "thousand|a thousand|one thousand",
    "times:1000000": "million|a million|one million",
    "times:1000000000": "billion|a billion|one billion",
    "a": "a|an|another|a new|another new",
    "some": "some|several|multiple|many|a few|few|various",
    "the": "the|this|that|these|those|its|their|said",
    "each": "each|every|per|each of the|each of|for each|in each|for every|in every|apiece",
    "neg": "no|not|without|without any|don't|do not|doesn't|does not|never|neither|nor|w/o|minus"
    "|shouldn't|should not|must not|mustn't|avoid|except|excluding|not any|not a|skip|isn't|aren't",
    "and": "and|as well as|also|plus|along with|together with|then",
    "or": "or",
    "create": "creation|creation of|create|make|build|generate|write|set up|setup|add|give me|i "
    "need|i want|i would like|i'd like|we need|we want|need|want|design|prepare|draft|produce"
    "|get me|creating|have|put|can you create|spin up|stand up|configure|define|use|include"
    "|template for",
    "deploy": "deploy|launch|provision|start up|roll out|apply",
    "destroy": "delete|destroy|remove|drop|terminate|tear down|wipe|erase|decommission|kill"
    "|get rid of|deleting|destroying|removing",
    "change": "change|update|modify|edit|rename|resize|migrate|restart|reboot|stop|shut down"
    "|upgrade|downgrade|replace|move|detach|scale up|scale down|import|rollback|roll back|convert"
    "|review",
    "ask": "what|why|how|who|when|explain|describe|what is|what's|tell me|difference|list|show",
    "open": "open|opens|opened|allow|allows|allowing|allowed|permit|expose|exposed|exposes|exposing"
    "|accept|accepts|accepting|opening|enable|let in|reachable|accessible|listening|listen",
    "close": "block|deny|close|closed|forbid|reject|disallow",
    "port": "port|tcp port|ports",
    "service:22 SSH": "ssh|secure shell",
    "service:3389 RDP": "rdp|remote desktop",
    "service:443 HTTPS": "https|tls|ssl",
    "service:80 HTTP": "http",
    "service:53 DNS": "dns",
    "service:21 FTP": "ftp",
    "service:25 SMTP": "smtp",
    "service:0 ICMP": "icmp|ping",
    "proto:tcp": "tcp",
    "proto:udp": "udp",
    "allports": "all ports|every port|any port|all traffic|everything|all protocols",
    "from": "from|source|coming from|only from|restricted to|limited to",
    "to": "to|towards|toward|until",
    "in": "in|inside|within|into|on|across|over",
    "with": "with|having|where|which|that has|which has|containing|including|using|via|behind"
    "|running|for|attached to|bound to|associated with|at|under|by",
    "of": "of",
    "world": "the internet|internet|anywhere|everywhere|the world|world|everyone|anyone|public "
    "internet|the public internet|the public|publicly|whole internet|the whole internet|any ip"
    "|any source|anybody|everybody|the outside|outside world",
    "inside": "internally|internal|inside the vpc|within the vpc|the vpc only|vpc only|intranet"
    "|internal network|internal traffic",
    "mine": "my ip|my office|the office|office|my network|our office|our network|my address|bastion"
    "|admin range|admins|administrators|my ip address|our ip|headquarters|vpn",
    "outbound": "outbound internet|outbound internet access|internet access|outbound access"
    "|outbound|egress|internet egress|egress to the internet|outgoing access|access to the "
    "internet|access the internet|reach the internet|outbound traffic|can reach the internet"
    "|outbound connectivity|internet connectivity|go out to the internet|outgoing internet access",
    "public": "public|internet facing|publicly accessible|public facing|publicly reachable",
    "private": "private|non public|nonpublic|privately|isolated",
    "encrypted": "encrypted|encryption|encrypt|encryption at rest|with encryption|encrypted at rest"
    "|disk encryption|server side encryption|encrypted disk",
    "plain": "unencrypted|non encrypted",
    "kms": "kms|with kms|kms encrypted|kms encryption|sse kms",
    "purpose": "so that|so|in order to|such that|in order for|because|since",
    "ha": "different zones|separate zones|distinct zones|two different zones|ha|highly available"
    "|high availability|multi az|multi zone|multizone|multiple zones|multiple availability zones"
    "|multi availability zone|cross zone|fault tolerant|several zones",
    "versioned": "versioned|versioning|object versioning|versions|with versioning",
    "protect": "deletion protection|delete protection|termination protection|release protection",
    "secret": "password|passwd|passphrase|pwd|secret|secret key|access key|access key id|access "
    "key secret|api key|token|credential",
    "keypair": "key pair|keypair|ssh key|ssh key pair|ssh keypair|public key",
    "engine:MySQL": "mysql|rds mysql|rds for mysql|my sql",
    "engine:PostgreSQL": "postgresql|postgres|pgsql|postgre|pg|rds postgresql|rds for postgresql",
    "engine:SQLServer": "sql server|sqlserver|mssql|ms sql|microsoft sql server|ms sql server"
    "|rds for sql server",
    "engine:MariaDB": "mariadb|maria db",
    "version": "version|v",
    "unit:cpu": "vcpu|cpu|core|cpu core|virtual cpu|vcore|c",
    "unit:gb": "gb|gib|g|gigabyte|gig|gbyte",
    "unit:tb": "tb|tib|t|terabyte",
    "unit:mbps": "mbps|mbit/s|mbit|mb/s|mbits|mbit per second|megabit|megabits per second",
    "memory": "memory|ram|mem",
    "disk": "disk|system disk|storage|root disk|boot disk|volume|disk space|essd|ssd|root volume",
    "datadisk": "data disk|data volume|extra disk|additional disk|data drive",
    "zone": "zone|availability zone|az",
    "samezone": "same zone|the same zone|one zone only|same availability zone",
    "region": "region",
    "region:cn-hangzhou": "hangzhou",
    "region:cn-shanghai": "shanghai",
    "region:cn-beijing": "beijing",
    "region:cn-shenzhen": "shenzhen",
    "region:cn-hongkong": "hong kong|hongkong",
    "region:cn-chengdu": "chengdu",
    "region:cn-zhangjiakou": "zhangjiakou",
    "region:cn-qingdao": "qingdao",
    "region:cn-guangzhou": "guangzhou",
    "region:ap-southeast-1": "singapore",
    "region:ap-southeast-3": "kuala lumpur|malaysia",
    "region:ap-southeast-5": "jakarta|indonesia",
    "region:ap-northeast-1": "tokyo|japan",
    "region:ap-northeast-2": "seoul",
    "region:eu-central-1": "frankfurt",
    "region:eu-west-1": "london",
    "region:us-west-1": "silicon valley",
    "region:us-east-1": "virginia",
    "region:me-east-1": "dubai",
    "format:terraform": "terraform|hcl|tf|terraform format|terraform code|terraform module|opentofu"
    "|terraform configuration",
    "format:ros": "ros|ros template|ros yaml|ros format|ros yaml template|resource orchestration "
    "service",
    "named": "called|named|name|name it|named as|with name|with the name|with names|whose name is"
    "|call it|tagged as name",
    "os:Ubuntu": "ubuntu",
    "os:CentOS": "centos",
    "os:Debian": "debian",
    "os:Windows": "windows",
    "os:Alibaba Cloud Linux": "alibaba cloud linux|aliyun linux|alinux",
    "os:Linux": "linux",
    "existing": "existing|already existing|current|already have|already there",
    "unsupported": "load balancer|slb|alb|nlb|clb|redis|tair|kubernetes|k8s|ack|container service"
    "|mongodb|polardb|kafka|rocketmq|cdn|waf|auto scaling|scaling group|vpn gateway|function "
    "compute|nas|route table|dns zone|dns record|peering|transit router|cen|ram role|ram user"
    "|lambda|s3|ec2|ipv6|dnat|sls|log service|snapshot policy|bandwidth package|certificate"
    "|backup|monitoring",
    "stop": "please|kindly|hello|hi|hey|thanks|thank you|i|me|we|us|you|it|is|are|be|should|must"
    "|can|could|would|will|shall|as|there|only|just|all|any|new|simple|basic|small|alibaba "
    "cloud|alibaba|aliyun|cloud|infrastructure|stack|template|yaml|file|resource|code|example"
    "|network|cidr|cidr block|range|address range|ip range|ipv4|address|rule|inbound|ingress"
    "|inbound rule|access|traffic|connection|bandwidth|engine|type|size|sized|account|in it|them"
    "|they|has|contain|in total|total|instance type|spec|ready|my|our|your|let's|let|following"
    "|now|each other|at least|gateway|snat|snat rule|snat entry|service|apsara|but|set|allocated"
    "|respectively|data|again|format|in the format|at rest|edition|database engine|default|itself"
    "|own|its own|protection|accessed|access from|reach|placed|located|stand alone|standalone"
    "|capacity|ok|okay|able|able to|enabled|with access|deployed|hosted|created|'s|subnet mask"
    "|netmask|prefix|distributed|spread|environment|ip address|ip|x",
}

SAYS = {
    # ---- frame
    "made": "{format} for {things}.",
    "made-ros": "ROS template",
    "made-terraform": "Terraform configuration",
    "and": " and ",
    "choose": "You choose when you deploy: {parameters}.",
    "assumptions": "Assumptions:",
    "unread": "Not understood, so not in the result: {words}.",
    "blocked": "Nothing was generated. Please answer first:",
    # ---- notes
    "vpc-range": "No range was given for the VPC: {ranges}.",
    "plural-is-two": "No number was given for the {kinds}: two.",
    "dealt": "{count} {kinds} are dealt over the {vpcs} VPCs in turn.",
    "zones-spread": "The vSwitches are spread over {zones} zones, which you choose.",
    "vswitch-exposure": "A vSwitch is neither public nor private by itself: the word is in its "
    "name, a NAT gateway stands in a public one, and SNAT serves the private ones.",
    "security-group-closed": "No inbound port is open. Say, for example: allow ssh from "
    "203.0.113.0/24.",
    "protected-from-world": "NOT opened to the whole internet: {port}. Scanners attack it within "
    "minutes, so its source is the parameter {admin}, which you choose.",
    "protected-port": "{port} is open only to the parameter {admin}, which you choose.",
    "web-port-world": "No source was given for {port}: open to the internet (0.0.0.0/0).",
    "port-vpc-only": "No source was given for {port}: open inside the VPC only ({cidr}).",
    "source-is-stack": "{port} was asked for from other resources of this stack: open inside the "
    "VPC ({cidr}).",
    "ecs-encrypted": "In ROS, the disks of ALIYUN::ECS::Instance cannot be encrypted: each "
    "encrypted instance is an ALIYUN::ECS::InstanceGroup of one.",
    "disk-is-data": "A system disk has at most {limit} GiB: the {size} GiB are a data disk.",
    "instance-type": "{cpu} vCPU and {memory} GiB: {type} is the default of the instance type.",
    "private-no-way-out": "The private instances have no way out to the internet. Say: with "
    "outbound internet access, for a NAT gateway.",
    "eip-unbound": "Nothing was said to use the EIP: it is bound to nothing.",
    "eip-count": "{eips} EIP(s) for {hosts} host(s): bound in order, as far as they go.",
    "bucket-stays-private": "NOT made public: the bucket is private and public access is blocked. "
    "Publish through a signed URL or a CDN, or lift the block knowingly.",
    "bucket-stays-encrypted": "The bucket is encrypted with AES256 all the same; it costs nothing.",
    "kept-on-deletion": "The {kinds} are kept when the stack is deleted (Retain, prevent_destroy).",
    "kept-with-network": "The {kinds} are kept when the stack is deleted (Retain, "
    "prevent_destroy), and so are the VPC and vSwitches that they stand in.",
    "database-engine": "The database is {engine} {version}, as far as you did not say.",
    "region-ros": "A ROS template has no region of its own: make the stack in {region}.",
    "region-terraform": "The region {region} is the default of the variable region.",
    "secret-hidden": "A password or key in the request is neither used nor repeated: secrets are "
    "parameters.",
    "nothing-deployed": "These are files; nothing was created in your account.",
    # ---- questions
    "nothing-asked": "What would you like? I write ROS and Terraform templates for VPC, vSwitch, "
    "security group, ECS, EIP, NAT gateway, OSS and RDS. For example: a VPC with two vSwitches "
    "and an ECS instance that allows https from the internet.",
    "informational": "I write templates and do not explain products. Which resources should the "
    "template hold? For example: a VPC with two vSwitches.",
    "no-changes": "“{word}”: I only write new templates; I change and delete nothing that exists. "
    "Which new resources should the template hold?",
    "existing": "“{word}”: I only write new, whole stacks and cannot see what exists. May I make "
    "a new one instead?",
    "too-long": "The request has {count} characters; at most {limit} are read. Can you shorten it?",
    "either-or": "“{first}” or “{second}”? I do not choose between them.",
    "two-formats": "ROS or Terraform? I write one of them at a time.",
    "two-regions": "{first} or {second}? A stack lies in one region.",
    "public-and-private": "Should the {kind} be public or private? You said both.",
    "said-twice": "{first} or {second} for the {kind}? You said both.",
    "parts-exceed": "You asked for {count} {kinds} and described {given}. How many should there "
    "be?",
    "asked-and-banned": "You asked for the {kind}, and for none. Which is it?",
    "needed-and-banned": "The {by} cannot be made without the {kind}, which you ruled out. What "
    "shall I leave out?",
    "none-asked": "How many {kinds} should there be?",
    "too-many": "{count} {kinds} are more than one template should hold; at most {limit}. How "
    "many do you need?",
    "too-many-resources": "The request comes to {count} resources; at most {limit} go into one "
    "template. Can you split it?",
    "too-many-zones": "No region has {count} zones to offer; at most {limit}. How many do you "
    "need?",
    "zones-exceed-vswitches": "A vSwitch lies in one zone: {count} cannot reach {zones} zones. "
    "How many vSwitches?",
    "zone-outside-region": "The zone {zone} is not in the region {region}. Which one is right?",
    "name-count": "{given} names for {count} {kinds}. What are they called?",
    "name-invalid": "“{name}” cannot be the name of a {kind}. Which name shall it have? (Letters, "
    "digits, hyphens; a bucket's in lower case, 3 to 63.)",
    "cidr-invalid": "“{cidr}” is not an IPv4 range. Which one do you mean?",
    "cidr-host-bits": "{cidr} has host bits set. Do you mean {network}?",
    "cidr-count": "{given} ranges for {count} {kinds}. Which range for which?",
    "cidr-reserved": "{cidr} is reserved and cannot be a VPC's range. Which private range instead?",
    "mask": "A {kind} cannot be {cidr}: its mask is /{low} to /{high}. Which range?",
    "vswitch-outside-vpc": "The vSwitch {cidr} does not lie in the VPC {vpc}. Which of the two is "
    "right?",
    "vswitch-overlap": "The vSwitches {cidr} and {other} overlap. Which ranges shall they have?",
    "does-not-fit": "{count} vSwitches of /{mask} do not fit into {vpc}. A larger VPC, or fewer "
    "vSwitches?",
    "port-range": "{low}-{high} is not a port range (1-65535). Which ports?",
    "port-open-and-closed": "Should {port} be open or closed? You said both.",
    "gb-ambiguous": "{size} GB of memory, or of disk?",
    "no-such-size": "There is no usual instance with {cpu} vCPU and {memory} GiB. Is {near_cpu} "
    "vCPU and {near_memory} GiB all right?",
    "disk-size": "A disk of {size} GiB cannot be had ({low} to {high}). What size?",
    "bandwidth": "A bandwidth of {size} Mbit/s cannot be had ({low} to {high}). How much?",
    "database-public": "I do not put a database on the internet. May it be private, reached from "
    "its VPC?",
    "database-storage": "A database's storage is {low} to {high} GB in steps of 5, not {size}. "
    "How much?",
    "engine-version": "{engine} {version} is not offered here (known: {known}). Which version?",
    "engine-not-encrypted": "{engine} offers no disk encryption. Another engine, or without "
    "encryption?",
    "ha-needs-two-zones": "A database across zones needs vSwitches in two zones. Shall there be "
    "two?",
}

LANGUAGE = Language(code="en", terms=MappingProxyType(TERMS), says=MappingProxyType(SAYS))
