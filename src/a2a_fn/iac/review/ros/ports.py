"""Is a port open to the world that should not be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from a2a_fn.iac.documents.tree import Map, Node, Sequence, step
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.cidr import is_world
from a2a_fn.iac.review.ports import Opening, alicloud_ports
from a2a_fn.iac.review.ros.template import Template
from a2a_fn.iac.review.words import show

_GROUP = (
    "Resources:\n  Group:\n    Type: ALIYUN::ECS::SecurityGroup\n    Properties:\n"
    "      SecurityGroupIngress:\n        - IpProtocol: tcp\n"
)
ADMIN = Rule(
    id="ros-admin-port-open",
    severity=Severity.HIGH,
    title="SSH or RDP open to the world",
    why="Ports 22 and 3389 are under constant attack: let in only the addresses of those who "
    "administer, or use Workbench or Session Manager, which need no open port.",
    bad=_GROUP + "          PortRange: 22/22\n          SourceCidrIp: 0.0.0.0/0\n",
    good=_GROUP + "          PortRange: 22/22\n          SourceCidrIp: 10.0.0.0/8\n",
)
ALL = Rule(
    id="ros-all-ports-open",
    severity=Severity.HIGH,
    title="Every port open to the world",
    why="Whatever listens on the machine, now or later, can be reached by anyone.",
    bad=_GROUP + "          PortRange: 1/65535\n          SourceCidrIp: 0.0.0.0/0\n",
    good=_GROUP + "          PortRange: 443/443\n          SourceCidrIp: 0.0.0.0/0\n",
)
RULES = (ADMIN, ALL)

_DENIALS = ("drop", "reject")
_DEFAULT_PRIORITY = 1
_MOST = 100
_SOURCES = ("SourceCidrIp", "Ipv6SourceCidrIp")


@dataclass(frozen=True, slots=True)
class _Permission:
    opening: Opening
    denies: bool
    priority: int
    index: int
    path: str


def openings(template: Template) -> Iterator[Finding]:
    """Look at the inbound rules of each group: those inside it, and those beside it."""
    for name, entry in template.resources.items():
        properties, path = entry.properties, f"{step('Resources', name)}.Properties"
        match entry.text("Type") if properties else None:
            case "ALIYUN::ECS::SecurityGroup":
                rules = _listed(properties, "SecurityGroupIngress", path)
            case "ALIYUN::ECS::SecurityGroupIngresses":
                rules = _listed(properties, "Permissions", path)
            case "ALIYUN::ECS::SecurityGroupIngress" if properties:
                rules = [(properties, path)]
            case _:
                continue
        permissions = [p for node, where in rules for p in _permissions(template, node, where)]
        denials = [p for p in permissions if p.denies][:_MOST]
        for permission in permissions:
            if not permission.denies and not _denied(permission, denials):
                yield from _finding(template, name, permission)


def _listed(properties: Map | None, key: str, path: str) -> list[tuple[Map, str]]:
    node = properties.get(key) if properties else None
    items = node.items if isinstance(node, Sequence) else []
    return [(i, f"{path}.{key}[{n}]") for n, i in enumerate(items) if isinstance(i, Map)]


def _permissions(template: Template, node: Map, path: str) -> Iterator[_Permission]:
    protocol = (_text(template, node.get("IpProtocol")) or "").lower()
    ports = alicloud_ports(protocol, _text(template, node.get("PortRange")))
    if ports is None:
        return
    policy = _text(template, node.get("Policy"))
    if policy is None and node.get("Policy") is not None:
        return
    for key in _SOURCES:
        known = template.known(node.get(key))
        if known and known.text and is_world(known.text):
            opening = Opening(*ports, known.text, show(known.default) if known.default else "")
            at = node.get(key) or node
            yield _Permission(
                opening,
                (policy or "").lower() in _DENIALS,
                _priority(template, node),
                at.start,
                template.place(f"{path}.{key}"),
            )


def _text(template: Template, node: Node | None) -> str | None:
    known = template.known(node)
    return None if known is None else str(known.value)


def _priority(template: Template, node: Map) -> int:
    text = _text(template, node.get("Priority")) or ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else _DEFAULT_PRIORITY


def _denied(permission: _Permission, denials: list[_Permission]) -> bool:
    """Say if a rule that counts before this one closes the same ports again."""
    wanted = permission.opening
    return any(
        other.priority <= permission.priority
        and (":" in other.opening.source) == (":" in wanted.source)
        and all(port in other.opening.admin for port in wanted.admin)
        for other in denials
    )


def _finding(template: Template, name: str, permission: _Permission) -> Iterator[Finding]:
    opening = permission.opening
    if not opening.admin:
        return
    rule = ALL if opening.is_all else ADMIN
    yield rule.at(
        template.source,
        permission.index,
        f"in {show(name)} {opening.sentence()}",
        fix="open only the ports that are needed, and those to known addresses",
        path=permission.path,
        severity=Severity.MEDIUM if opening.default else None,
    )


CHECKS = (openings,)
