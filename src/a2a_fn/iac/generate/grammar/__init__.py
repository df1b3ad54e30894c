"""From marks to a request: which words belong to which resource.

One pass, left to right. A mark's type names the method that reads it (`_on_<type>`). The reader is
built in layers, each a module: what a sentence holds, the ports that it opens, the traits, places,
nouns and numbers in it; here are the little words, and what the whole comes to.
"""

from __future__ import annotations

from a2a_fn.iac.generate.grammar.drafts import Draft, settle
from a2a_fn.iac.generate.grammar.numbers import Numbers
from a2a_fn.iac.generate.grammar.sentence import HOSTS
from a2a_fn.iac.generate.model import Mark, Request


class Reader(Numbers):
    """Reads the marks of one text into a `Request`."""

    def request(self) -> Request:
        """Return what the text asks for."""
        for place, mark in enumerate(self._marks):
            self._place = place
            if self._naming_goes_on(mark) and self._current:
                self._current.names.append(mark.text)
                continue
            getattr(self, f"_on_{mark.type}", self._on_unknown)(mark)
        self._end_sentence()
        self._end()
        asks, contradictions = settle(self._drafts)
        self._problems += contradictions
        self._judge()
        return Request(
            language=self._language,
            format=self._formats[0] if self._formats else "",
            asks=asks,
            closed=tuple(self._closed),
            banned=frozenset(self._banned),
            zones=self._zones,
            zone_ids=tuple(self._zone_ids),
            region=self._regions[0] if self._regions else "",
            facts=frozenset(self._facts),
            not_understood=tuple(
                mark.text for mark in sorted(self._not_understood, key=lambda mark: mark.start)
            ),
            problems=tuple(self._problems),
        )

    def _end(self) -> None:
        for draft in self._drafts:
            if draft.kind == "eip" and draft.near is None:
                later = self._drafts[self._drafts.index(draft) + 1 :]
                draft.near = next(
                    (d for d in later if d.kind in HOSTS and d.sentence == draft.sentence), None
                )
        for attribute, value, mark in self._loose_traits:
            taker = next((draft for draft in self._drafts if draft.takes(attribute)), None)
            if taker:
                self._give(taker, attribute, value)
            else:
                self._not_understood.append(mark)
        if self._loose_rules:
            draft = Draft("security_group", sentence=self._sentence)
            draft.rules = self._loose_rules
            self._drafts.append(draft)

    def _judge(self) -> None:
        """Add the problems of the request as a whole."""
        wanted = [name for name in dict.fromkeys(self._formats)]
        self._formats = [name for name in wanted if name not in self._unwanted_formats]
        if len(self._formats) > 1:
            self._problem("two-formats")
        if self._unwanted_formats == {"ros"}:
            self._formats = ["terraform"]
        regions = list(dict.fromkeys(self._regions))
        if len(regions) > 1:
            self._problem("two-regions", first=regions[0], second=regions[1])
        if "informational" in self._facts and not self._created:
            self._problem("informational")
        elif not self._drafts and not self._problems:
            self._problem("nothing-asked")

    def _on_neg(self, mark: Mark) -> None:
        for before in reversed(self._marks[: self._place]):
            if before.type == "neg":
                # "n'ouvre pas", "do not create any": one negation in two words.
                return
            if before.type not in ("open", "create", "deploy", "destroy", "change", "stop"):
                break
        self._negated = mark

    def _on_create(self, mark: Mark) -> None:
        self._created = True
        self._close_opening()

    def _on_deploy(self, mark: Mark) -> None:
        self._created = True
        self._facts.add("deploy")

    def _on_destroy(self, mark: Mark) -> None:
        if self._negated:
            self._spend_negation()
        else:
            self._problem("no-changes", word=mark.text)

    _on_change = _on_destroy

    def _on_purpose(self, mark: Mark) -> None:
        """Read "so that": what follows says why, and asks for nothing."""
        self._close_opening()
        self._purpose = True

    def _on_secret(self, mark: Mark) -> None:
        """Skip "password": it is a parameter anyway."""

    def _on_hidden(self, mark: Mark) -> None:
        self._facts.add("secret")
        self._lose(mark)

    def _on_existing(self, mark: Mark) -> None:
        self._problem("existing", word=mark.text)

    def _on_ask(self, mark: Mark) -> None:
        self._facts.add("informational")

    def _on_format(self, mark: Mark) -> None:
        if self._negated:
            self._unwanted_formats.add(mark.value)
            self._spend_negation()
        else:
            self._formats.append(mark.value)

    def _on_in(self, mark: Mark) -> None:
        self._article = ""

    _on_with = _on_of = _on_in

    def _on_comma(self, mark: Mark) -> None:
        self._article = ""

    _on_and = _on_list = _on_slash = _on_comma

    def _on_or(self, mark: Mark) -> None:
        """Ask which of two things is meant; "no NAT or EIP" means both."""
        self._article = ""
        before, after = self._peek(-1), self._noun_or_number()
        if self._negated is None and before and after:
            pair = {before.type, after.type}
            if pair in ({"noun"}, {"num"}, {"engine"}):
                self._problem("either-or", first=before.text, second=after.text)

    def _noun_or_number(self) -> Mark | None:
        skipped = ("a", "the", "stop")
        rest = self._marks[self._place + 1 :]
        return next((mark for mark in rest if mark.type not in skipped), None)

    def _on_stop(self, mark: Mark) -> None:
        """Skip a word that says nothing by itself."""

    def _on_disk(self, mark: Mark) -> None:
        """Read a disk or memory without a size: it only says what is encrypted."""
        if "encrypted" not in (self._peek_type(), self._peek_type(-1)):
            self._lose(mark)

    _on_memory = _on_disk

    def _on_sentence(self, mark: Mark) -> None:
        self._end_sentence()

    def _end_sentence(self) -> None:
        self._close_opening()
        self._drop_count()
        self._lapse_negation()
        self._article = self._per = ""
        self._purpose = False
        self._head, self._head_count, self._head_traits = None, None, {}
        self._sentence += 1

    def _on_unknown(self, mark: Mark) -> None:
        if self._opening and self._opening.awaits_source:
            self._add_source("admin")
        self._lose(mark)
