"""Does the HTTP+JSON binding find the operation, read its parameters, and answer as A2A says?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    ListTasksResponse,
    SendMessageResponse,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils import errors as sdk
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import Message
from google.rpc import code_pb2
from starlette.exceptions import HTTPException

from a2a_fn.errors import Conflict, NotFound, TooLarge, Unavailable
from a2a_fn.protocol import exchange, query
from a2a_fn.protocol.callers import Frame, Principal
from a2a_fn.protocol.operations import Capabilities

VERSION = {"A2A-Version": "1.0"}
EVERYTHING = Capabilities(push=True, extended_card=True)
SECRET = "password=hunter2 at /srv/secret.py"


class Recorder:
    """A handler that answers each operation with little and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Message, Any]] = []
        self.last_event_id: int | None = None

    def _answers(name: str, answer: Message) -> Any:
        async def method(self: Any, request: Any, caller: Any) -> Any:
            self.asked.append((name, request, caller))
            return answer

        return method

    send_message = _answers("SendMessage", SendMessageResponse(task=Task(id="t-1")))
    get_task = _answers("GetTask", Task(id="t-1"))
    list_tasks = _answers("ListTasks", ListTasksResponse(page_size=50))
    cancel_task = _answers("CancelTask", Task(id="t-1"))
    create_push_config = _answers(
        "CreateTaskPushNotificationConfig", TaskPushNotificationConfig(id="c-1")
    )
    get_push_config = _answers(
        "GetTaskPushNotificationConfig", TaskPushNotificationConfig(id="c-1")
    )
    list_push_configs = _answers(
        "ListTaskPushNotificationConfigs", ListTaskPushNotificationConfigsResponse()
    )
    delete_push_config = _answers("DeleteTaskPushNotificationConfig", Empty())
    extended_card = _answers("GetExtendedAgentCard", AgentCard(name="more"))

    async def stream_message(self, request: Any, caller: Any) -> AsyncIterator[Frame]:
        self.asked.append(("SendStreamingMessage", request, caller))
        yield Frame(StreamResponse(task=Task(id="t-1")), 1)

    async def subscribe(
        self, request: Any, caller: Any, last_event_id: int | None = None
    ) -> AsyncIterator[Frame]:
        self.asked.append(("SubscribeToTask", request, caller))
        self.last_event_id = last_event_id
        yield Frame(StreamResponse(task=Task(id="t-1")), 7)


class Asking:
    """A recorder behind a server, and requests to it."""

    def __init__(self, server: Any, recorder: Recorder) -> None:
        self.server = server
        self.recorder = recorder

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        """The response to a request of A2A 1.0 whose body is ``body`` as JSON (None: no body)."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        given = (
            dict(VERSION) if content is None else {"Content-Type": "application/json", **VERSION}
        )
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.server.http.request(
            method, self.server.url + path.removeprefix("/"), content=content, headers=given
        )

    async def asked(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The operation and the request that reached the handler."""
        response = await self.ask(method, path, body, **headers)
        assert response.status_code == 200, response.text
        return self.recorder.asked[-1][:2]


@pytest.fixture
async def rest(listen: Any) -> AsyncIterator[Asking]:
    recorder = Recorder()
    async with listen(recorder, capabilities=EVERYTHING) as server:
        yield Asking(server, recorder)


def status_of(response: httpx.Response) -> dict[str, Any]:
    """The google.rpc.Status in an error response, checked to be one."""
    assert response.headers["content-type"] == "application/a2a+json"
    assert set(response.json()) == {"error"}
    error = response.json()["error"]
    assert set(error) == {"code", "status", "message", "details"}
    assert error["code"] == response.status_code >= 400
    assert error["status"] in dict(code_pb2.Code.items())
    assert error["message"]
    assert error["details"][0]["@type"] == "type.googleapis.com/google.rpc.ErrorInfo"
    assert error["details"][0]["domain"] == "a2a-protocol.org"
    return error


def reason_of(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, status_of(response)["details"][0]["reason"]


def violations_of(response: httpx.Response) -> list[str]:
    """The fields that an INVALID_PARAMS error names."""
    assert reason_of(response) == (400, "INVALID_PARAMS")
    return [one["field"] for one in status_of(response)["details"][1]["fieldViolations"]]


# --- paths --------------------------------------------------------------------------------------

SENT = {"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hello"}]}}
HOOK = {"url": "https://example.com/hook"}
CALLS = [
    ("POST", "/message:send", SENT, "SendMessage", None),
    ("POST", "/message:stream", SENT, "SendStreamingMessage", None),
    ("GET", "/tasks", None, "ListTasks", ListTasksRequest()),
    ("GET", "/tasks/t-1", None, "GetTask", GetTaskRequest(id="t-1")),
    ("POST", "/tasks/t-1:cancel", None, "CancelTask", CancelTaskRequest(id="t-1")),
    ("GET", "/tasks/t-1:subscribe", None, "SubscribeToTask", SubscribeToTaskRequest(id="t-1")),
    ("POST", "/tasks/t-1:subscribe", None, "SubscribeToTask", SubscribeToTaskRequest(id="t-1")),
    (
        "POST",
        "/tasks/t-1/pushNotificationConfigs",
        HOOK,
        "CreateTaskPushNotificationConfig",
        TaskPushNotificationConfig(task_id="t-1", url=HOOK["url"]),
    ),
    (
        "GET",
        "/tasks/t-1/pushNotificationConfigs",
        None,
        "ListTaskPushNotificationConfigs",
        ListTaskPushNotificationConfigsRequest(task_id="t-1"),
    ),
    (
        "GET",
        "/tasks/t-1/pushNotificationConfigs/c-1",
        None,
        "GetTaskPushNotificationConfig",
        GetTaskPushNotificationConfigRequest(task_id="t-1", id="c-1"),
    ),
    (
        "DELETE",
        "/tasks/t-1/pushNotificationConfigs/c-1",
        None,
        "DeleteTaskPushNotificationConfig",
        DeleteTaskPushNotificationConfigRequest(task_id="t-1", id="c-1"),
    ),
    ("GET", "/extendedAgentCard", None, "GetExtendedAgentCard", GetExtendedAgentCardRequest()),
]


@pytest.mark.parametrize(("method", "path", "body", "name", "expected"), CALLS)
async def test_a_path_is_an_operation(rest, method, path, body, name, expected):
    asked, request = await rest.asked(method, path, body)
    assert asked == name
    if expected is None:
        assert request.message.parts[0].text == "hello"
        assert not request.tenant
    else:
        assert request == expected


@pytest.mark.parametrize(("method", "path", "body", "name", "expected"), CALLS)
async def test_every_path_has_its_like_in_a_tenant(rest, method, path, body, name, expected):
    asked, request = await rest.asked(method, f"/acme{path}", body)
    assert (asked, request.tenant) == (name, "acme")
    assert rest.recorder.asked[-1][2].tenant == "acme"
    if expected is not None:
        request.ClearField("tenant")
        assert request == expected


@pytest.mark.parametrize(
    "path",
    [
        "/message",
        "/message:",
        "/message:sends",
        "/message:send/",
        "/Message:send",
        "/tasks/t-1/",
        "/tasks/t-1/pushNotificationConfig",
        "/tasks/t-1/pushNotificationConfigs/c-1/x",
        "/tasks/t-1/t-2/t-3",
        "/a/b/tasks",
        "//tasks",
        "/acme",
        "/acme/",
        "/acme/acme/tasks",
        "/tasks/tasks/t-1",
        "/a%2Ftasks",
        "/tasks/t-1%2FpushNotificationConfigs",
        "/tasks%2ft-1",
        "/extendedAgentCard/x",
        "/.well-known",
    ],
)
async def test_another_path_is_not_found(rest, path):
    response = await rest.ask("GET", path)
    assert (response.status_code, response.json()) == (404, {"error": "Not Found"})
    assert not rest.recorder.asked


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/message:send", "POST"),
        ("PUT", "/message:stream", "POST"),
        ("POST", "/tasks", "GET, HEAD"),
        ("DELETE", "/tasks/t-1", "GET, HEAD"),
        ("PATCH", "/acme/tasks/t-1", "GET, HEAD"),
        ("GET", "/tasks/t-1:cancel", "POST"),
        ("HEAD", "/tasks/t-1:subscribe", "GET, POST"),
        ("PUT", "/tasks/t-1/pushNotificationConfigs", "GET, HEAD, POST"),
        ("POST", "/tasks/t-1/pushNotificationConfigs/c-1", "GET, HEAD, DELETE"),
        ("OPTIONS", "/extendedAgentCard", "GET, HEAD"),
    ],
)
async def test_a_method_that_a_path_does_not_allow_is_405(rest, method, path, allowed):
    response = await rest.ask(method, path)
    assert (response.status_code, response.headers["allow"]) == (405, allowed)
    if method != "HEAD":
        assert reason_of(response) == (405, "METHOD_NOT_FOUND")
        assert allowed in status_of(response)["message"]
    assert not rest.recorder.asked


async def test_head_is_get_without_the_document(rest):
    whole = await rest.ask("GET", "/tasks/t-1")
    head = await rest.ask("HEAD", "/tasks/t-1")
    assert head.content == b""
    same = ("content-type", "content-length", "cache-control")
    assert [head.headers[name] for name in same] == [whole.headers[name] for name in same]
    missing = await rest.ask("HEAD", "/tasks/a%20b")
    assert (missing.status_code, missing.content) == (400, b"")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/tasks/a:b", "a:b"),
        ("/tasks/a:pause", "a:pause"),
        ("/tasks/tasks", "tasks"),
        ("/tasks/%74%2D1", "t-1"),
        ("/acme/tasks/tasks", "tasks"),
    ],
)
async def test_an_id_is_what_the_path_says_decoded_once(rest, path, expected):
    assert (await rest.asked("GET", path))[1].id == expected


@pytest.mark.parametrize("path", ["/tasks/t-1%3Acancel", "/tasks/t%2D1:cancel"])
async def test_a_verb_may_be_encoded(rest, path):
    asked, request = await rest.asked("POST", path)
    assert (asked, request.id) == ("CancelTask", "t-1")


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/tasks/", "id"),
        ("/tasks/a%20b", "id"),
        ("/tasks/a%252Fb", "id"),
        ("/tasks/%00", "id"),
        ("/tasks/%FF", "id"),
        ("/tasks/..%5Cx", "id"),
        ("/tasks/" + "x" * 129, "id"),
        ("/tasks/中", "id"),
        ("/tasks//pushNotificationConfigs", "taskId"),
        ("/tasks/t-1/pushNotificationConfigs/", "id"),
        ("/a%20b/tasks", "tenant"),
        ("/-acme/tasks", "tenant"),
        ("/" + "x" * 129 + "/tasks", "tenant"),
    ],
)
async def test_an_id_or_a_tenant_that_cannot_be_one_is_named(rest, path, field):
    assert violations_of(await rest.ask("GET", path)) == [field]
    assert not rest.recorder.asked


async def test_below_a_root_path_the_paths_are_the_same():
    from a2a_fn.profile import IAC
    from a2a_fn.protocol.app import build_app

    recorder = Recorder()
    app = build_app(recorder, profile=IAC)
    transport = httpx.ASGITransport(app, root_path="/agents/one")
    async with httpx.AsyncClient(transport=transport, base_url="http://h") as http:
        response = await http.get("/agents/one/acme/tasks/t-1", headers=VERSION)
        beside = await http.get("/agents/one2/tasks", headers=VERSION)
    assert (response.status_code, beside.status_code) == (200, 404)
    ((name, request, caller),) = recorder.asked
    assert (name, request.id, request.tenant) == ("GetTask", "t-1", "acme")
    assert caller.base_url == "http://h/agents/one"


# --- queries ------------------------------------------------------------------------------------


async def test_a_query_is_read_by_the_types_of_the_request(rest):
    _, request = await rest.asked(
        "GET",
        "/tasks?contextId=c-1&status=TASK_STATE_WORKING&pageSize=20&pageToken=a%2Bb%3D&"
        "historyLength=0&statusTimestampAfter=2026-01-31T12:00:00.5%2B01:00&includeArtifacts=true",
    )
    expected = ListTasksRequest(
        context_id="c-1",
        status=TaskState.TASK_STATE_WORKING,
        page_size=20,
        page_token="a+b=",
        history_length=0,
        include_artifacts=True,
    )
    expected.status_timestamp_after.FromJsonString("2026-01-31T11:00:00.5Z")
    assert request == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/tasks/t-1?historyLength=3", GetTaskRequest(id="t-1", history_length=3)),
        ("/tasks/t-1?historyLength=0", GetTaskRequest(id="t-1", history_length=0)),
        ("/tasks/t-1?history_length=2", GetTaskRequest(id="t-1", history_length=2)),
        ("/tasks/t-1?id=t-1&tenant=", GetTaskRequest(id="t-1")),
        ("/tasks/t-1?tenant=acme", GetTaskRequest(id="t-1", tenant="acme")),
        ("/tasks/t-1?nothing=1&nothing=2&historyLength.x=a&&=", GetTaskRequest(id="t-1")),
        ("/tasks?includeArtifacts=false", ListTasksRequest(include_artifacts=False)),
        ("/tasks?contextId=", ListTasksRequest()),
    ],
)
async def test_what_a_query_does_not_say_is_not_set(rest, path, expected):
    assert (await rest.asked("GET", path))[1] == expected


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ("pageSize=ten", "pageSize"),
        ("pageSize=", "pageSize"),
        ("pageSize=1e1", "pageSize"),
        ("pageSize=%D9%A3", "pageSize"),
        ("page_size=+5", "page_size"),
        ("pageSize=0", "pageSize"),
        ("pageSize=101", "pageSize"),
        ("pageSize=99999999999999", "pageSize"),
        ("pageSize=1&pageSize=2", "pageSize"),
        ("pageSize=5&page_size=5", "page_size"),
        ("historyLength=-1", "historyLength"),
        ("includeArtifacts=True", "includeArtifacts"),
        ("includeArtifacts=1", "includeArtifacts"),
        ("includeArtifacts", "includeArtifacts"),
        ("status=working", "status"),
        ("status=BOGUS", "status"),
        ("status=2", "status"),
        ("status=", "status"),
        ("statusTimestampAfter=yesterday", "statusTimestampAfter"),
        ("statusTimestampAfter=2026-01-31T12:00:00+01:00", "statusTimestampAfter"),
        ("contextId=a%20b", "contextId"),
        ("contextId=a&contextId=a", "contextId"),
        ("tenant=a/b", "tenant"),
    ],
)
async def test_a_bad_parameter_is_named(rest, given, field):
    response = await rest.ask("GET", f"/tasks?{given}")
    assert violations_of(response) == [field]
    assert status_of(response)["message"].startswith(f"{field} must ")
    assert not rest.recorder.asked


@pytest.mark.parametrize("given", ["contextId=%FF", "contextId=%C3", "&" * 100, "a=%FF"])
async def test_a_query_that_cannot_be_read_is_refused(rest, given):
    response = await rest.ask("GET", f"/tasks?{given}")
    assert reason_of(response) == (400, "INVALID_PARAMS")
    assert status_of(response)["message"].startswith("The query must be UTF-8, percent-encoded")


@pytest.mark.parametrize(
    ("method", "path", "body", "field"),
    [
        ("GET", "/tasks/t-1?id=t-2", None, "id"),
        ("GET", "/acme/tasks?tenant=other", None, "tenant"),
        ("DELETE", "/tasks/t-1/pushNotificationConfigs/c-1?taskId=t-2", None, "taskId"),
        ("DELETE", "/tasks/t-1/pushNotificationConfigs/c-1?task_id=t-2", None, "task_id"),
        ("GET", "/tasks/t-1/pushNotificationConfigs/c-1?id=c-2", None, "id"),
        ("POST", "/tasks/t-1:cancel", {"id": "t-2"}, "id"),
        ("POST", "/tasks/t-1:subscribe", {"id": 5}, "id"),
        ("POST", "/acme/message:send", {**SENT, "tenant": "other"}, "tenant"),
        ("POST", "/tasks/t-1/pushNotificationConfigs", {**HOOK, "taskId": "t-2"}, "taskId"),
        ("POST", "/tasks/t-1/pushNotificationConfigs", {**HOOK, "task_id": ["t-1"]}, "task_id"),
    ],
)
async def test_what_contradicts_the_path_is_refused(rest, method, path, body, field):
    response = await rest.ask(method, path, body)
    assert violations_of(response) == [field]
    assert "what the path says" in status_of(response)["message"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/acme/message:send", {**SENT, "tenant": "acme"}),
        ("/acme/message:send", {**SENT, "tenant": None}),
        ("/message:send", {**SENT, "tenant": "acme"}),
        ("/acme/tasks/t-1:cancel", {"id": "t-1", "tenant": ""}),
        ("/acme/tasks/t-1/pushNotificationConfigs", {**HOOK, "taskId": "t-1", "task_id": "t-1"}),
    ],
)
async def test_what_repeats_the_path_is_taken(rest, path, body):
    assert (await rest.asked("POST", path, body))[1].tenant == "acme"


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/message:send?tenant=acme", "tenant"),
        ("/tasks/t-1:cancel?metadata=x", "metadata"),
        ("/tasks/t-1:subscribe?id=t-1", "id"),
    ],
)
async def test_a_post_has_its_parameters_in_its_body(rest, path, field):
    assert violations_of(await rest.ask("POST", path, SENT)) == [field]
    assert not rest.recorder.asked


def test_repeated_parameters_may_be_joined_by_commas():
    from a2a.types.a2a_pb2 import SendMessageConfiguration

    given = b"acceptedOutputModes=a/b,c/d&acceptedOutputModes=e%2Cf&acceptedOutputModes="
    read = query.read(given, SendMessageConfiguration())
    assert read == {"acceptedOutputModes": ["a/b", "c/d", "e", "f"]}


def test_objects_are_not_for_queries():
    from a2a.types.a2a_pb2 import SendMessageRequest

    with pytest.raises(sdk.InvalidParamsError, match=r"^message cannot be given in a query"):
        query.read(b"message=x", SendMessageRequest())


# --- bodies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "media_type",
    ["application/json", "application/a2a+json", "Application/A2A+JSON ; charset=utf-8"],
)
async def test_a_body_is_json_by_either_name(rest, media_type):
    assert (await rest.asked("POST", "/message:send", SENT, Content_Type=media_type))[0]


@pytest.mark.parametrize("media_type", ["text/plain", "", "application/json+x", "multipart/x"])
async def test_another_media_type_is_refused(rest, media_type):
    response = await rest.ask("POST", "/message:send", SENT, Content_Type=media_type)
    assert reason_of(response) == (400, "CONTENT_TYPE_NOT_SUPPORTED")


@pytest.mark.parametrize("media_type", ["application/json", "text/plain", ""])
async def test_an_empty_body_has_no_parameters(rest, media_type):
    asked = await rest.asked("POST", "/tasks/t-1:cancel", b"", Content_Type=media_type)
    assert asked == ("CancelTask", CancelTaskRequest(id="t-1"))
    response = await rest.ask("POST", "/message:send", b"", Content_Type=media_type)
    assert violations_of(response) == ["message"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_the_body_of_another_method_means_nothing(rest, method):
    path = "/tasks/t-1/pushNotificationConfigs/c-1"
    _, request = await rest.asked(method, path, b'{"id": "c-2"', Content_Type="text/plain")
    assert request.id == "c-1"


async def test_the_body_of_a_cancel_is_read(rest):
    _, request = await rest.asked("POST", "/tasks/t-1:cancel", {"metadata": {"why": "late"}})
    assert request.metadata["why"] == "late"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "PARSE_ERROR"),
        (b'{"id": 1, "id": 2}', "PARSE_ERROR"),
        (b"\xff", "PARSE_ERROR"),
        (b"NaN", "PARSE_ERROR"),
        (b"[" * 100_000, "PARSE_ERROR"),
        (b"[]", "INVALID_PARAMS"),
        (b"null", "INVALID_PARAMS"),
        (b'"x"', "INVALID_PARAMS"),
    ],
)
async def test_a_body_that_is_no_json_object_is_refused(rest, body, reason):
    response = await rest.ask("POST", "/message:send", body)
    assert reason_of(response) == (400, reason)


async def test_a_body_over_the_limit_is_413(listen):
    recorder = Recorder()
    async with listen(recorder, body_limit=500) as server:
        rest = Asking(server, recorder)
        fits = json.dumps(SENT).encode().ljust(500)
        assert (await rest.ask("POST", "/message:send", fits)).status_code == 200
        for method, path in (("POST", "/message:send"), ("GET", "/tasks/t-1")):
            response = await rest.ask(method, path, fits + b" ")
            assert reason_of(response) == (413, "CONTENT_TOO_LARGE")
            assert status_of(response)["message"] == "The body must be at most 500 bytes."


# --- answers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "answer"),
    [
        ("POST", "/message:send", SENT, {"task": {"id": "t-1"}}),
        ("GET", "/tasks/t-1", None, {"id": "t-1"}),
        (
            "GET",
            "/tasks",
            None,
            {"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0},
        ),
        ("POST", "/tasks/t-1:cancel", None, {"id": "t-1"}),
        ("DELETE", "/tasks/t-1/pushNotificationConfigs/c-1", None, {}),
    ],
)
async def test_an_answer_is_the_bare_result(rest, method, path, body, answer):
    response = await rest.ask(method, path, body)
    assert response.headers["content-type"] == "application/a2a+json"
    assert response.headers["cache-control"] == "no-store"
    assert response.json() == answer


async def test_an_answer_without_a_task_is_a_message(listen, scripted):
    async def send_message(request: Any, caller: Any) -> Any:
        return SendMessageResponse(message=request.message)

    async with listen(scripted(send_message=send_message)) as server:
        response = await Asking(server, Recorder()).ask("POST", "/message:send", SENT)
    assert response.json() == SENT


# --- streams ------------------------------------------------------------------------------------


async def test_a_stream_is_bare_responses_with_ids(rest):
    response = await rest.ask("POST", "/message:stream", SENT)
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.text == 'id: 1\ndata: {"task":{"id":"t-1"}}\n\n'


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_subscription_resumes_after_the_last_event(rest, method):
    await rest.asked(method, "/tasks/t-1:subscribe", Last_Event_ID="6")
    assert rest.recorder.last_event_id == 6
    await rest.asked(method, "/tasks/t-1:subscribe", Last_Event_ID="six")
    assert rest.recorder.last_event_id is None


def failing_stream(*frames: Frame, error: Exception) -> Any:
    async def method(*_: Any) -> AsyncIterator[Frame]:
        for frame in frames:
            yield frame
        raise error

    return method


async def test_an_error_before_the_first_frame_is_a_plain_answer(listen, scripted):
    ended = failing_stream(error=sdk.UnsupportedOperationError("the task has ended"))
    async with listen(scripted(subscribe=ended)) as server:
        response = await Asking(server, Recorder()).ask("GET", "/tasks/t-1:subscribe")
    assert reason_of(response) == (400, "UNSUPPORTED_OPERATION")
    assert status_of(response)["message"] == "the task has ended"


@pytest.mark.parametrize("error", [RuntimeError(SECRET), sdk.TaskNotFoundError()])
async def test_an_error_after_it_is_an_error_frame(listen, scripted, error):
    frame = Frame(StreamResponse(task=Task(id="t-1")), 1)
    handler = scripted(stream_message=failing_stream(frame, error=error))
    async with listen(handler) as server:
        response = await Asking(server, Recorder()).ask("POST", "/message:stream", SENT)
    assert response.status_code == 200
    first, last, rest = response.text.split("\n\n")
    assert (first, rest) == ('id: 1\ndata: {"task":{"id":"t-1"}}', "")
    kind, _, data = last.partition("\n")
    assert kind == "event: error"
    told = json.loads(data.removeprefix("data: "))["error"]
    assert told["code"] == (404 if isinstance(error, sdk.A2AError) else 500)
    assert "hunter2" not in response.text


@pytest.mark.parametrize(
    ("method", "path", "content"),
    [
        ("GET", "/tasks/t-1:subscribe", None),
        ("POST", "/tasks/t-1:subscribe", None),
        ("POST", "/message:stream", json.dumps(SENT).encode()),
    ],
)
async def test_a_stream_ends_when_its_reader_leaves(listen, scripted, method, path, content):
    closed = asyncio.Event()

    async def endless(*_: Any) -> AsyncIterator[Frame]:
        try:
            yield Frame(StreamResponse(task=Task(id="t-1")), 1)
            await asyncio.Event().wait()
        finally:
            closed.set()

    headers = {**VERSION, "Content-Type": "application/json"}
    async with (
        asyncio.timeout(5),
        listen(scripted(subscribe=endless, stream_message=endless)) as server,
    ):
        url = server.url + path[1:]
        async with server.http.stream(method, url, content=content, headers=headers) as response:
            async for _ in response.aiter_lines():
                break
        await closed.wait()


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_call_that_waits_ends_when_its_client_leaves(listen, scripted, monkeypatch, method):
    monkeypatch.setattr(exchange, "PATIENCE", 0)
    begun, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(*_: Any) -> Any:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    path = {"GET": "tasks/t-1", "POST": "tasks/t-1:cancel"}[method]
    async with (
        asyncio.timeout(5),
        listen(scripted(get_task=wait, cancel_task=wait)) as server,
    ):
        call = asyncio.create_task(server.http.request(method, server.url + path, headers=VERSION))
        await begun.wait()
        call.cancel()
        await cancelled.wait()


# --- errors -------------------------------------------------------------------------------------


def raising(error: BaseException) -> Any:
    async def method(*_: Any) -> Any:
        raise error

    return method


@pytest.mark.parametrize("kind", sdk.A2A_ERROR_MAPPING, ids=lambda kind: kind.__name__)
async def test_an_a2a_error_is_told_as_the_sdk_tells_it(listen, scripted, kind):
    from a2a.utils.error_handlers import build_rest_error_payload

    error = kind("it is so", data={"a": "b"})
    async with listen(scripted(get_task=raising(error))) as server:
        response = await Asking(server, Recorder()).ask("GET", "/tasks/t-1")
    status_of(response)
    assert response.json() == build_rest_error_payload(error)
    assert response.status_code == sdk.A2A_ERROR_MAPPING[kind].http_code


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (RuntimeError(SECRET), (500, "INTERNAL_ERROR")),
        (sdk.A2AError(SECRET), (500, "INTERNAL_ERROR")),
        (Unavailable(SECRET), (503, "UNAVAILABLE")),
        (Conflict(3), (503, "UNAVAILABLE")),
        (TooLarge(SECRET), (413, "CONTENT_TOO_LARGE")),
        (NotFound(SECRET), (404, "TASK_NOT_FOUND")),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_other_errors_have_words_of_their_own(listen, scripted, error, answer):
    async with listen(scripted(get_task=raising(error))) as server:
        response = await Asking(server, Recorder()).ask("GET", "/tasks/t-1")
    assert reason_of(response) == answer
    assert "hunter2" not in response.text
    assert response.headers.get("retry-after") == ("1" if answer[0] == 503 else None)


# --- the gate -----------------------------------------------------------------------------------


@pytest.mark.parametrize("v03", [False, True])
@pytest.mark.parametrize("version", ["", "0.3", "2.0", "x"])
async def test_these_paths_are_of_1_0_only(listen, version, v03):
    recorder = Recorder()
    async with listen(recorder, v03=v03) as server:
        rest = Asking(server, recorder)
        response = await rest.ask("GET", "/tasks/t-1", A2A_Version=version)
        assert reason_of(response) == (400, "VERSION_NOT_SUPPORTED")
        info = status_of(response)["details"][0]
        assert info["metadata"] == {"supportedVersions": "1.0"}
        assert not recorder.asked
        asked = await rest.asked("GET", "/tasks/t-1?A2A-Version=1.0", A2A_Version="")
        assert asked == ("GetTask", GetTaskRequest(id="t-1"))


async def test_what_is_not_offered_is_refused_before_parameters_are_read(listen):
    recorder = Recorder()
    async with listen(recorder, capabilities=Capabilities(streaming=False)) as server:
        rest = Asking(server, recorder)
        for method, path, reason in (
            ("POST", "/message:stream", "UNSUPPORTED_OPERATION"),
            ("GET", "/tasks/a%20b:subscribe", "UNSUPPORTED_OPERATION"),
            ("GET", "/extendedAgentCard?tenant=a/b", "UNSUPPORTED_OPERATION"),
            ("GET", "/tasks/t/pushNotificationConfigs", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
            ("DELETE", "/tasks/t/pushNotificationConfigs/c", "PUSH_NOTIFICATION_NOT_SUPPORTED"),
        ):
            assert reason_of(await rest.ask(method, path)) == (400, reason)
    assert not recorder.asked


async def test_a_required_extension_must_be_asked_for(listen):
    recorder = Recorder()
    async with listen(recorder, required=frozenset({"urn:x"})) as server:
        rest = Asking(server, recorder)
        response = await rest.ask("GET", "/tasks/t-1")
        assert reason_of(response) == (400, "EXTENSION_SUPPORT_REQUIRED")
        assert await rest.asked("GET", "/tasks/t-1", A2A_Extensions="urn:y, urn:x")


async def test_credentials_come_before_everything_but_the_path(listen):
    async def nobody(scope: Any) -> Any:
        raise HTTPException(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})

    recorder = Recorder()
    async with listen(recorder, authenticate=nobody) as server:
        rest = Asking(server, recorder)
        for method, path, body in (
            ("GET", "/tasks/a%20b?pageSize=x", None),
            ("POST", "/message:send", b"not even JSON"),
            ("POST", "/acme/message:stream", b""),
            ("DELETE", "/tasks/t/pushNotificationConfigs/c", None),
        ):
            response = await rest.ask(method, path, body, A2A_Version="9.9")
            assert response.status_code == 401
            assert response.json() == {"error": "Unauthorized"}
            assert response.headers["www-authenticate"] == "Bearer"
    assert not recorder.asked


async def test_a_bug_in_the_credentials_check_lets_nobody_in(listen):
    async def broken(scope: Any) -> Any:
        raise RuntimeError(SECRET)

    recorder = Recorder()
    async with listen(recorder, authenticate=broken) as server:
        response = await Asking(server, recorder).ask("GET", "/tasks/t-1")
    assert reason_of(response) == (500, "INTERNAL_ERROR")
    assert "hunter2" not in response.text
    assert not recorder.asked


async def test_a_rate_is_limited_in_http(listen):
    async with listen(Recorder(), limit=lambda name: 2.5) as server:
        response = await Asking(server, Recorder()).ask("GET", "/tasks")
    assert (response.status_code, response.headers["retry-after"]) == (429, "3")


async def test_a_tenant_must_be_the_callers_and_there(listen):
    async def of_acme(scope: Any) -> Principal:
        return Principal("ann", tenants=frozenset({"acme", "gone"}))

    recorder = Recorder()
    gate = {"authenticate": of_acme, "tenants": frozenset({"acme", "other"})}
    async with listen(recorder, **gate) as server:
        rest = Asking(server, recorder)
        assert (await rest.ask("GET", "/other/tasks")).status_code == 403
        assert (await rest.ask("GET", "/tasks")).status_code == 403
        assert violations_of(await rest.ask("GET", "/gone/tasks")) == ["tenant"]
        assert not recorder.asked
        await rest.asked("GET", "/acme/tasks")
        assert recorder.asked[-1][2].owner == "acme/ann"


# --- on a function ------------------------------------------------------------------------------


def test_it_works_behind_mangum_and_leaves_as_text():
    from mangum import Mangum

    from a2a_fn.hosts.lambda_http import TEXT
    from a2a_fn.profile import IAC
    from a2a_fn.protocol.app import build_app

    def event(method: str, path: str, given: str = "", body: str | None = None) -> dict[str, Any]:
        http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"}
        return {
            "version": "2.0",
            "routeKey": "$default",
            "rawPath": path,
            "rawQueryString": given,
            "headers": {"a2a-version": "1.0", "content-type": "application/a2a+json", "host": "h"},
            "requestContext": {"http": http, "requestId": "r", "stage": "$default"},
            "isBase64Encoded": False,
            **({} if body is None else {"body": body}),
        }

    recorder = Recorder()
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        app = build_app(recorder, profile=IAC)
        function = Mangum(app, lifespan="off", text_mime_types=TEXT)
        for asked in (
            event("GET", "/acme/tasks/t-1", "historyLength=2"),
            event("POST", "/tasks/t-1:cancel"),
        ):
            answer = function(asked, object())
            assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
            assert json.loads(answer["body"]) == {"id": "t-1"}
        missing = function(event("PUT", "/tasks"), object())
        assert (missing["statusCode"], missing["headers"]["allow"]) == (405, "GET, HEAD")
    finally:
        asyncio.set_event_loop(None)
        loop.close()
    assert [(name, request) for name, request, _ in recorder.asked] == [
        ("GetTask", GetTaskRequest(id="t-1", tenant="acme", history_length=2)),
        ("CancelTask", CancelTaskRequest(id="t-1")),
    ]
