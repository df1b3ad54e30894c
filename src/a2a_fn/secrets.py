"""Secrets by reference: a setting may say where its value is instead of what it is.

::

    file:PATH                  the content of a file, without one line end at its end
    env:NAME                   another environment variable
    ssm:NAME                   a parameter of AWS Systems Manager, decrypted
    secretsmanager:NAME        a secret of AWS Secrets Manager; NAME may be its ARN
    ssm:NAME#KEY               the text under KEY of a JSON object there (secretsmanager too)
    value:TEXT                 TEXT itself, for a secret that begins like one of these

Anything else is the secret itself. Errors name the setting and the place, never the value.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from .errors import InvalidSettings, NotFound, Unavailable
from .settings import REFERENCE

LIMIT = 64 * 1024
"""Bytes of a secret's file: a larger one is some other file."""

Read = Callable[[str], str]
"""A name -> the secret under it. Raises NotFound with the reason, or Unavailable."""


class Secrets:
    """Reads references, each place once in the life of the process.

    ``managers``: scheme (``ssm``, ``secretsmanager``) -> how it is read.
    """

    def __init__(
        self, managers: Mapping[str, Read], environ: Mapping[str, str] = os.environ
    ) -> None:
        self._managers = managers
        self._environ = environ
        self._read: dict[tuple[str, str], str] = {}

    def reveal(self, setting: str, text: str) -> str:
        """The secret that ``setting`` gives as ``text``.

        Raises InvalidSettings when there is none at that place, Unavailable when the secret
        manager did not answer; both say which setting and which place.
        """
        if not REFERENCE.match(text):
            return text
        scheme, _, name = text.partition(":")
        if scheme == "value":
            return name
        key = ""
        if scheme in self._managers:
            name, _, key = name.partition("#")
        where = f"{setting}: {scheme}:{name}"
        if not name:
            raise InvalidSettings(f"{where} names nothing: write {scheme}: and a name")
        try:
            if (scheme, name) not in self._read:
                self._read[scheme, name] = self._fetched(scheme, name)
            secret = _member(self._read[scheme, name], key)
        except NotFound as error:
            raise InvalidSettings(f"{where} cannot be read: {error}") from None
        except Unavailable as error:
            raise Unavailable(f"{where} cannot be read now: {error}") from error
        if not secret:
            raise InvalidSettings(f"{where}{f'#{key}' if key else ''} is empty")
        return secret

    def _fetched(self, scheme: str, name: str) -> str:
        if scheme == "file":
            return _content(Path(name))
        if scheme == "env":
            if name not in self._environ:
                raise NotFound("there is no such environment variable")
            return self._environ[name]
        return self._managers[scheme](name)


def _content(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(LIMIT + 1)
        if len(raw) > LIMIT:
            raise NotFound(f"it is larger than {LIMIT} bytes")
        text = raw.decode()
    except OSError as error:
        raise NotFound(error.strerror or type(error).__name__) from None
    except UnicodeDecodeError:
        raise NotFound("it is not UTF-8 text") from None
    except ValueError:  # a NUL in the path
        raise NotFound("it is not the name of a file") from None
    return text.removesuffix("\n").removesuffix("\r")


def _member(text: str, key: str) -> str:
    """The text under ``key`` of a JSON object; the whole if there is no key."""
    if not key:
        return text
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise NotFound(f"it is not JSON, so it has no #{key}") from None
    value = document.get(key) if isinstance(document, dict) else None
    if not isinstance(value, str):
        raise NotFound(f"it has no text under #{key}")
    return value
