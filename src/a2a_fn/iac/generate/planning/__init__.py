"""From a request to a plan: closure (what needs what), counts, ids, names, zones, parameters.

Each kind plans its own resources in its module; this one holds what they share. A request that
contradicts itself or cannot be met raises `Unanswered` anywhere below, and becomes a question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from a2a_fn.iac.generate.model import Ask, Plan, Request, Resource, Unanswered
from a2a_fn.iac.generate.planning.places import Places

#: Parameter groups in the order in which the console shows them.
GROUPS = ("network", "compute", "database", "storage", "access")
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


class Planner(Places):
    """Plans a request. Kinds call it to add resources, parameters and notes."""

    def run(self) -> None:
        """Plan every ask, kind by kind."""
        self._close()
        self.zone_count = self._zones()
        for kind in self._kinds.values():
            self._current = kind.name
            for ask in self.asks(kind.name):
                kind.plan(self, ask)
        self._current = ""
        # A VPC spans all zones; zones that are asked for beside it are those of its vSwitches.
        bare = not self.has("vswitch") and "vswitch" not in self.request.banned
        if self.request.zones and bare:
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
