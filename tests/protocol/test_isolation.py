"""Can anybody learn of a task that is not theirs? For each operation on each binding, what names
another's task must be answered, to the byte, as what names no task at all."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

import httpx
import pytest
import pytest_asyncio
from a2a.types.a2a_pb2 import TaskState, TaskStatusUpdateEvent
from tests.differential.wires import HttpJson, JsonRpc, Wire
from tests.differential.wires_v03 import METHODS, PATHS, HttpJson03, JsonRpc03
from tests.protocol.deployment import Deployment, deployed

from a2a_fn.protocol.operations import OPERATIONS

pytestmark = pytest.mark.asyncio(loop_scope="module")

ALICE, BOB = "alice-secret-0123456789", "bob-secret-0123456789ab"
CAROL = "carol-secret-0123456789"
PRINCIPALS = (
    {"name": "alice", "token": ALICE},
    {"name": "bob", "token": BOB},
    {"name": "carol", "token": CAROL, "tenants": ["acme"]},
)
NOWHERE = "no-such-context"

STATES = (
    "SUBMITTED",
    "WORKING",
    "COMPLETED",
    "FAILED",
    "CANCELED",
    "REJECTED",
    "INPUT_REQUIRED",
    "AUTH_REQUIRED",
)


class Agent:
    """Ends its turn in the state that the message names; WORKING and CANCELED: never."""

    async def run(self, turn: Any) -> None:
        """Hand over a file, then do as told."""
        await turn.file("secret.txt", b"42", "text/plain")
        if turn.text in ("WORKING", "CANCELED"):
            await asyncio.Event().wait()
        await turn.end(getattr(TaskState, f"TASK_STATE_{turn.text}"), TaskStatusUpdateEvent())


class Who(NamedTuple):
    """A caller: a token, and a tenant ("" for none)."""

    token: str
    tenant: str = ""


class Secret(NamedTuple):
    """A task of Alice's, its context, and the path of its artifact."""

    id: str
    context: str
    artifact: str


STRANGERS = {
    "": (Who(BOB), Who(ALICE, "acme"), Who(BOB, "acme"), Who(CAROL)),
    "acme": (Who(ALICE), Who(ALICE, "other"), Who(BOB, "acme"), Who(CAROL)),
}
"""Tenant in which Alice has a task -> who has nothing to do with it. Carol has one tenant, and is
in it without saying so."""


# --- what a stranger may try --------------------------------------------------------------------


class Try(NamedTuple):
    """Params that name a task and its context, and headers that go with them."""

    params: dict[str, Any]
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


def _messages(task: str, context: str) -> Iterator[Try]:
    for fields in (
        {"taskId": task},
        {"taskId": task, "contextId": context},
        {"taskId": task, "contextId": "another"},
        {"referenceTaskIds": [task]},
        {"referenceTaskIds": [task], "contextId": "mine"},
    ):
        yield Try({"message": _message("COMPLETED", **fields)})
    hook = {"taskPushNotificationConfig": {"url": "https://bob.example.com/hook"}}
    yield Try({"message": _message("COMPLETED", taskId=task), "configuration": hook})


def _message(text: str, **fields: Any) -> dict[str, Any]:
    return {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}], **fields}


def _by_id(task: str, context: str) -> Iterator[Try]:
    yield Try({"id": task})


def _reads(task: str, context: str) -> Iterator[Try]:
    yield Try({"id": task})
    yield Try({"id": task, "historyLength": 0})


def _resumptions(task: str, context: str) -> Iterator[Try]:
    yield Try({"id": task})
    for last in ("0", "1", "2", "999999", "x"):
        yield Try({"id": task}, {"Last-Event-ID": last})


def _lists(task: str, context: str) -> Iterator[Try]:
    yield Try({"contextId": context})
    yield Try({"contextId": context, "includeArtifacts": True, "pageSize": 1})
    for state in STATES:
        yield Try({"contextId": context, "status": f"TASK_STATE_{state}"})


def _config(task: str, context: str) -> Iterator[Try]:
    yield Try({"taskId": task, "id": "config"})


def _new_config(task: str, context: str) -> Iterator[Try]:
    yield Try({"taskId": task, "id": "config", "url": "https://bob.example.com/hook"})


def _configs(task: str, context: str) -> Iterator[Try]:
    yield Try({"taskId": task})


def _nothing(task: str, context: str) -> Iterator[Try]:
    """The request names no task."""
    yield Try({})


TRIES: dict[str, Callable[[str, str], Iterator[Try]]] = {
    "SendMessage": _messages,
    "SendStreamingMessage": _messages,
    "GetTask": _reads,
    "ListTasks": _lists,
    "CancelTask": _by_id,
    "SubscribeToTask": _resumptions,
    "CreateTaskPushNotificationConfig": _new_config,
    "GetTaskPushNotificationConfig": _config,
    "ListTaskPushNotificationConfigs": _configs,
    "DeleteTaskPushNotificationConfig": _config,
    "GetExtendedAgentCard": _nothing,
}

WIRES: dict[str, tuple[Wire, Any]] = {
    wire.name: (wire, operations)
    for wire, operations in (
        (JsonRpc(), OPERATIONS),
        (HttpJson(), OPERATIONS),
        (JsonRpc03(), METHODS),
        (HttpJson03(), PATHS),
    )
}
"""Binding -> how it is spoken, and the operations that it has."""


async def test_every_operation_is_tried() -> None:
    assert set(TRIES) == set(OPERATIONS)


# --- the world ----------------------------------------------------------------------------------


class World(NamedTuple):
    """A deployment in which Alice has a task in every state, in each of two tenants. No test may
    change them, or else it has found what it looks for."""

    server: Deployment
    secrets: dict[str, list[Secret]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world() -> AsyncIterator[World]:
    """The world, and that it is unchanged in the end."""
    settings = {"principals": PRINCIPALS, "tenants": ("acme", "other"), "push_notifications": True}
    async with deployed(Agent(), **settings) as server:
        secrets = {home: [await _secret(server, s, home) for s in STATES] for home in STRANGERS}
        before = [await _alices(server, home, each) for home in secrets for each in secrets[home]]
        yield World(server, secrets)
        after = [await _alices(server, home, each) for home in secrets for each in secrets[home]]
        assert after == before


async def _alices(server: Deployment, tenant: str, secret: Secret) -> Any:
    """What Alice sees of a task of hers, and of its webhooks."""
    task, hooks = {"id": secret.id, **_in(tenant)}, {"taskId": secret.id, **_in(tenant)}
    who = f"Bearer {ALICE}"
    answer = await server.call("ListTaskPushNotificationConfigs", hooks, Authorization=who)
    assert [each["id"] for each in answer["result"]["configs"]] == ["config"]
    return await server.call("GetTask", task, Authorization=who), answer


def _in(tenant: str) -> dict[str, str]:
    return {"tenant": tenant} if tenant else {}


async def _secret(server: Deployment, state: str, tenant: str) -> Secret:
    """A task of Alice's that is in this state and stays there."""
    params: dict[str, Any] = {
        "message": _message(state, contextId=f"{tenant}of-{state}"),
        **_in(tenant),
    }
    params["configuration"] = {"returnImmediately": True}
    if state == "SUBMITTED":
        server.services.turns.send = _lost  # type: ignore[method-assign]
    answer = await server.call("SendMessage", params, Authorization=f"Bearer {ALICE}")
    vars(server.services.turns).pop("send", None)
    task = answer["result"]["task"]
    named = {"id": task["id"], **_in(tenant)}
    if state == "CANCELED":
        await server.call("CancelTask", named, Authorization=f"Bearer {ALICE}")
    while True:
        answer = await server.call("GetTask", named, Authorization=f"Bearer {ALICE}")
        task = answer["result"]
        given = task.get("artifacts") or state in ("SUBMITTED", "CANCELED")
        if task["status"]["state"] == f"TASK_STATE_{state}" and given:
            break
    config = {
        "taskId": task["id"],
        "id": "config",
        "url": "https://alice.example.com/",
        **_in(tenant),
    }
    secrets = {"token": "t", "authentication": {"scheme": "Bearer", "credentials": "c"}}
    await server.call(
        "CreateTaskPushNotificationConfig", config | secrets, Authorization=f"Bearer {ALICE}"
    )
    urls = [part["url"] for each in task.get("artifacts", []) for part in each["parts"]]
    path = urls[0].removeprefix(server.url.rstrip("/")) if urls else ""
    return Secret(task["id"], task["contextId"], path)


async def _lost(body: bytes, delay: float = 0) -> None:
    """A queue that loses the wake-up, so that the task is not taken up."""


def _never(task: str) -> list[str]:
    """Ids that no task has: in the task's context, elsewhere, and of another form."""
    part, _, name = task.partition("-")
    other = name.translate(str.maketrans("0123456789abcdef", "123456789abcdef0"))
    return [f"{part}-{other}", f"{'a' * len(part)}-{name}", other]


async def _answer(
    server: Deployment, wire: Wire, operation: str, tried: Try, who: Who
) -> tuple[int, list[tuple[str, str]], str]:
    """All of the answer that a stranger sees: status, headers but the date, body."""
    params = dict(tried.params)
    if who.tenant and not wire.v03:
        params["tenant"] = who.tenant
    method, path, content = wire.outgoing(operation, params)
    headers = {
        "Authorization": f"Bearer {who.token}",
        "A2A-Version": wire.version,
        "X-Request-Id": "r",
        **tried.headers,
    }
    if content is not None:
        headers["Content-Type"] = "application/json"
    async with server.http.stream(
        method, server.url + path, content=content, headers=headers
    ) as response:
        body = (await response.aread()).decode()
    return response.status_code, _headers(response), body


def _headers(response: httpx.Response) -> list[tuple[str, str]]:
    """The headers; the length goes with the length of the ids in the body."""
    apart = ("date", "content-length")
    return [(name, each) for name, each in response.headers.multi_items() if name not in apart]


def _unnamed(answer: tuple[int, list[tuple[str, str]], str], *names: str) -> Any:
    """The answer with what the stranger itself said taken out."""
    status, headers, body = answer
    for name in names:
        body = body.replace(json.dumps(name)[1:-1], "<named>")
    return status, headers, body


# --- the tests ----------------------------------------------------------------------------------

SPOKEN = [
    pytest.param(operation, wire, id=f"{operation}-{wire.name}")
    for operation in OPERATIONS
    for wire, operations in WIRES.values()
    if operation in operations
]


@pytest.mark.parametrize(("operation", "wire"), SPOKEN)
@pytest.mark.parametrize("home", ["", pytest.param("acme", marks=pytest.mark.slow)])
async def test_anothers_task_is_answered_as_no_task(
    world: World, operation: str, wire: Wire, home: str
) -> None:
    secrets = world.secrets[home]
    for who in STRANGERS[home]:
        if wire.v03 and who.tenant:
            continue  # 0.3 has no tenants
        expected = None
        for name in _never(secrets[0].id):
            none = await _answers(world.server, wire, operation, name, NOWHERE, who)
            assert expected in (None, none)  # they are no tasks in one and the same way
            expected = none
        for secret in secrets:
            got = await _answers(world.server, wire, operation, secret.id, secret.context, who)
            assert got == expected, (who, secret)


V10 = [WIRES["JSONRPC"][0], WIRES["HTTP+JSON"][0]]

HARMLESS = (
    "GetTask",
    "ListTasks",
    "GetTaskPushNotificationConfig",
    "ListTaskPushNotificationConfigs",
)
"""Operations by which Alice can look at her own tasks and leave them as they are."""


@pytest.mark.parametrize(("operation", "wire"), [p for p in SPOKEN if p.values[0] in HARMLESS])
async def test_the_owner_is_answered_otherwise(world: World, operation: str, wire: Wire) -> None:
    for secret in world.secrets[""]:
        alice = Who(ALICE)
        none = await _answers(world.server, wire, operation, "no", NOWHERE, alice)
        own = await _answers(world.server, wire, operation, secret.id, secret.context, alice)
        assert own[0] != none[0]


async def _answers(
    server: Deployment, wire: Wire, operation: str, task: str, context: str, who: Who
) -> list[Any]:
    """The answers to all that a stranger may try, without the names that the stranger said."""
    answers = []
    for tried in TRIES[operation](task, context):
        if wire.name == "HTTP+JSON 0.3" and "referenceTaskIds" in json.dumps(tried.params):
            continue  # its proto file has no such field, so it would be passed over
        answer = await _answer(server, wire, operation, tried, who)
        answers.append(_unnamed(answer, task, context))
    return answers


@pytest.mark.parametrize("wire", [pytest.param(w, id=name) for name, (w, _) in WIRES.items()])
async def test_anothers_context_id_is_a_name_like_any_other(world: World, wire: Wire) -> None:
    for secret in world.secrets[""]:
        tried = Try({"message": _message("COMPLETED", contextId=secret.context)})
        status, _, body = await _answer(world.server, wire, "SendMessage", tried, Who(BOB))
        assert status == 200
        assert "error" not in json.loads(body)
        assert secret.id not in body
    listed = await _listed(world, Who(BOB), contextId="of-WORKING")
    assert len(listed["tasks"]) == listed["totalSize"] == 1  # said again, it is the same message


async def _listed(world: World, who: Who, **params: Any) -> Any:
    wire = V10[0]
    _, _, body = await _answer(world.server, wire, "ListTasks", Try(params), who)
    return json.loads(body)["result"]


async def test_the_same_message_of_two_is_two_tasks(world: World) -> None:
    words = _message("COMPLETED", contextId="of-COMPLETED")  # as Alice has said them
    wire = V10[0]
    for who in STRANGERS[""]:
        _, _, body = await _answer(world.server, wire, "SendMessage", Try({"message": words}), who)
        task = json.loads(body)["result"]["task"]
        assert task["id"] not in {each.id for home in world.secrets.values() for each in home}


@pytest.mark.parametrize("wire", V10, ids=lambda wire: wire.name)
async def test_anothers_page_token_is_no_token(world: World, wire: Wire) -> None:
    token = (await _listed(world, Who(ALICE), pageSize=1))["nextPageToken"]
    assert (await _listed(world, Who(ALICE), pageSize=1, pageToken=token))["tasks"]
    for who in STRANGERS[""]:
        answers = [
            await _answer(
                world.server, wire, "ListTasks", Try({"pageSize": 1, "pageToken": each}), who
            )
            for each in (token, token[::-1], "AAAA")
        ]
        assert answers[0] == answers[1] == answers[2]
        assert "error" in json.loads(answers[0][2])


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("home", STRANGERS)
async def test_anothers_artifact_is_no_artifact(world: World, home: str, method: str) -> None:
    secret = world.secrets[home][STATES.index("COMPLETED")]
    assert (await _fetched(world, method, secret.artifact, ALICE))[0] == 200
    path = secret.artifact.removeprefix(f"/{home}" if home else "")
    for who in STRANGERS[home]:
        where = f"/{who.tenant}{path}" if who.tenant else path
        got = await _fetched(world, method, where, who.token)
        assert got[0] == 404
        for name in _never(secret.id):
            none = where.replace(secret.id, name)
            assert await _fetched(world, method, none, who.token) == got


async def _fetched(world: World, method: str, path: str, token: str) -> Any:
    url = world.server.url.rstrip("/") + path
    headers = {"Authorization": f"Bearer {token}", "X-Request-Id": "r"}
    response = await world.server.http.request(method, url, headers=headers)
    return response.status_code, _headers(response), response.content


@pytest.mark.parametrize("wire", V10, ids=lambda wire: wire.name)
async def test_a_tenant_that_is_not_ones_own_is_refused_whatever_is_in_it(
    world: World, wire: Wire
) -> None:
    answers = [
        await _answer(world.server, wire, "GetTask", Try({"id": task}), Who(CAROL, "other"))
        for task in (world.secrets[""][0].id, world.secrets["acme"][0].id, "no")
    ]
    assert answers[0][0] == 403
    assert answers[0] == answers[1] == answers[2]
