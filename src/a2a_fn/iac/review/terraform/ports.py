"""Is a port open to the world that should not be.

Each provider writes firewall rules its own way: a reader turns one resource into the inbound
rules that can be told from the files, and `_READERS` says which reader reads what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from a2a_fn.iac.documents.hcl import Body, Expr
from a2a_fn.iac.findings import Finding, Rule, Severity
from a2a_fn.iac.review.cidr import is_world
from a2a_fn.iac.review.ports import ALL as EVERY
from a2a_fn.iac.review.ports import Opening, alicloud_ports, port_range
from a2a_fn.iac.review.terraform.module import Declaration, Module
from a2a_fn.iac.review.terraform.values import Known, each, known
from a2a_fn.iac.review.words import show


def _rule(ports: str, source: str) -> str:
    return (
        'resource "alicloud_security_group_rule" "in" {\n'
        '  security_group_id = "sg-1"\n  type              = "ingress"\n'
        '  ip_protocol       = "tcp"\n'
        f'  port_range        = "{ports}"\n  cidr_ip           = "{source}"\n}}\n'
    )


ADMIN = Rule(
    "tf-admin-port-open",
    Severity.HIGH,
    "SSH or RDP open to the world",
    "Ports 22 and 3389 are under constant attack: let in only the addresses of those who "
    "administer, or use a service that needs no open port.",
    _rule("22/22", "0.0.0.0/0"),
    _rule("22/22", "10.0.0.0/8"),
)
ALL = Rule(
    "tf-all-ports-open",
    Severity.HIGH,
    "Every port open to the world",
    "Whatever listens on the machine, now or later, can be reached by anyone.",
    _rule("1/65535", "0.0.0.0/0"),
    _rule("443/443", "0.0.0.0/0"),
)
RULES = (ADMIN, ALL)

# Words that Azure takes for any address.
_AZURE_WORLD = ("*", "internet", "any", "0.0.0.0/0", "::/0")

Found = tuple[Opening, Expr]
Reader = Callable[[Module, Declaration], Iterator[Found]]


def openings(module: Module) -> Iterator[Finding]:
    """Report what each firewall rule opens that it should not."""
    for declaration in module.all("resource").values():
        reader = _READERS.get(declaration.type)
        if reader is None or declaration.block is None:
            continue
        for opening, expr in reader(module, declaration):
            if opening.admin:
                yield (ALL if opening.is_all else ADMIN).at(
                    declaration.source,
                    expr.start,
                    f"in {show(declaration.address)} {opening.sentence()}",
                    fix="open only the ports that are needed, and those to known addresses",
                    path=declaration.address,
                    severity=Severity.MEDIUM if opening.default else None,
                )


def _open(ports: tuple[int, int], value: Known, expr: Expr) -> Iterator[Found]:
    if value.text and is_world(value.text):
        yield Opening(*ports, value.text, value.default), expr


def _text(module: Module, body: Body, name: str, missing: str) -> str | None:
    """Return an argument as lower-case text; `missing` if it is not set, None if it is open."""
    expr = body.get(name)
    if expr is None:
        return missing
    found = known(module, expr)
    return None if found is None else str(found.value).lower()


def _alicloud(module: Module, declaration: Declaration) -> Iterator[Found]:
    body = declaration.block.body if declaration.block else Body()
    if _text(module, body, "type", "") != "ingress":
        return
    if _text(module, body, "policy", "accept") != "accept":
        return
    ports = alicloud_ports(
        _text(module, body, "ip_protocol", ""), _text(module, body, "port_range", "-1/-1")
    )
    for name in ("cidr_ip", "ipv6_cidr_ip"):
        expr = body.get(name)
        value = known(module, expr)
        if ports and expr is not None and value is not None:
            yield from _open(ports, value, expr)


def _number_range(module: Module, body: Body, protocol: str | None) -> tuple[int, int] | None:
    """Read `from_port` and `to_port`; with protocol -1 every port is meant."""
    if protocol in ("-1", "all"):
        return EVERY
    first, last = known(module, body.get("from_port")), known(module, body.get("to_port"))
    if protocol not in ("tcp", "6") or first is None or last is None:
        return None
    numbers = (_integer(first.value), _integer(last.value))
    return None if None in numbers else (numbers[0] or 0, numbers[1] or 0)


def _integer(value: object) -> int | None:
    if type(value) is int:
        return value
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _aws_sources(module: Module, body: Body, protocol: str | None) -> Iterator[Found]:
    ports = _number_range(module, body, protocol)
    for name in ("cidr_blocks", "ipv6_cidr_blocks", "cidr_ipv4", "cidr_ipv6"):
        for value, expr in each(module, body.get(name)) if ports else ():
            yield from _open(ports, value, expr) if ports else ()


def _aws_group(module: Module, declaration: Declaration) -> Iterator[Found]:
    for block in declaration.block.body.all("ingress") if declaration.block else ():
        yield from _aws_sources(module, block.body, _text(module, block.body, "protocol", ""))


def _aws_rule(module: Module, declaration: Declaration) -> Iterator[Found]:
    body = declaration.block.body if declaration.block else Body()
    if _text(module, body, "type", "") == "ingress":
        yield from _aws_sources(module, body, _text(module, body, "protocol", ""))


def _aws_ingress(module: Module, declaration: Declaration) -> Iterator[Found]:
    body = declaration.block.body if declaration.block else Body()
    yield from _aws_sources(module, body, _text(module, body, "ip_protocol", ""))


def _google(module: Module, declaration: Declaration) -> Iterator[Found]:
    body = declaration.block.body if declaration.block else Body()
    if _text(module, body, "direction", "ingress") != "ingress":
        return
    if _text(module, body, "disabled", "false") != "false":
        return
    sources = each(module, body.get("source_ranges"))
    for allow in body.all("allow"):
        protocol = _text(module, allow.body, "protocol", "")
        if protocol not in ("tcp", "6", "all"):
            continue
        listed = allow.body.get("ports")
        texts = [str(value.value) for value, _ in each(module, listed)]
        ranges = [_dashed(text) for text in texts] if listed is not None else [EVERY]
        for ports in ranges:
            for value, expr in sources:
                yield from _open(ports, value, expr) if ports else ()


def _dashed(text: str) -> tuple[int, int] | None:
    first, dash, last = text.partition("-")
    return port_range(f"{first}/{last if dash else first}")


def _azure(module: Module, declaration: Declaration) -> Iterator[Found]:
    bodies = [declaration.block.body] if declaration.block else []
    if declaration.type == "azurerm_network_security_group":
        bodies = [block.body for body in bodies for block in body.all("security_rule")]
    for body in bodies:
        if _text(module, body, "access", "") != "allow":
            continue
        if _text(module, body, "direction", "") != "inbound":
            continue
        if _text(module, body, "protocol", "") not in ("tcp", "*"):
            continue
        expr = body.get("source_address_prefix")
        value = known(module, expr)
        text = _text(module, body, "destination_port_range", "") or ""
        ports = EVERY if text == "*" else _dashed(text)
        if expr is None or value is None or ports is None:
            continue
        if str(value.value).lower() in _AZURE_WORLD:
            yield Opening(*ports, str(value.value), value.default), expr


_READERS: dict[str, Reader] = {
    "alicloud_security_group_rule": _alicloud,
    "aws_security_group": _aws_group,
    "aws_security_group_rule": _aws_rule,
    "aws_vpc_security_group_ingress_rule": _aws_ingress,
    "google_compute_firewall": _google,
    "azurerm_network_security_rule": _azure,
    "azurerm_network_security_group": _azure,
}

CHECKS = (openings,)
