"""Where things are, and from where they are reached: ranges, zones, regions, the internet."""

from __future__ import annotations

from a2a_fn.iac.generate.grammar.drafts import Draft
from a2a_fn.iac.generate.grammar.traits import Traits
from a2a_fn.iac.generate.model import Mark


class Places(Traits):
    """Reads ranges, zones, regions and sources."""

    def _on_prefix(self, mark: Mark) -> None:
        in_vpc = self._peek_type(-1, frozenset({"stop", "a", "the"})) == "in"
        if in_vpc and not self._noun_ahead():
            self._give(self._vpc(), "prefix", mark.value)
        else:
            self._attach("prefix", mark.value, mark)

    def _on_cidr(self, mark: Mark) -> None:
        if self._before_open(mark.value):
            return
        if self._opening and (self._opening.awaits_source or self._in_opening()):
            self._add_source(mark.value)
            return
        if self._ruled_out(mark):
            return
        current = self._current
        said_before = self._peek_type(-1) == "noun" and current and not current.cidrs
        if said_before and current and current.takes("cidr"):
            current.cidrs.append(mark.value)
            return
        ahead = self._noun_ahead()
        if ahead and Draft(ahead).takes("cidr"):
            self._ahead_cidrs.append(mark.value)
            return
        in_vpc = self._peek_type(-1, frozenset({"stop", "a", "the"})) == "in"
        if in_vpc and not self._vpc_has_range():
            self._vpc().cidrs.append(mark.value)
            return
        draft = self._part("cidr") or self._taker("cidr") or self._vpc()
        draft.cidrs.append(mark.value)

    def _vpc_has_range(self) -> bool:
        return any(draft.kind == "vpc" and draft.cidrs for draft in self._drafts)

    def _vpc(self) -> Draft:
        """Return the VPC said last, or one that the request did not name."""
        found = self._last("vpc")
        if found is None:
            found = Draft("vpc", sentence=self._sentence)
            self._drafts.insert(0, found)
        return found

    def _on_address(self, mark: Mark) -> None:
        if self._opening:
            self._add_source(f"{mark.value}/32")
        else:
            self._lose(mark)

    def _on_world(self, mark: Mark) -> None:
        if self._before_open("world"):
            return
        if self._opening:
            self._add_source("world")
            return
        if self._negated:
            self._on_outbound(mark)
            return
        if self._noun_ahead() in ("eip", "nat"):
            return
        self._attach("exposure", "public", mark)

    def _on_inside(self, mark: Mark) -> None:
        if self._before_open("vpc"):
            return
        if self._opening:
            self._add_source("vpc")
        else:
            self._attach("exposure", "private", mark)

    def _on_mine(self, mark: Mark) -> None:
        if self._before_open("admin"):
            return
        if self._opening:
            self._add_source("admin")
        else:
            self._lose(mark)

    def _on_zone(self, mark: Mark) -> None:
        if self._count:
            self._zones = self._count.value
            self._count = None
        self._article = ""

    def _on_samezone(self, mark: Mark) -> None:
        self._zones = 1

    def _on_zoneid(self, mark: Mark) -> None:
        if self._ruled_out(mark):
            return
        if mark.value not in self._zone_ids:
            self._zone_ids.append(mark.value)

    def _on_region(self, mark: Mark) -> None:
        if self._ruled_out(mark):
            return
        if mark.value:
            self._regions.append(mark.value)
