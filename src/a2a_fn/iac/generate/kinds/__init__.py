"""The kinds of resources: every module here that defines `KIND`. To add one, add a file."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from a2a_fn.iac.generate.kind import Kind


@cache
def kinds() -> Mapping[str, Kind]:
    """Return all kinds by name, in the order in which they are planned and written."""
    found = [
        importlib.import_module(f"{__name__}.{module.name}").KIND
        for module in pkgutil.iter_modules(__path__)
    ]
    return MappingProxyType({kind.name: kind for kind in sorted(found, key=lambda k: k.order)})
