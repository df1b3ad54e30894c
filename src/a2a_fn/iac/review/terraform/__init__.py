"""Rules for Terraform.

A family is a module with `RULES`, the rules it speaks for, and `CHECKS`, functions from a
`Module` to findings. A new one needs its own file and a line in `FAMILIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from a2a_fn.iac.findings import Finding
from a2a_fn.iac.review.terraform import cycles, networks, ports, references, secrets, unused
from a2a_fn.iac.review.terraform.module import Module

FAMILIES = (references, cycles, networks, secrets, ports, unused)

RULES = tuple(rule for family in FAMILIES for rule in family.RULES)
CHECKS: tuple[Callable[[Module], Iterable[Finding]], ...] = tuple(
    check for family in FAMILIES for check in family.CHECKS
)
