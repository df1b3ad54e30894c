"""What is wrong with a request of A2A 0.3, in 0.3's names and in words of ours."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from a2a.utils.errors import InvalidParamsError
from pydantic import ValidationError

from . import inputs

Names = tuple[tuple[str, str], ...]
"""Pairs of a field's path in 1.0, as a pattern, and in 0.3; the first that matches counts."""

KINDS = {"text": "TextPart", "file": "FilePart", "data": "DataPart"}
"""Kind of a part -> its type in the a2a-sdk."""


def refusal(faults: Iterable[tuple[str, str]]) -> InvalidParamsError:
    """The error for faults of (field, what is wrong with it), as ``inputs.read`` raises it."""
    errors = [{"field": field, "message": message} for field, message in faults]
    errors = errors[: inputs.MAX_FAULTS]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    first = errors[0]
    return InvalidParamsError(f"{first['field']} {first['message']}{more}", data={"errors": errors})


def renamed(field: str, names: Names) -> str:
    """The field's path as 0.3 has it."""
    for pattern, replacement in names:
        path, count = re.subn(pattern, replacement, field, count=1)
        if count:
            return path
    return field


_WORDS = {
    "missing": "is required",
    "model_type": "must be an object",
    "dict_type": "must be an object",
    "list_type": "must be an array",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
}


def found(error: ValidationError, params: dict[str, Any]) -> list[tuple[str, str]]:
    """What pydantic found, as (field, what is wrong with it): its own words speak of Python, and
    say what each alternative of a union would have wanted."""
    faults: dict[str, str] = {}
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        path = ""
        steps = list(one["loc"])
        if _is_of_another_kind(steps, params):
            continue
        for step in steps[1:]:
            if isinstance(step, int):
                path += f"[{step}]"
            elif not step[:1].isupper():  # else the name of a type
                path += f".{step}"
        words = _WORDS.get(one["type"]) or one["msg"].replace("Input should", "must")
        faults.setdefault(path.removeprefix(".") or "params", words)
    return list(faults.items()) or [("params", "do not fit A2A 0.3")]


def _is_of_another_kind(steps: list[Any], params: dict[str, Any]) -> bool:
    """Whether the fault is about a type of part that this part does not mean to be."""
    if steps[:3] != ["params", "message", "parts"] or len(steps) < 5:
        return False
    part = params["message"]["parts"][steps[3]]
    if steps[4] != KINDS[part["kind"]]:
        return True
    named = {"FileWithBytes": "bytes", "FileWithUri": "uri"}
    wanted = next((named[step] for step in steps[5:] if step in named), None)
    return wanted is not None and wanted not in part["file"]
