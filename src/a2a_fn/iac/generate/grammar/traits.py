"""Attributes: public, encrypted, 4 vCPU, and whose they are."""

from __future__ import annotations

from typing import Any

from a2a_fn.iac.generate.grammar.drafts import Draft
from a2a_fn.iac.generate.grammar.ports import Ports
from a2a_fn.iac.generate.grammar.sentence import INSIDE_PHRASE, TRAITS
from a2a_fn.iac.generate.model import Mark


class Traits(Ports):
    """Gives attributes to the noun that follows in the phrase, or to one before."""

    def _attach(self, attribute: str, value: Any, mark: Mark) -> None:
        ahead = self._noun_ahead()
        if ahead and Draft(ahead).takes(attribute):
            self._ahead[attribute] = value
            return
        if ahead and attribute == "exposure":
            # "a public EIP", "a private VPC": says nothing new.
            return
        draft = self._shared(attribute, mark) or self._part(attribute) or self._taker(attribute)
        if draft:
            self._give(draft, attribute, value)
        else:
            self._loose_traits.append((attribute, value, mark))

    def _shared(self, attribute: str, trait: Mark) -> Draft | None:
        """Return a new draft for "two public" in "two public and two private vSwitches"."""
        if trait.type not in TRAITS:
            return None
        rest = self._marks[self._place + 1 :]
        if len(rest) < 2 or rest[0].type not in ("and", "comma", "list"):
            return None
        noun = next(
            (mark for mark in rest[1:] if mark.type not in ("num", "a", *INSIDE_PHRASE)), None
        )
        if noun is None or noun.type != "noun" or not Draft(noun.value[0]).takes(attribute):
            return None
        counted = (self._count or self._article == "a") and rest[1].type in ("num", "a")
        # "public and private vSwitches" are one of each.
        paired = not self._count and not self._article and noun.value[1] and rest[1].type in TRAITS
        if not counted and not paired:
            return None
        draft = Draft(noun.value[0], count=self._count.value if self._count else 1)
        draft.sentence = self._sentence
        self._drafts.append(draft)
        self._current = draft
        self._clear_ahead()
        self._paired = bool(paired)
        return draft

    def _part(self, attribute: str = "name") -> Draft | None:
        """Return a part of the last ask, where "one ..." or "two ..." stands without a noun."""
        if self._count is None or self._current is None or self._noun_ahead():
            return None
        root = self._current.part_of or self._current
        if not root.takes(attribute):
            return None
        part = Draft(root.kind, count=self._count.value, sentence=self._sentence, part_of=root)
        self._drafts.append(part)
        self._current = part
        self._clear_ahead()
        return part

    def _on_attribute(self, mark: Mark) -> None:
        attribute, value = mark.value
        self._attach(attribute, value, mark)

    def _on_trait(self, mark: Mark) -> None:
        attribute, value = TRAITS[mark.type]
        if self._negated:
            value = {"public": "private", True: False, False: True, "private": "public"}[value]
            self._spend_negation()
        if mark.type == "public" and self._opening and not self._noun_ahead():
            self._add_source("world")
            return
        self._attach(attribute, value, mark)

    _on_public = _on_private = _on_encrypted = _on_plain = _on_trait

    _on_kms = _on_versioned = _on_keypair = _on_trait

    def _on_ha(self, mark: Mark) -> None:
        """Read "highly available": databases span zones, vSwitches lie in two at least."""
        if self._negated:
            self._spend_negation()
            return
        if self._taker("ha") or self._noun_ahead() == "rds":
            self._attach("ha", True, mark)
        elif self._zones is None:
            self._zones = 2

    def _on_outbound(self, mark: Mark) -> None:
        if self._negated:
            self._spend_negation()
            self._banned.add("nat")
            host = self._last("ecs")
            if host:
                self._give(host, "exposure", "private")
            return
        if self._opening and self._opening.said_open and not self._opening.ports:
            self._opening = None
        if self._noun_ahead() == "nat" or (self._last("nat") and not self._last("ecs")):
            return
        self._attach("outbound", True, mark)

    def _on_protect(self, mark: Mark) -> None:
        """Read "deletion protection": databases and buckets have it already."""
        if self._ruled_out(mark):
            return
        if not self._last("rds", "oss") and self._noun_ahead() not in ("rds", "oss"):
            self._lose(mark)

    def _on_os(self, mark: Mark) -> None:
        self._attach("os", mark.value, mark)

    def _on_itype(self, mark: Mark) -> None:
        self._attach("instance_type", mark.value, mark)
