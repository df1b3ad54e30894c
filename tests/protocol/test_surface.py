"""Rows of the surface that no other test meets over a real connection: the product, asked by HTTP.

Each class is a group of rows: what clients of the forerunner find, by its exact names and values.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from a2a.helpers import get_artifact_text
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types.a2a_pb2 import Part
from tests.protocol.deployment import Deployment, deployed, said

from a2a_fn.agents.executor import ExecutorAgent
from a2a_fn.errors import TurnLost, Unavailable

INVALID, UNSUPPORTED, INTERNAL = -32602, -32004, -32603


class Agent:
    """Does what the message says; ``lost`` is set when a turn learns that it was canceled."""

    def __init__(self) -> None:
        self.lost = asyncio.Event()
        self.go_on = asyncio.Event()

    async def run(self, turn: Any) -> None:
        """Run the method of that name, or answer with the text."""
        await getattr(self, f"_{turn.text}", self._answer)(turn)

    async def _answer(self, turn: Any) -> None:
        await turn.artifact("answer", Part(text=turn.text))
        await turn.complete("Done.")

    async def _work(self, turn: Any) -> None:
        await turn.say("Reading ")
        await turn.say("the template.")
        await turn.tool("t1", "read", "started", input={"path": "a.yaml", "long": "x" * 4001})
        await turn.tool("t1", "read", "completed", result="y" * 4001)
        await turn.permission(True)
        await turn.thinking("z" * 4001)
        await turn.usage(10, 3)
        await turn.usage(5, 2)
        await turn.complete("All is well.")

    async def _wait(self, turn: Any) -> None:
        await turn.artifact("half", Part(text="half"))
        try:
            while True:
                await turn.say("still here ")
                await asyncio.sleep(0)
        except TurnLost:
            self.lost.set()
            raise

    async def _hold(self, turn: Any) -> None:
        await self.go_on.wait()
        await turn.complete()

    async def _break(self, turn: Any) -> None:
        raise RuntimeError("the key sk-secret of /etc/secret was refused by db.internal")


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.fixture
async def server(agent: Agent) -> AsyncIterator[Deployment]:
    async with deployed(agent, thinking_exposure=("tool-trace", "raw-thinking")) as running:
        yield running


async def _detached(server: Deployment, text: str, **message: Any) -> dict[str, Any]:
    params = {
        "message": {"messageId": text, "role": "ROLE_USER", "parts": [{"text": text}], **message},
        "configuration": {"returnImmediately": True},
    }
    task: dict[str, Any] = (await server.call("SendMessage", params))["result"]["task"]
    return task


async def _until(server: Deployment, task: str, state: str) -> dict[str, Any]:
    while True:
        found: dict[str, Any] = (await server.call("GetTask", {"id": task}))["result"]
        if found["status"]["state"] == f"TASK_STATE_{state}":
            return found


class TestOperations:
    async def test_fifty_tasks_are_a_page_unless_another_size_is_asked_for(
        self, server: Deployment
    ) -> None:
        for _ in range(51):
            await server.task("hello")
        page = (await server.call("ListTasks", {}))["result"]
        assert len(page["tasks"]) == page["pageSize"] == 50
        assert page["totalSize"] == 51
        rest = (await server.call("ListTasks", {"pageToken": page["nextPageToken"]}))["result"]
        assert len(rest["tasks"]) == 1
        assert rest["nextPageToken"] == ""
        ids = [task["id"] for task in (*page["tasks"], *rest["tasks"])]
        assert len(set(ids)) == 51
        most = (await server.call("ListTasks", {"pageSize": 100}))["result"]
        assert [task["id"] for task in most["tasks"]] == ids

    async def test_artifacts_are_not_in_a_list_at_all_unless_asked_for(
        self, server: Deployment
    ) -> None:
        await server.task("hello")
        for params in ({}, {"includeArtifacts": False}):
            (task,) = (await server.call("ListTasks", params))["result"]["tasks"]
            assert "artifacts" not in task
        (task,) = (await server.call("ListTasks", {"includeArtifacts": True}))["result"]["tasks"]
        assert task["artifacts"][0]["parts"] == [{"text": "hello"}]

    @pytest.mark.parametrize("value", ["BOGUS", "TASK_STATE_DONE", "completed", 99])
    async def test_an_unknown_state_is_an_error_and_not_no_filter(
        self, server: Deployment, value: object
    ) -> None:
        await server.task("hello")
        answer = await server.call("ListTasks", {"status": value})
        assert answer["error"]["code"] == INVALID
        assert answer["error"]["data"][1]["fieldViolations"][0]["field"] == "status"

    async def test_a_page_token_is_good_for_its_filter_only(self, server: Deployment) -> None:
        for _ in range(3):
            await server.task("hello", contextId="trip")
        params = {"pageSize": 1, "contextId": "trip"}
        token = (await server.call("ListTasks", params))["result"]["nextPageToken"]
        assert "trip" not in token
        for other in ({"contextId": "else"}, {}, {"status": "TASK_STATE_COMPLETED"}):
            answer = await server.call("ListTasks", {"pageSize": 1, **other, "pageToken": token})
            assert answer["error"]["code"] == INVALID
        again = await server.call("ListTasks", {**params, "pageToken": token})
        assert len(again["result"]["tasks"]) == 1

    async def test_a_cancel_stops_the_worker(self, server: Deployment, agent: Agent) -> None:
        task = await _detached(server, "wait")
        await _until(server, task["id"], "WORKING")
        canceled = (await server.call("CancelTask", {"id": task["id"]}))["result"]
        assert canceled["status"]["state"] == "TASK_STATE_CANCELED"
        async with asyncio.timeout(5):
            await agent.lost.wait()
        assert await _until(server, task["id"], "CANCELED")

    async def test_a_context_works_on_one_message_at_a_time(
        self, server: Deployment, agent: Agent
    ) -> None:
        task = await _detached(server, "hold", contextId="trip")
        for more in ({}, {"taskId": task["id"]}):
            refusal = await server.refusal("hello", contextId="trip", **more)
            assert refusal == (UNSUPPORTED, "Task is already working.")
        assert await server.task("hello", contextId="another")
        agent.go_on.set()
        await _until(server, task["id"], "COMPLETED")
        assert await server.task("hello", contextId="trip")

    @pytest.mark.parametrize("name", ["a", "Az09_.:-", "x" * 128])
    async def test_an_id_of_letters_digits_and_a_few_signs_is_taken(
        self, server: Deployment, name: str
    ) -> None:
        assert (await server.task("hello", contextId=name))["contextId"] == name

    @pytest.mark.parametrize("name", ["x" * 129, "a b", "a/b", "ä", "a\n", "../a", "a%2Fb"])
    @pytest.mark.parametrize("field", ["contextId", "taskId"])
    async def test_any_other_id_is_refused_and_named(
        self, server: Deployment, field: str, name: str
    ) -> None:
        code, text = await server.refusal("hello", **{field: name})
        assert code == INVALID
        assert f"message.{field}" in text


class Reader(AgentExecutor):
    """Answers with what is in the tasks that the message refers to."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        """One artifact: ids and artifacts' texts of the related tasks."""
        updater = TaskUpdater(event_queue, context.task_id or "", context.context_id or "")
        seen = {
            task.id: [get_artifact_text(artifact) for artifact in task.artifacts]
            for task in context.related_tasks
        }
        await updater.add_artifact([Part(text=json.dumps(seen))], artifact_id="seen")
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """There is nothing to stop."""


async def test_an_agent_sees_the_tasks_that_a_message_refers_to_with_their_artifacts() -> None:
    async with deployed(ExecutorAgent(Reader())) as server:
        first = await server.task("one")
        second = await server.task("two", referenceTaskIds=[first["id"]])
        both = await server.task("three", referenceTaskIds=[first["id"], second["id"]])
    texts = [json.loads(task["artifacts"][0]["parts"][0]["text"]) for task in (second, both)]
    assert texts[0] == {first["id"]: ["{}"]}
    assert texts[1] == {first["id"]: ["{}"], second["id"]: [json.dumps(texts[0])]}


class TestOutput:
    async def _streamed(self, server: Deployment, text: str) -> list[dict[str, Any]]:
        sent = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}
        call = {"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage"}
        response = await server.http.post(
            server.url, json={**call, "params": {"message": sent}}, headers={"A2A-Version": "1.0"}
        )
        lines = [line for line in response.text.splitlines() if line.startswith("data: ")]
        return [json.loads(line.removeprefix("data: "))["result"] for line in lines]

    async def test_the_work_is_told_in_the_forerunners_names(self, server: Deployment) -> None:
        first, *events = await self._streamed(server, "work")
        assert "task" in first
        updates = [event["statusUpdate"] for event in events]
        working = [each for each in updates if each["status"]["state"] == "TASK_STATE_WORKING"]
        words = [
            part["text"]
            for each in working
            for part in each["status"].get("message", {}).get("parts", [])
        ]
        assert "".join(words).startswith("Reading the template.")
        told = [each["metadata"]["iac_code"] for each in working if "metadata" in each]
        tools = [each["tool"] for each in told if "tool" in each]
        assert [(each["status"], each["toolUseId"], each["name"]) for each in tools] == [
            ("started", "t1", "read"),
            ("completed", "t1", "read"),
        ]
        assert tools[0]["input"] == {"path": "a.yaml", "long": "x" * 4000}
        assert tools[1]["result"] == "y" * 4000
        assert {"permission": {"autoApproved": True}} in told
        assert {"thinking": {"type": "raw_thinking", "text": "z" * 4000}} in told

    async def test_the_end_says_what_was_used_and_the_last_words(self, server: Deployment) -> None:
        task = await server.task("work")
        assert task["status"]["state"] == "TASK_STATE_COMPLETED"
        assert said(task) == "All is well."
        usage = task["metadata"]["iac_code"]["usage"]
        assert usage == {"inputTokens": 15, "outputTokens": 5, "totalTokens": 20}

    @pytest.mark.parametrize(
        ("exposure", "tools", "thinking"),
        [(("tool-trace",), 2, 0), (("raw-thinking",), 0, 1), ((), 0, 0)],
    )
    async def test_only_what_the_deployment_exposes_is_told(
        self, agent: Agent, exposure: tuple[str, ...], tools: int, thinking: int
    ) -> None:
        async with deployed(agent, thinking_exposure=exposure) as server:
            events = await self._streamed(server, "work")
        text = json.dumps(events)
        assert (text.count('"toolUseId"'), text.count("raw_thinking")) == (tools, thinking)


class TestErrors:
    async def test_a_bug_of_the_agent_is_a_reference_and_no_detail(
        self, server: Deployment
    ) -> None:
        task = await server.task("break")
        assert task["status"]["state"] == "TASK_STATE_FAILED"
        assert "(reference " in said(task)
        for secret in ("sk-secret", "/etc", "db.internal", "RuntimeError", "Traceback"):
            assert secret not in json.dumps(task)

    async def test_with_the_store_down_nothing_is_half_accepted(self, server: Deployment) -> None:
        rows = server.services.journal.rows
        vars(rows)["write"] = _down
        paths = ("", "message:send")
        refused = await asyncio.gather(*(_post(server, path, "hello") for path in paths))
        del vars(rows)["write"]
        for response in refused:
            assert response.status_code == 503
            assert int(response.headers["retry-after"]) >= 1
            assert "db.internal" not in response.text
        assert (await server.call("ListTasks", {}))["result"]["tasks"] == []
        assert (await _post(server, "", "hello")).status_code == 200

    async def test_with_the_queue_down_a_retry_finds_the_one_task(self, server: Deployment) -> None:
        queue = server.services.turns
        vars(queue)["send"] = _down
        response = await _post(server, "", "hello")
        del vars(queue)["send"]
        assert response.status_code == 503
        assert int(response.headers["retry-after"]) >= 1
        again = (await _post(server, "", "hello")).json()["result"]["task"]
        assert again["status"]["state"] == "TASK_STATE_COMPLETED"
        listed = (await server.call("ListTasks", {}))["result"]["tasks"]
        assert [task["id"] for task in listed] == [again["id"]]


async def _down(*args: Any, **more: Any) -> Any:
    raise Unavailable("db.internal does not answer")


async def _post(server: Deployment, path: str, text: str) -> Any:
    """The same message each time, on JSON-RPC (no path) or HTTP+JSON."""
    params: Any = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
    body = params if path else call
    return await server.http.post(server.url + path, json=body, headers={"A2A-Version": "1.0"})
