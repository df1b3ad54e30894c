"""The clause that opens ports: "open 443 and 80 to the internet", "允许10.0.0.0/8访问22端口".

Ports and sources come in either order; whichever came first, a new one of it after the other starts
a new clause.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from a2a_fn.iac.generate.model import Rule


@dataclass
class Opening:
    """The ports and sources said so far. `closed` where the clause forbids."""

    closed: bool = False
    said_open: bool = False
    ports: list[Rule] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    protocol: str = ""
    awaits_source: bool = False
    to: bool = False
    source_first: bool = False
    ended: bool = False
    denied: bool = False
    narrowed: bool = False

    def add_source(self, source: str) -> None:
        """Add a source: a CIDR block, `world`, `vpc` or `admin`."""
        self.awaits_source = False
        if self.denied and source == "world":
            self.denied, self.narrowed = False, True
            return
        self.source_first = self.source_first or not self.ports
        self.sources.append(source)

    def add_port(self, low: int, high: int, name: str = "", protocol: str = "") -> None:
        """Add a port range; ICMP and "all" have no ports."""
        protocol = protocol or self.protocol or "tcp"
        if protocol in ("icmp", "all"):
            low = high = -1
        self.ports.append(Rule(low, high, protocol, "", name))
        self.to = False

    def set_protocol(self, protocol: str, backward: bool) -> None:
        """Set the protocol of the last port, or of the ones to come."""
        if backward and self.ports:
            last = self.ports[-1]
            self.ports[-1] = Rule(last.low, last.high, protocol, "", last.name)
        else:
            self.protocol = protocol

    def extend_last(self, high: int) -> None:
        """Make the last port the start of a range."""
        last = self.ports[-1]
        self.ports[-1] = Rule(last.low, high, last.protocol)
        self.to = False

    def rules(self) -> list[Rule]:
        """Return one rule for each port and source."""
        # Not to the world, and no word of to whom: no wider than the VPC.
        sources = self.sources or ["vpc" if self.narrowed else ""]
        return [
            Rule(port.low, port.high, port.protocol, source, port.name)
            for port in self.ports
            for source in dict.fromkeys(sources)
        ]
