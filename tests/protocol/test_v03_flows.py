"""Does the a2a-sdk's client get what it asks for when it speaks A2A 0.3, by either binding?"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory
from a2a.compat.v0_3.jsonrpc_transport import CompatJsonRpcTransport
from a2a.compat.v0_3.rest_transport import CompatRestTransport
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    CancelTaskRequest,
    GetTaskRequest,
    Part,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils.errors import (
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
)

on_journal = pytest.mark.parametrize("agent", ["journal"], indirect=True)
TRANSPORTS = {"JSONRPC": CompatJsonRpcTransport, "HTTP+JSON": CompatRestTransport}


@pytest.fixture(params=list(TRANSPORTS))
async def connect_to(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """Makes clients of the SDK from a card that has nothing but an interface of 0.3."""
    binding = request.param
    async with httpx.AsyncClient(trust_env=False, timeout=10) as http:

        def client(server: Any, **config: Any) -> Any:
            card = AgentCard(
                name="old",
                capabilities=AgentCapabilities(streaming=True),
                supported_interfaces=[
                    AgentInterface(url=server.url, protocol_binding=binding, protocol_version="0.3")
                ],
            )
            given = ClientConfig(httpx_client=http, supported_protocol_bindings=[binding], **config)
            made = ClientFactory(given).create(card)
            assert type(made._transport) is TRANSPORTS[binding]
            return made

        yield client


@pytest.fixture
def connect(connect_to: Any, agent: Any) -> Any:
    """Makes clients of the product itself."""
    return partial(connect_to, agent)


async def events(client: Any, message: Any, **configuration: Any) -> list[Any]:
    request = SendMessageRequest(
        message=message, configuration=SendMessageConfiguration(**configuration)
    )
    return [event async for event in client.send_message(request)]


@on_journal
async def test_a_message_waits_for_the_finished_task(connect, user_message):
    (answer,) = await events(connect(streaming=False), user_message("bonjour"))
    assert answer.task.status.state == TaskState.TASK_STATE_COMPLETED
    assert answer.task.artifacts[0].parts[0].text == "bonjour"
    assert answer.task.history[0].parts[0].text == "bonjour"


@on_journal
async def test_a_message_that_must_not_block_is_answered_with_a_task_that_works(
    connect, user_message
):
    client = connect(streaming=False)
    (answer,) = await events(client, user_message("wait"), return_immediately=True)
    assert answer.task.status.state in (
        TaskState.TASK_STATE_SUBMITTED,
        TaskState.TASK_STATE_WORKING,
    )
    canceled = await client.cancel_task(CancelTaskRequest(id=answer.task.id))
    assert canceled.status.state == TaskState.TASK_STATE_CANCELED


@on_journal
async def test_a_stream_is_the_task_and_then_its_events(connect, user_message):
    got = await events(connect(streaming=True), user_message("salut"))
    assert [event.WhichOneof("payload") for event in got[:1]] == ["task"]
    assert {event.WhichOneof("payload") for event in got[1:]} == {
        "status_update",
        "artifact_update",
    }
    assert got[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED
    assert [e.artifact_update.artifact.parts[0].text for e in got if e.HasField("artifact_update")]


async def test_every_kind_of_part_arrives_as_it_was_sent(connect_to, listen, handler, user_message):
    message = user_message("these:")
    message.parts.append(Part(raw=b"\xff\x00binary", media_type="image/png", filename="a.png"))
    message.parts.append(Part(raw=b"text", media_type="text/plain"))
    message.parts.append(Part(url="https://example.com/f", media_type="text/css"))
    data = message.parts.add()
    data.data.struct_value.update({"n": 3, "list": [1.5, None, True, {"a": "b"}]})
    message.metadata.update({"k": {"deep": [1]}})
    async with listen(handler, v03=True) as server:
        client = connect_to(server, streaming=False)
        (answer,) = await events(client, message)
        task = await client.get_task(GetTaskRequest(id=answer.task.id))
    for given, kept in zip(message.parts, task.history[0].parts, strict=True):
        if not kept.metadata.fields:  # over REST, the SDK's client makes empty ones
            kept.ClearField("metadata")
        assert kept == given
    assert task.history[0].metadata == message.metadata


@on_journal
async def test_a_conversation_goes_on_in_its_context(connect, user_message):
    client = connect(streaming=False)
    (first,) = await events(client, user_message("one"))
    again = user_message("two", context_id=first.task.context_id)
    again.message_id = "m-2"
    (second,) = await events(client, again)
    assert second.task.context_id == first.task.context_id
    assert second.task.id != first.task.id


@on_journal
async def test_a_task_is_followed_again_after_the_connection_was_lost(connect, user_message):
    client = connect(streaming=True)
    (started,) = await events(
        connect(streaming=False), user_message("wait"), return_immediately=True
    )
    task_id = started.task.id
    stream = client.subscribe(SubscribeToTaskRequest(id=task_id))
    async with asyncio.timeout(10):
        first = await anext(stream)
        assert first.task.id == task_id
        await client.cancel_task(CancelTaskRequest(id=task_id))
        rest = [event async for event in stream]
    assert rest[-1].status_update.status.state == TaskState.TASK_STATE_CANCELED


@on_journal
async def test_history_is_cut_to_the_length_that_is_asked_for(connect, user_message):
    client = connect(streaming=False)
    (answer,) = await events(client, user_message("hello"))
    whole = await client.get_task(GetTaskRequest(id=answer.task.id))
    cut = await client.get_task(GetTaskRequest(id=answer.task.id, history_length=1))
    all_of_it = await client.get_task(GetTaskRequest(id=answer.task.id, history_length=0))
    assert len(cut.history) == 1
    assert len(all_of_it.history) == len(whole.history) >= 1  # 0 is "unlimited" in 0.3


@on_journal
async def test_errors_are_those_that_the_operation_has(connect, user_message):
    client = connect(streaming=False)
    (answer,) = await events(client, user_message("done"))
    with pytest.raises(TaskNotFoundError):
        await client.get_task(GetTaskRequest(id="nobodys"))
    with pytest.raises(TaskNotCancelableError):
        await client.cancel_task(CancelTaskRequest(id=answer.task.id))
    late = user_message("more", task_id=answer.task.id)
    late.message_id = "m-3"
    with pytest.raises(UnsupportedOperationError):
        await events(client, late)
