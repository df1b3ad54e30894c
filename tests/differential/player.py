"""Plays a scenario on one server and writes down what it answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import httpx

from .servers import Contestant
from .steps import Call, Gate, Join, Leave, Rest, Scenario, Until
from .wires import JsonRpc, Wire, events

PATIENCE = 10.0
"""Seconds that anything may take before the scenario counts as stuck."""


class Player:
    """One scenario on one server. ``play`` gives an answer for each step that has one."""

    def __init__(self, contestant: Contestant, wire: Wire) -> None:
        self._server, self._executor = contestant
        self._wire = wire
        self._known: dict[str, Any] = {}  # a call's name -> the JSON that it was answered with
        self._streams: dict[str, tuple[str, AsyncIterator[Any], httpx.Response]] = {}
        self._background: dict[str, asyncio.Task[dict[str, Any]]] = {}

    async def play(self, scenario: Scenario) -> list[dict[str, Any] | None]:
        """The answers, one for each step; None for stage work."""
        answers: list[dict[str, Any] | None] = []
        async with AsyncExitStack() as self._stack, asyncio.timeout(PATIENCE):
            for i, step in enumerate(scenario.steps):
                answers.append(await self._do(i, step))
        return answers

    async def _do(self, i: int, step: Any) -> dict[str, Any] | None:
        match step:
            case Call(background=True):
                self._background[step.name] = asyncio.create_task(self._call(i, step))
            case Call():
                return await self._call(i, step)
            case Join(name):
                return await self._background.pop(name)
            case Rest(name):
                operation, arriving, _ = self._streams.pop(name)
                return {"events": await self._read(operation, arriving, None)}
            case Leave(name):
                await self._streams.pop(name)[2].aclose()
            case Gate(name):
                self._executor.gates[name].set()
            case Until():
                await self._until(step)
        return None

    async def _call(self, i: int, step: Call) -> dict[str, Any]:
        params = self._resolved(step.params)
        if "message" in params:
            params["message"].setdefault("messageId", f"m{i}")
        response = await self._sent(self._wire, step.operation, params, step.version)
        media_type = response.headers["content-type"].partition(";")[0]
        answer = {"http": response.status_code, "type": media_type}
        if media_type != "text/event-stream":
            await response.aread()
            read = self._wire.incoming(step.operation, response.json())
            self._known[step.name] = read.get("result")
            return answer | read
        arriving = events(response)
        answer["events"] = await self._read(step.operation, arriving, step.frames)
        self._known[step.name] = answer["events"][0].get("result") if answer["events"] else None
        if step.frames is not None:
            self._streams[step.name] = (step.operation, arriving, response)
        return answer

    async def _sent(
        self, wire: Wire, operation: str, params: dict[str, Any], version: str | None = None
    ) -> httpx.Response:
        method, path, content = wire.outgoing(operation, params)
        headers = {"Content-Type": "application/json"} if content is not None else {}
        asked = wire.version if version is None else version
        if asked.startswith("?"):
            path += asked
        elif asked:
            headers["A2A-Version"] = asked
        http = self._server.http
        url = self._server.url + path
        request = http.build_request(method, url, headers=headers, content=content)
        response = await http.send(request, stream=True)
        self._stack.push_async_callback(response.aclose)
        return response

    async def _read(
        self, operation: str, arriving: AsyncIterator[Any], count: int | None
    ) -> list[Any]:
        read: list[Any] = []
        while count is None or len(read) < count:
            try:
                read.append(self._wire.incoming(operation, await anext(arriving)))
            except httpx.RemoteProtocolError:
                read.append({"error": {"code": "cut"}})  # in the middle of a chunk
                break
            except StopAsyncIteration:
                if count is None:
                    break
                raise AssertionError(f"the stream ended after {read}") from None
        return read

    async def _until(self, step: Until) -> None:
        """Ask, by JSON-RPC whatever the scenario speaks, until the task is as wanted."""
        params: dict[str, Any] = {"contextId": step.context, "includeArtifacts": True}
        operation = "ListTasks"
        if step.task:
            operation, params = "GetTask", {"id": self._resolved(step.task)}
        while True:
            response = await self._sent(JsonRpc(), operation, params)
            found = json.loads(await response.aread())["result"]
            for task in found.get("tasks", [found]):
                state = task["status"]["state"].removeprefix("TASK_STATE_")
                if state == step.state and len(task.get("artifacts", [])) >= step.artifacts:
                    return

    def _resolved(self, value: Any) -> Any:
        """A copy of the params with references replaced."""
        if isinstance(value, dict):
            return {key: self._resolved(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._resolved(each) for each in value]
        if not isinstance(value, str) or not value.startswith("$"):
            return value
        name, _, field = value[1:].partition(".")
        answer = self._known[name]
        assert answer is not None, f"{value} refers to a call that was refused"
        if field == "token":
            return answer["nextPageToken"]
        task = answer["tasks"][int(field)] if field.isdecimal() else _task(answer)
        if field == "context":
            return task["contextId"]
        return task["status"]["timestamp"] if field == "time" else task["id"]


def _task(answer: dict[str, Any]) -> dict[str, Any]:
    task: dict[str, Any] = answer.get("task", answer)
    return task
