"""The reader of Server-Sent Events."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.cli.sse import Frame, read_frames

STREAM = (
    ": keep-alive\r\n\r\n"
    'id: 7\r\ndata: {"a": 1}\r\n\r\n'
    "event: error\ndata:no space\ndata: second line\n\n"
    ":\n\n"
    "id: 9\rdata: caf\u00e9 \u2028 \u4f60\u597d\r\r"
    "retry: 10\ndata\n\n"
).encode()
FRAMES = [
    Frame('{"a": 1}', "7"),
    Frame("no space\nsecond line", "7", "error"),
    Frame("caf\u00e9 \u2028 \u4f60\u597d", "9"),
    Frame("", "9"),
]


def test_ids_comments_types_and_all_three_line_ends():
    assert list(read_frames([STREAM])) == FRAMES


@given(st.lists(st.integers(1, len(STREAM) - 1), max_size=20))
def test_it_does_not_matter_where_the_network_cuts(cuts):
    edges = [0, *sorted(cuts), len(STREAM)]
    chunks = [STREAM[a:b] for a, b in pairwise(edges)]
    assert list(read_frames(chunks)) == FRAMES


@pytest.mark.parametrize("cut", ["id: 2\ndata: b", "id: 2\ndata: b\n", "id: 2\n"])
def test_an_event_that_was_cut_off_is_not_delivered(cut):
    assert list(read_frames([b"id: 1\ndata: a\n\n", cut.encode()])) == [Frame("a", "1")]


def test_a_stream_that_ends_in_a_lone_cr_ends_its_event():
    assert list(read_frames([b"data: a\r\r"])) == [Frame("a")]


def test_a_line_without_end_is_given_up(monkeypatch):
    monkeypatch.setattr("a2a_fn.cli.sse.EVENT_LIMIT", 1000)
    endless = (b"x" * 100 for _ in range(10_000))
    with pytest.raises(Exception, match="line of more than"):
        list(read_frames(endless))
    with pytest.raises(Exception, match="event of more than"):
        list(read_frames(b"data: 0123456789\n" for _ in range(10_000)))
