"""What a kind of resource is: its words, its limits, what it needs, how it is written.

A kind is one module in `kinds/` that defines `KIND`; it is found by being there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from a2a_fn.iac.generate.model import Ask, Field, Output, Resource

if TYPE_CHECKING:
    from a2a_fn.iac.generate.planning import Planner

#: What most products accept as a display name, and a little less: nothing that YAML, HCL or
#: `Fn::Sub` could read as anything but text.
DISPLAY_NAME = re.compile(r"[A-Za-z\u4e00-\u9fff][A-Za-z0-9\u4e00-\u9fff._-]{1,63}")


def label(prefix: str, en: str, zh: str) -> tuple[str, str]:
    """Return a parameter's label in English and Chinese, with what tells it from its like."""
    return (f"{en} ({prefix})", f"{zh}（{prefix}）") if prefix else (en, zh)


def nothing(planner: Planner, ask: Ask) -> None:
    """Plan nothing: for kinds that only other kinds bring."""


def no_outputs(resource: Resource) -> tuple[Output, ...]:
    """Give no output."""
    return ()


def no_ids(resource: Resource) -> tuple[str, ...]:
    """Name nothing that must exist first beyond what the properties refer to."""
    return ()


@dataclass(frozen=True)
class Kind:
    """One kind of resource.

    `id` is the stem of logical names, `order` the place in the plan and in the files. `called`
    gives (singular, plural) by language, `words` the noun phrases by language, separated by `|`
    (empty for kinds that nobody asks for by name). `takes` are the attributes that a request can
    give it, `needs` the kinds that must exist first. `plan` turns an ask into resources, `fields`
    a resource into properties; `after` names resources that Terraform must wait for. `ros_variant`
    names the ROS type where it depends on the resource. `stateful` resources, and what protects or
    opens them, outlive the stack.
    """

    name: str
    id: str
    order: int
    ros: str
    terraform: str
    called: Mapping[str, tuple[str, str]]
    fields: Callable[[Resource], tuple[Field, ...]]
    words: Mapping[str, str]
    takes: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    limit: int = 20
    name_pattern: re.Pattern[str] = DISPLAY_NAME
    plan: Callable[[Planner, Ask], None] = nothing
    outputs: Callable[[Resource], tuple[Output, ...]] = no_outputs
    ros_variant: Callable[[Resource], str] | None = None
    after: Callable[[Resource], tuple[str, ...]] = no_ids
    stateful: bool = False

    def ros_type(self, resource: Resource) -> str:
        """Return the ROS type that this resource is written as."""
        return self.ros_variant(resource) if self.ros_variant else self.ros
