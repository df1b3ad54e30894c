"""What does a client of A2A 0.3 get over HTTP+JSON, at the paths under /v1?"""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from typing import Any

import pytest
from a2a.compat.v0_3 import a2a_v0_3_pb2 as proto
from a2a.types.a2a_pb2 import (
    AgentCard,
    AgentInterface,
    HTTPAuthSecurityScheme,
    ListTaskPushNotificationConfigsResponse,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from google.protobuf.empty_pb2 import Empty
from google.protobuf.json_format import ParseDict
from starlette.exceptions import HTTPException

from a2a_fn.errors import Unavailable
from a2a_fn.protocol.callers import Frame, Principal
from a2a_fn.protocol.operations import Capabilities

FULL = Capabilities(push=True, extended_card=True)


class Old:
    """Asks as a client of 0.3 does: without a version."""

    def __init__(self, server: Any) -> None:
        self.server = server

    async def ask(self, verb: str, path: str, body: Any = None, **headers: str) -> Any:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        content = None if body is None else json.dumps(body)
        if content is not None:
            given.setdefault("Content-Type", "application/json")
        return await self.server.http.request(
            verb, f"{self.server.url}v1/{path}", content=content, headers=given
        )

    async def get(self, path: str, **headers: str) -> Any:
        answer = await self.ask("GET", path, **headers)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"] == "application/json"
        return answer.json()

    async def send(self, body: Any) -> Any:
        answer = await self.ask("POST", "message:send", body)
        assert answer.status_code == 200, answer.text
        return answer.json()


def sent(*parts: Any, **fields: Any) -> dict[str, Any]:
    message = {"messageId": "m-1", "role": "ROLE_USER", "content": list(parts)}
    return {"message": message | fields}


@pytest.fixture
async def old(listen: Any, handler: Any) -> Any:
    async with listen(handler, v03=True) as server:
        yield Old(server)


def refused(answer: Any, status: int, kind: str) -> str:
    """The message of an error that is checked to have both shapes."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["error"]["code"] == status
    assert body["error"]["details"][0]["@type"].endswith("google.rpc.ErrorInfo")
    assert body["type"] == kind
    assert body["message"] == body["error"]["message"]
    return body["message"]


# --- answers ------------------------------------------------------------------------------------


async def test_a_task_is_the_proto_json_of_0_3(old):
    answer = await old.send(sent({"text": "hi"}))
    task = ParseDict(answer, proto.SendMessageResponse()).task
    assert task.status.state == proto.TASK_STATE_COMPLETED
    assert task.artifacts[0].parts[0].text == "hi"
    assert task.history[0].content[0].text == "hi"
    assert await old.get(f"tasks/{task.id}") == answer["task"]


async def test_a_message_is_answered_as_one(listen, scripted):
    async def send_message(request: Any, caller: Any) -> SendMessageResponse:
        return SendMessageResponse(message=request.message)

    async with listen(scripted(send_message=send_message), v03=True) as server:
        assert await Old(server).send(sent({"text": "hi"})) == sent({"text": "hi"})


async def test_history_is_cut_to_the_length_that_is_asked_for(listen, scripted):
    seen: list[Any] = []

    async def get_task(request: Any, caller: Any) -> Task:
        seen.append(request.history_length if request.HasField("history_length") else None)
        return Task(id="t", context_id="c")

    async with listen(scripted(get_task=get_task), v03=True) as server:
        for query in ("", "?historyLength=2", "?history_length=2", "?historyLength=0"):
            await Old(server).get(f"tasks/t{query}")
    assert seen == [None, 2, 2, None]  # 0 is "unlimited" in 0.3


async def test_a_task_is_canceled_with_a_body_or_without(old):
    for body in (None, {"name": "tasks/x"}):
        answer = await old.send(sent({"text": "wait"}) | {"configuration": {}})
        path = f"tasks/{answer['task']['id']}:cancel"
        canceled = await old.ask("POST", path, body)
        assert canceled.json()["status"]["state"] == "TASK_STATE_CANCELLED"
        again = await old.ask("POST", path, body)
        refused(again, 400, "TaskNotCancelableError")


async def test_a_call_waits_if_it_says_so_or_says_nothing(listen, scripted):
    seen: list[bool] = []

    async def send_message(request: Any, caller: Any) -> SendMessageResponse:
        seen.append(request.configuration.return_immediately)
        return SendMessageResponse(task=Task(id="t", context_id="c"))

    async with listen(scripted(send_message=send_message), v03=True) as server:
        for more in (
            {},
            {"configuration": {"blocking": True}},
            {"configuration": {"blocking": False}},
            {"configuration": {}},  # what the SDK's client sends for false
        ):
            await Old(server).send(sent({"text": "hi"}) | more)
    assert seen == [False, False, True, True]


@pytest.mark.parametrize("content", [b"\xff\xfe raw", b"text!", b"", b"\x00" * 7])
async def test_bytes_arrive_whether_they_are_encoded_once_or_twice(listen, scripted, content):
    seen: list[bytes] = []

    async def send_message(request: Any, caller: Any) -> SendMessageResponse:
        seen.append(request.message.parts[0].raw)
        return SendMessageResponse(message=request.message)

    once = base64.b64encode(content).decode()
    twice = base64.b64encode(once.encode()).decode()
    async with listen(scripted(send_message=send_message), v03=True) as server:
        for encoded in (once, twice):
            file = {"fileWithBytes": encoded, "mimeType": "a/b", "name": "f"}
            answer = await Old(server).send(sent({"file": file}))
            assert answer["message"]["content"][0]["file"]["name"] == "f"
    assert seen == [content, content]


# --- streams ------------------------------------------------------------------------------------


def events(answer: Any) -> list[Any]:
    assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
    return [
        json.loads(line.removeprefix("data: "))
        for line in answer.text.splitlines()
        if line.startswith("data: ")
    ]


async def test_a_stream_is_of_bare_events_and_ends_with_the_final_one(old):
    answer = await old.ask("POST", "message:stream", sent({"text": "hi"}))
    got = events(answer)
    assert [next(iter(event)) for event in got] == [
        "task",
        "statusUpdate",
        "artifactUpdate",
        "statusUpdate",
    ]
    for event in got:
        ParseDict(event, proto.StreamResponse())
    assert got[-1]["statusUpdate"]["final"] is True
    assert "id: 4\n" in answer.text


@pytest.mark.parametrize("verb", ["GET", "POST"])
async def test_a_task_is_followed_from_the_event_that_was_seen_last(listen, scripted, verb):
    seen: list[Any] = []
    closed = asyncio.Event()

    async def subscribe(request: Any, caller: Any, last: Any = None) -> Any:
        seen.append((request.id, last))
        try:
            for state in (TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_COMPLETED):
                response = StreamResponse()
                response.status_update.status.state = state
                yield Frame(response, 8)
        finally:
            closed.set()

    async with listen(scripted(subscribe=subscribe), v03=True) as server:
        answer = await Old(server).ask(verb, "tasks/t:subscribe", Last_Event_ID="7")
        async with asyncio.timeout(5):
            await closed.wait()
    assert seen == [("t", 7)]
    (event,) = events(answer)  # an interrupted turn ends a stream of 0.3
    assert event["statusUpdate"]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    assert event["statusUpdate"]["final"] is True


async def test_an_error_before_the_first_event_is_a_plain_answer(old):
    refused(await old.ask("POST", "tasks/no:subscribe"), 404, "TaskNotFoundError")


async def test_an_error_in_a_stream_ends_it(listen, scripted):
    async def stream_message(request: Any, caller: Any) -> Any:
        yield Frame(StreamResponse(task=Task(id="t", context_id="c")), 1)
        raise RuntimeError("secret")

    async with listen(scripted(stream_message=stream_message), v03=True) as server:
        answer = await Old(server).ask("POST", "message:stream", sent({"text": "hi"}))
    first, last = events(answer)
    assert first["task"]["id"] == "t"
    assert last["error"]["code"] == 500
    assert "event: error" in answer.text
    assert "secret" not in answer.text


# --- push configurations and the card -----------------------------------------------------------


async def test_push_configurations_are_set_got_listed_and_deleted(listen, scripted):
    seen: list[Any] = []
    config = TaskPushNotificationConfig(task_id="t", id="c", url="https://h/", token="s")
    config.authentication.scheme = "Bearer"

    def answers(answer: Any) -> Any:
        async def method(request: Any, caller: Any) -> Any:
            seen.append(request)
            return answer

        return method

    double = scripted(
        create_push_config=answers(config),
        get_push_config=answers(config),
        list_push_configs=answers(ListTaskPushNotificationConfigsResponse(configs=[config])),
        delete_push_config=answers(Empty()),
    )
    inner = {
        "id": "c",
        "url": "https://h/",
        "token": "s",
        "authentication": {"schemes": ["Bearer"]},
    }
    whole = {"name": "tasks/t/pushNotificationConfigs/c", "pushNotificationConfig": inner}
    async with listen(double, v03=True, capabilities=FULL) as server:
        old, at = Old(server), "tasks/t/pushNotificationConfigs"
        for body in (
            {"parent": "tasks/t", "configId": "c", "config": whole},
            {"config": {"pushNotificationConfig": inner}},
            {
                "config_id": "c",
                "config": {"push_notification_config": {**inner, "id": ""}},
            },
        ):
            answer = await old.ask("POST", at, body)
            assert (answer.status_code, answer.json()) == (200, whole)
        assert await old.get(f"{at}/c") == whole
        assert await old.get(at) == {"configs": [whole]}
        assert (await old.ask("DELETE", f"{at}/c")).json() == {}
        other = {"parent": "tasks/u", "config": whole}
        message = refused(await old.ask("POST", at, other), 400, "InvalidParamsError")
        assert message == "parent must be tasks/t, as the path says"
    assert seen[:3] == [config] * 3
    assert [(each.task_id, each.id) for each in (seen[3], seen[5])] == [("t", "c")] * 2
    assert seen[4].task_id == "t"


async def test_the_card_can_be_read_by_both_kinds_of_client(listen, scripted):
    async def extended_card(request: Any, caller: Any) -> AgentCard:
        at = AgentInterface(url="http://h", protocol_binding="HTTP+JSON", protocol_version="0.3")
        card = AgentCard(name="n", supported_interfaces=[at])
        card.security_schemes["b"].http_auth_security_scheme.CopyFrom(
            HTTPAuthSecurityScheme(scheme="bearer")
        )
        return card

    async with listen(scripted(extended_card=extended_card), v03=True, capabilities=FULL) as server:
        card = await Old(server).get("card")
    assert (card["url"], card["preferredTransport"]) == ("http://h", "HTTP+JSON")
    assert card["securitySchemes"]["b"]["type"] == "http"
    read = ParseDict(card, proto.AgentCard(), ignore_unknown_fields=True)
    assert read.security_schemes["b"].http_auth_security_scheme.scheme == "bearer"


# --- refusals -----------------------------------------------------------------------------------


async def test_other_paths_and_verbs_are_not_there(old):
    for path in (
        "",
        "tasks",
        "tasks/",
        "tasks/t/",
        "tasks/t/x",
        "message:sends",
        "tasks/a/b:cancel",
    ):
        assert (await old.ask("GET", path)).status_code == 404, path
    answer = await old.ask("DELETE", "tasks/t:subscribe")
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    answer = await old.ask("GET", "message:send")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


async def test_1_0_is_not_spoken_here(old):
    answer = await old.ask("GET", "tasks/t", A2A_Version="1.0")
    assert "0.3" in refused(answer, 400, "VersionNotSupportedError")
    assert (await old.ask("GET", "tasks/t", A2A_Version="0.3")).status_code == 404


async def test_nothing_is_here_when_0_3_is_off(server):
    answer = await Old(server).ask("POST", "message:send", sent({"text": "hi"}))
    assert answer.status_code in (400, 404)
    assert "task" not in answer.json()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "message is required"),
        ([], "params must be an object"),
        (sent(), "message.content must have at least one element"),
        (sent({}), "message.content[0] must have one of text, file, data"),
        (sent({"file": {}}), "message.content[0].file must have one of"),
        (sent(*[{"text": "hi"}] * 257), "message.content must be at most 256"),
        (sent({"text": 5}), "message.content[0].text must be a string"),
        (sent({"file": {"fileWithBytes": "?"}}), "message.content[0].file.fileWithBytes must be"),
        (
            sent({"data": {"data": {}}, "metadata": {"data_part_compat": True}}),
            "message.content[0].data.data must have value",
        ),
        (sent({"text": "hi"}, role="ROLE_AGENT"), "message.role must be ROLE_USER"),
        (sent({"text": "hi"}, role="user"), "message.role must be one of"),
        ({"message": {"messageId": "m", "content": [{"text": "hi"}]}}, "message.role must be"),
        (sent({"text": "hi"}, messageId=""), "message.messageId must not be empty"),
        (sent({"text": "hi"}, taskId="/"), "message.taskId must be 1 to 128"),
        (
            sent({"text": "hi"}) | {"configuration": {"historyLength": -1}},
            "configuration.historyLength must not be negative",
        ),
        (
            sent({"text": "hi"}) | {"configuration": {"pushNotification": {"url": ""}}},
            "configuration.pushNotification.url must not be empty",
        ),
    ],
)
async def test_bad_fields_are_named_as_0_3_names_them(old, body, words):
    answer = await old.ask("POST", "message:send", body)
    assert words in refused(answer, 400, "InvalidParamsError")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("tasks/a%20b", "id must be 1 to 128"),
        ("tasks/t?historyLength=x", "historyLength must be a whole number"),
        ("tasks/t?historyLength=-1", "historyLength must not be negative"),
        ("tasks/t?historyLength=1&history_length=2", "historyLength must be given once"),
    ],
)
async def test_bad_paths_and_queries_are_named(old, path, words):
    assert words in refused(await old.ask("GET", path), 400, "InvalidParamsError")


async def test_bodies_must_be_json_and_of_a_size(listen, handler):
    async with listen(handler, v03=True, body_limit=500) as server:
        old = Old(server)
        plain = await old.ask("POST", "message:send", {}, Content_Type="text/plain")
        refused(plain, 400, "ContentTypeNotSupportedError")
        answer = await old.ask("POST", "message:send", sent({"text": "x" * 500}))
        refused(answer, 413, "InvalidParamsError")
        url = f"{server.url}v1/message:send"
        broken = await server.http.post(
            url, content=b"{", headers={"Content-Type": "application/json"}
        )
        refused(broken, 400, "JSONParseError")


async def test_the_gate_and_the_store_are_heard(listen, scripted):
    async def refuse(scope: Any) -> Any:
        raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})

    async def get_task(request: Any, caller: Any) -> Task:
        raise Unavailable("no store")

    async with listen(scripted(), v03=True, authenticate=refuse) as server:
        answer = await Old(server).ask("GET", "tasks/t")
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        answer = await Old(server).ask("GET", "card")
        assert answer.status_code == 401
    async with listen(scripted(get_task=get_task), v03=True) as server:
        answer = await Old(server).ask("GET", "tasks/t")
        refused(answer, 503, "InternalError")
        assert answer.headers["retry-after"] == "1"
        push = await Old(server).ask("GET", "tasks/t/pushNotificationConfigs")
        refused(push, 400, "PushNotificationNotSupportedError")
        card = await Old(server).ask("GET", "card")
        refused(card, 400, "UnsupportedOperationError")


async def test_a_principal_of_one_tenant_is_in_it_and_one_of_more_cannot_say_which(
    listen, scripted
):
    seen: list[Any] = []

    async def get_task(request: Any, caller: Any) -> Task:
        seen.append((caller.owner, caller.tenant))
        return Task(id="t", context_id="c")

    def one_of(*tenants: str) -> Any:
        async def authenticate(scope: Any) -> Principal:
            return Principal("basic:ann", frozenset(tenants))

        return authenticate

    double = scripted(get_task=get_task)
    async with listen(double, v03=True, authenticate=one_of("acme")) as server:
        await Old(server).get("tasks/t")
    assert seen == [("acme/basic:ann", "acme")]
    async with listen(double, v03=True, authenticate=one_of("acme", "other")) as server:
        assert (await Old(server).ask("GET", "tasks/t")).status_code == 403
    assert len(seen) == 1


STRANGER = """
import asyncio, json, sys
from starlette.exceptions import HTTPException
from a2a_fn.profile import IAC
from a2a_fn.protocol.app import build_app
from a2a_fn.protocol.gate import Gate

async def refuse(scope):
    raise HTTPException(401)

app = build_app(None, profile=IAC, gate=Gate(authenticate=refuse, v03=True))

async def ask(verb, path):
    sent = []
    async def receive():
        return {"type": "http.request", "body": b"{}"}
    async def send(message):
        sent.append(message)
    headers = [(b"host", b"h"), (b"content-type", b"application/json")]
    await app({"type": "http", "method": verb, "path": path, "headers": headers,
               "query_string": b"", "scheme": "http", "server": ("h", 80)}, receive, send)
    return sent[0]["status"]

async def main():
    statuses = [await ask(verb, path) for verb, path in json.loads(sys.argv[1])]
    print(json.dumps([
        statuses, [name for name in sys.modules if name.startswith(("pydantic", "a2a.compat"))]
    ]))

asyncio.run(main())
"""


def test_a_stranger_does_not_make_the_types_of_0_3_load():
    asked = {
        ("GET", "/v1/tasks/t"): 401,
        ("POST", "/v1/message:send"): 401,
        ("POST", "/v1/message:stream"): 401,
        ("GET", "/v1/card"): 401,
        ("GET", "/v1/nothing"): 404,
        ("PUT", "/v1/tasks/t"): 405,
        ("POST", "/"): 401,
        ("POST", "/a2a"): 401,
    }
    run = subprocess.run(
        [sys.executable, "-c", STRANGER, json.dumps(list(asked))],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == [list(asked.values()), []]
