"""A version of A2A's JSON, as a binding needs it: names, params in, answers out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Protocol

from a2a.utils.errors import MethodNotFoundError
from google.protobuf.message import Message

from . import envelope, inputs, outputs
from .callers import Frame
from .errors import Fault
from .operations import OPERATIONS, Operation


class Dialect(Protocol):
    """What one version says where another says something else. Knows no HTTP."""

    streams_errors: bool
    """Whether a streaming call that fails at once is answered by a stream of that error alone,
    and not by plain JSON."""

    def operation(self, method: str) -> Operation:
        """The operation of a JSON-RPC method; MethodNotFoundError."""
        ...

    def request(self, operation: Operation, params: object) -> Message:
        """The request in decoded JSON (of None: there was none); InvalidParamsError."""
        ...

    def answer(self, operation: Operation, answer: Message) -> Any:
        """What the handler answered (or one StreamResponse), as JSON that ``dumps`` takes."""
        ...

    def error(self, fault: Fault) -> dict[str, Any]:
        """The ``error`` member of a JSON-RPC response."""
        ...

    def frames(self, frames: AsyncIterator[Frame]) -> AsyncIterator[Frame]:
        """As much of a handler's stream as this version's streams have."""
        ...


class V10:
    """A2A 1.0: ProtoJSON of the proto types that the handler takes."""

    streams_errors = False

    def operation(self, method: str) -> Operation:
        """The operation of that name."""
        operation = OPERATIONS.get(method)
        if operation is None:
            names = ", ".join(OPERATIONS)
            older = " Methods of A2A 0.3 need A2A-Version: 0.3." if "/" in method else ""
            raise MethodNotFoundError(f"A2A 1.0 has no such method; it has: {names}.{older}")
        return operation

    def request(self, operation: Operation, params: object) -> Message:
        """The params, read strictly."""
        return inputs.read(envelope.by_name(params), operation.request())

    def answer(self, operation: Operation, answer: Message) -> Any:
        """The answer as it is."""
        return outputs.encode(answer)

    def error(self, fault: Fault) -> dict[str, Any]:
        """The error with google.rpc details."""
        return fault.jsonrpc()

    def frames(self, frames: AsyncIterator[Frame]) -> AsyncIterator[Frame]:
        """All of it."""
        return frames
