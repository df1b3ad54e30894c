"""Is what we write the ProtoJSON that every client knows?"""

from __future__ import annotations

import json

import pytest
from a2a.types.a2a_pb2 import (
    AgentCard,
    ListTasksResponse,
    SecurityScheme,
    SendMessageResponse,
    StreamResponse,
    Task,
    TaskState,
)
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value

from a2a_fn.protocol.outputs import dumps, encode


def task() -> Task:
    task = Task(id="t", context_id="c", artifacts=[{"artifact_id": "a", "parts": [{"text": ""}]}])
    task.status.state = TaskState.TASK_STATE_WORKING
    task.status.timestamp.FromMilliseconds(1_700_000_000_123)
    message = task.history.add(message_id="m", role="ROLE_USER", extensions=["urn:x"])
    message.parts.add(raw=b"\xff\xef", filename="f")
    message.parts.add().data.null_value = 0
    message.metadata.update({"n": 1.5, "i": 3, "l": [None, True, {"s": "中"}], "e": {}})
    return task


def test_a_task_is_written_as_protobuf_writes_it():
    for message in (task(), SendMessageResponse(task=task()), StreamResponse(task=task())):
        assert encode(message) == MessageToDict(message)
        assert ParseDict(encode(message), type(message)()) == message


def test_maps_and_other_corners_are_written_as_protobuf_writes_them():
    card = AgentCard(name="n", description="d", version="1", default_input_modes=["a"])
    card.security_schemes["b"].CopyFrom(
        SecurityScheme(http_auth_security_scheme={"scheme": "bearer"})
    )
    expected = {"supportedInterfaces": [], "defaultOutputModes": [], "skills": []}
    assert encode(card) == {**MessageToDict(card), **expected}


def test_an_unknown_enum_value_of_a_newer_peer_survives_as_its_number():
    task = Task(id="t")
    task.status.state = 99
    assert encode(task)["status"] == {"state": 99} == MessageToDict(task)["status"]


def test_an_empty_page_has_everything_that_a_page_must_have():
    assert encode(ListTasksResponse()) == {
        "tasks": [],
        "nextPageToken": "",
        "pageSize": 0,
        "totalSize": 0,
    }


def test_parts_carry_nothing_that_is_not_set():
    written = encode(ListTasksResponse(tasks=[task()]))["tasks"][0]
    assert written["artifacts"] == [{"artifactId": "a", "parts": [{"text": ""}]}]
    assert set(written["history"][0]) == {"messageId", "role", "parts", "metadata", "extensions"}


def test_defaults_are_not_shared_between_answers():
    encode(ListTasksResponse())["tasks"].append("x")
    assert encode(ListTasksResponse())["tasks"] == []


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1024.0, b"1024"),
        (1.5, b"1.5"),
        (2.0**60, b"1.152921504606847e+18"),
        (float("nan"), b'"NaN"'),
        (float("inf"), b'"Infinity"'),
        (-float("inf"), b'"-Infinity"'),
    ],
)
def test_numbers_are_json_whatever_the_agent_wrote(number, written):
    task = Task(id="t")
    task.metadata.fields["n"].CopyFrom(Value(number_value=number))
    assert dumps(encode(task)["metadata"]) == b'{"n":%s}' % written


def test_json_is_one_line_of_utf8_for_every_reader():
    value = {"text": "中\u2028\u2029\x85\x0b\x1c\r\n\U0001f600"}
    line = dumps(value)
    assert len(line.decode().splitlines()) == 1
    assert json.loads(line) == value
    assert "中".encode() in line
    assert dumps("\ud800") == b'"?"'
