"""The setting ``card``: a YAML or JSON file with what the card of one's own agent says.

The names are A2A's. What the file does not say stays as the agent has it; extensions are added to
the agent's own.
"""

from __future__ import annotations

import difflib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from google.protobuf.json_format import MessageToDict

from .errors import InvalidSettings
from .profile import Extension, Profile, Skill
from .protocol.values import Wrong, struct

Faults = list[str]
Read = Callable[[object, str, Faults], Any]
"""A value, where it is, and where faults go -> the value as a ``Profile`` has it."""


def read_card(path: str | os.PathLike[str], profile: Profile) -> Profile:
    """``profile`` with what the file says in its place.

    Raises InvalidSettings with every fault, its file and its field.
    """
    faults: Faults = []
    given: dict[str, Any] = {}
    for name, value in _loaded(path).items():
        if name in _ELSEWHERE:
            faults.append(f"{name}: {_ELSEWHERE[name]}")
        elif name not in _FIELDS:
            faults.append(f"{name}: there is no such field{_meant(name, _FIELDS)}")
        else:
            field, read = _FIELDS[name]
            given[field] = read(value, str(name), faults)
    provider = given.pop("provider", {})
    if "extensions" in given:
        uris = {extension.uri for extension in given["extensions"]}
        own = tuple(one for one in profile.extensions if one.uri not in uris)
        given["extensions"] = own + given["extensions"]
    if faults:
        raise InvalidSettings("\n".join(f"{path}: {fault}" for fault in faults))
    return profile._replace(**given, **provider)


def _loaded(path: str | os.PathLike[str]) -> Mapping[Any, Any]:
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise InvalidSettings(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidSettings(f"{path}: is not UTF-8") from error
    try:
        loaded = json.loads(text) if str(path).endswith(".json") else _yaml(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if str(path).endswith(".json") else "YAML"
        raise InvalidSettings(f"{path}: is not {kind}: {' '.join(str(error).split())}") from error
    if not isinstance(loaded, dict):
        raise InvalidSettings(f"{path}: must be a mapping with the fields of an agent card")
    return loaded


def _yaml(text: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from error


# ---------------------------------------------------------------- values


def _text(value: object, where: str, faults: Faults) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool) and where == "version":
        faults.append(f"{where}: must be text: write it in quotes")
        return ""
    if not isinstance(value, str) or not value.strip():
        faults.append(f"{where}: must be text that is not empty")
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        faults.append(f"{where}: has half of a surrogate pair")
    return value


def _url(value: object, where: str, faults: Faults) -> str:
    text = value if isinstance(value, str) else ""
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        faults.append(f"{where}: must be an http or https URL")
    return text


def _texts(value: object, where: str, faults: Faults) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        faults.append(f"{where}: must be a list of text that is not empty")
        return ()
    return tuple(_text(item, f"{where}[{i}]", faults) for i, item in enumerate(value))


def _flag(value: object, where: str, faults: Faults) -> bool:
    if not isinstance(value, bool):
        faults.append(f"{where}: must be true or false")
    return value is True


def _params(value: object, where: str, faults: Faults) -> Mapping[str, Any] | None:
    try:
        json.dumps(value, allow_nan=False)  # YAML has dates and sets, too
        same = MessageToDict(struct(value)) == value
    except Wrong as error:
        faults.append(f"{where}: {error}")
    except (TypeError, ValueError, RecursionError):
        faults.append(f"{where}: must be JSON; write dates in quotes")
    else:
        if not same:
            faults.append(f"{where}: has a number that a double cannot say exactly")
        elif isinstance(value, dict):
            return value
    return None


def _provider(value: object, where: str, faults: Faults) -> dict[str, str]:
    fields: dict[str, tuple[str, Read]] = {
        "organization": ("provider_organization", _text),
        "url": ("provider_url", _url),
    }
    return _object(value, where, faults, fields, ("organization", "url"))


def _skills(value: object, where: str, faults: Faults) -> tuple[Skill, ...]:
    fields: dict[str, tuple[str, Read]] = {
        "id": ("id", _text),
        "name": ("name", _text),
        "description": ("description", _text),
        "tags": ("tags", _texts),
        "examples": ("examples", _texts),
        "inputModes": ("input_modes", _texts),
        "outputModes": ("output_modes", _texts),
    }
    read = _objects(value, where, faults, fields, ("id", "name", "description", "tags"), "id")
    return tuple(Skill(**one) for one in read) if not faults else ()


def _extensions(value: object, where: str, faults: Faults) -> tuple[Extension, ...]:
    fields: dict[str, tuple[str, Read]] = {
        "uri": ("uri", _text),
        "description": ("description", _text),
        "required": ("required", _flag),
        "params": ("params", _params),
    }
    if value == []:
        return ()
    read = _objects(value, where, faults, fields, ("uri",), "uri")
    return tuple(Extension(**one) for one in read) if not faults else ()


def _objects(
    value: object,
    where: str,
    faults: Faults,
    fields: Mapping[str, tuple[str, Read]],
    needed: tuple[str, ...],
    unique: str,
) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not value:
        faults.append(f"{where}: must be a list of mappings that is not empty")
        return []
    read = [_object(item, f"{where}[{i}]", faults, fields, needed) for i, item in enumerate(value)]
    seen: set[object] = set()
    for i, one in enumerate(read):
        name = one.get(fields[unique][0])
        if name and name in seen:
            faults.append(f"{where}[{i}].{unique}: is there twice: {name}")
        seen.add(name)
    return read


def _object(
    value: object,
    where: str,
    faults: Faults,
    fields: Mapping[str, tuple[str, Read]],
    needed: tuple[str, ...],
) -> dict[str, Any]:
    if not isinstance(value, dict):
        faults.append(f"{where}: must be a mapping with {', '.join(needed)}")
        return {}
    given: dict[str, Any] = {}
    for name, item in value.items():
        if name not in fields:
            faults.append(f"{where}.{name}: there is no such field{_meant(name, fields)}")
            continue
        field, read = fields[name]
        given[field] = read(item, f"{where}.{name}", faults)
    faults += [f"{where}.{name}: is missing" for name in needed if name not in value]
    return given


def _meant(name: object, known: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(str(name), list(known), 1)
    return f"; did you mean {close[0]}?" if close else ""


_FIELDS: dict[str, tuple[str, Read]] = {
    "name": ("name", _text),
    "description": ("description", _text),
    "version": ("version", _text),
    "provider": ("provider", _provider),
    "documentationUrl": ("documentation_url", _url),
    "iconUrl": ("icon_url", _url),
    "skills": ("skills", _skills),
    "defaultInputModes": ("input_modes", _texts),
    "defaultOutputModes": ("output_modes", _texts),
    "extensions": ("extensions", _extensions),
}
"""Name in the file -> field of ``Profile``, and how it is read."""

_ELSEWHERE = {
    "supportedInterfaces": "is made by the server; set public-url for its address",
    "url": "is made by the server; set public-url for its address",
    "capabilities": "is made from the settings; write extensions at the top of this file",
    "securitySchemes": "is made from the settings of who may call",
    "securityRequirements": "is made from the settings of who may call",
    "signatures": "is made by the server; set signing-keys or signing-secret",
}
"""What a card has and this file has not."""
