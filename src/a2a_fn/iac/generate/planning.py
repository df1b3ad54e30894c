"""From a request to a plan: closure (what needs what), counts, ids, names, zones, parameters.

Each kind plans its own resources in its module; this one holds what they share. A request that
contradicts itself or cannot be met raises `Unanswered` anywhere below, and becomes a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Network
from types import MappingProxyType
from typing import Any

from a2a_fn.iac.generate import addresses
from a2a_fn.iac.generate.kind import Kind
from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.model import (
    Ask,
    Input,
    Label,
    Message,
    Parameter,
    Plan,
    Request,
    Resource,
    Unanswered,
)
from a2a_fn.iac.generate.naming import kebab, pascal

#: Parameter groups in the order in which the console shows them.
GROUPS = ("network", "compute", "database", "storage", "access")
MAX_ZONES = 6
#: ROS takes at most 200 resources in a template; some room is left for the reader's own.
MAX_RESOURCES = 150


def plan(request: Request) -> Plan:
    """Return the plan of a request, or the questions that block it."""
    if request.problems:
        return Plan(questions=request.problems)
    planner = Planner(request)
    try:
        planner.run()
    except Unanswered as question:
        return Plan(questions=(question.message,))
    return planner.finish()


class Planner:
    """The plan in the making. Kinds call it to add resources, parameters and notes."""

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

    # ------------------------------------------------------------ the run

    def run(self) -> None:
        """Plan every ask, kind by kind."""
        self._close()
        self.zone_count = self._zones()
        for kind in self._kinds.values():
            self._current = kind.name
            for ask in self.asks(kind.name):
                kind.plan(self, ask)
        self._current = ""
        if self.request.zones and not self.has("vswitch"):
            for vpc in self.of("vpc"):
                self.vswitches(vpc.id)
        if self.has("security_group") and not self.has("security_rule"):
            self.note("security-group-closed")
        if len(self._resources) > MAX_RESOURCES:
            raise Unanswered("too-many-resources", count=len(self._resources), limit=MAX_RESOURCES)

    def finish(self) -> Plan:
        """Return the plan, in the order in which it is written."""
        ordered = sorted(self._resources, key=lambda resource: self._kinds[resource.kind].order)
        resolved = tuple(
            replace(each, why=_needed_by(each, ordered)) if each.why.startswith("@") else each
            for each in ordered
        )
        parameters = sorted(self._parameters.values(), key=lambda p: GROUPS.index(p.group))
        return Plan(resolved, tuple(parameters), self.request.region, tuple(self._notes))

    def _close(self) -> None:
        """Add the asks that others bring with them, and refuse contradictions."""
        banned = self.request.banned
        for ask in self._asks:
            if ask.kind in banned:
                raise Unanswered("asked-and-banned", kind=ask.kind)
            self._check_limit(ask.kind, ask.count or 1)
        hosts = self.asks("ecs")
        wants_out = [ask for ask in hosts if ask.attributes.get("outbound")]
        if any(not self._has_address(ask) for ask in wants_out):
            if "nat" in banned:
                raise Unanswered("needed-and-banned", kind="nat", by="ecs")
            if not self.asks("nat"):
                self._imply("nat", "@ecs")
        for kind, needs in (*self._needs(), ("nat", ("eip",)), ("ecs", ("security_group",))):
            for need in needs:
                if need in banned and self.asks(kind):
                    raise Unanswered("needed-and-banned", kind=need, by=kind)
        if not self.asks("vpc"):
            for kind, needs in self._needs():
                if "vpc" in needs and self.asks(kind):
                    self._imply("vpc", f"@{kind}")
                    break
        private = [ask for ask in hosts if ask.attributes.get("exposure") == "private"]
        if private and not self.asks("nat"):
            self.note("private-no-way-out")

    def _has_address(self, host: Ask) -> bool:
        """Tell whether an ask's instances have public addresses, and so a way out."""
        near = [self._asks[eip.near] for eip in self.asks("eip") if eip.near is not None]
        return host.attributes.get("exposure") == "public" or any(each is host for each in near)

    def _needs(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        return ((kind.name, kind.needs) for kind in self._kinds.values())

    def _imply(self, kind: str, why: str) -> None:
        ask = Ask(kind)
        self._asks.append(ask)
        self._implied[id(ask)] = why

    # ------------------------------------------------------------ what is asked

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

    # ------------------------------------------------------------ places

    def deal(self, ask: Ask, count: int) -> list[Resource]:
        """Return the VPC of each resource of an ask: `count` in all, or for each that it is per."""
        vpcs = self._vpcs_of(ask)
        if ask.per == "vpc":
            homes = [vpc for vpc in vpcs for _ in range(count)]
        else:
            total = count * self._per(ask)
            share, more = divmod(total, len(vpcs))
            homes = [
                vpc
                for place, vpc in enumerate(vpcs)
                for _ in range(share + (1 if place < more else 0))
            ]
            if len(vpcs) > 1:
                self.note("dealt", kind=ask.kind, count=total, vpcs=len(vpcs))
        self._check_limit(ask.kind, len(homes))
        return homes

    def _per(self, ask: Ask) -> int:
        if not ask.per:
            return 1
        if ask.per == "zone":
            return self.zone_count
        made = [resource for resource in self._resources if resource.kind == ask.per]
        return len(made) or sum(self.count(each) for each in self.asks(ask.per)) or 1

    def _vpcs_of(self, ask: Ask) -> list[Resource]:
        """Return the VPCs of the ask that was said last before this one, else of the first."""
        owners = self.asks("vpc")
        place = self._place(ask)
        before = [owner for owner in owners if self._place(owner) < place]
        return self.made(before[-1] if before else owners[0])

    def _place(self, ask: Ask) -> int:
        return next(place for place, each in enumerate(self._asks) if each is ask)

    def made(self, ask: Ask) -> list[Resource]:
        """Return the resources that an ask became."""
        return [resource for owner, resource in self._made if owner is ask]

    def of(self, kind: str) -> list[Resource]:
        """Return the resources of a kind planned so far."""
        return [resource for resource in self._resources if resource.kind == kind]

    def has(self, kind: str) -> bool:
        """Tell whether a resource of this kind is planned so far."""
        return bool(self.of(kind))

    def network(self, vpc: str) -> IPv4Network:
        """Return the range of a VPC."""
        return IPv4Network(next(r["cidr"] for r in self.of("vpc") if r.id == vpc))

    def vpc_ranges(self) -> list[IPv4Network]:
        """Return the ranges that VPCs have or were asked to have."""
        asked = [addresses.block(cidr) for ask in self.asks("vpc") for cidr in ask.cidrs]
        return asked + [IPv4Network(vpc["cidr"]) for vpc in self.of("vpc")]

    def vswitch_ranges(self, vpc: str, ask: Ask) -> list[IPv4Network]:
        """Return the ranges in a VPC that are taken, or asked for by others than this ask."""
        taken = [IPv4Network(each["cidr"]) for each in self.of("vswitch") if each["vpc"] == vpc]
        later = [
            addresses.block(cidr)
            for other in self.asks("vswitch")
            if other is not ask and not self.made(other)
            for cidr in other.cidrs
        ]
        network = self.network(vpc)
        return taken + [each for each in later if each.subnet_of(network)]

    def vswitches_to_come(self, ask: Ask) -> int:
        """Return how many vSwitches without a range later asks will want."""
        return sum(
            other.count or 1
            for other in self.asks("vswitch")
            if other is not ask and not self.made(other) and not other.cidrs
        )

    def vswitches(self, vpc: str) -> list[Resource]:
        """Return the vSwitches of a VPC; one for each zone is added if it has none."""
        found = [each for each in self.of("vswitch") if each["vpc"] == vpc]
        if found:
            return found
        if "vswitch" in self.request.banned:
            raise Unanswered("needed-and-banned", kind="vswitch", by=self._current)
        count = self.zone_count
        blocks = addresses.carve(self.network(vpc), [None] * count, None, [])
        # Nothing is being planned: the zones themselves were asked for.
        why = f"@{self._current}" if self._current else "asked"
        for block in blocks:
            self.add(
                "vswitch",
                None,
                count=count,
                why=why,
                vpc=vpc,
                cidr=str(block),
                zone=self.next_zone(vpc),
                exposure="",
            )
        return self.vswitches(vpc)

    def next_vswitch(self, vpc: str, exposure: str) -> Resource:
        """Return the next vSwitch of a VPC in turn, a public or private one if there is one."""
        found = self.vswitches(vpc)
        fitting = [each for each in found if exposure and each["exposure"] == exposure] or found
        return fitting[self._turn("vswitch", vpc, self._current) % len(fitting)]

    def _turn(self, *key: str) -> int:
        self._turns[key] += 1
        return self._turns[key] - 1

    def groups_for(self, ask: Ask, vpc: str, place: int) -> list[Resource]:
        """Return the asked security groups of the instance at this place of an ask."""
        asks = [each for each in self.asks("security_group") if self.made(each)]
        before = [each for each in asks if self._place(each) < self._place(ask)]
        near = before[-1:] or asks[:1]
        found = [each for owner in near for each in self.made(owner) if each["vpc"] == vpc]
        if near and near[0].per == "ecs" and found:
            return [found[place % len(found)]]
        return found[:5]

    # ------------------------------------------------------------ zones

    def _zones(self) -> int:
        request = self.request
        for zone in request.zone_ids:
            if request.region and not zone.startswith(request.region):
                raise Unanswered("zone-outside-region", zone=zone, region=request.region)
        asked = request.zones or len(request.zone_ids)
        if asked > MAX_ZONES:
            raise Unanswered("too-many-zones", count=asked, limit=MAX_ZONES)
        if asked:
            return asked
        if any(ask.attributes.get("ha") for ask in self._asks):
            return 2
        asks = self.asks("vswitch")
        counts = [ask.count or (2 if ask.plural else 1) for ask in asks]
        # Public and private vSwitches each lie in all zones.
        exposed = any(ask.attributes.get("exposure") for ask in asks)
        wanted = max(counts, default=0) if exposed else sum(counts)
        each = wanted if any(ask.per for ask in asks) else -(-wanted // self._vpc_count())
        if each > 1:
            self.note("zones-spread", zones=min(each, 3))
        return max(1, min(each, 3))

    def _vpc_count(self) -> int:
        return sum(ask.count or (2 if ask.plural else 1) for ask in self.asks("vpc")) or 1

    def next_zone(self, vpc: str, exposure: str = "") -> Input:
        """Return the zone for the next vSwitch of a VPC, in turn; public and private ones apart."""
        return self.zone(self._turn("zone", vpc, exposure) % self.zone_count)

    def zone(self, place: int) -> Input:
        """Return the parameter for the zone at this place."""
        ids = self.request.zone_ids
        number = str(place + 1) if self.zone_count > 1 else ""
        return self.parameter(
            Parameter(
                id=f"ZoneId{number}",
                group="network",
                label=(f"Zone {number}".strip(), f"可用区{number}"),
                description="Zone of the region in which the stack is made, such as cn-hangzhou-h.",
                default=ids[place] if place < len(ids) else None,
                association="ALIYUN::ECS::Instance::ZoneId",
            )
        )

    # ------------------------------------------------------------ what is written down

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


def _needed_by(resource: Resource, others: list[Resource]) -> str:
    """Return the first resource of the needing kind that refers to this one, else its first."""
    needing = [other for other in others if other.kind == resource.why[1:]]
    uses = [
        other
        for other in needing
        if any(
            value == resource.id or (isinstance(value, tuple) and resource.id in value)
            for value in other.settings.values()
        )
    ]
    return (uses or needing)[0].id


def _ending(stem: str, kind: Kind) -> str:
    return stem if stem.lower().endswith(kind.id.lower()) else f"{stem}{kind.id}"
