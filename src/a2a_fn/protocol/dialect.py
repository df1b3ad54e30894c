"""A version of A2A's JSON, as a binding needs it: names, params in, answers out."""

from __future__ import annotations

from typing import Any, Protocol

from a2a.utils.errors import MethodNotFoundError
from google.protobuf.message import Message

from . import envelope, inputs, outputs
from .errors import Fault
from .operations import OPERATIONS, Operation


class Dialect(Protocol):
    """What one version says where another says something else. Knows no HTTP."""

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


class V10:
    """A2A 1.0: ProtoJSON of the proto types that the handler takes."""

    def operation(self, method: str) -> Operation:
        """The operation of that name."""
        operation = OPERATIONS.get(method)
        if operation is None:
            names = ", ".join(OPERATIONS)
            raise MethodNotFoundError(f"There is no such method; there are: {names}.")
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
