"""Small joins over the marks before they are read: "two hundred" is 200, "16 GB of RAM" memory.

Each pass takes marks and returns marks, so that the grammar sees one mark for one thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from a2a_fn.iac.generate.model import Mark

#: Marks that may stand between a quantity and what it measures.
_GLUE = frozenset({"of", "stop", "with", "in"})
_MEASURED = frozenset({"memory", "disk", "datadisk"})


def fold_marks(marks: Sequence[Mark]) -> list[Mark]:
    """Return the marks with numbers composed and quantities made into attributes."""
    return _quantities(_numbers(_systems(_sizes(marks))))


def _sizes(marks: Sequence[Mark]) -> list[Mark]:
    """Split 4c8g into its two halves."""
    found: list[Mark] = []
    for mark in marks:
        if mark.type == "size":
            cpu, memory = mark.value
            found += [_attribute(mark, "cpu", cpu), _attribute(mark, "memory", memory)]
        else:
            found.append(mark)
    return found


def _systems(marks: Sequence[Mark]) -> list[Mark]:
    """Join an operating system and its version: Ubuntu 22.04."""
    found: list[Mark] = []
    for mark in marks:
        last = found[-1] if found else None
        if last and last.type == "os" and mark.type in ("num", "decimal"):
            found[-1] = replace(last, value=f"{last.value} {mark.text}", end=mark.end)
        else:
            found.append(mark)
    return found


def _attribute(mark: Mark, name: str, value: Any, end: Mark | None = None) -> Mark:
    return replace(mark, type="attribute", value=(name, value), end=(end or mark).end)


def _numbers(marks: Sequence[Mark]) -> list[Mark]:
    """Compose number words: twenty-four, two hundred, vingt-deux, 3 million."""
    found: list[Mark] = []
    for mark in marks:
        if found and found[-1].text == "-" and mark.type in ("num", "times") and len(found) > 1:
            hyphen = found.pop()
            if found[-1].type != "num" or found[-1].end != hyphen.start:
                found.append(hyphen)
        last = found[-1] if found else None
        if last and last.type == "num" and mark.type in ("num", "times"):
            words = not (last.text.isdigit() and mark.text.isdigit())
            if mark.type == "times":
                found[-1] = _joined(last, mark, min(last.value * mark.value, 10**12))
                continue
            if words and last.value >= 20 and last.value % 10 == 0 and 0 < mark.value < 20:
                found[-1] = _joined(last, mark, last.value + mark.value)
                continue
        if mark.type == "times":
            found.append(replace(mark, type="num"))
            continue
        found.append(mark)
    return found


def _joined(first: Mark, second: Mark, value: int) -> Mark:
    return replace(first, value=value, text=f"{first.text} {second.text}", end=second.end)


def _quantities(marks: Sequence[Mark]) -> list[Mark]:
    """Join a number and its unit, and what is measured where it is said (before or after)."""
    found: list[Mark] = []
    place = 0
    while place < len(marks):
        mark = marks[place]
        unit = marks[place + 1] if place + 1 < len(marks) else None
        if mark.type not in ("num", "decimal") or unit is None or unit.type != "unit":
            found.append(mark)
            place += 1
            continue
        place += 2
        if unit.value in ("cpu", "mbps"):
            name = {"cpu": "cpu", "mbps": "bandwidth"}[unit.value]
            found.append(_attribute(mark, name, _whole(mark.value), unit))
            continue
        size = _whole(mark.value) * (1024 if unit.value == "tb" else 1)
        after = _skip(marks, place)
        if after < len(marks) and marks[after].type in _MEASURED:
            found.append(_attribute(mark, _name(marks[after]), size, marks[after]))
            place = after + 1
            continue
        before = _before(found)
        if before is not None:
            measured = found.pop(before)
            found.append(_attribute(mark, _name(measured), size, unit))
            continue
        found.append(_attribute(mark, "gb", size, unit))
    return found


def _whole(value: Any) -> int:
    return int(float(value))


def _name(mark: Mark) -> str:
    return {"datadisk": "data_disk"}.get(mark.type, mark.type)


def _skip(marks: Sequence[Mark], place: int) -> int:
    while place < len(marks) and marks[place].type in ("of", "stop"):
        place += 1
    return place


def _before(found: Sequence[Mark]) -> int | None:
    """Return where the measured thing stands right before the quantity, if it does."""
    place = len(found) - 1
    while place >= 0 and found[place].type in _GLUE:
        place -= 1
    return place if place >= 0 and found[place].type in _MEASURED else None
