"""How a command ends when it cannot do what was asked: one line for a person, one exit code."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager


class Exit(enum.IntEnum):
    """The exit codes, as the package's docstring explains them."""

    OK = 0
    FAILED = 1
    USAGE = 2
    UNREACHABLE = 3
    STOPPED = 130


class Failure(Exception):
    """The command cannot go on; the message says what, where and what to do."""

    def __init__(self, message: str, code: Exit = Exit.USAGE) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Turn a missing optional package into a Failure that says which extra to install."""
    try:
        yield
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] == "a2a_fn":
            raise
        message = f"{e.name} is not installed: pip install 'a2a-fn[{extra}]'"
        raise Failure(message) from e
