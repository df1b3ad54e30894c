"""What is known while a request is read, and ways to look around in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from a2a_fn.iac.generate.grammar.drafts import Draft
from a2a_fn.iac.generate.grammar.folding import fold_marks
from a2a_fn.iac.generate.grammar.openings import Opening
from a2a_fn.iac.generate.model import Mark, Message, Rule
from a2a_fn.iac.generate.reading import HIDDEN

#: What may stand between an adjective and its noun.
INSIDE_PHRASE = frozenset({
    "attribute", "cidr", "decimal", "disk", "encrypted", "engine", "ha", "itype", "keypair", "kms",
    "memory", "name", "named", "of", "os", "outbound", "plain", "prefix", "private", "public",
    "quoted", "stop", "unit", "unknown", "version", "versioned",
})  # fmt: skip
#: What a request calls a thing that can be said of a resource -> (attribute, value).
TRAITS: MappingProxyType[str, tuple[str, Any]] = MappingProxyType(
    {
        "public": ("exposure", "public"),
        "private": ("exposure", "private"),
        "encrypted": ("encrypted", True),
        "plain": ("encrypted", False),
        "kms": ("kms", True),
        "ha": ("ha", True),
        "versioned": ("versioned", True),
        "outbound": ("outbound", True),
        "keypair": ("key_pair", True),
    }
)
#: An access key id of the cloud, which is not a secret by itself and is not repeated either.
_KEY_ID = re.compile(r"LTAI[A-Za-z0-9]{8,}|(?<![A-Z0-9])AKIA[A-Z0-9]{12,}")
HOSTS = ("ecs", "nat")
GUARDED = ("security_group", "ecs")


class Sentence:
    """The state of reading one text; the layers above add what each type of mark means."""

    def __init__(self, marks: Sequence[Mark], language: str) -> None:
        self._marks = fold_marks(marks)
        self._language = language
        self._place = 0
        self._drafts: list[Draft] = []
        self._current: Draft | None = None
        self._sentence = 0
        # said before the noun that it belongs to
        self._count: Mark | None = None
        self._article = ""
        self._per = ""
        self._ahead: dict[str, Any] = {}
        self._ahead_names: list[str] = []
        self._ahead_cidrs: list[str] = []
        self._paired = False
        # of the noun that a relative clause stands before: 一台带公网IP的服务器
        self._head: Mark | None = None
        self._head_count: Mark | None = None
        self._head_traits: dict[str, Any] = {}
        self._purpose = False
        self._numbered: dict[tuple[str, str], Draft] = {}
        self._negated: Mark | None = None
        self._opening: Opening | None = None
        self._source_ahead = ""
        self._loose_rules: list[Rule] = []
        self._loose_traits: list[tuple[str, Any, Mark]] = []
        # said of the whole
        self._formats: list[str] = []
        self._unwanted_formats: set[str] = set()
        self._regions: list[str] = []
        self._zones: int | None = None
        self._zone_ids: list[str] = []
        self._closed: list[Rule] = []
        self._banned: set[str] = set()
        self._facts: set[str] = set()
        self._created = False
        self._not_understood: list[Mark] = []
        self._problems: list[Message] = []

    def _problem(self, code: str, **values: Any) -> None:
        if all(problem.code != code for problem in self._problems):
            self._problems.append(Message(code, MappingProxyType(values)))

    def _peek(self, step: int = 1) -> Mark | None:
        place = self._place + step
        return self._marks[place] if 0 <= place < len(self._marks) else None

    def _peek_type(self, step: int = 1, skip: frozenset[str] = frozenset({"stop"})) -> str:
        """Return the type of the next mark (or the one before) that is not skipped."""
        direction = 1 if step > 0 else -1
        place = self._place + step
        while 0 <= place < len(self._marks) and self._marks[place].type in skip:
            place += direction
        return self._marks[place].type if 0 <= place < len(self._marks) else ""

    def _noun_ahead(self) -> str:
        """Return the kind of the noun that follows in the same phrase; an engine implies rds."""
        engine = ""
        for mark in self._marks[self._place + 1 :]:
            if mark.type == "noun":
                return str(mark.value[0])
            if mark.type == "engine":
                engine = "rds"
            if mark.type not in INSIDE_PHRASE:
                break
        return engine

    def _last(self, *kinds: str) -> Draft | None:
        ordered = [d for d in self._drafts if d is not self._current]
        if self._current:
            ordered.append(self._current)
        return next((draft for draft in reversed(ordered) if draft.kind in kinds), None)

    def _taker(self, attribute: str) -> Draft | None:
        ordered = [d for d in self._drafts if d is not self._current]
        if self._current:
            ordered.append(self._current)
        return next((draft for draft in reversed(ordered) if draft.takes(attribute)), None)

    def _give(self, draft: Draft, attribute: str, value: Any) -> None:
        known = draft.attributes.get(attribute)
        if known is not None and known != value:
            if attribute == "exposure":
                self._problem("public-and-private", kind=draft.kind)
            else:
                self._problem("said-twice", kind=draft.kind, first=known, second=value)
            return
        draft.attributes[attribute] = value

    def _clear_ahead(self) -> None:
        if self._count:
            self._count = None
        self._article = self._per = ""
        self._ahead, self._ahead_names, self._ahead_cidrs = {}, [], []
        self._paired = False

    def _drop_count(self) -> None:
        if self._count:
            self._lose(self._count)
            self._count = None

    def _spend_negation(self) -> None:
        """Keep the negation for the next thing in "no NAT or EIP", else end it."""
        after = self._place + 1
        joined = after < len(self._marks) and self._marks[after].type in ("or", "and", "list")
        alternative = joined and self._marks[after].type == "or"
        following = self._marks[after + 1].type if after + 1 < len(self._marks) else ""
        carried = alternative or (joined and following in ("noun", "service", *TRAITS))
        if not carried:
            self._negated = None

    def _lapse_negation(self) -> None:
        if self._negated:
            self._lose(self._negated)
            self._negated = None

    def _ruled_out(self, mark: Mark) -> bool:
        """Say a negation back with its object, where that cannot be ruled out; tell if so."""
        if self._negated is None:
            return False
        self._lose(self._negated, mark)
        self._negated = None
        return True

    def _hide(self, mark: Mark) -> Mark:
        """Return a mark without its text where it looks like the id of an access key."""
        if not _KEY_ID.search(mark.text):
            return mark
        self._facts.add("secret")
        return replace(mark, text=HIDDEN)

    def _lose(self, *marks: Mark) -> None:
        self._not_understood += [self._hide(mark) for mark in marks]
