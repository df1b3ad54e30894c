"""What does a client of A2A 0.3 get over JSON-RPC, down to the JSON?"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tracemalloc
from typing import Any

import pytest
from a2a.compat.v0_3 import conversions, types
from a2a.types.a2a_pb2 import (
    AgentCard,
    AgentInterface,
    ListTaskPushNotificationConfigsResponse,
    Part,
    Role,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskPushNotificationConfig,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import (
    ExtensionSupportRequiredError,
    InvalidParamsError,
    TaskNotFoundError,
)
from google.protobuf.empty_pb2 import Empty
from starlette.exceptions import HTTPException

from a2a_fn.errors import Unavailable
from a2a_fn.media import PARTS_LIMIT
from a2a_fn.protocol import inputs, v03_params
from a2a_fn.protocol.callers import Frame
from a2a_fn.protocol.operations import Capabilities
from a2a_fn.protocol.v03 import METHODS

TEXT = {"kind": "text", "text": "hi"}
PUSH = Capabilities(push=True, extended_card=True)


class Old:
    """Calls as a client of 0.3 does: without a version."""

    def __init__(self, server: Any) -> None:
        self.server = server

    async def post(self, method: str, params: Any, path: str = "", **headers: str) -> Any:
        body = {"jsonrpc": "2.0", "id": "c-1", "method": method, "params": params}
        return await self.server.http.post(
            self.server.url + path,
            content=json.dumps(body),
            headers={"Content-Type": "application/json"}
            | {name.replace("_", "-"): value for name, value in headers.items()},
        )

    async def call(self, method: str, params: Any, path: str = "", **headers: str) -> Any:
        answer = await self.post(method, params, path, **headers)
        assert answer.status_code == 200, answer.text
        streams = method in ("message/stream", "tasks/resubscribe")
        text = answer.text.removeprefix("data: ") if streams else answer.text
        envelope = json.loads(text)
        assert envelope["jsonrpc"] == "2.0"
        assert envelope["id"] == "c-1"
        return envelope["result"] if "result" in envelope else envelope["error"]

    async def stream(self, method: str, params: Any, path: str = "", **headers: str) -> list[Any]:
        answer = await self.post(method, params, path, **headers)
        assert answer.headers["content-type"].startswith("text/event-stream"), answer.text
        data = [line[6:] for line in answer.text.splitlines() if line.startswith("data: ")]
        return [json.loads(each)["result"] for each in data]


def sent(*parts: Any, **fields: Any) -> dict[str, Any]:
    """Params of message/send with every field that 0.3 asks for."""
    message = {"kind": "message", "messageId": "m-1", "role": "user", "parts": list(parts)}
    return {"message": message | fields}


@pytest.fixture
async def old(listen: Any, handler: Any) -> Any:
    async with listen(handler, v03=True) as server:
        yield Old(server)


# --- the shape of answers -----------------------------------------------------------------------


async def test_a_task_and_its_parts_say_what_they_are(old):
    task = await old.call("message/send", sent(TEXT))
    assert task["kind"] == "task"
    assert task["status"]["state"] == "completed"
    assert task["artifacts"][0]["parts"] == [TEXT]
    assert task["history"] == [sent(TEXT)["message"]]
    assert await old.call("tasks/get", {"id": task["id"]}) == task


async def test_a_message_is_answered_as_one(listen, scripted):
    async def send_message(request: Any, caller: Any) -> SendMessageResponse:
        return SendMessageResponse(message=request.message)

    async with listen(scripted(send_message=send_message), v03=True) as server:
        answer = await Old(server).call("message/send", sent(TEXT))
    assert answer == sent(TEXT)["message"]


async def test_a_stream_has_every_kind_of_event_and_one_that_is_final(old):
    events = await old.stream("message/stream", sent(TEXT))
    assert [event["kind"] for event in events] == [
        "task",
        "status-update",
        "artifact-update",
        "status-update",
    ]
    assert [event.get("final") for event in events] == [None, False, None, True]
    assert events[-1]["status"]["state"] == "completed"


def status(state: int) -> Frame:
    event = TaskStatusUpdateEvent(task_id="t", context_id="c")
    event.status.state = state  # type: ignore[assignment]
    return Frame(StreamResponse(status_update=event), 2)


@pytest.mark.parametrize(
    ("state", "ends"),
    [
        ("working", False),
        ("submitted", False),
        ("input-required", True),
        ("auth-required", True),
        ("completed", True),
        ("failed", True),
        ("canceled", True),
        ("rejected", True),
    ],
)
async def test_the_event_that_ends_a_turn_is_final_and_the_last(listen, scripted, state, ends):
    closed = asyncio.Event()
    number = TaskState.Value("TASK_STATE_" + state.upper().replace("-", "_"))

    async def subscribe(request: Any, caller: Any, seen: Any = None) -> Any:
        try:
            yield Frame(StreamResponse(task=Task(id="t", context_id="c")), 1)
            yield status(number)
            yield status(TaskState.TASK_STATE_COMPLETED)
        finally:
            closed.set()

    async with listen(scripted(subscribe=subscribe), v03=True) as server:
        events = await Old(server).stream("tasks/resubscribe", {"id": "t"})
        async with asyncio.timeout(5):
            await closed.wait()
    assert [event["final"] for event in events[1:]] == ([True] if ends else [False, True])
    assert events[1]["status"]["state"] == state


async def test_a_lost_stream_goes_on_after_the_event_that_was_seen_last(listen, scripted):
    seen: list[Any] = []

    async def subscribe(request: Any, caller: Any, last: Any = None) -> Any:
        seen.append((request.id, last))
        yield status(TaskState.TASK_STATE_COMPLETED)

    async with listen(scripted(subscribe=subscribe), v03=True) as server:
        await Old(server).stream("tasks/resubscribe", {"id": "t"}, Last_Event_ID="7")
    assert seen == [("t", 7)]


async def test_what_json_cannot_say_is_said_as_near_as_can_be(listen, scripted):
    """An agent that puts NaN in its metadata must not make its task unreadable for ever."""

    async def get_task(request: Any, caller: Any) -> Task:
        task = Task(id="t", context_id="c")
        task.metadata["n"] = float("nan")
        task.metadata["deep"] = {"list": [float("inf"), {"x": float("-inf")}], "ok": 2}
        task.history.add(message_id="m", parts=[Part(), Part(text="after")])
        return task

    async with listen(scripted(get_task=get_task), v03=True) as server:
        task = await Old(server).call("tasks/get", {"id": "t"})
    assert task["metadata"] == {
        "n": "NaN",
        "deep": {"list": ["Infinity", {"x": "-Infinity"}], "ok": 2},
    }
    assert [part["text"] for part in task["history"][0]["parts"]] == ["", "after"]


async def test_whole_numbers_leave_as_they_came(old):
    given = {"n": 3, "half": 0.5, "deep": [{"m": -7}], "big": 2**53 - 1}
    answer = await old.post("message/send", sent({"data": given}, metadata=given))
    (message,) = answer.json()["result"]["history"]
    assert (message["metadata"], message["parts"][0]["data"]) == (given, given)
    assert "3.0" not in answer.text
    assert '"big":9007199254740991' in answer.text


# --- the smallest clients, at /a2a --------------------------------------------------------------


@pytest.mark.parametrize("part", [{"text": "hi"}, {"type": "text", "text": "hi"}, TEXT])
async def test_role_and_text_are_enough(old, part):
    task = await old.call("message/send", {"message": {"role": "user", "parts": [part]}}, "a2a")
    assert task["status"]["state"] == "completed"
    assert task["artifacts"][0]["parts"][0]["text"] == "hi"
    (message,) = task["history"]
    assert len(message["messageId"]) >= 16


async def test_elsewhere_a_message_has_an_id(old):
    error = await old.call("message/send", {"message": {"role": "user", "parts": [TEXT]}})
    assert error["code"] == -32602
    assert error["message"].startswith("message.messageId is required")


async def test_a_stream_that_cannot_begin_is_a_stream_of_the_error(old):
    answer = await old.post("tasks/resubscribe", {"id": "unknown"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    (line,) = answer.text.splitlines()[:1]
    assert json.loads(line.removeprefix("data: "))["error"]["code"] == -32001


async def test_two_messages_without_an_id_are_two(old):
    params = {"message": {"role": "user", "parts": [{"text": "hi"}]}}
    first, second = [await old.call("message/send", params, "a2a") for _ in range(2)]
    assert first["history"][0]["messageId"] != second["history"][0]["messageId"]


@pytest.mark.parametrize("configuration", [{}, {"configuration": {}}])
async def test_a_call_waits_unless_it_is_told_not_to(listen, scripted, configuration):
    seen: list[bool] = []

    async def send_message(request: Any, caller: Any) -> SendMessageResponse:
        seen.append(request.configuration.return_immediately)
        return SendMessageResponse(task=Task(id="t", context_id="c"))

    async with listen(scripted(send_message=send_message), v03=True) as server:
        await Old(server).call("message/send", sent(TEXT) | configuration, "a2a")
        for blocking in (True, False):
            params = sent(TEXT) | {"configuration": {"blocking": blocking}}
            await Old(server).call("message/send", params, "a2a")
    assert seen == [False, False, True]


@pytest.mark.parametrize("agent", ["journal"], indirect=True)
async def test_a_call_that_does_not_wait_gets_a_working_task_that_can_be_canceled(agent):
    params = sent({"text": "wait"}) | {"configuration": {"blocking": False}}
    task = await Old(agent).call("message/send", params, "a2a")
    assert task["status"]["state"] == "working"
    assert (await Old(agent).call("tasks/get", {"id": task["id"]}, "a2a"))["status"][
        "state"
    ] == "working"
    ended = await Old(agent).call("tasks/cancel", {"id": task["id"]}, "a2a")
    assert ended["status"]["state"] == "canceled"


@pytest.mark.parametrize(
    ("state", "at_a2a", "final"),
    [
        ("submitted", "working", False),
        ("working", "working", False),
        ("auth-required", "working", False),
        ("input-required", "completed", True),
        ("completed", "completed", True),
        ("rejected", "failed", True),
        ("failed", "failed", True),
        ("canceled", "canceled", True),
    ],
)
async def test_four_states_are_all_that_there_are(listen, scripted, state, at_a2a, final):
    number = TaskState.Value("TASK_STATE_" + state.upper().replace("-", "_"))

    async def get_task(request: Any, caller: Any) -> Task:
        task = Task(id="t", context_id="c")
        task.status.state = number  # type: ignore[assignment]
        return task

    async def stream_message(request: Any, caller: Any) -> Any:
        yield status(number)

    double = scripted(get_task=get_task, stream_message=stream_message)
    async with listen(double, v03=True) as server:
        old = Old(server)
        assert (await old.call("tasks/get", {"id": "t"}, "a2a"))["status"]["state"] == at_a2a
        (event,) = await old.stream("message/stream", sent(TEXT), "a2a")
        assert (event["status"]["state"], event["final"]) == (at_a2a, final)
        assert (await old.call("tasks/get", {"id": "t"}))["status"]["state"] == state


@pytest.mark.parametrize(
    ("state", "artifact", "results"),
    [
        ("INPUT_REQUIRED", None, ["which region?"]),
        ("COMPLETED", Part(url="https://h/a", filename="a"), ["which region?"]),
        ("COMPLETED", Part(text="here"), []),
        ("WORKING", None, []),
    ],
)
async def test_the_last_words_are_an_artifact_where_there_is_none_of_text(
    listen, scripted, state, artifact, results
):
    async def get_task(request: Any, caller: Any) -> Task:
        task = Task(id="t", context_id="c")
        task.status.state = TaskState.Value(f"TASK_STATE_{state}")
        message = task.status.message
        message.message_id, message.role = "m", Role.ROLE_AGENT
        message.parts.add(text="which region?")
        if artifact is not None:
            task.artifacts.add(artifact_id="a").parts.append(artifact)
        return task

    async with listen(scripted(get_task=get_task), v03=True) as server:
        task = await Old(server).call("tasks/get", {"id": "t"}, "a2a")
        made = [a for a in task.get("artifacts", []) if a["artifactId"] == "result"]
        assert [part["text"] for a in made for part in a["parts"]] == results
        assert "result" not in str(await Old(server).call("tasks/get", {"id": "t"}))


# --- push configurations and the extended card --------------------------------------------------


async def test_push_configurations_are_set_got_listed_and_deleted(listen, scripted):
    seen: list[Any] = []
    config = TaskPushNotificationConfig(task_id="t", id="c", url="https://h/", token="s")
    config.authentication.scheme = "Bearer"

    def answers(answer: Any) -> Any:
        async def method(request: Any, caller: Any) -> Any:
            seen.append(request)
            return answer

        return method

    listed = ListTaskPushNotificationConfigsResponse(configs=[config])
    double = scripted(
        create_push_config=answers(config),
        get_push_config=answers(config),
        list_push_configs=answers(listed),
        delete_push_config=answers(Empty()),
    )
    inner = {
        "id": "c",
        "url": "https://h/",
        "token": "s",
        "authentication": {"schemes": ["Bearer"]},
    }
    whole = {"taskId": "t", "pushNotificationConfig": inner}
    async with listen(double, v03=True, capabilities=PUSH) as server:
        old, prefix = Old(server), "tasks/pushNotificationConfig"
        assert await old.call(f"{prefix}/set", whole) == whole
        named = {"id": "t", "pushNotificationConfigId": "c"}
        assert await old.call(f"{prefix}/get", named) == whole
        assert await old.call(f"{prefix}/get", {"id": "t"}) == whole
        assert await old.call(f"{prefix}/list", {"id": "t"}) == [whole]
        assert await old.call(f"{prefix}/delete", named) is None
    create, got, got_without, list_, delete = seen
    assert create == config
    assert (got.task_id, got.id) == ("t", "c")
    assert (got_without.task_id, got_without.id) == (
        "t",
        "t",
    )  # the id that a config has by default
    assert list_.task_id == "t"
    assert (delete.task_id, delete.id) == ("t", "c")


async def test_the_extended_card_is_one_of_0_3(listen, scripted):
    async def extended_card(request: Any, caller: Any) -> AgentCard:
        at = AgentInterface(url="http://h/", protocol_binding="JSONRPC", protocol_version="0.3")
        return AgentCard(name="n", supported_interfaces=[at])

    double = scripted(extended_card=extended_card)
    async with listen(double, v03=True, capabilities=PUSH) as server:
        card = await Old(server).call("agent/getAuthenticatedExtendedCard", None)
    assert (card["name"], card["url"], card["preferredTransport"]) == ("n", "http://h/", "JSONRPC")
    types.AgentCard.model_validate(card)


# --- versions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "a2a"])
async def test_0_3_is_spoken_when_it_is_named_and_when_nothing_is(old, path):
    for version in ({}, {"A2A_Version": "0.3"}, {"A2A_Version": "0.3.0"}):
        answer = await old.call("message/send", sent(TEXT), path, **version)
        assert answer["kind"] == "task"


async def test_a_method_of_1_0_needs_its_version(old):
    assert (await old.call("GetTask", {"id": "t"}))["code"] == -32009
    error = await old.call("GetTask", {"id": "t"}, A2A_Version="0.3")
    assert error["code"] == -32601
    assert "A2A-Version: 1.0" in error["message"]


async def test_a_method_of_0_3_is_none_of_1_0(old):
    error = await old.call("message/send", sent(TEXT), A2A_Version="1.0")
    assert error["code"] == -32601
    assert "A2A-Version: 0.3" in error["message"]


@pytest.mark.parametrize("path", ["", "a2a"])
async def test_1_0_is_spoken_at_both_addresses(old, path, message):
    answer = await old.call("SendMessage", {"message": message()}, path, A2A_Version="1.0")
    assert answer["task"]["status"]["state"] == "TASK_STATE_COMPLETED"


@pytest.mark.parametrize("path", ["", "a2a"])
async def test_a_server_that_does_not_speak_0_3_says_so(server, path):
    old = Old(server)
    assert (await old.call("message/send", sent(TEXT), path))["code"] == -32009


# --- errors -------------------------------------------------------------------------------------


async def test_an_unknown_method_is_answered_with_those_that_there_are(old):
    error = await old.call("tasks/list", {})
    assert error["code"] == -32601
    assert all(method in error["message"] for method in METHODS)


@pytest.mark.parametrize(
    ("raised", "code", "data"),
    [
        (TaskNotFoundError(), -32001, None),
        (ExtensionSupportRequiredError("x", data={"requiredExtensions": "urn:x"}), -32600, None),
        (RuntimeError("secret"), -32603, None),
    ],
)
async def test_errors_have_codes_that_0_3_knows(listen, scripted, raised, code, data):
    async def get_task(request: Any, caller: Any) -> Task:
        raise raised

    async with listen(scripted(get_task=get_task), v03=True) as server:
        error = await Old(server).call("tasks/get", {"id": "t"})
    assert error["code"] == code
    assert "secret" not in json.dumps(error)
    assert isinstance(error.get("data", {}), dict)
    types.JSONRPCError.model_validate(error)


async def test_a_store_that_is_down_can_be_tried_again(listen, scripted):
    async def get_task(request: Any, caller: Any) -> Task:
        raise Unavailable("no store")

    async with listen(scripted(get_task=get_task), v03=True) as server:
        answer = await Old(server).post("tasks/get", {"id": "t"})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "1"


FAULTS: list[tuple[str, Any, str]] = [
    ("message/send", {}, "message is required"),
    ("message/send", [], "params must be given by name"),
    ("message/send", {"message": "hi"}, "message must be an object"),
    ("message/send", {"message": {"messageId": "m", "parts": [TEXT]}}, "message.role is required"),
    ("message/send", {"message": {"messageId": "m", "role": "user"}}, "message.parts is required"),
    ("message/send", sent(TEXT, role="agent"), "message.role must be user"),
    ("message/send", sent(TEXT, role="boss"), "message.role must be 'agent' or 'user'"),
    ("message/send", sent(), "message.parts must have at least one element"),
    ("message/send", sent("hi"), "message.parts[0] must be an object, not a string"),
    ("message/send", sent(TEXT, {}), "message.parts[1] must have one of text, file, data"),
    ("message/send", sent({"kind": "video"}), "message.parts[0].kind must be one of"),
    ("message/send", sent({"kind": "text"}), "message.parts[0].text is required"),
    ("message/send", sent({"text": 5}), "message.parts[0].text must be a string"),
    ("message/send", sent({"data": [1]}), "message.parts[0].data must be an object"),
    ("message/send", sent({"kind": "file"}), "message.parts[0].file must be an object, not null"),
    ("message/send", sent({"file": {}}), "message.parts[0].file must have either bytes or uri"),
    (
        "message/send",
        sent({"file": {"bytes": "AA==", "uri": "http://h/"}}),
        "message.parts[0].file must have either bytes or uri",
    ),
    ("message/send", sent({"file": {"bytes": "?"}}), "message.parts[0].file.bytes must be valid"),
    ("message/send", sent({"file": {"uri": 5}}), "message.parts[0].file.uri must be a string"),
    (
        "message/send",
        sent({"file": {"uri": "http://h/", "mimeType": 5}}),
        "message.parts[0].file.mimeType must be a string",
    ),
    (
        "message/send",
        sent({"data": {}, "metadata": {"data_part_compat": True}}),
        "message.parts[0].data must have value",
    ),
    ("message/send", sent(TEXT, taskId="a b"), "message.taskId must be 1 to 128"),
    ("message/send", sent(TEXT, contextId="x" * 129), "message.contextId must be 1 to 128"),
    ("message/send", sent(TEXT, messageId="x" * 257), "message.messageId must be at most 256"),
    ("message/send", sent(TEXT, referenceTaskIds=["/"]), "message.referenceTaskIds[0] must be"),
    ("message/send", sent(TEXT, metadata={"\ud800": 1}), "must be valid Unicode"),
    ("message/send", sent(TEXT, metadata={"n": 10**400}), "message.metadata.n must be a number"),
    (
        "message/send",
        sent(TEXT) | {"configuration": {"historyLength": 10**30}},
        "configuration.historyLength must fit in 32 bits",
    ),
    (
        "message/send",
        sent(TEXT) | {"configuration": {"historyLength": -1}},
        "configuration.historyLength must not be negative",
    ),
    (
        "message/send",
        sent(TEXT) | {"configuration": {"blocking": "perhaps"}},
        "configuration.blocking must be true or false",
    ),
    (
        "message/send",
        sent(TEXT) | {"configuration": {"pushNotificationConfig": {"url": ""}}},
        "configuration.pushNotificationConfig.url must not be empty",
    ),
    ("tasks/get", None, "id is required"),
    ("tasks/get", {"id": 5}, "id must be a string"),
    ("tasks/get", {"id": "../x"}, "id must be 1 to 128"),
    ("tasks/get", {"id": "t", "historyLength": True}, "historyLength must be a whole number"),
    ("tasks/cancel", {"id": ""}, "id must not be empty"),
    ("tasks/resubscribe", {}, "id is required"),
    ("tasks/pushNotificationConfig/get", {}, "id is required"),
    (
        "tasks/pushNotificationConfig/set",
        {"taskId": "t", "pushNotificationConfig": {"url": "http://h/", "id": "/"}},
        "pushNotificationConfig.id must be 1 to 128",
    ),
    ("tasks/pushNotificationConfig/list", {"id": ""}, "id must not be empty"),
    ("tasks/pushNotificationConfig/delete", {"id": "t"}, "pushNotificationConfigId is required"),
]


@pytest.mark.parametrize(("method", "params", "words"), FAULTS)
async def test_bad_params_are_named_as_0_3_names_them(listen, scripted, method, params, words):
    async with listen(scripted(), v03=True, capabilities=PUSH) as server:
        error = await Old(server).call(method, params)
    assert error["code"] == -32602
    assert words in error["message"]
    if isinstance(params, dict):
        first = error["data"]["errors"][0]
        assert error["message"].startswith(f"{first['field']} {first['message']}")


def deep(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    "metadata",
    [deep(24), deep(40), deep(900), {"a": [0] * 100_001}],
    ids=["a level too deep", "deeper", "deepest", "too many"],
)
async def test_json_is_bounded(old, metadata):
    error = await old.call("message/send", sent(TEXT, metadata=metadata))
    assert error["code"] in (-32602, -32700)
    assert (
        "must not be nested deeper" in error["message"] or "must have at most" in error["message"]
    )


async def test_json_that_just_fits_is_taken(old):
    task = await old.call("message/send", sent(TEXT, metadata=deep(23)))
    assert task["history"][0]["metadata"] == deep(23)


# --- the gate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "a2a"])
async def test_credentials_are_asked_for(listen, scripted, path):
    async def refuse(scope: Any) -> Any:
        raise HTTPException(401, headers={"WWW-Authenticate": "Bearer"})

    async with listen(scripted(), v03=True, authenticate=refuse) as server:
        answer = await Old(server).post("tasks/get", {"id": "t"}, path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_a_required_extension_may_be_asked_for_by_its_old_header(listen, handler):
    async with listen(handler, v03=True, required=frozenset({"urn:x"})) as server:
        old = Old(server)
        error = await old.call("message/send", sent(TEXT))
        assert (error["code"], error["data"]) == (-32600, {"requiredExtensions": "urn:x"})
        assert (await old.call("message/send", sent(TEXT), X_A2A_Extensions="urn:x"))["kind"]


# --- translation and imports --------------------------------------------------------------------

WELL_FORMED: list[tuple[str, Any]] = [
    ("message/send", sent(TEXT)),
    ("message/send", sent(TEXT, contextId="c", taskId="t", referenceTaskIds=["a", "b"])),
    ("message/send", sent(TEXT, extensions=["urn:x"], metadata={"a": [1, None, {"b": 2.5}]})),
    ("message/send", sent({"kind": "data", "data": {"a": None, "n": [1, {}]}})),
    (
        "message/send",
        sent(
            {"kind": "file", "file": {"bytes": "/+8=", "mimeType": "a/b", "name": "f"}},
            {"kind": "file", "file": {"uri": "https://h/x"}, "metadata": {"k": True}},
        ),
    ),
    (
        "message/send",
        sent({"kind": "data", "data": {"value": [1, 2]}, "metadata": {"data_part_compat": True}}),
    ),
    (
        "message/stream",
        sent(TEXT)
        | {
            "metadata": {"m": "x"},
            "configuration": {
                "acceptedOutputModes": ["text/plain"],
                "blocking": False,
                "historyLength": 3,
                "pushNotificationConfig": {
                    "url": "https://h/",
                    "id": "p",
                    "token": "t",
                    "authentication": {"schemes": ["Bearer"], "credentials": "c"},
                },
            },
        },
    ),
    ("message/send", sent(TEXT) | {"configuration": {"blocking": True, "historyLength": 0}}),
    ("tasks/get", {"id": "t"}),
    ("tasks/get", {"id": "t", "historyLength": 0, "metadata": {"a": 1}}),
    ("tasks/cancel", {"id": "t", "metadata": {"a": 1}}),
    ("tasks/resubscribe", {"id": "t"}),
    (
        "tasks/pushNotificationConfig/set",
        {"taskId": "t", "pushNotificationConfig": {"url": "https://h/", "id": "p"}},
    ),
    ("tasks/pushNotificationConfig/get", {"id": "t", "pushNotificationConfigId": "p"}),
    ("tasks/pushNotificationConfig/list", {"id": "t"}),
    ("tasks/pushNotificationConfig/delete", {"id": "t", "pushNotificationConfigId": "p"}),
]


_CONFIG = "tasks/pushNotificationConfig"
SDK: dict[str, Any] = {
    "message/send": (types.SendMessageRequest, conversions.to_core_send_message_request),
    "message/stream": (types.SendStreamingMessageRequest, conversions.to_core_send_message_request),
    "tasks/get": (types.GetTaskRequest, conversions.to_core_get_task_request),
    "tasks/cancel": (types.CancelTaskRequest, conversions.to_core_cancel_task_request),
    "tasks/resubscribe": (
        types.TaskResubscriptionRequest,
        conversions.to_core_subscribe_to_task_request,
    ),
    f"{_CONFIG}/set": (
        types.SetTaskPushNotificationConfigRequest,
        conversions.to_core_create_task_push_notification_config_request,
    ),
    f"{_CONFIG}/get": (
        types.GetTaskPushNotificationConfigRequest,
        conversions.to_core_get_task_push_notification_config_request,
    ),
    f"{_CONFIG}/list": (
        types.ListTaskPushNotificationConfigRequest,
        conversions.to_core_list_task_push_notification_config_request,
    ),
    f"{_CONFIG}/delete": (
        types.DeleteTaskPushNotificationConfigRequest,
        conversions.to_core_delete_task_push_notification_config_request,
    ),
}


@pytest.mark.parametrize(("method", "params"), WELL_FORMED)
def test_well_formed_params_mean_what_the_sdk_takes_them_for(method, params):
    model, convert = SDK[method]
    request = model.model_validate({"id": 1, "params": params})
    assert v03_params.read(METHODS[method], params) == convert(request)


IMPORTS = """
import asyncio, json, sys
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

app = build_services(Settings(engine="memory", agent="echo:")).app()

def loaded():
    return sorted(
        name for name in sys.modules if name.startswith(("pydantic", "a2a.compat", "a2a.server"))
    )

async def ask(verb, path, version, document=None):
    body = b"" if document is None else json.dumps(document).encode()
    sent = []
    async def receive():
        return {"type": "http.request", "body": body}
    async def send(message):
        sent.append(message)
    headers = [(b"host", b"h"), (b"content-type", b"application/json")]
    headers += [(b"a2a-version", version)] if version else []
    await app({"type": "http", "method": verb, "path": path, "headers": headers,
               "query_string": b"", "scheme": "http", "server": ("h", 80)}, receive, send)
    answer = json.loads(b"".join(message.get("body", b"") for message in sent))
    return sent[0]["status"], answer

async def main():
    call = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t"}}
    print(json.dumps([
        await ask("GET", "/.well-known/agent-card.json", None),
        await ask("POST", "/", b"1.0", call),
        await ask("POST", "/a2a", b"1.0", call),
        await ask("GET", "/tasks/t", b"1.0"),
        loaded(),
        await ask("POST", "/", None, {**call, "method": "tasks/get"}) if OLD == "jsonrpc"
        else await ask("GET", "/v1/tasks/t", None),
        loaded(),
    ]))

asyncio.run(main())
"""


@pytest.mark.parametrize("old_binding", ["jsonrpc", "rest"])
def test_the_types_of_0_3_are_loaded_by_the_first_request_of_0_3_only(old_binding):
    code = f"OLD = {old_binding!r}\n{IMPORTS}"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    card, rpc, at_a2a, rest, before, legacy, after = json.loads(run.stdout)
    assert card[0] == 200
    assert rpc[1]["error"]["code"] == at_a2a[1]["error"]["code"] == -32001
    assert rest[0] == 404
    assert before == []
    assert "Task not found" in json.dumps(legacy)
    assert {"pydantic", "a2a.compat.v0_3.types"} <= set(after)
    assert not [name for name in after if name.startswith("a2a.server")]


# --- what a request costs -----------------------------------------------------------------------


def nested(value: Any) -> Any:
    """The value below names that are long, for their number of characters."""
    for _ in range(29):
        value = {"\N{GRINNING FACE}" * 64: value}
    return value


COSTLY: dict[str, tuple[Any, str]] = {
    "values far below long names": (
        sent(TEXT, metadata=nested([0] * 95_000)),
        "message.metadata must not be nested deeper",
    ),
    "parts": (sent(*[{"kind": "text"}] * 20_000), "message.parts must be at most 256"),
    "faults in the largest number of parts": (
        sent(*[{"kind": "data", "data": []}] * 256),
        "message.parts[0].data must be an object (and 15 more)",
    ),
    "extensions": (
        sent(TEXT, extensions=[0] * 90_000),
        "message.extensions[0] must be a string, not a number (and 15 more)",
    ),
    "tasks that are referred to, by their old name": (
        sent(TEXT, reference_task_ids=[None] * 90_000),
        "message.referenceTaskIds[0] must be a string, not null (and 15 more)",
    ),
    "modes": (
        sent(TEXT) | {"configuration": {"acceptedOutputModes": ["text/plain"] + [[]] * 90_000}},
        "configuration.acceptedOutputModes[1] must be a string, not an array (and 15 more)",
    ),
    "schemes": (
        sent(TEXT)
        | {
            "configuration": {
                "pushNotificationConfig": {
                    "url": "https://h/",
                    "authentication": {"schemes": [0] * 90_000},
                }
            }
        },
        "pushNotificationConfig.authentication.schemes[0] must be a string, not a number",
    ),
}


@pytest.mark.parametrize(("params", "words"), COSTLY.values(), ids=COSTLY)
def test_a_refusal_takes_little_memory_beside_the_body(params, words):
    body = len(json.dumps(params, ensure_ascii=False).encode())
    tracemalloc.start()
    try:
        with pytest.raises(InvalidParamsError) as refused:
            v03_params.read("SendMessage", params)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert words in refused.value.message
    assert len(refused.value.data["errors"]) in (1, inputs.MAX_FAULTS)
    assert peak < 10 * body + (2 << 20)


async def test_as_many_parts_as_there_may_be_are_taken(old):
    task = await old.call("message/send", sent(*[TEXT] * PARTS_LIMIT))
    assert len(task["history"][0]["parts"]) == PARTS_LIMIT
