"""What a plan holds while it is made: asks, resources under free ids, parameters, notes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.model import (
    Ask,
    Input,
    Label,
    Message,
    Parameter,
    Request,
    Resource,
    Unanswered,
)
from a2a_fn.iac.generate.naming import kebab, pascal


class Ledger:
    """The plan in the making."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self._kinds = kinds()
        self._asks = list(request.asks)
        self._implied: dict[int, str] = {}
        self._finished: list[Ask] = []
        self._resources: list[Resource] = []
        self._made: list[tuple[Ask | None, Resource]] = []
        self._parameters: dict[str, Parameter] = {}
        self._notes: list[Message] = []
        self._taken: set[str] = set()
        self._turns: Counter[tuple[str, ...]] = Counter()
        self._current = ""

    def asks(self, kind: str) -> list[Ask]:
        """Return the asks of a kind, those that others imply last."""
        return [ask for ask in self._asks if ask.kind == kind]

    def asked(self, kind: str) -> bool:
        """Tell whether any resource of this kind is asked for."""
        return bool(self.asks(kind))

    def mark_done(self, ask: Ask) -> None:
        """Note that an ask was planned on behalf of another."""
        self._finished.append(ask)

    def is_done(self, ask: Ask) -> bool:
        """Tell whether an ask was planned on behalf of another."""
        return any(each is ask for each in self._finished)

    def made(self, ask: Ask) -> list[Resource]:
        """Return the resources that an ask became."""
        return [resource for owner, resource in self._made if owner is ask]

    def of(self, kind: str) -> list[Resource]:
        """Return the resources of a kind planned so far."""
        return [resource for resource in self._resources if resource.kind == kind]

    def has(self, kind: str) -> bool:
        """Tell whether a resource of this kind is planned so far."""
        return bool(self.of(kind))

    def count(self, ask: Ask, default: int = 1) -> int:
        """Return how many an ask is for; an unsaid plural is two, and noted."""
        if ask.count is not None:
            return self._check_limit(ask.kind, ask.count)
        default = max(default, len(ask.cidrs), len(ask.names))
        if ask.plural and default < 2:
            self.note("plural-is-two", kind=ask.kind)
            return 2
        return self._check_limit(ask.kind, default)

    def _check_limit(self, kind: str, count: int) -> int:
        limit = self._kinds[kind].limit
        if count > limit:
            raise Unanswered("too-many", kind=kind, count=count, limit=limit)
        if count < 1:
            raise Unanswered("none-asked", kind=kind)
        return count

    def names(self, ask: Ask, count: int) -> list[str]:
        """Return a display name for each of `count` resources, empty where none was asked for."""
        if not ask.names:
            return [""] * count
        names = list(ask.names)
        if len(names) == 1 and count > 1:
            names = [f"{names[0]}-{number}" for number in range(1, count + 1)]
        if len(names) != count:
            raise Unanswered("name-count", kind=ask.kind, count=count, given=len(names))
        for name in names:
            if not self._kinds[ask.kind].name_pattern.fullmatch(name):
                raise Unanswered("name-invalid", kind=ask.kind, name=name)
        return names

    def _turn(self, *key: str) -> int:
        self._turns[key] += 1
        return self._turns[key] - 1

    def _place(self, ask: Ask) -> int:
        return next(place for place, each in enumerate(self._asks) if each is ask)

    def add(
        self,
        kind: str,
        ask: Ask | None,
        *,
        own_id: str = "",
        stem: str = "",
        name: str = "",
        count: int = 1,
        why: str = "",
        **settings: Any,
    ) -> Resource:
        """Add a resource under a free id; its display name is the asked one, or made of the id."""
        found = self._kinds[kind]
        own = own_id or self.reserve(kind, ask, name, count, stem)
        if not why:
            why = self._implied.get(id(ask), "asked")
        shared = {
            "label": name or Label(kebab(own)),
            "prefix": own.removesuffix(found.id) if own.endswith(found.id) else "",
        }
        resource = Resource(own, kind, why, name, MappingProxyType(shared | settings))
        self._resources.append(resource)
        self._made.append((ask, resource))
        return resource

    def reserve(
        self, kind: str, ask: Ask | None, name: str = "", count: int = 1, stem: str = ""
    ) -> str:
        """Return a free logical id, and take it."""
        found = self._kinds[kind]
        own = pascal(name) if not stem else ""
        base = stem or _ending(own or (self.prefix(ask) if ask else ""), found)
        numbered = not stem and not own and (count > 1 or self._crowded(ask))
        number = 1
        while True:
            candidate = f"{base}{number}" if numbered or number > 1 else base
            if candidate.lower() not in self._taken:
                self._taken.add(candidate.lower())
                return candidate
            number += 1

    def _crowded(self, ask: Ask | None) -> bool:
        return ask is not None and not self.prefix(ask) and len(self.asks(ask.kind)) > 1

    def prefix(self, ask: Ask) -> str:
        """Return what tells an ask from others of its kind, as the start of an id, or ""."""
        others = [each for each in self.asks(ask.kind) if each is not ask]
        if ask.names:
            return pascal(ask.names[0]) if others else ""
        for trait in ("engine", "exposure", "os"):
            own = ask.attributes.get(trait)
            if own and all(each.attributes.get(trait) != own for each in others) and others:
                return pascal(str(own))
        return ""

    def stem(self, ask: Ask, kind: str) -> str:
        """Return the id stem of a resource that comes with an ask."""
        return _ending(pascal(ask.names[0]) if ask.names else self.prefix(ask), self._kinds[kind])

    def parameter(self, parameter: Parameter) -> Input:
        """Add a parameter once, and return its value; one that differs gets a number."""
        number = 1
        while True:
            own = parameter if number == 1 else replace(parameter, id=f"{parameter.id}{number}")
            known = self._parameters.get(own.id)
            if known is None and own.id.lower() not in self._taken:
                self._parameters[own.id] = own
                self._taken.add(own.id.lower())
                return Input(own.id)
            if known == own:
                return Input(own.id)
            number += 1

    def note(self, code: str, **values: Any) -> None:
        """Add an assumption, once."""
        message = Message(code, MappingProxyType(values))
        if message not in self._notes:
            self._notes.append(message)


def _ending(stem: str, kind: Kind) -> str:
    return stem if stem.lower().endswith(kind.id.lower()) else f"{stem}{kind.id}"
