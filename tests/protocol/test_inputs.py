"""Does a wrong field get named, and does a right one arrive as it was meant?"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
)
from a2a.utils.errors import InvalidParamsError
from google.protobuf.json_format import MessageToDict, ParseDict
from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_fn.protocol.inputs import MAX_FAULTS, MAX_VALUES, read
from a2a_fn.protocol.operations import OPERATIONS
from a2a_fn.protocol.values import MAX_DEPTH

SEND = {
    "message": {
        "messageId": "m-1",
        "contextId": "c-1",
        "taskId": "t-1",
        "role": "ROLE_USER",
        "parts": [
            {"text": "", "metadata": {"a": [1, None, True, {"b": "é"}]}},
            {"raw": "_-8=", "filename": "f", "mediaType": "text/plain"},
            {"url": "file:///x"},
            {"data": None},
        ],
        "metadata": {},
        "extensions": ["urn:x"],
        "referenceTaskIds": ["t-0"],
    },
    "configuration": {
        "acceptedOutputModes": ["text/plain"],
        "historyLength": 0,
        "returnImmediately": True,
        "taskPushNotificationConfig": {
            "url": "https://x.example",
            "authentication": {"scheme": "Bearer", "credentials": "s"},
        },
    },
    "metadata": {"iac_code": {"cwd": "/x"}},
}


def faults(params: object, kind: Any = SendMessageRequest) -> dict[str, str]:
    """What ``read`` finds wrong: field -> message."""
    with pytest.raises(InvalidParamsError) as caught:
        read(params, kind())
    first = caught.value.data["errors"][0]
    assert str(caught.value).startswith(f"{first['field']} {first['message']}")
    return {one["field"]: one["message"] for one in caught.value.data["errors"]}


def sent(*path: Any, value: Any) -> dict[str, Any]:
    """``SEND`` with one value in it replaced; ``value`` of ``...`` takes it away."""
    params: Any = copy.deepcopy(SEND)
    inner = params
    for step in path[:-1]:
        inner = inner[step]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return params


def test_a_full_message_arrives_whole():
    request = read(SEND, SendMessageRequest())
    assert MessageToDict(request) == {**SEND, "message": MessageToDict(request.message)}
    assert [part.WhichOneof("content") for part in request.message.parts] == [
        "text",
        "raw",
        "url",
        "data",
    ]
    assert request.message.parts[1].raw == b"\xff\xef"
    assert request.message.HasField("metadata")
    assert request.configuration.HasField("history_length")


def test_every_method_has_a_type_that_can_be_read():
    for operation in OPERATIONS.values():
        with pytest.raises(InvalidParamsError):
            read([], operation.request())


PART = "message.parts[0]"
ID = "must be 1 to 128 letters, digits, or any of _ . : -"
WRONG = [
    (("message",), ..., "message", "is required"),
    (("message",), None, "message", "is required"),
    (("message",), [], "message", "must be an object, not an array"),
    (("message", "messageId"), ..., "message.messageId", "is required"),
    (("message", "messageId"), "", "message.messageId", "must not be empty"),
    (("message", "messageId"), 5, "message.messageId", "must be a string, not a number"),
    (("message", "messageId"), "x" * 257, "message.messageId", "must be at most 256 char"),
    (("message", "messageId"), "\ud800", "message.messageId", "must be valid Unicode"),
    (("message", "role"), ..., "message.role", "is required"),
    (("message", "role"), "user", "message.role", "must be ROLE_USER"),
    (("message", "role"), "ROLE_UNSPECIFIED", "message.role", "is required"),
    (("message", "role"), "ROLE_AGENT", "message.role", "must be ROLE_USER in a message"),
    (("message", "role"), 7, "message.role", "must be ROLE_USER"),
    (("message", "role"), True, "message.role", "must be ROLE_USER"),
    (("message", "role"), ["ROLE_USER"], "message.role", "must be ROLE_USER"),
    (("message", "parts"), ..., "message.parts", "is required"),
    (("message", "parts"), [], "message.parts", "must have at least one element"),
    (("message", "parts"), {"text": "x"}, "message.parts", "must be an array, not an object"),
    (("message", "parts", 0), {}, PART, "must have one of text, raw, url, data"),
    (("message", "parts", 0), {"text": None}, PART, "must have one of text, raw, url, data"),
    (("message", "parts", 0), None, PART, "must be an object, not null"),
    (("message", "parts", 0), "hi", PART, "must be an object, not a string"),
    (
        ("message", "parts", 0),
        {"text": "a", "url": "b"},
        f"{PART}.url",
        "must not be given together with text",
    ),
    (("message", "parts", 0), {"text": 1}, f"{PART}.text", "must be a string, not a number"),
    (("message", "parts", 0), {"raw": "%%%"}, f"{PART}.raw", "must be valid base64"),
    (("message", "parts", 0), {"raw": "QQ=Q"}, f"{PART}.raw", "must be valid base64"),
    (("message", "parts", 0), {"raw": "Q"}, f"{PART}.raw", "must be valid base64"),
    (("message", "parts", 0), {"raw": "QQ==\n"}, f"{PART}.raw", "must be valid base64"),
    (("message", "parts", 0), {"raw": "é"}, f"{PART}.raw", "must be valid base64"),
    (("message", "parts", 0), {"raw": 1}, f"{PART}.raw", "must be a string of base64"),
    (("message", "contextId"), "a/b", "message.contextId", ID),
    (("message", "contextId"), "c\n", "message.contextId", ID),
    (("message", "taskId"), "x" * 129, "message.taskId", ID),
    (("message", "taskId"), "é", "message.taskId", ID),
    (("message", "referenceTaskIds"), ["ok", ""], "message.referenceTaskIds[1]", ID),
    (("message", "referenceTaskIds"), [None], "message.referenceTaskIds[0]", "must be a string"),
    (("message", "referenceTaskIds"), "t", "message.referenceTaskIds", "must be an array"),
    (("message", "extensions"), ["\udfff"], "message.extensions[0]", "must be valid Unicode"),
    (("message", "metadata"), [], "message.metadata", "must be an object, not an array"),
    (("message", "metadata"), {"\ud800": 1}, "message.metadata", "must be valid Unicode"),
    (("message", "metadata"), {"a": ["\ud800"]}, "message.metadata", "must be valid Unicode"),
    (("message", "metadata"), {"a": 1e999}, "message.metadata", "must not contain a number"),
    (("message", "metadata"), {"a": 10**400}, "message.metadata", "must not contain a number"),
    (("message", "context_id"), "c", "message.context_id", "must not be given together with"),
    (("configuration",), "x", "configuration", "must be an object, not a string"),
    (
        ("configuration", "historyLength"),
        -1,
        "configuration.historyLength",
        "must not be negative",
    ),
    (
        ("configuration", "historyLength"),
        1.5,
        "configuration.historyLength",
        "must be a whole number",
    ),
    (
        ("configuration", "historyLength"),
        2**31,
        "configuration.historyLength",
        "must fit in 32 bits",
    ),
    (
        ("configuration", "historyLength"),
        "0x5",
        "configuration.historyLength",
        "must be a whole number, not a string",
    ),
    (
        ("configuration", "historyLength"),
        True,
        "configuration.historyLength",
        "must be a whole number, not a boolean",
    ),
    (
        ("configuration", "returnImmediately"),
        "true",
        "configuration.returnImmediately",
        "must be true or false, not a string",
    ),
    (
        ("configuration", "taskPushNotificationConfig", "url"),
        ...,
        "configuration.taskPushNotificationConfig.url",
        "is required",
    ),
    (
        ("configuration", "taskPushNotificationConfig", "authentication", "scheme"),
        "",
        "configuration.taskPushNotificationConfig.authentication.scheme",
        "must not be empty",
    ),
]


@pytest.mark.parametrize(
    ("path", "value", "field", "says"), WRONG, ids=[f"{w[2]}={str(w[1])[:20]!a}" for w in WRONG]
)
def test_a_wrong_value_is_named(path, value, field, says):
    found = faults(sent(*path, value=value))
    assert list(found) == [field]
    assert found[field].startswith(says)


LIST_WRONG = [
    ({"status": "BOGUS"}, "status", "must be one of TASK_STATE_SUBMITTED, TASK_STATE_WORKING"),
    ({"status": 99}, "status", "must be one of"),
    ({"pageSize": 0}, "pageSize", "must be between 1 and 100"),
    ({"pageSize": 101}, "pageSize", "must be between 1 and 100"),
    ({"historyLength": -1}, "historyLength", "must not be negative"),
    ({"contextId": "a b"}, "contextId", ID),
    ({"includeArtifacts": 1}, "includeArtifacts", "must be true or false"),
    ({"statusTimestampAfter": "yesterday"}, "statusTimestampAfter", "must be a time such as"),
    ({"statusTimestampAfter": "2026-02-30T00:00:00Z"}, "statusTimestampAfter", "must be a time"),
    ({"statusTimestampAfter": "2026-01-01T00:00:00"}, "statusTimestampAfter", "must be a time"),
    ({"statusTimestampAfter": "2026-01-01"}, "statusTimestampAfter", "must be a time"),
    ({"statusTimestampAfter": "0000-01-01T00:00:00Z"}, "statusTimestampAfter", "must be a time"),
    ({"statusTimestampAfter": "2026-01-01T00:00:00+99:99"}, "statusTimestampAfter", "must be a"),
    ({"statusTimestampAfter": 1700000000}, "statusTimestampAfter", "must be a time"),
]


@pytest.mark.parametrize(
    ("params", "field", "says"), LIST_WRONG, ids=[str(w[0]) for w in LIST_WRONG]
)
def test_a_wrong_filter_is_named(params, field, says):
    found = faults(params, ListTasksRequest)
    assert list(found) == [field]
    assert found[field].startswith(says)


@pytest.mark.parametrize("kind", [GetTaskRequest, CancelTaskRequest, SubscribeToTaskRequest])
def test_a_task_is_named_by_a_plain_id(kind):
    assert faults({}, kind) == {"id": "is required"}
    assert faults({"id": ""}, kind) == {"id": "must not be empty"}
    assert faults({"id": "a/b"}, kind) == {"id": ID}
    assert read({"id": "a.B_9:-"}, kind()).id == "a.B_9:-"


@pytest.mark.parametrize("value", [5, 5.0, "5", 5e0])
def test_a_number_is_taken_in_every_spelling_of_protojson(value):
    assert read({"pageSize": value}, ListTasksRequest()).page_size == 5


@pytest.mark.parametrize("raw", ["_-8", "_-8=", "/+8=", "/+8"])
def test_both_alphabets_of_base64_are_taken_with_and_without_padding(raw):
    params = sent("message", "parts", 0, value={"raw": raw})
    assert read(params, SendMessageRequest()).message.parts[0].raw == b"\xff\xef"


@pytest.mark.parametrize(
    "time", ["2026-01-31T12:00:00Z", "2026-01-31T14:00:00.000+02:00", "2026-01-31t12:00:00z"]
)
def test_a_time_is_taken_in_any_zone(time):
    request = read({"statusTimestampAfter": time}, ListTasksRequest())
    assert request.status_timestamp_after.seconds == 1769860800


def test_all_faults_are_told_at_once_up_to_a_number():
    found = faults({"message": {"role": "x", "parts": [{}]}})
    assert list(found) == ["message.role", PART, "message.messageId"]
    many = faults(sent("message", "parts", value=[{}] * 10_000))
    assert len(many) == MAX_FAULTS


@pytest.mark.parametrize("nest", [lambda n: [0] * n, lambda n: [[[]]] * (n // 2)])
def test_values_are_counted_wherever_they_are(nest):
    fits = sent("message", "parts", 0, value={"data": nest(MAX_VALUES - 100)})
    assert read(fits, SendMessageRequest())
    over = sent("message", "parts", 0, value={"data": nest(MAX_VALUES)})
    assert faults(over) == {"params": f"must have at most {MAX_VALUES} values"}


def test_a_name_made_up_by_the_client_cannot_flood_or_break_the_error():
    params = {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}}
    params["message"]["metadata"] = {"k" * 10_000: {"\ud800": 1}}
    assert len(str(faults(params))) < 200


@pytest.mark.parametrize("nest", [lambda inner: {"a": inner}, lambda inner: [inner]])
def test_what_is_taken_can_be_stored_and_read_again(nest):
    deepest: Any = "leaf"
    for _ in range(MAX_DEPTH):
        deepest = nest(deepest)
    taken = read(sent("message", "parts", 0, value={"data": deepest}), SendMessageRequest())
    event = StreamResponse()
    event.status_update.status.message.CopyFrom(taken.message)
    assert StreamResponse.FromString(event.SerializeToString()) == event
    found = faults(sent("message", "parts", 0, value={"data": nest(deepest)}))
    assert found == {f"{PART}.data": f"must not be nested deeper than {MAX_DEPTH} levels"}


def test_a_type_that_could_not_be_read_right_is_not_read_at_all():
    with pytest.raises(TypeError, match="is a map"):
        read({"securitySchemes": {}}, AgentCard())


# --- against protobuf's own reader ----------------------------------------------------------------

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
ids = st.text("aZ09_.:-", min_size=1, max_size=128)
free = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(text, free, max_size=3)


def some(**fields: Any) -> Any:
    return st.fixed_dictionaries({}, optional=fields)


extra = {"filename": text, "mediaType": text, "metadata": objects}
parts = st.one_of(
    st.fixed_dictionaries({"text": text}, optional=extra),
    st.fixed_dictionaries({"raw": st.sampled_from(["", "QQ==", "QUI", "-_8="])}, optional=extra),
    st.fixed_dictionaries({"data": free}, optional=extra),
)
messages = st.fixed_dictionaries(
    {
        "messageId": st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9),
        "role": st.sampled_from(["ROLE_USER", 1]),
        "parts": st.lists(parts, min_size=1, max_size=3),
    },
    optional={
        "contextId": ids | st.none(),
        "task_id": ids,
        "metadata": objects,
        "extensions": st.lists(text, max_size=2),
        "referenceTaskIds": st.lists(ids, max_size=2),
        "unknown": free,
    },
)
sends = st.fixed_dictionaries(
    {"message": messages},
    optional={
        "configuration": some(
            acceptedOutputModes=st.lists(text, max_size=2),
            historyLength=st.integers(0, 2**31 - 1),
            returnImmediately=st.booleans(),
        ),
        "metadata": objects,
        "tenant": ids.map(lambda i: "t" + i[:20].replace(":", "-")),
    },
)
lists = some(
    contextId=ids,
    status=st.sampled_from(["TASK_STATE_WORKING", 3, "TASK_STATE_UNSPECIFIED"]),
    pageSize=st.integers(1, 100),
    pageToken=text,
    statusTimestampAfter=st.datetimes().map(lambda time: f"{time.isoformat()}Z"),
    includeArtifacts=st.booleans(),
)


@settings(max_examples=150, deadline=None)
@given(sends.map(lambda p: (p, SendMessageRequest)) | lists.map(lambda p: (p, ListTasksRequest)))
def test_valid_params_are_read_as_protobuf_reads_them(case):
    params, kind = case
    assert read(params, kind()) == ParseDict(params, kind(), ignore_unknown_fields=True)
