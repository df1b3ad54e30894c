"""How often a principal may call."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.protocol.issuer import Clock

from a2a_fn.protocol.callers import Principal
from a2a_fn.protocol.rate import Rate


def test_a_full_bucket_then_as_many_as_a_minute_gives() -> None:
    clock = Clock()
    rate = Rate(6, clock)
    assert [rate("ann") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]
    clock.pass_by(9.999)
    assert rate("ann") == 0.001
    clock.pass_by(0.001)
    assert [rate("ann"), rate("ann")] == [0, 10]
    clock.pass_by(3600)
    assert [rate("ann") for _ in range(7)] == [0, 0, 0, 0, 0, 0, 10]


def test_one_who_waits_as_told_may_call() -> None:
    for per_minute in (1, 7, 59, 60, 61, 9_999):
        clock = Clock()
        rate = Rate(per_minute, clock)
        while not (wait := rate("ann")):
            pass
        clock.pass_by(wait)
        assert rate("ann") == 0


def test_each_has_a_bucket_of_their_own() -> None:
    rate = Rate(1, Clock())
    assert [rate("ann"), rate("bob"), rate("ann"), rate("bob")] == [0, 0, 60, 60]


def test_memory_is_bounded_and_the_busiest_are_remembered() -> None:
    rate = Rate(1, Clock(), most=100)
    rate("ann")
    for n in range(10_000):
        assert rate(f"other-{n}") == 0
        assert rate("ann") > 0
    assert len(rate._buckets) == 100


def test_a_clock_that_is_set_back_gives_nothing_and_takes_nothing() -> None:
    clock = Clock()
    rate = Rate(2, clock)
    rate("ann")
    clock.pass_by(-3600)
    assert [rate("ann"), rate("ann")] == [0, 30]


@given(st.integers(1, 600), st.lists(st.floats(0, 30), max_size=60))
def test_no_minute_has_more_than_twice_the_limit(per_minute: int, pauses: list[float]) -> None:
    clock = Clock()
    rate = Rate(per_minute, clock)
    passed: list[int] = []
    for pause in pauses:
        clock.pass_by(pause)
        for _ in range(3):
            if rate("ann") == 0:
                passed.append(clock.now())
    for moment in passed:
        assert sum(moment <= other < moment + 60_000 for other in passed) <= 2 * per_minute


async def test_who_calls_too_often_is_told_when_to_come_back(
    listen: Any, handler: Any, scripted: Any
) -> None:
    async def authenticate(scope: Any) -> Principal:
        return Principal(dict(scope["headers"])[b"x-who"].decode())

    clock = Clock()
    body = b'{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}'
    async with listen(handler, authenticate=authenticate, limit=Rate(40, clock)) as server:
        for _ in range(40):
            assert (await server.post(body, X_Who="ann")).status_code == 200
        late = await server.post(body, X_Who="ann")
        assert late.status_code == 429
        assert late.headers["retry-after"] == "2"  # 1.5 s
        assert late.json() == {"error": "Too Many Requests"}
        assert (await server.post(body, X_Who="bob")).status_code == 200
        clock.pass_by(2)
        assert (await server.post(body, X_Who="ann")).status_code == 200
