"""Rules for ROS templates.

A family is a module with `RULES`, the rules it speaks for, and `CHECKS`, functions from a
`Template` to findings. A new one needs its own file and a line in `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from a2a_fn.iac.findings import Finding
from a2a_fn.iac.review.ros import cycles, networks, ports, references, secrets, structure, unused
from a2a_fn.iac.review.ros.template import Template

FAMILIES = (structure, references, cycles, networks, secrets, ports, unused)

RULES = tuple(rule for family in FAMILIES for rule in family.RULES)
CHECKS: tuple[Callable[[Template], Iterable[Finding]], ...] = tuple(
    check for family in FAMILIES for check in family.CHECKS
)
