"""What every engine refuses, in one place, so that all of them refuse the same.

A fault of the caller (two changes of one row, a key that is not ASCII) is a ``ValueError``: no
retry mends it. A size over a limit is ``errors.TooLarge``, since the size comes from outside.
"""

from __future__ import annotations

from collections.abc import Sequence

from a2a_fn.errors import TooLarge
from a2a_fn.ports import VALUE_LIMIT, Change, Put

KEY_LIMIT = 500
"""Bytes in a key and in a partition's name; DynamoDB's sort key ends at 1,024."""

BODY_LIMIT = 32 * 1024
"""Bytes in a queue's message; half of what SMQ takes."""


def check_changes(changes: Sequence[Change]) -> None:
    """Raise unless ``Rows.write`` may take these changes; nothing has been written then."""
    for change in changes:
        check_name(change.partition)
        check_name(change.key)
        if isinstance(change, Put) and len(change.value) > VALUE_LIMIT:
            raise TooLarge(
                f"the value of {change.key!r} has {len(change.value)} bytes,"
                f" the limit of a row is {VALUE_LIMIT}"
            )
    if len(changes) > 1 and len({(c.partition, c.key) for c in changes}) < len(changes):
        raise ValueError("a write changes each row once; two of these changes name the same row")


def check_name(name: str) -> None:
    """Raise unless ``name`` can be a key or a partition: ASCII, 1 to ``KEY_LIMIT`` bytes."""
    if not name or not name.isascii():
        raise ValueError(f"{name[:80]!r} is no key: one or more ASCII characters are needed")
    if len(name) > KEY_LIMIT:
        raise TooLarge(f"the key {name[:80]!r}... has {len(name)} bytes, the limit is {KEY_LIMIT}")


def check_body(body: bytes) -> None:
    """Raise unless ``Queue.send`` may take this body."""
    if len(body) > BODY_LIMIT:
        raise TooLarge(f"the message has {len(body)} bytes, the limit is {BODY_LIMIT}")


def past(prefix: str) -> str:
    """The first string after all ASCII strings that begin with ``prefix``, which is not empty.

    After DEL comes U+0080, whose UTF-8 sorts after every ASCII byte: no carry is needed.
    """
    return prefix[:-1] + chr(ord(prefix[-1]) + 1)
