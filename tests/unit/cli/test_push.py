"""push dead, push redrive: what was given up, told without secrets, and brought back."""

from __future__ import annotations

import asyncio
import json

import pytest
from a2a.types.a2a_pb2 import Message, Part, Role

from a2a_fn.journal import intents
from a2a_fn.journal.slots import Config
from a2a_fn.push import letters
from a2a_fn.push.letters import Letter
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

URL = "https://hooks.example.com/a2a?key=very-secret"


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.delenv("A2A_FN_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


@pytest.fixture
def given_up(data):
    """A task whose webhook was given up; its id."""

    async def make():
        services = build_services(Settings(data=str(data), push_notifications=True))
        journal = services.journal

        async def config(task):
            return Config("mine", URL)

        message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="x")])
        task = (await intents.submit(journal, "me", message, webhook=config)).task
        part = task.partition("-")[0]
        letter = Letter(part, task, "mine", 1, 3, 1_796_000_000_000, 0, 404, "Not\x1b[31m here")
        await journal.rows.write([letters.put(letter, journal.shards)])
        row = await journal.rows.get(f"C#{part}", f"P#{task}#mine")
        from a2a_fn.journal import webhooks

        dead = webhooks.decode(row.value)._replace(gone=webhooks.DEAD)
        await journal.rows.write([webhooks.put(f"C#{part}", dead, row.rev)])
        await services.close()
        return task

    return asyncio.run(make())


def test_what_was_given_up_is_listed_in_one_line_each(cli, data, given_up):
    result = cli("push", "dead", "--data", str(data))
    assert result.code == 0
    assert result.out == (
        f"2026-11-30T00:53:20Z  {given_up}  mine  event 1, 3 tries: 404 Not[31m here\n"
    )


def test_as_json_it_is_one_object_a_line(cli, data, given_up):
    (line,) = cli("push", "dead", "--data", str(data), "--json").out.splitlines()
    assert json.loads(line)["task"] == given_up
    assert "secret" not in line


def test_redriven_it_is_sent_again_and_no_longer_listed(cli, data, given_up):
    result = cli("push", "redrive", "--task", given_up, "--data", str(data))
    assert (result.code, result.out) == (0, f"{given_up} mine: sent again\n")
    assert cli("push", "dead", "--data", str(data)).out == ""
    again = cli("push", "redrive", "--task", given_up, "--data", str(data))
    assert again.code == 2
    assert given_up in again.err


def test_the_webhook_waits_for_a_pusher_once_it_is_redriven(cli, data, given_up):
    cli("push", "redrive", "--all", "--data", str(data))

    async def look():
        services = build_services(Settings(data=str(data), push_notifications=True))
        hook = await intents.webhook(services.journal, "me", given_up, "mine")
        bodies = [each.body for each in await services.outbox.queue.receive(10, 0)]
        await services.close()
        return hook, bodies

    hook, bodies = asyncio.run(look())
    assert hook.live
    assert (hook.sent, hook.attempts) == (0, 0)
    assert any(json.loads(body)["task"] == given_up for body in bodies)


@pytest.mark.parametrize("options", [[], ["--all", "--task", "t"]])
def test_redrive_wants_to_know_what(cli, data, options):
    result = cli("push", "redrive", *options, "--data", str(data))
    assert result.code == 2
    assert "--task" in result.err


def test_nothing_given_up_is_said_on_stderr(cli, data):
    result = cli("push", "dead", "--data", str(data))
    assert (result.code, result.out) == (0, "")
    assert "Nothing" in result.err
