"""The languages of requests: every module here that defines `LANGUAGE`. To add one, add a file.

`TERMS` maps a meaning (`type` or `type:value`) to phrases separated by `|`, written in lower case
without accents; a Latin phrase also matches its plural in s, es or x. The types are those that
`grammar` knows. `SAYS` maps message codes to sentences, the same codes in every language.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType


@dataclass(frozen=True)
class Language:
    """One language: its words, its sentences, and how to recognise it.

    `script` is a pattern that only this language's text holds, if there is one. `comma` and `stop`
    join lists and end sentences.
    """

    code: str
    terms: Mapping[str, str]
    says: Mapping[str, str]
    script: re.Pattern[str] | None = None
    comma: str = ", "
    colon: str = ": "


@cache
def languages() -> Mapping[str, Language]:
    """Return all languages by code; English, the fallback, comes first."""
    found = [
        importlib.import_module(f"{__name__}.{module.name}").LANGUAGE
        for module in pkgutil.iter_modules(__path__)
    ]
    return MappingProxyType(
        {each.code: each for each in sorted(found, key=lambda x: x.code != "en")}
    )
