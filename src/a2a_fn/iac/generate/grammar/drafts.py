"""What the grammar writes into while it reads: one `Draft` for each future `Ask`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.model import Ask, Message, Rule


@dataclass(eq=False)
class Draft:
    """An ask in the making. `part_of` is the draft that this one details."""

    kind: str
    count: int | None = None
    plural: bool = False
    per: str = ""
    sentence: int = 0
    near: Draft | None = None
    part_of: Draft | None = None
    names: list[str] = field(default_factory=list)
    cidrs: list[str] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    rules: list[Rule] = field(default_factory=list)

    def takes(self, attribute: str) -> bool:
        """Tell whether a resource of this kind can have the attribute."""
        return attribute == "name" or attribute in kinds()[self.kind].takes


def settle(drafts: Sequence[Draft]) -> tuple[tuple[Ask, ...], list[Message]]:
    """Return the asks that the drafts come to, and what contradicts itself."""
    problems: list[Message] = []
    kept = list(drafts)
    for root in drafts:
        parts = [draft for draft in kept if draft.part_of is root]
        if not parts:
            continue
        described = sum(part.count or 1 for part in parts)
        if root.count is not None and described > root.count:
            values = {"count": root.count, "kind": root.kind, "given": described}
            problems.append(Message("parts-exceed", MappingProxyType(values)))
        rest = (root.count or described) - described
        for part in parts:
            part.attributes = root.attributes | part.attributes
            part.rules = part.rules or list(root.rules)
            part.near = part.near or root.near
            part.count = part.count or 1
        if rest > 0:
            root.count = rest
        else:
            for draft in kept:
                draft.near = parts[0] if draft.near is root else draft.near
            kept.remove(root)
    _share_cidrs(kept)
    places = {id(draft): place for place, draft in enumerate(kept)}
    return tuple(_ask(draft, places) for draft in kept), problems


def _share_cidrs(drafts: Sequence[Draft]) -> None:
    """Give the VPC the one range that was said after several vSwitches.

    "A VPC with two vSwitches, 10.0.0.0/16": one range cannot be that of two vSwitches.
    """
    vpc = next((draft for draft in drafts if draft.kind == "vpc"), None)
    if vpc is None or vpc.cidrs:
        return
    for draft in drafts:
        several = (draft.count or (2 if draft.plural else 1)) > 1
        if draft.kind == "vswitch" and several and len(draft.cidrs) == 1:
            vpc.cidrs, draft.cidrs = draft.cidrs, []
            return


def _ask(draft: Draft, places: dict[int, int]) -> Ask:
    return Ask(
        kind=draft.kind,
        count=draft.count,
        plural=draft.plural,
        per=draft.per,
        near=places.get(id(draft.near)) if draft.near else None,
        names=tuple(draft.names),
        cidrs=tuple(draft.cidrs),
        attributes=MappingProxyType(draft.attributes),
        rules=tuple(draft.rules),
    )
