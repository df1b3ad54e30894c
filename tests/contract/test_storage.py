"""The engine that the settings name, through the services that a host uses, on a real Redis."""

from __future__ import annotations

import json

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role
from tests.e2e.hooks import hook

from a2a_fn.errors import InvalidSettings
from a2a_fn.journal import intents
from a2a_fn.journal.slots import Config
from a2a_fn.push import keyring
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

SHARED = {
    "id_key": "the same for every process",
    "push_keys": keyring.write(keyring.fresh(1_796_000_000_000)),
    "push_notifications": True,
    "push_allow_private": True,
    "agent": "echo:",
}


async def submit(services, url):
    async def config(task):
        return Config("mine", url, base="http://127.0.0.1")

    message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="one two")])
    accepted = await intents.submit(services.journal, "me", message, webhook=config)
    await services.wake(accepted.view.part)
    return accepted.task


async def all_pushed(services):
    """Do what the push queue says until it says nothing more."""
    while found := await services.outbox.queue.receive(10, 0):
        for delivery in found:
            await services.outbox.run(delivery.body, remaining=lambda: 60.0)
            await services.outbox.queue.ack(delivery.handle)


async def test_a_task_goes_from_process_to_process_over_redis(redis, tmp_path):
    settings = Settings(engine="redis", redis_url=redis.url, data=str(tmp_path), **SHARED)
    taking, working, looking = (build_services(settings) for _ in range(3))
    with hook() as receiver:
        task = await submit(taking, receiver.url)
        (wake,) = await working.turns.receive(1, 0)
        await working.run_turn(wake.body)
        await all_pushed(working)
        assert [got.state for got in receiver.got] == ["SUBMITTED", "WORKING", "COMPLETED"]
    view = await intents.find(looking.journal, "me", task)
    assert view.tasks[task].task.status.message.parts[0].text.strip() == "one two"
    for services in (taking, working, looking):
        await services.close()


async def test_only_the_wake_ups_of_pushes_are_in_the_streams_that_the_settings_name(
    redis, tmp_path
):
    settings = Settings(
        data=str(tmp_path),
        push_queue="redis-streams",
        push_redis_url=redis.url,
        push_stream="s:push",
        push_retry_key="s:retry",
        push_dead_stream="s:dead",
        push_consumer_group="s-group",
        push_consumer_name="worker-1",
        push_lease_timeout_ms=60_000,
        **SHARED,
    )
    services = build_services(settings)
    task = await submit(services, "http://127.0.0.1:9/")
    (delivery,) = await services.outbox.queue.receive(1, 0)
    assert json.loads(delivery.body)["task"] == task
    kept = sorted(redis.ask("KEYS", "*"))
    assert [name.decode() if isinstance(name, bytes) else name for name in kept] == [
        "s:push",
        "s:retry",
    ]
    await services.close()


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"engine": "redis"}, "redis-url"),
        ({"push_queue": "redis-streams"}, "push-redis-url"),
    ],
)
async def test_a_redis_that_is_not_named_is_said(tmp_path, settings, word):
    services = build_services(Settings(data=str(tmp_path), **{**SHARED, **settings}))
    with pytest.raises(InvalidSettings, match=word):
        await services.journal.rows.get("a", "b")
        await services.outbox.queue.receive(1, 0)


@pytest.mark.parametrize("missing", ["id_key", "push_keys"])
async def test_on_redis_each_process_needs_the_same_keys(redis, tmp_path, missing):
    given = {**SHARED, missing: ""}
    services = build_services(
        Settings(engine="redis", redis_url=redis.url, data=str(tmp_path), **given)
    )
    with pytest.raises(InvalidSettings, match=missing.replace("_", "-")):
        _ = services.secret
        services.outbox.ready()
