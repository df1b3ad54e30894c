"""What a scenario is made of: calls with references to earlier answers, and a little stage work.

In params a text that begins with ``$`` refers to the answer of an earlier call by its name: ``$a``
is its task's id, ``$a.context`` that task's context, ``$a.time`` the time of its status,
``$a.token`` the next page's token, ``$a.0`` the first task of a list.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

Params = Mapping[str, Any]


class Call(NamedTuple):
    """A request. ``frames``: of a stream read so many events and leave it open (None: all).
    ``background``: go on without the answer, which a ``Join`` waits for. ``version``: what it asks
    for other than the scenario's ("": it does not say), in the query if that begins with ``?``."""

    operation: str
    params: Params
    name: str = ""
    frames: int | None = None
    background: bool = False
    version: str | None = None


class Rest(NamedTuple):
    """The remaining events of the stream that was left open."""

    name: str


class Leave(NamedTuple):
    """Close the connection of the stream that was left open."""

    name: str


class Join(NamedTuple):
    """The answer of the call that was left in the background."""

    name: str


class Gate(NamedTuple):
    """Let the agent pass its ``wait NAME``."""

    name: str


class Until(NamedTuple):
    """Wait, and compare nothing, until a task is in a state and has so many artifacts. Without a
    task: until the context has one task of which that holds."""

    state: str
    task: str = ""
    context: str = ""
    artifacts: int = 0


Step = Call | Rest | Leave | Join | Gate | Until


class Scenario(NamedTuple):
    """Steps on a fresh pair of servers. ``streaming``, ``push``: what the card says."""

    name: str
    steps: tuple[Step, ...]
    streaming: bool = True
    push: bool = False


def scenario(name: str, *steps: Step, streaming: bool = True, push: bool = False) -> Scenario:
    """A scenario by its steps."""
    return Scenario(name, steps, streaming, push)


def message(script: str, *, parts: list[Any] | None = None, **fields: Any) -> dict[str, Any]:
    """A message from the user whose first part is a script for the agent. Without a messageId it
    gets one from the player."""
    named = {_camel(key): value for key, value in fields.items()}
    return {"role": "ROLE_USER", "parts": [{"text": script}, *(parts or [])], **named}


def send(
    script: str,
    name: str = "",
    *,
    background: bool = False,
    config: Params | None = None,
    request: Params | None = None,
    **fields: Any,
) -> Call:
    """SendMessage; ``fields`` are the message's."""
    return Call("SendMessage", _request(script, config, request, fields), name, None, background)


def detach(script: str, name: str, *, background: bool = False, **fields: Any) -> Call:
    """SendMessage that does not wait for the task."""
    config = {"returnImmediately": True}
    return send(script, name, background=background, config=config, **fields)


def stream(
    script: str,
    name: str = "",
    *,
    frames: int | None = None,
    config: Params | None = None,
    request: Params | None = None,
    **fields: Any,
) -> Call:
    """SendStreamingMessage."""
    return Call("SendStreamingMessage", _request(script, config, request, fields), name, frames)


def get(task: str, name: str = "", *, version: str | None = None, **params: Any) -> Call:
    """GetTask."""
    return Call("GetTask", {"id": task, **_params(params)}, name, version=version)


def listed(name: str = "", **params: Any) -> Call:
    """ListTasks."""
    return Call("ListTasks", _params(params), name)


def cancel(task: str, name: str = "", **params: Any) -> Call:
    """CancelTask."""
    return Call("CancelTask", {"id": task, **_params(params)}, name)


def subscribe(task: str, name: str = "", *, frames: int | None = None) -> Call:
    """SubscribeToTask."""
    return Call("SubscribeToTask", {"id": task}, name, frames)


def _request(
    script: str, config: Params | None, request: Params | None, fields: dict[str, Any]
) -> dict[str, Any]:
    built: dict[str, Any] = {"message": message(script, **fields), **(request or {})}
    if config is not None:
        built["configuration"] = config
    return built


def _params(params: dict[str, Any]) -> dict[str, Any]:
    return {_camel(key): value for key, value in params.items()}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.title() for word in rest)
