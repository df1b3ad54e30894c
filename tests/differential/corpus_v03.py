"""The scenarios of A2A 0.3: those of 1.0 that 0.3 has words for."""

from __future__ import annotations

from collections.abc import Container

from .corpus import SCENARIOS as OF_V10
from .steps import Call, Scenario

UNSAYABLE = ("references", "version", "tenant", "list")
"""Groups of scenarios about what 0.3 has not."""


def sayable(operations: Container[str]) -> tuple[Scenario, ...]:
    """The scenarios for a binding that has these operations."""
    return tuple(
        each
        for each in OF_V10
        if each.name.partition(":")[0] not in UNSAYABLE
        and all(_sayable(step, operations) for step in each.steps if isinstance(step, Call))
    )


def _sayable(call: Call, operations: Container[str]) -> bool:
    parts = call.params.get("message", {}).get("parts", [])
    data = [part["data"] for part in parts if "data" in part]
    return call.operation in operations and all(isinstance(each, dict) for each in data)
