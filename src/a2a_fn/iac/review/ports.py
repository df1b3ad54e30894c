"""Which ports a firewall rule opens, and whether that is too much."""

from __future__ import annotations

from dataclasses import dataclass

ADMIN_PORTS = {22: "SSH", 3389: "RDP"}
ALL = (1, 65535)


@dataclass(frozen=True, slots=True)
class Opening:
    """What one inbound rule lets in from everywhere.

    `first` and `last` bound the ports; `source` is the block, as written; `default` is the name
    of the parameter or variable whose default opens it, empty if it is written out.
    """

    first: int
    last: int
    source: str
    default: str = ""

    @property
    def is_all(self) -> bool:
        """Whether every port is open."""
        return self.first <= ALL[0] and self.last >= ALL[1]

    @property
    def admin(self) -> list[int]:
        """The administration ports in it."""
        return [port for port in ADMIN_PORTS if self.first <= port <= self.last]

    def sentence(self) -> str:
        """Say what is open."""
        if self.is_all:
            what = "all ports are"
        elif len(self.admin) > 1:
            what = "SSH and RDP (ports 22 and 3389) are"
        else:
            what = f"{ADMIN_PORTS[self.admin[0]]} (port {self.admin[0]}) is"
        by = f" by the default of {self.default}" if self.default else ""
        return f"{what} open to every address ({self.source}){by}"


def alicloud_ports(protocol: str | None, text: str | None) -> tuple[int, int] | None:
    """Return the TCP ports of a security group's rule; None if it opens none, or that is open.

    `-1/-1` goes with the protocol `all`, and not with `tcp`.
    """
    match protocol, text:
        case "all", "-1/-1":
            return ALL
        case "all" | "tcp", str():
            return port_range(text)
    return None


def port_range(text: str) -> tuple[int, int] | None:
    """Read `22/22` or `1/65535` as first and last port; None if it is neither."""
    first, slash, last = text.partition("/")
    if not slash or not (_is_port(first) and _is_port(last)):
        return None
    return int(first), int(last)


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5
