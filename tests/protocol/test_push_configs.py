"""Push configs on every wire: is the same kept, shown and refused, whatever a client speaks?"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import pytest
import pytest_asyncio
from a2a.types.a2a_pb2 import TaskState, TaskStatusUpdateEvent
from tests.differential.wires import HttpJson, JsonRpc, Wire
from tests.differential.wires_v03 import OUR_PATHS, HttpJson03, JsonRpc03
from tests.protocol.deployment import Deployment, deployed

pytestmark = pytest.mark.asyncio(loop_scope="module")

SET = "CreateTaskPushNotificationConfig"
GOT = "GetTaskPushNotificationConfig"
LISTED = "ListTaskPushNotificationConfigs"
DELETED = "DeleteTaskPushNotificationConfig"

URL = "https://hooks.example.com/a2a?to=me"
FULL = {
    "id": "p",
    "url": URL,
    "token": "tok",
    "authentication": {"scheme": "Bearer", "credentials": "sesame"},
}
NO_TASK = ("TASK_NOT_FOUND", 404)
INVALID = ("INVALID_PARAMS", 400)
NO_PUSH = ("PUSH_NOTIFICATION_NOT_SUPPORTED", 400)
_numbers = itertools.count(1)
UNKNOWN = "aaaaaaaaaaaaaaaa-0b0a3e2c-6a4e-4f4c-9b7e-5f1d2c3b4a59"


class Agent:
    """Ends its turn in the state that the message names; WORKING: never."""

    async def run(self, turn: Any) -> None:
        if turn.text == "WORKING":
            await asyncio.Event().wait()
        await turn.end(getattr(TaskState, f"TASK_STATE_{turn.text}"), TaskStatusUpdateEvent())


class Client(NamedTuple):
    """Somebody who speaks one binding of one version with a server."""

    server: Deployment
    wire: Wire

    async def ask(self, operation: str, params: dict[str, Any]) -> Any:
        """The answer's JSON: the envelope over JSON-RPC; checked to be no failure of the server's,
        and to have the HTTP status of its kind."""
        method, path, content = self.wire.outgoing(operation, params)
        headers = {"A2A-Version": self.wire.version}
        if content is not None:
            headers["Content-Type"] = "application/json"
        url = self.server.url + path
        response = await self.server.http.request(method, url, content=content, headers=headers)
        if response.headers["content-type"].startswith("text/event-stream"):
            first = next(li for li in response.text.splitlines() if li.startswith("data:"))
            return json.loads(first.removeprefix("data:"))
        document = response.json()
        refused = isinstance(document, dict) and "error" in document
        assert (response.status_code == 200) is (not refused or "jsonrpc" in document)
        return document

    async def refusal(self, operation: str, params: dict[str, Any]) -> tuple[str, int]:
        """Kind and HTTP status of the error; over JSON-RPC, the status that the kind has."""
        document = await self.ask(operation, params)
        told = self.wire.incoming(operation, document)["error"]
        found = {kind[0]: kind for kind in (NO_TASK, INVALID, NO_PUSH)}[told["reason"]]
        return (told["reason"], told["code"]) if told["code"] > 0 else found

    async def config(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        """The config in the answer, in the words of 1.0."""
        document = await self.ask(operation, params)
        return _config(document.get("result", document) if "jsonrpc" in document else document)

    async def listed(self, task: str) -> list[dict[str, Any]]:
        """The task's configs, in the words of 1.0."""
        document = await self.ask(LISTED, {"taskId": task})
        result = document["result"] if "jsonrpc" in document else document
        configs = result if isinstance(result, list) else result.get("configs", [])
        return [_config(one) for one in configs]

    async def deleted(self, task: str, name: str) -> Any:
        """What says that a config is deleted."""
        document = await self.ask(DELETED, {"taskId": task, "id": name})
        return document["result"] if "jsonrpc" in document else document

    async def sent(self, operation: str, text: str, config: Any, **message: Any) -> Any:
        """The answer to a message with a config (the first event of a stream)."""
        given = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}], **message}
        configuration = {"taskPushNotificationConfig": config}
        return await self.ask(operation, {"message": given, "configuration": configuration})


def _config(found: dict[str, Any]) -> dict[str, Any]:
    if "pushNotificationConfig" not in found:
        return found
    inner = dict(found["pushNotificationConfig"])
    if "authentication" in inner:
        said = dict(inner["authentication"])
        (said["scheme"],) = said.pop("schemes")
        inner["authentication"] = said
    task = found.get("taskId") or found["name"].split("/")[1]
    assert found.get("name", f"tasks/{task}/pushNotificationConfigs/{inner['id']}").endswith(
        inner["id"]
    )
    return {**inner, "taskId": task}


WIRES: tuple[Wire, ...] = (JsonRpc(), HttpJson(), JsonRpc03(), HttpJson03(OUR_PATHS))
V10 = WIRES[:2]
SENDING = ("SendMessage", "SendStreamingMessage")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Deployment]:
    """One server for all; every test has a task of its own."""
    async with deployed(Agent(), push_notifications=True, blocking_wait=5) as running:
        yield running


@pytest.fixture(params=WIRES, ids=lambda wire: wire.name)
def client(server: Deployment, request: pytest.FixtureRequest) -> Client:
    """A client of each kind."""
    return Client(server, request.param)


async def begun(server: Deployment, state: str = "INPUT_REQUIRED") -> str:
    """The id of a new task that comes to rest in this state, or works."""
    message = {
        "messageId": f"begun-{next(_numbers)}",
        "role": "ROLE_USER",
        "parts": [{"text": state}],
    }
    at_once = {"returnImmediately": state == "WORKING"}
    params = {"message": message, "configuration": at_once}
    return (await server.call("SendMessage", params))["result"]["task"]["id"]


# --- one config ---------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["WORKING", "INPUT_REQUIRED", "COMPLETED", "FAILED"])
async def test_it_is_set_got_listed_and_deleted_whatever_its_task_does(
    client: Client, state: str
) -> None:
    task = await begun(client.server, state)
    whole = {**FULL, "taskId": task}
    assert await client.config(SET, whole) == whole
    assert await client.config(GOT, {"taskId": task, "id": "p"}) == whole
    assert await client.listed(task) == [whole]
    nothing = await client.deleted(task, "p")
    assert not nothing
    assert await client.deleted(task, "p") == nothing
    assert await client.refusal(GOT, {"taskId": task, "id": "p"}) == NO_TASK
    assert await client.listed(task) == []


async def test_without_an_id_it_is_the_tasks_own(client: Client) -> None:
    task = await begun(client.server)
    made = await client.config(SET, {"taskId": task, "url": URL})
    assert made == {"id": task, "taskId": task, "url": URL}
    assert await client.config(GOT, {"taskId": task, "id": task}) == made


async def test_an_old_client_finds_the_tasks_own_by_the_task_alone(server: Deployment) -> None:
    task = await begun(server)
    client = Client(server, JsonRpc03())
    made = await client.config(SET, {"taskId": task, "url": URL})
    assert await client.config(GOT, {"taskId": task}) == made


async def test_set_anew_it_is_wholly_new(client: Client) -> None:
    task = await begun(client.server)
    await client.config(SET, {**FULL, "taskId": task})
    await client.config(SET, {"taskId": task, "id": "p", "url": "https://other.example.com/"})
    (found,) = await client.listed(task)
    assert found == {"taskId": task, "id": "p", "url": "https://other.example.com/"}


async def test_a_deleted_one_can_be_set_again(client: Client) -> None:
    task = await begun(client.server)
    await client.config(SET, {**FULL, "taskId": task})
    await client.deleted(task, "p")
    await client.config(SET, {"taskId": task, "id": "p", "url": URL})
    assert await client.listed(task) == [{"taskId": task, "id": "p", "url": URL}]


async def test_what_one_wire_sets_every_other_shows(server: Deployment) -> None:
    task = await begun(server)
    for number, wire in enumerate(WIRES):
        whole = {**FULL, "id": f"of-{number}", "taskId": task}
        await Client(server, wire).config(SET, whole)
    shown = [await Client(server, wire).listed(task) for wire in WIRES]
    assert [each["id"] for each in shown[0]] == ["of-0", "of-1", "of-2", "of-3"]
    assert all(each == shown[0] for each in shown)


@pytest.mark.parametrize("operation", [SET, GOT, LISTED, DELETED])
@pytest.mark.parametrize("task", [UNKNOWN, "no-such-task"])
async def test_a_task_that_is_not_there_has_none(client: Client, operation: str, task: str) -> None:
    params: dict[str, Any] = {"taskId": task}
    if operation != LISTED:
        params["id"] = "p"
    if operation == SET:
        params["url"] = "http://127.0.0.1/"  # what is wrong with it, a stranger does not learn
    assert await client.refusal(operation, params) == NO_TASK


# --- what is refused ----------------------------------------------------------------------------

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a private address": ({"url": "http://10.0.0.1/hunter2"}, "url"),
    "a metadata address": ({"url": "http://169.254.169.254/hunter2"}, "url"),
    "a user name": ({"url": "https://hunter2@hooks.example.com/"}, "url"),
    "another scheme": ({"url": "ftp://hooks.example.com/hunter2"}, "url"),
    "a fragment": ({"url": "https://hooks.example.com/#hunter2"}, "url"),
    "no url": ({"url": ""}, "url"),
    "a name that is none": ({"url": "https://localhost/hunter2"}, "url"),
    "two lines of token": ({"url": URL, "token": "hunter2\r\nX: y"}, "token"),
    "a long token": ({"url": URL, "token": "hunter2" * 1000}, "token"),
    "a scheme that is none": (
        {"url": URL, "authentication": {"scheme": "hunter 2", "credentials": "hunter2"}},
        "scheme",
    ),
    "Basic without a colon": (
        {"url": URL, "authentication": {"scheme": "Basic", "credentials": "hunter2"}},
        "credentials",
    ),
    "two lines of credentials": (
        {"url": URL, "authentication": {"scheme": "Bearer", "credentials": "hunter2\nx"}},
        "credentials",
    ),
    "a header that is not for keys": (
        {"url": URL, "authentication": {"scheme": "ApiKey", "credentials": "Host: hunter2"}},
        "credentials",
    ),
    "OAuth2 that says nothing": (
        {"url": URL, "authentication": {"scheme": "OAuth2", "credentials": "hunter2"}},
        "credentials",
    ),
    "OAuth2 by a private server": (
        {
            "url": URL,
            "authentication": {
                "scheme": "OAuth2",
                "credentials": json.dumps(
                    {
                        "token_url": "http://10.0.0.1/token",
                        "client_id": "me",
                        "client_secret": "hunter2",
                    }
                ),
            },
        },
        "credentials",
    ),
    "an HMAC with a short secret": (
        {"url": URL, "authentication": {"scheme": "HMAC", "credentials": "hunter2"}},
        "credentials",
    ),
}


@pytest.mark.parametrize(("config", "field"), WRONG.values(), ids=list(WRONG))
async def test_a_wrong_one_is_refused_by_its_field_and_never_quoted(
    client: Client, config: dict[str, Any], field: str, caplog: pytest.LogCaptureFixture
) -> None:
    task = await begun(client.server)
    with caplog.at_level(logging.DEBUG):
        for operation in (SET, *SENDING):
            if operation == SET:
                document = await client.ask(SET, {"taskId": task, "id": "p", **config})
            else:
                document = await client.sent(
                    operation, "COMPLETED", {"id": "p", **config}, contextId=f"half-{field}"
                )
            assert client.wire.incoming(SET, dict(document))["error"]["reason"] == INVALID[0]
            told = json.dumps(document["error"])
            assert field in told
            assert "hunter" not in told
    assert "hunter" not in caplog.text
    assert await client.listed(task) == []
    left = await client.server.call("ListTasks", {"contextId": f"half-{field}"})
    assert left["result"]["tasks"] == []  # nothing is half accepted


async def test_a_refused_one_leaves_a_waiting_task_as_it_was(client: Client) -> None:
    task = await begun(client.server)
    before = await client.server.call("GetTask", {"id": task})
    for operation in SENDING:
        await client.sent(operation, "COMPLETED", {"url": "http://10.0.0.1/"}, taskId=task)
    assert await client.server.call("GetTask", {"id": task}) == before


@pytest.mark.parametrize("name", ["a#b", "x" * 129, "ä", "a b", "\x00"])
async def test_a_name_that_is_no_id_is_refused(client: Client, name: str) -> None:
    task = await begun(client.server)
    for operation in (SET, GOT, DELETED):
        params = {"taskId": task, "id": name} | ({"url": URL} if operation == SET else {})
        if "#" in name and operation != SET and "HTTP" in client.wire.name:
            continue  # a fragment, which no client sends
        assert await client.refusal(operation, params) == INVALID


@pytest.mark.parametrize("wire", V10, ids=lambda wire: wire.name)
@pytest.mark.parametrize("size", [-1, 101, 2**40])
async def test_a_page_has_a_size_that_can_be(server: Deployment, wire: Wire, size: int) -> None:
    client, task = Client(server, wire), await begun(server)
    assert await client.refusal(LISTED, {"taskId": task, "pageSize": size}) == INVALID


@pytest.mark.parametrize("wire", V10, ids=lambda wire: wire.name)
async def test_fields_from_the_future_are_passed_over(server: Deployment, wire: Wire) -> None:
    client, task = Client(server, wire), await begun(server)
    future = {"fromTheFuture": {"a": 1}}
    given = {"taskId": task, "id": "p", "url": URL, **future}
    given["authentication"] = {"scheme": "Bearer", "credentials": "x", **future}
    found = await client.config(SET, given)
    assert found == {
        "taskId": task,
        "id": "p",
        "url": URL,
        "authentication": {"scheme": "Bearer", "credentials": "x"},
    }


# --- in a message -------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", SENDING)
async def test_a_message_brings_one_to_its_new_task(client: Client, operation: str) -> None:
    context = f"new-{client.wire.name}-{operation}".replace(" ", "_").replace("+", "_")
    await client.sent(operation, "COMPLETED", FULL, contextId=context)
    listed = await client.server.call("ListTasks", {"contextId": context})
    (task,) = [one["id"] for one in listed["result"]["tasks"]]
    assert await client.listed(task) == [{**FULL, "taskId": task}]


@pytest.mark.parametrize("operation", SENDING)
async def test_a_message_brings_one_to_the_task_that_it_follows_up(
    client: Client, operation: str
) -> None:
    task = await begun(client.server)
    await client.config(SET, {"taskId": task, "id": "a", "url": URL})
    await client.sent(operation, "COMPLETED", FULL, taskId=task)
    assert [one["id"] for one in await client.listed(task)] == ["a", "p"]


@pytest.mark.parametrize("wire", V10, ids=lambda wire: wire.name)
async def test_the_task_that_it_names_itself_is_not_asked(server: Deployment, wire: Wire) -> None:
    client, other = Client(server, wire), await begun(server)
    answer = await client.sent("SendMessage", "COMPLETED", {**FULL, "taskId": other})
    task = answer.get("result", answer)["task"]["id"]
    assert await client.listed(other) == []
    assert [one["taskId"] for one in await client.listed(task)] == [task]


class TestAgain:
    """The same message once more, as a client that lost the answer sends it."""

    async def test_with_the_same_config_nothing_is_new(self, client: Client) -> None:
        task = await begun(client.server)
        before = await self._slots(client, task)
        for _ in range(2):
            await client.sent("SendMessage", "COMPLETED", FULL, taskId=task)
        once = await self._slots(client, task)
        await client.sent("SendMessage", "COMPLETED", FULL, taskId=task)
        assert await self._slots(client, task) == once > before
        assert await client.listed(task) == [{**FULL, "taskId": task}]

    async def test_with_another_config_that_is_set(self, client: Client) -> None:
        task = await begun(client.server)
        await client.sent("SendMessage", "COMPLETED", FULL, taskId=task)
        changed = {"id": "p", "url": "https://other.example.com/"}
        await client.sent("SendMessage", "COMPLETED", changed, taskId=task)
        await client.sent("SendMessage", "COMPLETED", {"id": "q", "url": URL}, taskId=task)
        assert await client.listed(task) == [
            {**changed, "taskId": task},
            {"id": "q", "url": URL, "taskId": task},
        ]

    async def test_a_deleted_one_stays_deleted(self, client: Client) -> None:
        task = await begun(client.server)
        await client.sent("SendMessage", "COMPLETED", FULL, taskId=task)
        await client.deleted(task, "p")
        await client.sent("SendMessage", "COMPLETED", FULL, taskId=task)
        assert await client.listed(task) == []

    async def _slots(self, client: Client, task: str) -> int:
        part = task.partition("-")[0]
        journal = client.server.services.journal
        return len([n async for n, _ in journal.slots(part, 0)])


# --- tenants, secrets, and no pushing at all ----------------------------------------------------


@pytest.mark.parametrize("wire", V10, ids=lambda wire: wire.name)
async def test_a_tenants_is_seen_in_the_tenant_only(server: Deployment, wire: Wire) -> None:
    client = Client(server, wire)
    message = {
        "messageId": f"begun-{next(_numbers)}",
        "role": "ROLE_USER",
        "parts": [{"text": "COMPLETED"}],
    }
    answer = await server.call("SendMessage", {"message": message, "tenant": "acme"})
    named = {"taskId": answer["result"]["task"]["id"], "id": "p"}
    whole = await client.config(SET, {**named, "url": URL, "tenant": "acme"})
    assert whole == {**named, "url": URL, "tenant": "acme"}
    assert await client.config(GOT, {**named, "tenant": "acme"}) == whole
    for elsewhere in ({}, {"tenant": "other"}):
        assert await client.refusal(GOT, {**named, **elsewhere}) == NO_TASK
        assert await client.refusal(SET, {**named, "url": URL, **elsewhere}) == NO_TASK


async def test_secrets_are_sealed_in_the_store_and_absent_from_the_log(
    client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    task = await begun(client.server)
    secret = {**FULL, "token": "hunter2-token"}
    secret["authentication"] = {"scheme": "Bearer", "credentials": "hunter2-credentials"}
    with caplog.at_level(logging.DEBUG):
        await client.config(SET, {**secret, "taskId": task})
        await client.config(GOT, {"taskId": task, "id": "p"})
        await client.listed(task)
    rows = await client.server.services.journal.rows.scan(f"C#{task.partition('-')[0]}")
    assert any(row.key.startswith("P#") for row in rows)
    assert not any(b"hunter2" in row.value for row in rows)
    assert "hunter2" not in caplog.text


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def silent() -> AsyncIterator[Deployment]:
    """A server that pushes nothing."""
    async with deployed(Agent()) as running:
        yield running


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
async def test_where_nothing_is_pushed_everything_about_it_is_refused(
    silent: Deployment, wire: Wire
) -> None:
    client, task = Client(silent, wire), await begun(silent)
    for name in (task, UNKNOWN):
        assert await client.refusal(SET, {"taskId": name, "id": "p", "url": URL}) == NO_PUSH
        assert await client.refusal(GOT, {"taskId": name, "id": "p"}) == NO_PUSH
        assert await client.refusal(LISTED, {"taskId": name}) == NO_PUSH
        assert await client.refusal(DELETED, {"taskId": name, "id": "p"}) == NO_PUSH
    for operation in SENDING:
        document = await client.sent(operation, "COMPLETED", {"url": URL}, contextId="none")
        assert client.wire.incoming(SET, document)["error"]["reason"] == NO_PUSH[0]
    assert (await silent.call("ListTasks", {"contextId": "none"}))["result"]["tasks"] == []


async def test_the_card_says_whether_it_pushes(server: Deployment, silent: Deployment) -> None:
    said = []
    for one in (server, silent):
        card = (await one.http.get(f"{one.url}.well-known/agent-card.json")).json()
        said.append(card["capabilities"]["pushNotifications"])
    assert said == [True, False]
