"""What an answer means, and how long to wait."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.ports import Answer
from a2a_fn.push.verdict import FIRST, LAST, Fate, Limits, Verdict, judge, transient

LIMITS = Limits()


def longest(low: float, high: float) -> float:
    return high


def shortest(low: float, high: float) -> float:
    return low


@pytest.mark.parametrize(
    ("status", "fate"),
    [
        *((status, Fate.DONE) for status in (200, 201, 202, 204, 299)),
        *((status, Fate.DEAD) for status in (100, 199, 300, 301, 304, 307, 400, 401, 403, 404)),
        *((status, Fate.DEAD) for status in (405, 409, 411, 413, 418, 422, 499)),
        *((status, Fate.RETRY) for status in (408, 425, 429, 500, 502, 503, 504, 599)),
        (410, Fate.GONE),
    ],
)
def test_each_status_has_its_fate(status: int, fate: Fate) -> None:
    assert judge(Answer(status), 1, 0.0, LIMITS, longest).fate is fate


def test_no_answer_is_tried_again() -> None:
    assert judge(None, 1, 0.0, LIMITS, longest) == Verdict(Fate.RETRY, 2.0)


def test_waits_double_up_to_a_quarter_of_an_hour() -> None:
    waits = [judge(None, n, 0.0, Limits(100), longest).wait for n in range(1, 13)]
    assert waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900]


def test_many_failures_do_not_overflow() -> None:
    assert judge(None, 5000, 0.0, Limits(10_000), longest).wait == LAST


def test_the_jitter_is_over_the_whole_range_but_a_second() -> None:
    draw = random.Random(7).uniform
    waits = [judge(None, 9, 0.0, LIMITS, draw).wait for _ in range(2000)]
    assert min(waits) < 5
    assert max(waits) > 500
    assert 230 < sum(waits) / len(waits) < 280
    assert judge(None, 9, 0.0, LIMITS, shortest).wait == FIRST


@pytest.mark.parametrize(
    ("asked", "wait"), [(0.0, 2.0), (1.5, 2.0), (60.0, 60.0), (5000.0, 5000.0)]
)
def test_retry_after_is_a_least(asked: float, wait: float) -> None:
    assert judge(Answer(503, asked), 1, 0.0, LIMITS, longest) == Verdict(Fate.RETRY, wait)


def test_retry_after_of_an_answer_that_is_no_retry_counts_for_nothing() -> None:
    assert judge(Answer(200, 60.0), 1, 0.0, LIMITS, longest) == Verdict(Fate.DONE)
    assert judge(Answer(404, 60.0), 1, 0.0, LIMITS, longest) == Verdict(Fate.DEAD)


def test_the_last_try_is_the_last() -> None:
    assert judge(None, 19, 0.0, LIMITS, longest).fate is Fate.RETRY
    assert judge(None, 20, 0.0, LIMITS, longest) == Verdict(Fate.DEAD)


def test_what_would_wait_past_the_last_moment_is_given_up_now() -> None:
    assert judge(None, 1, LIMITS.age - 2.0, LIMITS, longest).fate is Fate.RETRY
    assert judge(None, 1, LIMITS.age - 1.9, LIMITS, longest).fate is Fate.DEAD
    assert judge(Answer(503, LIMITS.age + 1), 1, 0.0, LIMITS, longest).fate is Fate.DEAD


def test_a_2xx_counts_however_late_it_is() -> None:
    assert judge(Answer(204), 20, LIMITS.age * 2, LIMITS, longest).fate is Fate.DONE


@given(
    st.none() | st.builds(Answer, st.integers(100, 599), st.none() | st.floats(0, 1e9)),
    st.integers(1, 1000),
    st.floats(0, 1e6),
    st.integers(1, 1000),
    st.randoms(use_true_random=False),
)
def test_a_retry_is_within_the_limits_and_nothing_else_waits(
    answer, attempts, age, most, rng
) -> None:
    verdict = judge(answer, attempts, age, Limits(most), rng.uniform)
    if verdict.fate is not Fate.RETRY:
        assert verdict.wait == 0.0
        return
    assert attempts < most
    assert verdict.wait >= FIRST
    assert age + verdict.wait <= Limits().age
    assert answer is None or transient(answer.status)
