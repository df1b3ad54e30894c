"""Does the a2a-sdk's own client get what it asks for over HTTP+JSON?"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from a2a.client import ClientConfig, ClientFactory, create_client
from a2a.client.client import ClientCallContext
from a2a.client.transports.rest import RestTransport
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    ListTasksRequest,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    SubscribeToTaskRequest,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import (
    InvalidParamsError,
    PushNotificationNotSupportedError,
    TaskNotCancelableError,
    TaskNotFoundError,
    UnsupportedOperationError,
    VersionNotSupportedError,
)
from google.protobuf.empty_pb2 import Empty

from a2a_fn.protocol.callers import Frame
from a2a_fn.protocol.operations import Capabilities

COMPLETED = TaskState.TASK_STATE_COMPLETED
WORKING = TaskState.TASK_STATE_WORKING
CANCELED = TaskState.TASK_STATE_CANCELED


def client_of(
    url: str, http: httpx.AsyncClient, *, streaming: bool = True, tenant: str = ""
) -> Any:
    """A client of the SDK that knows the server's address and nothing else."""
    interface = AgentInterface(
        url=url, protocol_binding="HTTP+JSON", protocol_version="1.0", tenant=tenant
    )
    card = AgentCard(
        name="echo",
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        supported_interfaces=[interface],
    )
    config = ClientConfig(
        httpx_client=http, supported_protocol_bindings=["HTTP+JSON"], streaming=streaming
    )
    return ClientFactory(config).create(card)


@pytest.fixture
async def connect(agent: Any) -> AsyncIterator[Any]:
    async with httpx.AsyncClient(trust_env=False) as http:
        yield lambda **options: client_of(agent.url, http, **options)


async def started(client: Any, message: Any) -> Task:
    """The task of a message that is handed over without waiting for its end."""
    request = SendMessageRequest(
        message=message, configuration=SendMessageConfiguration(return_immediately=True)
    )
    (answer,) = [event async for event in client.send_message(request)]
    return answer.task


async def test_a_blocking_message_answers_with_the_finished_task(connect, user_message):
    client = connect(streaming=False)
    request = SendMessageRequest(message=user_message("bonjour"))
    (answer,) = [event async for event in client.send_message(request)]
    assert answer.task.status.state == COMPLETED
    assert answer.task.artifacts[0].parts[0].text == "bonjour"


async def test_the_card_leads_here_who_speaks_nothing_else(agent, user_message):
    async with httpx.AsyncClient(trust_env=False) as http:
        config = ClientConfig(httpx_client=http, supported_protocol_bindings=["HTTP+JSON"])
        client = await create_client(agent.url, config)
        request = SendMessageRequest(message=user_message("bonjour"))
        events = [event async for event in client.send_message(request)]
    assert events[-1].status_update.status.state == COMPLETED


async def test_a_stream_begins_with_the_task_and_ends_when_it_ends(connect, user_message):
    text = "a\u2028b\x85c\r\nd 中文 \U0001f600 \x00"
    request = SendMessageRequest(message=user_message(text))
    events = [event async for event in connect().send_message(request)]
    assert events[0].HasField("task")
    assert events[-1].status_update.status.state == COMPLETED
    artifacts = [e.artifact_update.artifact for e in events if e.HasField("artifact_update")]
    assert "".join(part.text for a in artifacts for part in a.parts) == text


async def test_a_task_is_read_with_as_much_history_as_asked_for(connect, user_message):
    client = connect(streaming=False)
    task = await started(client, user_message("wait"))
    assert len((await client.get_task(GetTaskRequest(id=task.id))).history) == 1
    assert not (await client.get_task(GetTaskRequest(id=task.id, history_length=0))).history


async def test_what_cannot_be_found_and_what_cannot_be_asked(connect):
    client = connect()
    with pytest.raises(TaskNotFoundError):
        await client.get_task(GetTaskRequest(id="no-such-task"))
    with pytest.raises(InvalidParamsError, match=r"^id must be 1 to 128 letters") as caught:
        await client.get_task(GetTaskRequest(id="no such task"))
    assert caught.value.data == {"fields": "id"}
    with pytest.raises(InvalidParamsError, match=r"^pageSize must be between 1 and 100"):
        await client.list_tasks(ListTasksRequest(page_size=1000))


async def test_tasks_are_listed_by_state(connect, user_message):
    client = connect(streaming=False)
    waiting = await started(client, user_message("wait"))
    page = await client.list_tasks(ListTasksRequest(status=WORKING, include_artifacts=True))
    assert [task.id for task in page.tasks] == [waiting.id]
    assert page.total_size == 1
    assert not (await client.list_tasks(ListTasksRequest(status=COMPLETED))).tasks


async def test_a_canceled_task_cannot_be_canceled_again(connect, user_message):
    client = connect(streaming=False)
    task = await started(client, user_message("wait"))
    answer = await client.cancel_task(CancelTaskRequest(id=task.id))
    assert answer.status.state == CANCELED
    with pytest.raises(TaskNotCancelableError):
        await client.cancel_task(CancelTaskRequest(id=task.id))
    with pytest.raises(UnsupportedOperationError):
        async for _ in connect().subscribe(SubscribeToTaskRequest(id=task.id)):
            pass


async def test_two_subscribers_see_the_same_and_stop_at_the_end(connect, user_message):
    client, plain = connect(), connect(streaming=False)
    task = await started(plain, user_message("wait"))
    here = asyncio.Event(), asyncio.Event()

    async def watch(first_seen: asyncio.Event) -> list[Any]:
        events = []
        async for event in client.subscribe(SubscribeToTaskRequest(id=task.id)):
            events.append(event)
            first_seen.set()
        return events

    watching = asyncio.gather(*(watch(seen) for seen in here))
    async with asyncio.timeout(5):
        for seen in here:
            await seen.wait()
        await plain.cancel_task(CancelTaskRequest(id=task.id))
        left, right = await watching
    assert left[0].HasField("task")
    assert left[-1].status_update.status.state == CANCELED
    assert left == right


@pytest.mark.parametrize("agent", ["journal"], indirect=True)
async def test_a_tenant_has_its_own_tasks(connect, user_message):
    acme = connect(streaming=False, tenant="acme")
    others = [connect(), connect(tenant="other")]
    task = await started(acme, user_message("wait"))
    for other in others:
        with pytest.raises(TaskNotFoundError):
            await other.get_task(GetTaskRequest(id=task.id))
        with pytest.raises(TaskNotFoundError):
            await other.cancel_task(CancelTaskRequest(id=task.id))
        with pytest.raises(TaskNotFoundError):
            async for _ in other.subscribe(SubscribeToTaskRequest(id=task.id)):
                pass
        assert not (await other.list_tasks(ListTasksRequest())).tasks
    listed = (await acme.list_tasks(ListTasksRequest())).tasks
    assert [one.id for one in listed] == [task.id]
    assert (await acme.cancel_task(CancelTaskRequest(id=task.id))).status.state == CANCELED


@pytest.mark.parametrize("agent", ["journal"], indirect=True)
async def test_both_bindings_are_one_agent(connect, agent, user_message):
    client = connect(streaming=False)
    task = await started(client, user_message("wait"))
    seen = await agent.call("GetTask", {"id": task.id})
    response = await agent.http.get(f"{agent.url}tasks/{task.id}", headers={"A2A-Version": "1.0"})
    assert response.json() == seen["result"]
    await agent.call("CancelTask", {"id": task.id})
    assert (await client.get_task(GetTaskRequest(id=task.id))).status.state == CANCELED


@pytest.mark.parametrize("agent", ["journal"], indirect=True)
async def test_a_stream_that_was_left_goes_on_after_the_last_event(agent, message):
    version = {"A2A-Version": "1.0"}
    body = {"message": message("wait"), "configuration": {"returnImmediately": True}}
    sent = await agent.http.post(f"{agent.url}message:send", json=body, headers=version)
    url = f"{agent.url}tasks/{sent.json()['task']['id']}"
    await agent.http.post(f"{url}:cancel", headers=version)
    everything = await frames(agent, f"{url}:subscribe", {**version, "Last-Event-ID": "1"})
    assert [number for number, _ in everything] == list(range(1, len(everything) + 1))
    assert "task" in everything[0][1]
    assert everything[-1][1]["statusUpdate"]["status"]["state"] == "TASK_STATE_CANCELED"


async def frames(agent: Any, url: str, headers: dict[str, str]) -> list[tuple[int, Any]]:
    """Each frame's id and data."""
    response = await agent.http.get(url, headers=headers)
    assert response.status_code == 200, response.text
    found = []
    for block in response.text.strip().split("\n\n"):
        number, data = block.split("\n")
        found.append((int(number.removeprefix("id: ")), json.loads(data.removeprefix("data: "))))
    return found


async def test_push_configs_are_refused_where_there_is_no_push(connect):
    with pytest.raises(PushNotificationNotSupportedError):
        await connect().create_task_push_notification_config(
            TaskPushNotificationConfig(task_id="t-1", url="https://example.com/hook")
        )


async def test_push_configs_are_kept_by_the_sdks_client(listen, scripted):
    kept: dict[str, Any] = {}

    async def create(request: Any, caller: Any) -> Any:
        kept[request.id] = request
        return request

    async def get(request: Any, caller: Any) -> Any:
        if request.id not in kept:
            raise TaskNotFoundError
        return kept[request.id]

    async def list_all(request: Any, caller: Any) -> Any:
        return ListTaskPushNotificationConfigsResponse(configs=kept.values())

    async def delete(request: Any, caller: Any) -> Any:
        kept.pop(request.id, None)
        return Empty()

    handler = scripted(
        create_push_config=create,
        get_push_config=get,
        list_push_configs=list_all,
        delete_push_config=delete,
    )
    async with (
        listen(handler, capabilities=Capabilities(push=True)) as server,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        client = client_of(server.url, http, tenant="acme")
        config = TaskPushNotificationConfig(task_id="t-1", id="c-1", url="https://example.com/a")
        made = await client.create_task_push_notification_config(config)
        assert (made.task_id, made.id, made.url, made.tenant) == (
            "t-1",
            "c-1",
            "https://example.com/a",
            "acme",
        )
        named = {"task_id": "t-1", "id": "c-1"}
        get_it = GetTaskPushNotificationConfigRequest(**named)
        assert await client.get_task_push_notification_config(get_it) == made
        listed = await client.list_task_push_notification_configs(
            ListTaskPushNotificationConfigsRequest(task_id="t-1")
        )
        assert list(listed.configs) == [made]
        delete_it = DeleteTaskPushNotificationConfigRequest(**named)
        await client.delete_task_push_notification_config(delete_it)
        await client.delete_task_push_notification_config(delete_it)
        with pytest.raises(TaskNotFoundError):
            await client.get_task_push_notification_config(get_it)


async def test_an_error_in_a_stream_reaches_the_sdks_client_as_itself(listen, scripted):
    async def subscribe(*_: Any) -> AsyncIterator[Frame]:
        yield Frame(StreamResponse(task=Task(id="t-1")), 1)
        raise TaskNotFoundError("it was purged")

    async with (
        listen(scripted(subscribe=subscribe)) as server,
        httpx.AsyncClient(trust_env=False) as http,
    ):
        events = []
        with pytest.raises(TaskNotFoundError, match="it was purged"):
            async for event in client_of(server.url, http).subscribe(
                SubscribeToTaskRequest(id="t-1")
            ):
                events.append(event)
    assert len(events) == 1


async def test_a_client_of_another_version_is_told_which_there_is(agent):
    async with httpx.AsyncClient(trust_env=False) as http:
        transport = RestTransport(http, AgentCard(), agent.url)
        old = ClientCallContext(service_parameters={"A2A-Version": "0.3"})
        with pytest.raises(VersionNotSupportedError) as caught:
            await transport.get_task(GetTaskRequest(id="t-1"), context=old)
    assert caught.value.data == {"supportedVersions": "1.0"}
