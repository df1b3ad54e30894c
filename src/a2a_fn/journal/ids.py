"""Ids that need no look-up and tell a stranger nothing.

A task's id begins with its context's partition, so that GetTask reads the right place at once.
Every id is a keyed hash: of (owner, contextId) for a partition, of (owner, messageId, content,
how often) for what a new message makes. So a retry derives the ids of the first try and finds
itself in the journal; no row remembers message ids, and nothing random is drawn before the commit.
"""

from __future__ import annotations

import base64
import hashlib
import re
import uuid

from a2a.types.a2a_pb2 import Message

_TASK_ID = re.compile(r"([a-z2-7]{16})-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Ids:
    """Derives ids under one deployment's secret key (bytes, at most 64)."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def _hash(self, size: int, *parts: str) -> bytes:
        h = hashlib.blake2b(key=self._key, digest_size=size)
        for part in parts:  # length-prefixed: ("ab", "c") and ("a", "bc") differ
            data = part.encode("utf-8", "surrogatepass")
            h.update(len(data).to_bytes(4, "big") + data)
        return h.digest()

    def partition(self, owner: str, context_id: str) -> str:
        """The partition of a context: 80 bits, 16 characters of base32."""
        return base64.b32encode(self._hash(10, "context", owner, context_id)).decode().lower()

    def owner(self, owner: str) -> str:
        """What stands for an owner in keys and logs: 80 bits, 16 characters of base32."""
        return base64.b32encode(self._hash(10, "owner", owner)).decode().lower()

    def context_id(self, owner: str, digest: str, k: int) -> str:
        """The contextId of a new message that names none; k: how often it was sent anew."""
        return str(uuid.UUID(bytes=self._hash(16, "new-context", owner, digest, str(k))))

    def task_id(self, part: str, owner: str, digest: str, k: int) -> str:
        """The id of the task that a new message makes in a partition."""
        return f"{part}-{uuid.UUID(bytes=self._hash(16, 'task', part, owner, digest, str(k)))}"


def digest(message: Message) -> str:
    """A message's fingerprint: messageId and content. The same id with other content differs."""
    h = hashlib.blake2b(message.SerializeToString(deterministic=True), digest_size=12)
    return base64.b32encode(h.digest()).decode().lower().rstrip("=")


def partition_of(task_id: str) -> str | None:
    """The partition that a task id names, or None if it is not an id of ours."""
    match = _TASK_ID.fullmatch(task_id)
    return match[1] if match else None
