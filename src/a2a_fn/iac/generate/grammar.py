"""From marks to a request: which words belong to which resource.

One pass, left to right. A mark's type names the method that reads it (`_on_<type>`). An attribute
belongs to the noun that follows in the same phrase ("a public server"), else to the nearest noun
before it that can have it ("a server with 4 vCPU").
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

from a2a_fn.iac.generate.drafts import Draft, settle
from a2a_fn.iac.generate.folding import fold_marks
from a2a_fn.iac.generate.model import Mark, Message, Request, Rule
from a2a_fn.iac.generate.openings import Opening

#: What may stand between an adjective and its noun.
_INSIDE_PHRASE = frozenset(
    {"public", "private", "encrypted", "plain", "kms", "ha", "versioned", "attribute", "engine", "os"}
    | {"decimal", "stop", "unknown", "prefix", "cidr", "version", "itype", "disk", "memory", "keypair"}
    | {"name", "quoted", "of", "unit", "outbound"}
)
#: What a request calls a thing that can be said of a resource -> (attribute, value).
_TRAITS: MappingProxyType[str, tuple[str, Any]] = MappingProxyType(
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
_HOSTS = ("ecs", "nat")
_GUARDED = ("security_group", "ecs")


class Reader:
    """Reads the marks of one text into a `Request`."""

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
        self._negated: Mark | None = None
        self._opening: Opening | None = None
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

    def request(self) -> Request:
        """Return what the text asks for."""
        for self._place, mark in enumerate(self._marks):
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

    # ------------------------------------------------------------ the end

    def _end(self) -> None:
        for draft in self._drafts:
            if draft.kind == "eip" and draft.near is None:
                later = self._drafts[self._drafts.index(draft) + 1 :]
                draft.near = next(
                    (d for d in later if d.kind in _HOSTS and d.sentence == draft.sentence), None
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

    def _problem(self, code: str, **values: Any) -> None:
        if all(problem.code != code for problem in self._problems):
            self._problems.append(Message(code, MappingProxyType(values)))

    # ------------------------------------------------------------ looking around

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
            if mark.type not in _INSIDE_PHRASE:
                break
        return engine

    def _last(self, *kinds: str) -> Draft | None:
        ordered = [d for d in self._drafts if d is not self._current]
        if self._current:
            ordered.append(self._current)
        return next((draft for draft in reversed(ordered) if draft.kind in kinds), None)

    # ------------------------------------------------------------ nouns

    def _on_noun(self, mark: Mark) -> None:
        kind, plural = mark.value
        if self._opening and self._opening.awaits_source:
            self._opening.sources.append("vpc")
            self._opening.awaits_source = False
            self._clear_ahead()
            return
        self._close_opening()
        if self._negated:
            self._ban(kind)
            return
        if self._count and self._count.value == 0:
            self._count = None
            self._ban(kind)
            return
        same = self._last(kind)
        count = self._count
        bare = count is None and self._article != "a" and not self._per
        if same is not None and (self._article == "the" or (bare and self._agrees(same))):
            draft = same
        else:
            draft = Draft(kind, sentence=self._sentence)
            draft.count = count.value if count else None
            draft.plural = (plural and not self._paired) or self._article == "some"
            draft.per = self._per
            if kind == "eip":
                near = self._last(*_HOSTS)
                draft.near = near if near and near.sentence == self._sentence else None
            self._drafts.append(draft)
        for attribute, value in self._ahead.items():
            self._give(draft, attribute, value)
        draft.names += self._ahead_names
        draft.cidrs += self._ahead_cidrs
        if kind in _GUARDED and self._loose_rules:
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
        if kind == "eip" and self._peek_type() == "noun":
            # "a server without public IP" said the other way round: 不带公网IP的服务器
            self._ahead["exposure"] = "private"
            self._spend_negation()
            return
        host = self._last("ecs")
        if kind == "eip" and host:
            self._give(host, "exposure", "private")
        else:
            self._banned.add(kind)
        self._spend_negation()
        self._clear_ahead()

    def _clear_ahead(self) -> None:
        if self._count:
            self._count = None
        self._article = self._per = ""
        self._ahead, self._ahead_names, self._ahead_cidrs = {}, [], []
        self._paired = False

    def _on_engine(self, mark: Mark) -> None:
        """Read an engine: it details the database said before or after, or is one itself."""
        if self._negated:
            self._lose(self._negated)
            self._negated = None
            self._lose(mark)
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

    # ------------------------------------------------------------ what is said of nouns

    def _on_attribute(self, mark: Mark) -> None:
        self._attach(*mark.value, mark)

    def _attach(self, attribute: str, value: Any, mark: Mark) -> None:
        ahead = self._noun_ahead()
        if ahead and Draft(ahead).takes(attribute):
            self._ahead[attribute] = value
            return
        if ahead and attribute == "exposure":
            # "a public EIP", "a private VPC": says nothing new.
            return
        draft = self._shared(attribute) or self._part(attribute) or self._taker(attribute)
        if draft:
            self._give(draft, attribute, value)
        else:
            self._loose_traits.append((attribute, value, mark))

    def _shared(self, attribute: str) -> Draft | None:
        """Return a new draft for "two public" in "two public and two private vSwitches"."""
        rest = self._marks[self._place + 1 :]
        if len(rest) < 2 or rest[0].type not in ("and", "comma", "list"):
            return None
        noun = next((mark for mark in rest[1:] if mark.type not in ("num", "a", *_INSIDE_PHRASE)), None)
        if noun is None or noun.type != "noun" or not Draft(noun.value[0]).takes(attribute):
            return None
        counted = (self._count or self._article == "a") and rest[1].type in ("num", "a")
        # "public and private vSwitches" are one of each.
        paired = not self._count and not self._article and noun.value[1] and rest[1].type in _TRAITS
        if not counted and not paired:
            return None
        draft = Draft(noun.value[0], count=self._count.value if self._count else 1)
        draft.sentence = self._sentence
        self._drafts.append(draft)
        self._current = draft
        self._clear_ahead()
        self._paired = bool(paired)
        return draft

    def _taker(self, attribute: str) -> Draft | None:
        ordered = [d for d in self._drafts if d is not self._current]
        if self._current:
            ordered.append(self._current)
        return next((draft for draft in reversed(ordered) if draft.takes(attribute)), None)

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

    def _give(self, draft: Draft, attribute: str, value: Any) -> None:
        known = draft.attributes.get(attribute)
        if known is not None and known != value:
            if attribute == "exposure":
                self._problem("public-and-private", kind=draft.kind)
            else:
                self._problem("said-twice", kind=draft.kind, first=known, second=value)
            return
        draft.attributes[attribute] = value

    def _on_trait(self, mark: Mark) -> None:
        attribute, value = _TRAITS[mark.type]
        if self._negated:
            value = {"public": "private", True: False, False: True, "private": "public"}[value]
            self._spend_negation()
        if mark.type == "public" and self._opening and not self._noun_ahead():
            self._on_world(mark)
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
        if self._negated:
            self._lose(self._negated, mark)
            self._negated = None
        elif not self._last("rds", "oss") and self._noun_ahead() not in ("rds", "oss"):
            self._lose(mark)

    def _on_os(self, mark: Mark) -> None:
        self._attach("os", mark.value, mark)

    def _on_itype(self, mark: Mark) -> None:
        self._attach("instance_type", mark.value, mark)

    def _on_prefix(self, mark: Mark) -> None:
        in_vpc = self._peek_type(-1, frozenset({"stop", "a", "the"})) == "in"
        if in_vpc and not self._noun_ahead():
            self._give(self._vpc(), "prefix", mark.value)
        else:
            self._attach("prefix", mark.value, mark)

    def _on_cidr(self, mark: Mark) -> None:
        if self._opening and (self._opening.awaits_source or self._in_opening()):
            self._add_source(mark.value)
            return
        if self._negated:
            self._lose(self._negated, mark)
            self._negated = None
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

    def _on_name(self, mark: Mark) -> None:
        if self._noun_ahead() and self._peek_type() in ("noun", *_INSIDE_PHRASE):
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

    # ------------------------------------------------------------ numbers

    def _on_num(self, mark: Mark) -> None:
        before = self._peek(-1)
        if before and before.type in ("engine", "version") and self._version(mark, str(mark.value)):
            return
        if self._port_number(mark.value, mark):
            return
        if self._peek_type() in ("unknown", "unsupported") and not self._noun_ahead():
            # It counts something that is said back anyway.
            return
        ahead = self._peek_type(1, frozenset({"stop", "unknown", *_INSIDE_PHRASE}))
        if self._peek_type() == "neg" and self._relative():
            ahead = "noun"
        if ahead in ("noun", "zone") or self._peek_type() in ("engine", *_TRAITS, "attribute", "cidr"):
            self._drop_count()
            self._count = mark
            return
        if self._peek_type() in ("each", "named") and self._current and self._current.count is None:
            self._current.count = mark.value
            return
        self._drop_count()
        if self._current and mark.value < 100 and self._peek_type() in (
            "in",
            "with",
            "prefix",
            "from",
            "neg",
        ):
            self._count = mark
            self._part()
            return
        self._lose(mark)

    def _relative(self) -> bool:
        """Tell whether a negated noun stands before the counted one: 一台不带公网IP的服务器."""
        types = [mark.type for mark in self._marks[self._place + 1 :] if mark.type != "stop"]
        return types[:3] == ["neg", "noun", "noun"]

    def _drop_count(self) -> None:
        if self._count:
            self._lose(self._count)
            self._count = None

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

    def _on_zone(self, mark: Mark) -> None:
        if self._count:
            self._zones = self._count.value
            self._count = None
        self._article = ""

    def _on_samezone(self, mark: Mark) -> None:
        self._zones = 1

    def _on_zoneid(self, mark: Mark) -> None:
        if self._negated:
            self._lose(self._negated, mark)
            self._negated = None
        elif mark.value not in self._zone_ids:
            self._zone_ids.append(mark.value)

    def _on_region(self, mark: Mark) -> None:
        if self._negated:
            self._lose(self._negated, mark)
            self._negated = None
        elif mark.value:
            self._regions.append(mark.value)

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
        if self._current:
            others = [draft for draft in self._drafts if draft.kind != self._current.kind]
            if others:
                self._current.per = others[-1].kind

    def _counts_ahead(self, place: int) -> bool:
        """Tell whether a counted noun starts here: "per zone, two vSwitches"."""
        glue = ("comma", "stop", "with", "in", "create", "of", "num", "a", *_INSIDE_PHRASE)
        counted = False
        for mark in self._marks[place:]:
            counted = counted or mark.type in ("num", "a")
            if mark.type not in glue:
                return counted and mark.type == "noun"
        return False

    # ------------------------------------------------------------ openings

    def _on_open(self, mark: Mark) -> None:
        if self._opening and self._opening.ports and not self._opening.said_open:
            # "port 443 open to the internet"
            self._opening.said_open = True
            return
        self._close_opening()
        self._opening = Opening(closed=self._negated is not None, said_open=True)
        self._spend_negation()

    def _on_close(self, mark: Mark) -> None:
        self._close_opening()
        self._opening = Opening(closed=True, said_open=True)

    def _clause(self) -> Opening:
        """Return the opening clause at hand, or a new one."""
        if self._opening is None:
            self._opening = Opening(closed=self._negated is not None)
            self._spend_negation()
        elif self._opening.ports and self._opening.sources and not self._source_first:
            said_open, closed = self._opening.said_open, self._opening.closed
            self._close_opening()
            self._opening = Opening(closed=closed, said_open=said_open)
        return self._opening

    @property
    def _source_first(self) -> bool:
        return "source-first" in self._facts

    def _in_opening(self) -> bool:
        """Tell whether a range stands inside an opening clause, rather than after it."""
        return self._opening is not None and (self._opening.said_open or bool(self._opening.ports))

    def _on_port(self, mark: Mark) -> None:
        if self._opening is None or not self._opening.ports:
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
        else:
            self._lose(mark)

    def _port_number(self, value: int, mark: Mark, sure: bool = False) -> bool:
        """Read a number as a port where one is expected; tell whether it was."""
        if not sure and not self._port_expected():
            return False
        if self._opening and self._opening.to and self._opening.ports:
            self._opening.extend_last(value)
            return True
        self._clause().add_port(value, value)
        return True

    def _port_expected(self) -> bool:
        """Tell whether a number here is a port: after "open" or "port", or in a list before "port"."""
        if self._opening and (self._opening.said_open or self._peek_type(-1) == "port"):
            following = self._peek_type(1, frozenset({"stop", *_INSIDE_PHRASE}))
            return following not in ("noun", "zone")
        if self._opening and self._opening.ports and not self._opening.sources:
            return self._peek_type() not in ("noun", "zone", "engine", "attribute")
        listed = frozenset({"num", "range", "and", "comma", "list", "slash", "stop", "grouped"})
        return self._peek_type(1, listed) == "port" or self._peek_type(-1) == "port"

    def _add_source(self, source: str) -> None:
        clause = self._opening
        if clause is None:
            return
        if clause.ports and clause.sources and self._source_first:
            said_open, closed = clause.said_open, clause.closed
            self._close_opening()
            clause = self._opening = Opening(closed=closed, said_open=said_open)
        if not clause.ports:
            self._facts.add("source-first")
        clause.sources.append(source)
        clause.awaits_source = False

    def _on_world(self, mark: Mark) -> None:
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
        if self._opening:
            self._add_source("vpc")
        else:
            self._attach("exposure", "private", mark)

    def _on_mine(self, mark: Mark) -> None:
        if self._opening:
            self._add_source("admin")
        else:
            self._lose(mark)

    def _close_opening(self) -> None:
        """End the clause: its ports go to the group or instance said last, or to the next."""
        clause, self._opening = self._opening, None
        self._facts.discard("source-first")
        if clause is None:
            return
        if clause.closed:
            self._closed += clause.rules()
            return
        if not clause.ports:
            if "world" in clause.sources and self._taker("exposure"):
                draft = self._last("ecs", "rds", "oss")
                if draft:
                    self._give(draft, "exposure", "public")
            return
        host = self._last(*_GUARDED)
        if host and host.sentence >= self._sentence - 1:
            host.rules += clause.rules()
        elif host:
            host.rules += clause.rules()
        else:
            self._loose_rules += clause.rules()

    # ------------------------------------------------------------ little words

    def _on_neg(self, mark: Mark) -> None:
        if self._negated and self._negated.end != mark.start:
            # "ne ... pas", "do not ... any": one negation in two words.
            return
        self._negated = mark

    def _spend_negation(self) -> None:
        """Keep the negation for the next thing in "no NAT or EIP", else end it."""
        after = self._place + 1
        joined = after < len(self._marks) and self._marks[after].type in ("or", "and", "list")
        alternative = joined and self._marks[after].type == "or"
        following = self._marks[after + 1].type if after + 1 < len(self._marks) else ""
        carried = alternative or (joined and following in ("noun", "service", *_TRAITS))
        if not carried:
            self._negated = None

    def _lapse_negation(self) -> None:
        if self._negated:
            self._lose(self._negated)
            self._negated = None

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

    def _on_from(self, mark: Mark) -> None:
        if self._opening:
            self._opening.awaits_source = True

    def _on_to(self, mark: Mark) -> None:
        if self._opening:
            if self._peek_type(-1) in ("num", "range") and self._peek_type() == "num":
                self._opening.to = True
            elif self._opening.ports:
                self._opening.awaits_source = self._peek_type() in ("world", "noun", "cidr", "the")

    def _on_in(self, mark: Mark) -> None:
        self._article = ""

    _on_with = _on_of = _on_in

    def _on_comma(self, mark: Mark) -> None:
        self._article = ""

    _on_and = _on_or = _on_list = _on_slash = _on_comma

    def _on_stop(self, mark: Mark) -> None:
        """Skip a word that says nothing by itself."""

    def _on_disk(self, mark: Mark) -> None:
        """Skip "disk" without a size: "encrypted disk"."""

    _on_memory = _on_disk

    def _on_sentence(self, mark: Mark) -> None:
        self._end_sentence()

    def _end_sentence(self) -> None:
        self._close_opening()
        self._drop_count()
        self._lapse_negation()
        self._article = self._per = ""
        self._sentence += 1

    def _on_unknown(self, mark: Mark) -> None:
        if self._opening and self._opening.awaits_source:
            self._add_source("admin")
        self._lose(mark)

    def _naming_goes_on(self, mark: Mark) -> bool:
        """Tell whether a word continues a list of names: "called app and db" for two."""
        draft = self._current
        if draft is None or not draft.names or len(draft.names) >= (draft.count or 1):
            return False
        before, named = self._peek(-1), self._peek(-2)
        if before is None or named is None or named.text != draft.names[-1]:
            return False
        if mark.type == "unknown":
            return before.type in ("and", "list", "comma")
        # A word with a meaning is a name only right after "and", and written like one.
        plain = mark.text.islower() and mark.text.isalnum()
        return mark.type in ("noun", "service") and before.type in ("and", "list") and plain

    def _lose(self, *marks: Mark) -> None:
        self._not_understood += marks
