"""Where resources of a plan lie: VPCs and their ranges, vSwitches, zones, security groups."""

from __future__ import annotations

from ipaddress import IPv4Network

from a2a_fn.iac.generate import addresses
from a2a_fn.iac.generate.model import Ask, Input, Parameter, Resource, Unanswered
from a2a_fn.iac.generate.planning.ledger import Ledger

MAX_ZONES = 6


class Places(Ledger):
    """Deals resources over VPCs, vSwitches and zones."""

    zone_count = 1

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

    def groups_for(self, ask: Ask, vpc: str, place: int) -> list[Resource]:
        """Return the asked security groups of the instance at this place of an ask."""
        asks = [each for each in self.asks("security_group") if self.made(each)]
        before = [each for each in asks if self._place(each) < self._place(ask)]
        near = before[-1:] or asks[:1]
        found = [each for owner in near for each in self.made(owner) if each["vpc"] == vpc]
        if near and near[0].per == "ecs" and found:
            return [found[place % len(found)]]
        return found[:5]

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
