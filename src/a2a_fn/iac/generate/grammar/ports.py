"""Ports and protocols: what a clause opens or closes."""

from __future__ import annotations

from a2a_fn.iac.generate.grammar.openings import Opening
from a2a_fn.iac.generate.grammar.sentence import GUARDED, INSIDE_PHRASE, Sentence
from a2a_fn.iac.generate.model import Mark

_PORTS = ("num", "port", "service", "range", "grouped", "proto", "allports")


class Ports(Sentence):
    """Reads the clauses that open ports."""

    def _on_open(self, mark: Mark) -> None:
        clause = self._opening
        after_port = self._peek_type(-1) in _PORTS
        if self._negated and clause and clause.ports and not clause.sources:
            # "ssh not open to the world, only from ..."
            clause.denied = True
            self._spend_negation()
            return
        if clause and clause.ports and not clause.sources and after_port:
            # "port 443 open to the internet"
            clause.said_open = clause.ended = True
            return
        self._close_opening()
        self._opening = Opening(closed=self._negated is not None, said_open=True)
        self._spend_negation()
        if self._source_ahead:
            self._add_source(self._source_ahead)
            self._source_ahead = ""

    def _on_close(self, mark: Mark) -> None:
        clause = self._opening
        if clause and clause.ports and not clause.sources and self._peek_type(-1) in _PORTS:
            # "port 443 closed"
            clause.closed = True
            return
        self._close_opening()
        self._opening = Opening(closed=True, said_open=True)

    def _clause(self) -> Opening:
        """Return the opening clause at hand, or a new one."""
        if self._negated:
            # "... except port 22" in a clause that opens, or a clause of its own
            self._close_opening()
        if self._opening is None:
            self._opening = Opening(closed=self._negated is not None)
            self._spend_negation()
        elif self._opening.ended or (
            self._opening.ports and self._opening.sources and not self._opening.source_first
        ):
            said_open, closed = self._opening.said_open, self._opening.closed
            self._close_opening()
            self._opening = Opening(closed=closed, said_open=said_open)
        return self._opening

    def _in_opening(self) -> bool:
        """Tell whether a range stands inside an opening clause, rather than after it."""
        return self._opening is not None and (self._opening.said_open or bool(self._opening.ports))

    def _on_port(self, mark: Mark) -> None:
        self._clause()

    def _on_service(self, mark: Mark) -> None:
        number, _, name = mark.value.partition(" ")
        if self._negated and self._opening is None:
            self._opening = Opening(closed=True)
            self._spend_negation()
        clause = self._clause()
        if self._peek_type(-1) == "num" and clause.ports and clause.ports[-1].low == int(number):
            return
        clause.add_port(int(number), int(number), name, "icmp" if name == "ICMP" else "")
        if name == "DNS" and not clause.protocol:
            clause.set_protocol("udp", backward=True)

    def _on_proto(self, mark: Mark) -> None:
        after = self._peek_type()
        clause = self._clause() if after in ("num", "port", "range", "grouped") else self._opening
        if clause is None:
            self._lose(mark)
        else:
            clause.set_protocol(mark.value, after not in ("num", "port", "range", "grouped"))

    def _on_allports(self, mark: Mark) -> None:
        self._clause().add_port(-1, -1, protocol="all")

    def _on_range(self, mark: Mark) -> None:
        low, high = mark.value
        if self._port_number(low, mark):
            clause = self._opening
            if clause and clause.ports:
                clause.extend_last(high)
        elif self._noun_ahead():
            self._problem("either-or", first=low, second=high)
        else:
            self._lose(mark)

    def _port_number(self, value: int, mark: Mark, sure: bool = False) -> bool:
        """Read a number as a port where one is expected; tell whether it was."""
        if not sure and not self._port_expected(mark):
            return False
        if self._opening and self._opening.to and self._opening.ports:
            self._opening.extend_last(value)
            return True
        self._clause().add_port(value, value)
        return True

    def _port_expected(self, mark: Mark) -> bool:
        """Tell whether a number is a port: after "open" or "port", or in a list before them."""
        if self._opening and (self._opening.said_open or self._peek_type(-1) == "port"):
            following = self._peek_type(1, frozenset({"stop", *INSIDE_PHRASE}))
            return following not in ("noun", "zone")
        if self._opening and self._opening.ports and not self._opening.sources:
            return self._peek_type() not in ("noun", "zone", "engine", "attribute")
        listed = frozenset({"num", "range", "and", "comma", "list", "slash", "stop", "grouped"})
        following = self._peek_type(1, listed)
        if following == "open" and mark.text[0].isdigit():
            return True
        return following == "port" or self._peek_type(-1) == "port"

    def _before_open(self, source: str) -> bool:
        """Keep a source that stands before its verb: 向公网开放443端口."""
        if self._peek_type() == "open" and self._peek_type(-1) in ("to", "from"):
            self._source_ahead = source
        return bool(self._source_ahead)

    def _add_source(self, source: str) -> None:
        clause = self._opening
        if clause is None:
            return
        if clause.ports and clause.sources and clause.source_first:
            said_open, closed = clause.said_open, clause.closed
            self._close_opening()
            clause = self._opening = Opening(closed=closed, said_open=said_open)
        clause.add_source(source)

    def _close_opening(self) -> None:
        """End the clause: its ports go to the group or instance said last, or to the next."""
        clause, self._opening = self._opening, None
        if clause is None:
            return
        if clause.closed or (clause.denied and not clause.sources and not clause.narrowed):
            self._closed += clause.rules()
            return
        if not clause.ports:
            if "world" in clause.sources and self._taker("exposure"):
                draft = self._last("ecs", "rds", "oss")
                if draft:
                    self._give(draft, "exposure", "public")
            return
        host = self._last(*GUARDED)
        if host:
            host.rules += clause.rules()
        else:
            self._loose_rules += clause.rules()

    def _on_from(self, mark: Mark) -> None:
        if self._opening:
            self._opening.awaits_source = True

    def _on_to(self, mark: Mark) -> None:
        if self._opening:
            if self._peek_type(-1) in ("num", "range") and self._peek_type() == "num":
                self._opening.to = True
            elif self._opening.ports:
                self._opening.awaits_source = self._peek_type() in ("world", "noun", "cidr", "the")
