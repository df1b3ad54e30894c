"""Nouns and their names: which resources are asked for, and which are only mentioned."""

from __future__ import annotations

import re

from a2a_fn.iac.generate.grammar.drafts import Draft
from a2a_fn.iac.generate.grammar.places import Places
from a2a_fn.iac.generate.grammar.sentence import GUARDED, HOSTS, INSIDE_PHRASE
from a2a_fn.iac.generate.model import Mark


class Nouns(Places):
    """Turns nouns into drafts."""

    def _on_noun(self, mark: Mark) -> None:
        kind, plural = mark.value
        if self._opening and self._opening.awaits_source:
            self._opening.add_source("vpc" if kind == "vpc" else "stack")
            self._clear_ahead()
            return
        self._close_opening()
        if self._negated:
            self._ban(kind)
            return
        if self._head and kind == "eip":
            self._head_traits["exposure"] = "public"
            return
        if mark is self._head:
            self._count = self._head_count
            self._ahead |= self._head_traits
            self._head, self._head_count, self._head_traits = None, None, {}
        if self._count and self._count.value == 0:
            self._count = None
            self._ban(kind)
            return
        same = self._last(kind)
        count = self._count
        if self._purpose and same is None and count is None and self._article != "a":
            self._clear_ahead()
            return
        number = re.search(r"\d+$", mark.text)
        if number:
            # vswitch1, vswitch2: each number is one resource.
            same = self._numbered.get((kind, number[0]))
        bare = count is None and self._article != "a" and not self._per
        if same is not None and (self._article == "the" or (bare and self._agrees(same))):
            draft = same
        else:
            draft = Draft(kind, sentence=self._sentence)
            draft.count = count.value if count else None
            draft.plural = (plural and not self._paired) or self._article == "some"
            draft.per = self._per
            if kind == "eip":
                near = self._last(*HOSTS)
                draft.near = near if near and near.sentence == self._sentence else None
            self._drafts.append(draft)
        if number:
            self._numbered[kind, number[0]] = draft
        for attribute, value in self._ahead.items():
            self._give(draft, attribute, value)
        draft.names += self._ahead_names
        draft.cidrs += self._ahead_cidrs
        if kind in GUARDED and self._loose_rules:
            draft.rules += self._loose_rules
            self._loose_rules = []
        self._current = draft
        self._clear_ahead()

    def _agrees(self, draft: Draft) -> bool:
        """Tell whether what was said ahead of a noun can be of this draft."""
        known = draft.attributes
        return not (self._ahead_names and draft.names) and all(
            known.get(name, value) == value for name, value in self._ahead.items()
        )

    def _ban(self, kind: str) -> None:
        if kind == "eip" and self._head:
            # "a server without public IP" said the other way round: 不带公网IP的服务器
            self._head_traits["exposure"] = "private"
            self._spend_negation()
            return
        host = self._last("ecs")
        if kind == "eip" and host:
            self._give(host, "exposure", "private")
        else:
            self._banned.add(kind)
        self._spend_negation()
        self._clear_ahead()

    def _on_engine(self, mark: Mark) -> None:
        """Read an engine: it details the database said before or after, or is one itself."""
        if self._ruled_out(mark):
            return
        if self._opening and self._opening.awaits_source:
            self._opening.awaits_source = False
            self._lose(mark)
            return
        if self._noun_ahead() == "rds" and any(
            m.type == "noun" for m in self._marks[self._place + 1 : self._place + 6]
        ):
            self._ahead["engine"] = mark.value
            return
        current = self._current
        fresh = self._count is not None or self._article in ("a", "some") or self._per
        if current and current.kind == "rds" and not fresh and "engine" not in current.attributes:
            self._give(current, "engine", mark.value)
            return
        last = self._last("rds")
        root = (last.part_of or last) if last else None
        draft = Draft("rds", sentence=self._sentence)
        draft.count = self._count.value if self._count else None
        draft.per = self._per
        if root and "engine" not in root.attributes and fresh:
            draft.part_of = root
        for attribute, value in self._ahead.items():
            draft.attributes[attribute] = value
        draft.names += self._ahead_names
        draft.attributes["engine"] = mark.value
        self._close_opening()
        self._drafts.append(draft)
        self._current = draft
        self._clear_ahead()
        # "MySQL and PostgreSQL databases" are one of each.
        self._paired = self._peek_type() in ("and", "comma", "list")

    def _on_each(self, mark: Mark) -> None:
        """Read "per zone", "in each VPC", "each with two", "two each"."""
        place = self._place + 1
        while place < len(self._marks) and self._marks[place].type in ("stop", "the", "of", "a"):
            place += 1
        target = self._marks[place] if place < len(self._marks) else None
        if target and target.type in ("noun", "zone"):
            kind = "zone" if target.type == "zone" else target.value[0]
            del self._marks[place]
            if self._current is None or self._counts_ahead(place):
                self._per = kind
            else:
                self._current.per = kind
            return
        if target and target.type in ("with", "num", "in", "open") and self._current:
            self._per = self._current.kind
            return
        if self._current and self._peek_type() in ("", "comma", "and", "sentence", "neg"):
            others = [draft for draft in self._drafts if draft.kind != self._current.kind]
            if others:
                self._current.per = others[-1].kind

    def _counts_ahead(self, place: int) -> bool:
        """Tell whether a counted noun starts here: "per zone, two vSwitches"."""
        glue = ("comma", "stop", "with", "in", "create", "of", "num", "a", *INSIDE_PHRASE)
        counted = False
        for mark in self._marks[place:]:
            counted = counted or mark.type in ("num", "a")
            if mark.type == "of" and not counted:
                return False
            if mark.type not in glue:
                return counted and mark.type == "noun"
        return False

    def _on_name(self, mark: Mark) -> None:
        if self._noun_ahead() and self._peek_type() in ("noun", *INSIDE_PHRASE):
            self._ahead_names.append(mark.value)
            return
        draft = self._part() or self._current
        if draft is None:
            self._lose(mark)
        else:
            draft.names.append(mark.value)

    def _on_quoted(self, mark: Mark) -> None:
        before = self._peek_type(-1, frozenset({"stop", "and", "comma", "list"}))
        if before in ("named", "name", "quoted", "noun") and (self._current or before == "named"):
            self._on_name(mark)
        else:
            self._lose(mark)

    def _on_named(self, mark: Mark) -> None:
        """Wait for the name, which follows."""

    def _naming_goes_on(self, mark: Mark) -> bool:
        """Tell whether a word continues a list of names: "called app and db" for two."""
        draft = self._current
        if draft is None or not draft.names:
            return False
        # Names beyond the count are still names once there is a list of them: a question then.
        expected = draft.count or (2 if draft.plural else 1)
        if len(draft.names) >= expected and len(draft.names) < 2:
            return False
        before, named = self._peek(-1), self._peek(-2)
        if before is None or named is None or named.text != draft.names[-1]:
            return False
        if mark.type == "unknown":
            return before.type in ("and", "list", "comma")
        # A word with a meaning is a name only right after "and", and written like one.
        plain = mark.text.islower() and mark.text.isalnum()
        return mark.type in ("noun", "service") and before.type in ("and", "list") and plain
