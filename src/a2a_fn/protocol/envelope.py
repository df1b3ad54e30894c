"""The JSON-RPC 2.0 envelope: bytes to a call, and an answer to bytes."""

from __future__ import annotations

import json
import math
from typing import Any

from a2a.utils.errors import InvalidParamsError, InvalidRequestError, JSONParseError

from . import outputs

MAX_ID = 256
"""Characters or digits of a call's id."""

_TOO_MANY_DIGITS = 10**MAX_ID

CallId = str | int | float | None


def decode(body: bytes) -> object:
    """The body's JSON: UTF-8, finite numbers, no name twice in an object; else JSONParseError."""
    try:
        return json.loads(
            body.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_no_constant
        )
    except UnicodeDecodeError:
        raise JSONParseError("The body must be UTF-8.") from None
    except RecursionError:
        raise JSONParseError("The body's JSON is nested too deep.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise JSONParseError(f"The body must be JSON; it is not at {where}.") from None
    except ValueError:  # an integer of thousands of digits
        raise JSONParseError("The body has a number that is too long.") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise JSONParseError("The body has an object with the same name twice.")
    return result


def _no_constant(name: str) -> object:
    raise JSONParseError(f"{name} is not JSON.")


def identify(document: object) -> CallId:
    """The id to answer with: the call's own if JSON-RPC allows it, else InvalidRequestError."""
    if isinstance(document, list):
        raise InvalidRequestError("Batches are not supported: send one call at a time.")
    if not isinstance(document, dict):
        raise InvalidRequestError("A call must be a JSON object.")
    call_id = document.get("id")
    if isinstance(call_id, str) and len(call_id) > MAX_ID:  # each event of a stream repeats it
        raise InvalidRequestError(f"id must be at most {MAX_ID} characters long.")
    if isinstance(call_id, int) and abs(call_id) >= _TOO_MANY_DIGITS:
        raise InvalidRequestError(f"id must be a number of at most {MAX_ID} digits.")
    if isinstance(call_id, str) and call_id.isascii():
        return call_id
    if isinstance(call_id, str):
        try:
            call_id.encode()
        except UnicodeEncodeError:
            raise InvalidRequestError("id has half of a surrogate pair.") from None
        return call_id
    if isinstance(call_id, bool) or not (call_id is None or isinstance(call_id, int | float)):
        raise InvalidRequestError("id must be a string, a number, or null.")
    if isinstance(call_id, float) and not math.isfinite(call_id):
        raise InvalidRequestError("id must be a number in the range of a double.")
    return call_id


def unwrap(document: object) -> tuple[str, object]:
    """The call's method, and its params: an object, an array, or None."""
    assert isinstance(document, dict)  # noqa: S101 - identify() has refused everything else
    if document.get("jsonrpc") != "2.0":
        raise InvalidRequestError('jsonrpc must be "2.0".')
    method = document.get("method")
    if not isinstance(method, str):
        raise InvalidRequestError("method must be a string.")
    params = document.get("params")
    if params is not None and not isinstance(params, dict | list):
        raise InvalidRequestError("params must be an object.")
    return method, params


def by_name(params: object) -> object:
    """Params that are not given are none; A2A has no order for params by position."""
    if isinstance(params, list):
        raise InvalidParamsError("params must be given by name, as an object.")
    return {} if params is None else params


def _envelope(call_id: CallId, member: str, value: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": call_id, member: value}


def result(call_id: CallId, answer: Any) -> bytes:
    """The response of a call that went well; ``answer`` is JSON that ``dumps`` takes."""
    return outputs.dumps(_envelope(call_id, "result", answer))


def failure(call_id: CallId, error: dict[str, Any]) -> bytes:
    """The response of a call that failed, with its ``error`` member."""
    return outputs.dumps(_envelope(call_id, "error", error))
