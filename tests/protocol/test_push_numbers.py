"""Many push notification configs of one task: pages, the limit, all at once; and the key set."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.protocol.deployment import Deployment, deployed

URL = "https://hooks.example.com/a2a"
ON = {"agent": "echo:", "push_notifications": True}


async def create(server: Deployment, task: str, **config: Any) -> dict[str, Any]:
    return await server.call("CreateTaskPushNotificationConfig", {"taskId": task, **config})


async def ids(server: Deployment, task: str, **page: Any) -> tuple[list[str], str]:
    answer = await server.call("ListTaskPushNotificationConfigs", {"taskId": task, **page})
    result = answer["result"]
    return [each["id"] for each in result.get("configs", ())], result.get("nextPageToken", "")


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
