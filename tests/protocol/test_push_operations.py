"""Push notification configs over JSON-RPC of 1.0: what is kept, what is refused, what is left."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.protocol.deployment import Deployment, deployed

URL = "https://hooks.example.com/a2a"
FULL = {
    "id": "mine",
    "url": URL,
    "token": "tok",
    "authentication": {"scheme": "Bearer", "credentials": "sesame"},
}
ON = {"agent": "echo:", "push_notifications": True}


async def create(server: Deployment, task: str, **config: Any) -> dict[str, Any]:
    return await server.call("CreateTaskPushNotificationConfig", {"taskId": task, **config})


async def ids(server: Deployment, task: str, **page: Any) -> tuple[list[str], str]:
    answer = await server.call("ListTaskPushNotificationConfigs", {"taskId": task, **page})
    result = answer["result"]
    return [each["id"] for each in result.get("configs", ())], result.get("nextPageToken", "")


def fields(answer: dict[str, Any]) -> list[str]:
    """The fields that an InvalidParamsError names."""
    assert answer["error"]["code"] == -32602, answer
    return [
        violation["field"]
        for detail in answer["error"]["data"]
        for violation in detail.get("fieldViolations", ())
    ]


async def test_a_config_is_given_back_as_it_was_set() -> None:
    async with deployed(**ON) as server:
        task = (await server.task("x"))["id"]
        created = await create(server, task, **FULL)
        assert created["result"] == {**FULL, "taskId": task}
        named = {"taskId": task, "id": "mine"}
        got = await server.call("GetTaskPushNotificationConfig", named)
        assert got["result"] == created["result"]


async def test_without_an_id_it_has_the_tasks() -> None:
    async with deployed(**ON) as server:
        task = (await server.task("x"))["id"]
        assert (await create(server, task, url=URL))["result"]["id"] == task
        assert await ids(server, task) == ([task], "")


async def test_deleted_it_is_gone_and_can_be_deleted_again() -> None:
    async with deployed(**ON) as server:
        task = (await server.task("x"))["id"]
        await create(server, task, **FULL)
        named = {"taskId": task, "id": "mine"}
        for _ in range(2):
            answer = await server.call("DeleteTaskPushNotificationConfig", named)
            assert answer["result"] == {}
        assert (await server.call("GetTaskPushNotificationConfig", named))["error"][
            "code"
        ] == -32001
        assert await ids(server, task) == ([], "")


async def test_pages_have_each_config_once() -> None:
    async with deployed(**ON) as server:
        task = (await server.task("x"))["id"]
        for name in "cab":
            await create(server, task, id=name, url=URL)
        first, token = await ids(server, task, pageSize=2)
        assert first == ["a", "b"]
        assert await ids(server, task, pageSize=2, pageToken=token) == (["c"], "")


async def test_the_thirty_third_is_refused_and_the_others_stay() -> None:
    async with deployed(**ON) as server:
        task = (await server.task("x"))["id"]
        for i in range(32):
            assert "result" in await create(server, task, id=f"w{i:02}", url=URL)
        refused = await create(server, task, id="one-more", url=URL)
        assert refused["error"]["code"] == -32602
        assert "32" in refused["error"]["message"]
        assert "result" in await create(server, task, id="w00", url=URL)  # set anew
        assert len((await ids(server, task))[0]) == 32


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"url": "http://127.0.0.1/x"}, "url"),
        ({"url": "http://169.254.169.254/latest"}, "url"),
        ({"url": "ftp://hooks.example.com"}, "url"),
        ({"url": ""}, "url"),
        ({"url": URL, "token": "two\nlines"}, "token"),
        (
            {"url": URL, "authentication": {"scheme": "no scheme", "credentials": "sesame"}},
            "authentication.scheme",
        ),
        (
            {"url": URL, "authentication": {"scheme": "Basic", "credentials": "sesame"}},
            "authentication.credentials",
        ),
        (
            {"url": URL, "authentication": {"scheme": "Bearer", "credentials": "sesame\r\nX: y"}},
            "authentication.credentials",
        ),
    ],
)
async def test_what_cannot_be_pushed_to_is_refused_by_its_field_and_without_its_value(
    config: dict[str, Any], field: str
) -> None:
    async with deployed(**ON) as server:
        task = (await server.task("x"))["id"]
        refused = await create(server, task, id="p", **config)
        assert fields(refused) == [field]
        assert "sesame" not in str(refused)
        sent = await server.call(
            "SendMessage",
            {
                "message": {
                    "messageId": "m",
                    "role": "ROLE_USER",
                    "parts": [{"text": "x"}],
                    "contextId": "apart",
                },
                "configuration": {"taskPushNotificationConfig": config},
            },
        )
        assert fields(sent) == [f"configuration.taskPushNotificationConfig.{field}"]
        listed = await server.call("ListTasks", {"contextId": "apart"})
        assert listed["result"]["tasks"] == []  # nothing is half accepted
        assert await ids(server, task) == ([], "")


async def test_where_nothing_is_pushed_every_way_says_so() -> None:
    async with deployed(agent="echo:") as server:
        task = (await server.task("x"))["id"]
        answers = [await create(server, task, url=URL)]
        for method in ("Get", "Delete"):
            named = {"taskId": task, "id": "p"}
            answers.append(await server.call(f"{method}TaskPushNotificationConfig", named))
        answers.append(await server.call("ListTaskPushNotificationConfigs", {"taskId": task}))
        message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}
        config = {"taskPushNotificationConfig": {"url": URL}}
        sent = {"message": message, "configuration": config}
        answers.append(await server.call("SendMessage", sent))
        assert {answer["error"]["code"] for answer in answers} == {-32003}
        card = (await server.http.get(f"{server.url}.well-known/agent-card.json")).json()
        assert not card["capabilities"].get("pushNotifications")


async def test_the_card_and_the_key_set_say_that_it_pushes() -> None:
    async with deployed(**ON) as server:
        card = (await server.http.get(f"{server.url}.well-known/agent-card.json")).json()
        assert card["capabilities"]["pushNotifications"] is True
        keys = (await server.http.get(f"{server.url}.well-known/jwks.json")).json()["keys"]
        assert [(key["alg"], key["use"], "d" in key) for key in keys] == [("ES256", "sig", False)]


async def test_many_at_once_are_all_kept() -> None:
    async with deployed(**ON) as server:
        task = (await server.task("x"))["id"]
        names = [f"n{i}" for i in range(8)]
        await asyncio.gather(*(create(server, task, id=name, url=URL) for name in names))
        assert (await ids(server, task))[0] == names
