"""Numbers: a count, a port, or a version."""

from __future__ import annotations

from itertools import pairwise

from a2a_fn.iac.generate.grammar.nouns import Nouns
from a2a_fn.iac.generate.grammar.sentence import INSIDE_PHRASE, TRAITS
from a2a_fn.iac.generate.model import Mark


class Numbers(Nouns):
    """Decides what each number counts."""

    def _on_num(self, mark: Mark) -> None:
        before = self._peek(-1)
        if before and before.type in ("engine", "version") and self._version(mark, str(mark.value)):
            return
        if self._port_number(mark.value, mark):
            return
        if self._peek_type() in ("unknown", "unsupported") and not self._noun_ahead():
            # It counts something that is said back anyway.
            return
        ahead = self._peek_type(1, frozenset({"stop", "unknown", *INSIDE_PHRASE}))
        if self._relative(mark):
            return
        if ahead in ("noun", "zone") or self._peek_type() in (
            "engine",
            *TRAITS,
            "attribute",
            "cidr",
            "world",
            "inside",
        ):
            self._drop_count()
            self._count = mark
            return
        other = self._alternative()
        if other:
            self._problem("either-or", first=mark.text, second=other.text)
            return
        if self._peek_type() == "each" and self._current and self._current.count is None:
            self._current.count = mark.value
            return
        self._drop_count()
        if (
            self._current
            and mark.value < 100
            and self._peek_type()
            in (
                "in",
                "with",
                "prefix",
                "from",
                "neg",
            )
        ):
            self._count = mark
            self._part()
            return
        self._lose(mark)

    def _alternative(self) -> Mark | None:
        """Return the second count of "2 to 4 servers" or "between two and three"."""
        following = self._marks[self._place + 1 : self._place + 4]
        if [mark.type for mark in following[1:]] != ["num", "noun"]:
            return None
        return following[1] if following[0].type in ("and", "or", "to") else None

    def _relative(self, count: Mark) -> bool:
        """Keep a count for the noun after a relative clause: 一台不带公网IP的服务器; tell if so.

        Where 的 stands before something else (一个包含VPC的模板), the count is of that.
        """
        if self._peek_type(1, frozenset({"stop"})) not in ("neg", "with", "create", "in", "open"):
            return False
        rest = self._marks[self._place + 1 :]
        for particle, following in pairwise(rest):
            if particle.type in ("comma", "sentence"):
                break
            if particle.text != "的":
                continue
            after = rest[rest.index(following) :]
            head = next((mark for mark in after if mark.type not in INSIDE_PHRASE), None)
            if head and head.type == "noun":
                self._head, self._head_count = head, count
            return bool(head and head.type == "noun") or following.type in ("format", "stop")
        return False

    def _on_grouped(self, mark: Mark) -> None:
        """Read 80,443 as two ports in a clause that opens ports, else as a number."""
        parts = mark.value
        if self._opening or self._peek_type() == "port":
            for part in parts:
                self._port_number(part, mark, sure=True)
            return
        value = 0
        for part in parts:
            value = value * 1000 + part
        self._on_num(Mark("num", value, mark.text, mark.start, mark.end))

    def _on_decimal(self, mark: Mark) -> None:
        if not self._version(mark, mark.value):
            self._lose(mark)

    def _version(self, mark: Mark, value: str) -> bool:
        """Give the version to the database at hand, or ahead."""
        if "engine" in self._ahead or self._noun_ahead() == "rds":
            self._ahead["version"] = value
            return True
        draft = self._last("rds")
        if draft:
            self._give(draft, "version", value)
            return True
        return False

    def _on_version(self, mark: Mark) -> None:
        """Skip the word; the number beside it says all."""

    def _on_a(self, mark: Mark) -> None:
        self._drop_count()
        self._article = "a"

    def _on_some(self, mark: Mark) -> None:
        self._article = "some"

    def _on_the(self, mark: Mark) -> None:
        if self._article != "a":
            self._article = "the"
