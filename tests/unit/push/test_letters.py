"""Dead letters: what they say, how they are listed, and what they do not hold."""

from __future__ import annotations

import pytest
from tests.unit.push.deliveries import Hooks, part_of, works

from a2a_fn.journal import alarms
from a2a_fn.ports import Answer
from a2a_fn.push import letters
from a2a_fn.push.letters import Letter


@pytest.fixture
def hooks() -> Hooks:
    return Hooks()


def letter(n: int, part: str = "p", config: str = "a") -> Letter:
    return Letter(part, f"{part}-{n}", config, 3, 1, 1_800_000_000_000 + n, 9, 400, "no")


async def keep(hooks: Hooks, *kept: Letter) -> None:
    for one in kept:
        await hooks.rows.write([letters.put(one, hooks.journal.shards)])


async def test_what_is_kept_comes_back_oldest_first(hooks: Hooks) -> None:
    kept = [letter(n) for n in (3, 1, 2)]
    await keep(hooks, *kept)
    assert await hooks.letters() == sorted(kept, key=lambda one: one.since)


async def test_more_than_a_page_is_listed_once_each(hooks: Hooks) -> None:
    kept = [letter(n) for n in range(letters.PAGE * 2 + 5)]
    await keep(hooks, *kept)
    assert await hooks.letters() == kept


async def test_exactly_a_page_is_listed(hooks: Hooks) -> None:
    kept = [letter(n) for n in range(letters.PAGE)]
    await keep(hooks, *kept)
    assert await hooks.letters() == kept


async def test_letters_of_every_shard_are_listed_and_dropped(hooks: Hooks) -> None:
    hooks.journal.shards = 4
    kept = [letter(n, part=f"part{n}") for n in range(30)]
    await keep(hooks, *kept)
    assert len({alarms.shard_of(one.part, 4) for one in kept}) == 4
    assert sorted(await hooks.letters()) == sorted(kept)
    for one in kept:
        await letters.drop(hooks.journal, one)
    assert await hooks.letters() == []


async def test_the_same_push_given_up_twice_is_one_letter(hooks: Hooks) -> None:
    await keep(hooks, letter(1), letter(1)._replace(attempts=2, time=10))
    (kept,) = await hooks.letters()
    assert kept.attempts == 2


async def test_two_webhooks_of_a_task_have_a_letter_each(hooks: Hooks) -> None:
    task = await hooks.submit()
    for name in ("a", "b"):
        await hooks.set(task, name)
    await hooks.run(task, works)
    hooks.answers = [Answer(404)]
    for name in ("a", "b"):
        await hooks.push(task, name)
    assert sorted(one.config for one in await hooks.letters()) == ["a", "b"]


async def test_a_letter_holds_no_address_no_owner_and_no_payload(hooks: Hooks) -> None:
    task = await hooks.submit("my secret wish")
    await hooks.set(task, url="https://hooks.example.com/a2a?key=s3cret")
    await hooks.run(task, works)
    hooks.answers = [Answer(404, text="not here")]
    await hooks.push(task)
    (row,) = await hooks.rows.scan(f"X#{alarms.shard_of(part_of(task), 1)}")
    for secret in (b"s3cret", b"hooks.example.com", b"secret wish", b'"me"'):
        assert secret not in row.value
        assert secret.decode() not in row.key


async def test_dropping_a_letter_leaves_its_webhook_dead(hooks: Hooks) -> None:
    task = await hooks.submit()
    await hooks.set(task)
    await hooks.run(task, works)
    hooks.answers = [Answer(404)]
    await hooks.push(task)
    (one,) = await hooks.letters()
    await letters.drop(hooks.journal, one)
    assert await hooks.letters() == []
    assert not (await hooks.hook(task)).live
