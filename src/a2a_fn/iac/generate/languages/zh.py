"""Chinese."""

from __future__ import annotations

import re
from types import MappingProxyType

from a2a_fn.iac.generate.languages import Language

TERMS = {
    "num:0": "零个|0个",
    "num:1": "单个|单|唯一一个|只要一个",
    "num:2": "双|一对",
    "some": "几个|多个|若干|若干个|一些|几台|多台",
    "the": "该|这个|那个|此|这些|那些|上述|其|这|它的",
    "each": "每个|每台|每|各个|各|每一个|分别",
    "neg": "不要|不需要|不带|没有|无需|无|不|别|不用|禁用|不能|请勿|勿|不含|不使用|不加|非|不允许"
    "|除了|不应",
    "and": "和|以及|与|及|并且|并|还有|同时|加上|外加|再加|、|另外|还|也|再",
    "or": "或|或者",
    "create": "我想|想|创建|新建|建立|生成|搭建|建|写|需要|想要|我要|要|给我|帮我|添加|增加|加|做"
    "|配置|设置|请建|编写|写一个|来|定义|申请|使用|包含|包括|要有|规划|设计|用",
    "deploy": "部署|启动|开通|发布|上线",
    "destroy": "删除|销毁|移除|释放|清除|去掉|删掉|删",
    "change": "修改|更新|变更|更改|改成|改为|重命名|扩容|缩容|迁移|重启|停止|停机|升级|替换|导入"
    "|转换|审查|检查",
    "ask": "什么|为什么|怎么|如何|怎样|解释|介绍|是什么|说明|列出|区别|吗",
    "open": "开放|打开|放行|允许|放通|暴露|开启|开|对外开放|可访问|能访问|可以访问",
    "close": "禁止|拒绝|封禁|关闭|屏蔽",
    "port": "端口|端口号",
    "service:22 SSH": "ssh登录|ssh访问|ssh远程",
    "service:3389 RDP": "远程桌面",
    "allports": "所有端口|全部端口|任意端口|所有流量|全部流量",
    "from": "来自|从|来源|源地址|仅限",
    "to": "给|对|向|到|至",
    "in": "在|位于|放在|里面|里|内|中|上|属于|处于",
    "with": "有|带|带有|具有|拥有|含有|其中|通过|，带|附带|配有|配|运行|绑定|关联|为",
    "world": "公网|互联网|外网|任何地方|任意地址|所有人|任意来源|全网|所有ip|任何ip|全世界|公众"
    "|所有来源|外部",
    "inside": "内网|vpc内|vpc内部|专有网络内|内部|仅vpc",
    "mine": "我的ip|办公室|公司|办公网|办公网络|我的网络|管理员|堡垒机|管理网段|公司网络",
    "outbound": "访问公网|访问互联网|访问外网|上网|出公网|公网出口|能上网|可以上网|可以访问公网"
    "|可以访问互联网|能访问公网|能访问互联网|公网访问能力|出网|可上网|可访问公网|主动访问公网"
    "|能够访问互联网|出站访问|能够访问公网",
    "public": "公有|公开|公共|公网的|公网访问|面向公网|可公网访问",
    "private": "私有|私网|不公开|内网的|仅内网|隔离|非公网",
    "encrypted": "加密|磁盘加密|云盘加密|服务端加密|静态加密|开启加密|启用加密|加密的",
    "plain": "不加密|未加密|非加密",
    "kms": "kms加密|用kms加密|使用kms",
    "purpose": "以便|从而|以使|使得|用于|以供",
    "ha": "不同可用区|不同的可用区|两个不同的可用区|高可用|高可用版|多可用区|跨可用区|容灾|多az",
    "versioned": "版本控制|多版本|开启版本控制|启用版本控制",
    "protect": "删除保护|释放保护|防删除",
    "secret": "密码|口令|登录密码|访问密钥|秘钥",
    "keypair": "密钥对|ssh密钥|密钥登录|密钥",
    "version": "版本|版",
    "unit:cpu": "核|核心|个核|核cpu|核vcpu",
    "unit:gb": "g的",
    "unit:mbps": "m带宽|兆带宽|兆|m|mb带宽|mbps带宽",
    "memory": "内存",
    "disk": "磁盘|系统盘|云盘|硬盘|存储|存储容量|容量",
    "datadisk": "数据盘",
    "zone": "可用区|个可用区|az",
    "samezone": "同一可用区|同一个可用区|同可用区",
    "region": "地域|区域",
    "region:cn-hangzhou": "杭州|华东1",
    "region:cn-shanghai": "上海|华东2",
    "region:cn-beijing": "北京|华北2",
    "region:cn-shenzhen": "深圳|华南1",
    "region:cn-hongkong": "香港|中国香港",
    "region:cn-chengdu": "成都|西南1",
    "region:cn-zhangjiakou": "张家口|华北3",
    "region:cn-qingdao": "青岛|华北1",
    "region:cn-guangzhou": "广州|华南3",
    "region:ap-southeast-1": "新加坡",
    "region:ap-northeast-1": "东京|日本",
    "region:eu-central-1": "法兰克福|德国",
    "region:eu-west-1": "伦敦|英国",
    "region:us-west-1": "硅谷",
    "region:us-east-1": "弗吉尼亚",
    "format:terraform": "terraform格式|terraform模板|terraform代码|terraform文件|terraform配置",
    "format:ros": "ros模板|ros格式|资源编排|资源编排模板",
    "named": "名字分别叫|名字分别为|名字分别是|名称分别为|名称分别是|分别名为|分别叫|分别叫做"
    "|分别命名为|名为|叫做|叫|命名为|名称为|名字叫|名称是|名字是|名叫|取名|名称|名字|起名|称为"
    "|名字为",
    "engine:SQLServer": "sqlserver数据库",
    "existing": "现有|已有|已存在|现存|已经有",
    "unsupported": "负载均衡|容器服务|缓存|消息队列|函数计算|弹性伸缩|伸缩组|日志服务|路由表"
    "|域名解析|域名|云企业网|对等连接|文件存储|快照策略|快照|共享带宽|证书|监控|备份|内容分发"
    "|防火墙策略|角色",
    "stop": "操作系统|系统|请|你好|您好|谢谢|一下|我|我们|你|您|的|了|是|个|台|条|块|套|组|只|份"
    "|一个|网段|地址段|网络段|cidr|地址|规则|入方向|入方向规则|入站|出站|流量|访问|进行|能够|可以"
    "|能|会|应|应该|都|全部|全|就|即|那么|则|模板|文件|阿里云|云上|云|资源|架构|环境|简单|基本|新"
    "|新的|规格|大小|类型|引擎|为其|并为其|下|网络|带宽|以|作为|格式|输出|方式|形式|所有|账号"
    "|连接|实例规格|如下|这样|它|它们|用来|让|使|把|将|吧|呢|哦|嗯|一套|一组|名|分配|分布|分布在"
    "|snat|服务|系统|段|号|仅|只|只有|只能|需|必须|至少|处|项|座|共|一共|总共|数据|阿里巴巴|网关"
    "|好|麻烦|帮忙|下面|代码|登录|登陆|来访问|，",
}

SAYS = {
    "made": "{format}：{things}。",
    "made-ros": "ROS 模板",
    "made-terraform": "Terraform 配置",
    "and": "和 ",
    "choose": "部署时由您选择：{parameters}。",
    "assumptions": "假设：",
    "unread": "以下内容未能理解，因此没有写入结果：{words}。",
    "blocked": "没有生成任何文件，请先回答：",
    "vpc-range": "未指定 VPC 网段，使用 {ranges}。",
    "plural-is-two": "未指定{kinds}的数量，按两个处理。",
    "dealt": "{count} 个{kinds}依次分配到 {vpcs} 个 VPC。",
    "zones-spread": "交换机分布在 {zones} 个可用区，可用区由您选择。",
    "vswitch-exposure": "交换机本身没有公网、私网之分：该词写在名称中；NAT 网关放在公网交换机，"
    "SNAT 服务于私网交换机。",
    "security-group-closed": "没有开放任何入方向端口。可以这样说：允许 203.0.113.0/24 访问 22 "
    "端口。",
    "protected-from-world": "没有向整个公网开放 {port}：这类端口几分钟内就会遭到扫描攻击，"
    "来源改为由您选择的参数 {admin}。",
    "protected-port": "{port} 仅向由您选择的参数 {admin} 开放。",
    "web-port-world": "未指定 {port} 的来源：向公网开放（0.0.0.0/0）。",
    "port-vpc-only": "未指定 {port} 的来源：仅在 VPC 内开放（{cidr}）。",
    "source-is-stack": "{port} 的来源是本资源栈的其他资源：在 VPC 内开放（{cidr}）。",
    "ecs-encrypted": "ROS 的 ALIYUN::ECS::Instance 不支持磁盘加密：每台加密实例写成数量为 1 的 "
    "ALIYUN::ECS::InstanceGroup。",
    "disk-is-data": "系统盘最大 {limit} GiB：{size} GiB 作为数据盘。",
    "instance-type": "{cpu} vCPU、{memory} GiB：实例规格参数的默认值为 {type}。",
    "private-no-way-out": "私网实例不能访问公网。如需 NAT 网关，请说：可以访问公网。",
    "eip-unbound": "没有说明 EIP 给谁使用：未绑定任何资源。",
    "eip-count": "{eips} 个 EIP 对应 {hosts} 个资源：依次绑定，分完为止。",
    "bucket-stays-private": "没有设为公开：存储空间保持私有，并阻止公共访问。请用签名 URL 或 CDN "
    "发布，或在清楚风险后自行解除。",
    "bucket-stays-encrypted": "存储空间仍使用 AES256 加密，不产生费用。",
    "kept-on-deletion": "删除资源栈时保留{kinds}（Retain、prevent_destroy）。",
    "kept-with-network": "删除资源栈时保留{kinds}（Retain、prevent_destroy），因此其所在的 VPC "
    "和交换机也会保留。",
    "database-engine": "未说明的部分按 {engine} {version} 处理。",
    "region-ros": "ROS 模板本身不含地域：请在 {region} 创建资源栈。",
    "region-terraform": "变量 region 的默认值为 {region}。",
    "secret-hidden": "请求中的密码或密钥既不使用也不复述：密码一律为参数。",
    "nothing-deployed": "这些只是文件，没有在您的账号中创建任何资源。",
    "nothing-asked": "您需要什么？我可以为 VPC、交换机、安全组、ECS、EIP、NAT 网关、OSS、RDS 编写 "
    "ROS 和 Terraform 模板。例如：创建一个 VPC、两个交换机和一台允许公网访问 443 端口的 ECS。",
    "informational": "我只编写模板，不讲解产品。模板中需要哪些资源？例如：一个 VPC 和两个交换机。",
    "no-changes": "“{word}”：我只编写新模板，不修改、不删除已有的任何资源。模板中需要哪些新资源？",
    "existing": "“{word}”：我只编写完整的新资源栈，看不到已有资源。可以新建一个吗？",
    "too-long": "请求有 {count} 个字符，最多读取 {limit} 个。能否缩短？",
    "either-or": "“{first}”还是“{second}”？我不替您选择。",
    "two-formats": "ROS 还是 Terraform？一次只写一种。",
    "two-regions": "{first} 还是 {second}？一个资源栈只在一个地域。",
    "public-and-private": "{kind}应为公网还是私网？两者都提到了。",
    "said-twice": "{kind}应为 {first} 还是 {second}？两者都提到了。",
    "parts-exceed": "您要 {count} 个{kinds}，却描述了 {given} 个。应该是多少个？",
    "asked-and-banned": "您既要{kind}，又说不要。以哪个为准？",
    "needed-and-banned": "没有{kind}就无法创建{by}，而您排除了它。去掉哪一个？",
    "none-asked": "需要几个{kinds}？",
    "too-many": "{count} 个{kinds}超出一个模板的上限 {limit} 个。需要多少个？",
    "too-many-resources": "该请求共 {count} 个资源，一个模板最多 {limit} 个。能否拆分？",
    "too-many-zones": "没有地域能提供 {count} 个可用区，最多 {limit} 个。需要几个？",
    "zones-exceed-vswitches": "一个交换机只在一个可用区：{count} 个交换机到不了 {zones} 个可用区。"
    "需要几个交换机？",
    "zone-outside-region": "可用区 {zone} 不在地域 {region}。哪个正确？",
    "name-count": "{count} 个{kinds}给了 {given} 个名称。它们分别叫什么？",
    "name-invalid": "“{name}”不能作为{kind}的名称。应叫什么？（字母、数字、连字符；存储空间为 3 "
    "至 63 位小写。）",
    "cidr-invalid": "“{cidr}”不是 IPv4 网段。您指的是哪个？",
    "cidr-host-bits": "{cidr} 的主机位不为零。是 {network} 吗？",
    "cidr-count": "{count} 个{kinds}给了 {given} 个网段。哪个对应哪个？",
    "cidr-reserved": "{cidr} 是保留网段，不能用于 VPC。改用哪个私有网段？",
    "mask": "{kind}不能是 {cidr}：掩码应为 /{low} 至 /{high}。用哪个网段？",
    "vswitch-outside-vpc": "交换机 {cidr} 不在 VPC {vpc} 内。哪个正确？",
    "vswitch-overlap": "交换机 {cidr} 与 {other} 重叠。应使用哪些网段？",
    "does-not-fit": "{vpc} 放不下 {count} 个 /{mask} 的交换机。扩大 VPC，还是减少交换机？",
    "port-range": "{low}-{high} 不是端口范围（1-65535）。开放哪些端口？",
    "port-open-and-closed": "{port} 应开放还是关闭？两者都提到了。",
    "gb-ambiguous": "{size} GB 指内存还是磁盘？",
    "no-such-size": "没有 {cpu} vCPU、{memory} GiB 的常见规格。{near_cpu} vCPU、{near_memory} GiB "
    "可以吗？",
    "disk-size": "磁盘不能是 {size} GiB（{low} 至 {high}）。需要多大？",
    "bandwidth": "带宽不能是 {size} Mbit/s（{low} 至 {high}）。需要多少？",
    "database-public": "我不会把数据库暴露到公网。改为私网、仅从 VPC 内访问，可以吗？",
    "database-storage": "数据库存储为 {low} 至 {high} GB，步长 5，不能是 {size}。需要多少？",
    "engine-version": "不提供 {engine} {version}（可选：{known}）。用哪个版本？",
    "engine-not-encrypted": "{engine} 不支持磁盘加密。换引擎，还是不加密？",
    "ha-needs-two-zones": "跨可用区的数据库需要两个可用区的交换机。建两个，可以吗？",
}

LANGUAGE = Language(
    code="zh",
    terms=MappingProxyType(TERMS),
    says=MappingProxyType(SAYS),
    script=re.compile(r"[\u4e00-\u9fff]"),
    comma="、",
    colon="：",
)
