"""Which webhooks may be called: a pure judgement over a URL, the addresses of its host, a policy.

``parse`` is the only reader of a webhook's URL: what it returns is what the connection is made of.
It is strict where readers of URLs are known to differ (RFC 3986 against WHATWG against inet_aton),
so that what it accepts has one meaning for all of them. ``screen`` judges what a name resolves to,
at each connection anew. Addresses are public only if none of IANA's special-purpose registries
(https://www.iana.org/assignments/iana-ipv4-special-registry, and IPv6's) says otherwise.
Messages name the origin at most: user names, paths and queries of webhooks can be secrets.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import quote

from ..errors import Refused

URL_LIMIT = 2048
"""Characters of a webhook's URL."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_FORM = re.compile(r"(https?)://([^/?]*)(.*)", re.IGNORECASE | re.ASCII | re.DOTALL)
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")  # how inet_aton and WHATWG tell an address by its end
_UNRESERVED = "/?:@!$&'()*+,;=-._~%[]"  # what stays as it is in a path and a query

_PRIVATE_NAMES = ("localhost", "localdomain", "local", "internal", "intranet", "private", "corp",
                  "home", "lan", "home.arpa")  # fmt: skip
"""Names that public DNS does not have: RFC 6761, 6762 (with its appendix G), 8375, ICANN's."""

_METADATA = frozenset(map(ip_address, (
    "169.254.169.254", "fd00:ec2::254",  # AWS, Azure, Google, Oracle and others; AWS on IPv6
    "169.254.170.2", "169.254.170.23", "fd00:ec2::23",  # AWS: credentials of containers and pods
    "169.254.100.1",  # AWS Lambda: its runtime's own interface
    "169.254.169.253", "fd00:ec2::253", "169.254.169.123",  # AWS: name server, clock
    "100.100.100.200",  # Alibaba Cloud
    "168.63.129.16",  # Azure's host
    "fd20:ce::254",  # Google on IPv6
    "169.254.0.23", "169.254.42.42", "fd00:42::42",  # Tencent; Scaleway
)))  # fmt: skip
"""Where clouds answer their machines about themselves; nobody's webhook is there."""

_PRIVATE = tuple((ip_network(block), what) for block, what in (
    ("10.0.0.0/8", "private"), ("172.16.0.0/12", "private"), ("192.168.0.0/16", "private"),
    ("100.64.0.0/10", "shared"), ("127.0.0.0/8", "loopback"), ("169.254.0.0/16", "link-local"),
    ("::1/128", "loopback"), ("fe80::/10", "link-local"), ("fc00::/7", "unique-local"),
))  # fmt: skip
"""What ``Policy.allow_private`` lets pass."""

_CLOSED = tuple((ip_network(block), what) for block, what in (
    ("0.0.0.0/8", "unspecified"), ("192.0.0.0/24", "reserved"), ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "reserved"), ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"), ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"), ("255.255.255.255/32", "broadcast"), ("240.0.0.0/4", "reserved"),
    ("::/128", "unspecified"), ("::ffff:0:0/96", "IPv4-mapped"), ("::/96", "IPv4-compatible"),
    ("::ffff:0:0:0/96", "IPv4-translated"), ("64:ff9b::/96", "NAT64"), ("64:ff9b:1::/48", "NAT64"),
    ("100::/64", "discarded"), ("2001::/32", "Teredo"), ("2001::/23", "reserved"),
    ("2001:db8::/32", "documentation"), ("2002::/16", "6to4"), ("3ffe::/16", "reserved"),
    ("3fff::/20", "documentation"), ("fec0::/10", "site-local"), ("ff00::/8", "multicast"),
))  # fmt: skip
"""What nobody can be called at, or what is another spelling of an IPv4 address."""

_GLOBAL = ip_network("2000::/3")  # all IPv6 that was ever given to networks
_NAT64 = ip_network("64:ff9b::/96")


class Policy(NamedTuple):
    """What a deployment lets webhooks be; the settings ``push-*`` of the same names.

    ``allowed_hosts`` has names and addresses, or ``*.example.com`` for what is below a name; empty
    allows any. ``ports`` replaces the ports 80, 443 and from 1024 on.
    """

    allow_private: bool = False
    https_only: bool = False
    allowed_hosts: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()


class Target(NamedTuple):
    """Where a URL leads, in one spelling: lower case, IDNA, no final dot, addresses canonical.

    ``host`` is without brackets, and is an address if ``literal``. ``resource`` is path and query
    as the request line has them: ASCII, from the slash on.
    """

    scheme: str
    host: str
    port: int
    resource: str
    literal: bool

    @property
    def authority(self) -> str:
        """The host as the ``Host`` header has it: with brackets, and with a port unless it is the
        scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        """What messages may say of the URL: scheme, host and port."""
        return f"{self.scheme}://{self.authority}"


def parse(url: str, policy: Policy) -> Target:
    """Read a webhook's URL. Raises errors.Refused unless the policy allows all that it says; if
    its host is an address, that is judged here too."""
    if len(url) > URL_LIMIT:
        raise Refused(f"the webhook's URL has more than {URL_LIMIT} characters")
    if not url.isprintable() or " " in url or "\\" in url:
        raise Refused(
            "the webhook's URL has a space, a backslash or a character that cannot be seen; "
            "write it percent-encoded"
        )
    form = _FORM.fullmatch(url)
    if form is None:
        raise Refused("the webhook's URL must begin with https:// or http:// and a host")
    scheme, authority, resource = form[1].lower(), form[2], form[3]
    if "@" in authority:
        raise Refused("the webhook's URL must not have a user name or a password in it")
    if "#" in url:
        raise Refused("the webhook's URL must not have a fragment (#): it would never be sent")
    if policy.https_only and scheme != "https":
        raise Refused("the webhook's URL must begin with https:// (push-https-only)")
    name, port = _divided(authority, _DEFAULT_PORTS[scheme])
    host, literal = _read(name)
    if not resource.startswith("/"):
        resource = "/" + resource
    target = Target(scheme, host, port, quote(resource, safe=_UNRESERVED), literal)
    usual = port >= 1024 or port in _DEFAULT_PORTS.values()
    if not (port in policy.ports if policy.ports else usual):
        allowed = ", ".join(map(str, policy.ports)) or "80, 443 or from 1024 on"
        raise Refused(f"{target.origin} is on port {port}; a webhook's must be {allowed}")
    if policy.allowed_hosts and not any(_named(host, entry) for entry in policy.allowed_hosts):
        raise Refused(f"{host} is not among the hosts that webhooks may be on (push-allowed-hosts)")
    if literal:
        _judge(host, ip_address(host), policy)
    elif not policy.allow_private and ("." not in host or _below(host, _PRIVATE_NAMES)):
        raise Refused(f"{host} is not a public name")
    return target


def screen(host: str, addresses: Iterable[str], policy: Policy) -> tuple[str, ...]:
    """The addresses that a parsed URL's host was resolved to, each once, if all may be called.

    Raises errors.Refused if any may not: an attacker's name has one good address among the bad.
    An address behind DNS64 (64:ff9b::/96, RFC 6052) counts as the IPv4 address that it stands for.
    """
    checked: dict[str, None] = {}
    for text in addresses:
        try:
            address = ip_address(text)
        except ValueError:
            raise Refused(f"{host} has an address that is none") from None
        meant: IPv4Address | IPv6Address = address
        if address in _NAT64:
            meant = IPv4Address(int(address) & 0xFFFFFFFF)
        _judge(host, meant, policy)
        checked[str(address)] = None
    return tuple(checked)


def _divided(authority: str, default: int) -> tuple[str, int]:
    """Host and port of an authority."""
    if authority.startswith("["):
        name, bracket, rest = authority.partition("]")
        name += bracket
        port = rest[1:] if rest.startswith(":") else None
        broken = not bracket or (rest and port is None)
    else:
        name, colon, rest = authority.partition(":")
        port = rest if colon else None
        broken = bool(re.search(r"[\[\]]", authority)) or ":" in rest
    if broken:
        raise Refused("the webhook's URL has brackets or colons in its host that do not belong")
    if port is None:
        return name, default
    if not _PORT.fullmatch(port) or int(port) > 65535:
        raise Refused("the port in the webhook's URL must be a number from 1 to 65535")
    return name, int(port)


def _read(name: str) -> tuple[str, bool]:
    """The host in its one spelling, and whether it is an address."""
    if name.startswith("["):
        if "%" in name:
            raise Refused("the webhook's address must not have a zone")
        try:
            return str(IPv6Address(name[1:-1])), True
        except AddressValueError:
            raise Refused("the webhook's URL has brackets without an IPv6 address") from None
    host = name.removesuffix(".").lower()
    labels = [_label(label) for label in host.split(".")]
    if _NUMBER.fullmatch(labels[-1]):
        try:
            return str(IPv4Address(host)), True
        except AddressValueError:
            raise Refused(
                "the webhook's host looks like an address, and must then be written as four "
                "decimal numbers from 0 to 255 without leading zeros"
            ) from None
    host = ".".join(labels)
    if len(host) > 253:
        raise Refused("the webhook's host has more than 253 characters")
    return host, False


def _label(label: str) -> str:
    """One part of a host's name, as ASCII."""
    if not label:
        raise Refused("the webhook's host is empty, or has an empty part")
    if len(label) <= 63 and (not label.isascii() or label.startswith("xn--")):
        import idna  # with its tables only where a name needs them

        scripts = {unicodedata.name(char, "").partition(" ")[0] for char in label}
        if len(scripts & {"LATIN", "GREEK", "CYRILLIC"}) > 1:
            raise Refused("the webhook's host mixes alphabets that look alike")
        try:
            if label.isdecimal():
                raise UnicodeError  # digits of another script: an address to whoever folds them
            label = idna.alabel(label).decode()
        except UnicodeError:  # idna.IDNAError is one
            raise Refused("the webhook's host is not a valid internationalized name") from None
    if not _LABEL.fullmatch(label):
        raise Refused(
            "the webhook's host must be of letters, digits and hyphens, at most 63 between dots"
        )
    return label


def _judge(host: str, address: IPv4Address | IPv6Address, policy: Policy) -> None:
    """Raise errors.Refused if the address, which is the host or what it resolved to, may not be
    called. A name's addresses are not said: they can be a private network's."""
    private = next((what for block, what in _PRIVATE if address in block), "")
    closed = next((what for block, what in _CLOSED if address in block), "")
    fault = ""
    if address in _METADATA:
        fault = "where a cloud answers its own machines"
    elif isinstance(address, IPv6Address) and address.scope_id:
        fault = "not public (zone)"
    elif private:  # first: ::1 lies among the IPv4-compatible ones
        fault = "" if policy.allow_private else f"not public ({private})"
    elif closed or (address.version == 6 and address not in _GLOBAL):
        fault = f"not public ({closed or 'reserved'})"
    if fault:
        verb = "is" if host == str(address) else "has an address that is"
        raise Refused(f"{host} {verb} {fault}")


def _below(host: str, names: Iterable[str]) -> bool:
    return any(host == name or host.endswith("." + name) for name in names)


def _named(host: str, entry: str) -> bool:
    """Whether an entry of the allowed hosts means this host."""
    entry = entry.lower().removesuffix(".")
    if entry.startswith("*."):
        return host.endswith("." + _ascii(entry[2:]))
    return host == _ascii(entry)


def _ascii(name: str) -> str:
    try:
        return _read(f"[{name}]" if name.count(":") > 1 and name[0] != "[" else name)[0]
    except Refused:  # an entry that no webhook can have allows none
        return ""
