"""A turn followed across lost connections: nothing missed, nothing twice, no endless trying."""

from __future__ import annotations

import io

import pytest
from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    SendMessageRequest,
    StreamResponse,
    Task,
    TaskStatus,
    TaskStatusUpdateEvent,
)
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.cli.answers import TASK_NOT_FOUND, UNSUPPORTED, Lost, Refused
from a2a_fn.cli.client import Item
from a2a_fn.cli.conversation import GIVE_UP, Conversation
from a2a_fn.cli.failures import Exit, Failure
from a2a_fn.cli.screen import Screen
from a2a_fn.cli.shelf import Shelf
from a2a_fn.cli.transcript import Transcript

LOST = Lost("the connection to x broke", sent=True)
REQUEST = SendMessageRequest(message=Message(message_id="mine"))


class Server:
    """A task's events, one generation each, served as ours and the SDK's server do.

    `cuts` says after how many events each connection breaks (None: it does not); `ids`: SSE ids.
    """

    def __init__(self, texts, cuts=(), *, ids=True, clean=False):
        self.texts, self.cuts, self.ids, self.clean = texts, list(cuts), ids, clean
        self.address = "http://x"
        self.asked = []  # Last-Event-ID of each subscription
        self.now, self.slept = 0.0, []

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds

    def clock(self):
        return self.now

    def remaining(self, most):
        return most

    def _event(self, n):
        state = "TASK_STATE_COMPLETED" if n == len(self.texts) else "TASK_STATE_WORKING"
        status = TaskStatus(state=state)
        if n < len(self.texts):
            status.message.CopyFrom(_say(self.texts[n]))
        update = TaskStatusUpdateEvent(task_id="t", context_id="c", status=status)
        return StreamResponse(status_update=update), n + 2

    def _task(self, upto):
        task = Task(id="t", context_id="c", status=TaskStatus(state="TASK_STATE_WORKING"))
        task.history.append(Message(message_id="mine", role=Role.ROLE_USER))
        if text := "".join(self.texts[:upto]):
            task.status.message.CopyFrom(_say(text))
        if upto > len(self.texts):
            task.status.state = "TASK_STATE_COMPLETED"
        return task

    def _serve(self, start):
        served = [(StreamResponse(task=self._task(start)), start + 1)]
        served += [self._event(n) for n in range(start, len(self.texts) + 1)]
        cut = self.cuts.pop(0) if self.cuts else None
        for n, (response, generation) in enumerate(served):
            if n == cut:
                if self.clean:
                    return
                raise LOST
            self.reached = max(getattr(self, "reached", 0), generation - 1)
            yield Item(response, str(generation) if self.ids else "")

    def stream(self, request):
        return self._serve(0)

    def subscribe(self, task, after):
        self.asked.append(after)
        return self._serve(int(after) - 1 if after else self.reached)

    def task(self, task):
        return self._task(len(self.texts) + 1)


def _say(text):
    return Message(message_id="m", role=Role.ROLE_AGENT, parts=[Part(text=text)])


def converse(server, drive=lambda c: c.send_streaming(REQUEST)):
    """What was printed, and the generations of the events seen."""
    out = io.StringIO()
    screen = Screen(out, io.StringIO())
    transcript = Transcript(screen, Shelf(), message_id="mine")
    seen = []
    drive(
        Conversation(
            server,
            transcript,
            screen,
            lambda item: seen.append(item.id),
            server.sleep,
            server.clock,
            jitter=lambda most: most,
        )
    )
    assert transcript.settled
    return out.getvalue(), seen


def test_a_resumed_stream_asks_from_the_last_event_and_loses_nothing():
    server = Server(["one ", "two ", "three"], cuts=[3])
    text, seen = converse(server)
    assert text == "one two three"
    assert seen == ["1", "2", "3", "4", "5"]
    assert server.asked == ["3"]


@given(
    texts=st.lists(st.text("ab", min_size=1, max_size=3), max_size=6),
    cuts=st.lists(st.integers(1, 8), max_size=5),
    ids=st.booleans(),
    clean=st.booleans(),
)
def test_wherever_streams_break_each_text_is_printed_once(texts, cuts, ids, clean):
    text, seen = converse(Server(texts, cuts, ids=ids, clean=clean))
    assert text == "".join(texts)
    if ids:
        assert seen == [str(n + 1) for n in range(len(texts) + 2)]


def test_a_replay_of_events_already_seen_is_dropped():
    class Repeating(Server):
        def subscribe(self, task, after):
            self.asked.append(after)
            return self._serve(0)

    server = Repeating(["one ", "two"], cuts=[2])
    assert converse(server) == ("one two", ["1", "2", "3", "4"])


def test_the_wait_between_attempts_grows_and_ends_with_a_failure_that_says_what_to_do():
    server = Server(["a"], cuts=[2] + [0] * 1000)
    with pytest.raises(Failure, match="a2a-fn watch http://x t") as failure:
        converse(server)
    assert failure.value.code == Exit.UNREACHABLE
    assert GIVE_UP < sum(server.slept) < GIVE_UP + 20
    assert server.slept[:4] == [0.25, 0.5, 1.0, 2.0]
    assert max(server.slept) == 8.0


def test_the_servers_retry_after_is_kept():
    class Busy(Server):
        def subscribe(self, task, after):
            if not self.asked:
                self.asked.append(after)
                raise Lost("HTTP 503", after=30.0)
            return super().subscribe(task, after)

    server = Busy(["a", "b"], cuts=[2])
    assert converse(server)[0] == "ab"
    assert server.slept == [30.0]


def test_a_message_that_may_have_been_accepted_is_not_sent_again():
    server = Server(["a"], cuts=[0])
    with pytest.raises(Failure, match="--message-id mine") as failure:
        converse(server)
    assert failure.value.code == Exit.UNREACHABLE
    assert server.asked == []


def test_a_message_that_was_not_sent_is_said_to_be_so():
    class Down(Server):
        def stream(self, request):
            raise Lost("cannot connect")

    with pytest.raises(Failure) as failure:
        converse(Down([]))
    assert str(failure.value) == "cannot connect"


def test_a_task_that_has_ended_meanwhile_is_fetched():
    class Ended(Server):
        def subscribe(self, task, after):
            raise Refused("the server refused: terminal", UNSUPPORTED, Exit.USAGE)

    assert converse(Ended(["one ", "two"], cuts=[2]))[0] == "one two"
    assert converse(Ended(["one ", "two"]), lambda c: c.watch("t"))[0] == "one two"


def test_a_task_that_does_not_exist_is_refused():
    class Empty(Server):
        def subscribe(self, task, after):
            raise Refused("the server refused: no such task", TASK_NOT_FOUND, Exit.USAGE)

    with pytest.raises(Refused):
        converse(Empty([]), lambda c: c.watch("t"))


def test_a_blocking_answer_that_is_not_the_end_is_asked_for_again():
    class Slow(Server):
        answers = 0

        def send(self, request):
            return StreamResponse(task=self._task(1))

        def task(self, task):
            self.answers += 1
            if self.answers == 2:
                raise LOST
            return self._task(self.answers + 1)

    server = Slow(["one ", "two ", "three"])
    assert converse(server, lambda c: c.send_blocking(REQUEST))[0] == "one two three"


def test_the_wait_is_any_part_of_the_longest():
    server = Server(["a"], cuts=[2, 0, 0])
    asked = []
    screen = Screen(io.StringIO(), io.StringIO())
    transcript = Transcript(screen, Shelf(), message_id="mine")

    def jitter(most):
        asked.append(most)
        return most / 4

    Conversation(
        server, transcript, screen, sleep=server.sleep, clock=server.clock, jitter=jitter
    ).send_streaming(REQUEST)
    assert asked == [0.25, 0.5, 1.0][: len(asked)]
    assert server.slept == [most / 4 for most in asked]
    assert len(asked) >= 2


def test_a_server_that_breaks_a_stream_it_cannot_give_is_asked_for_the_task():
    class Breaking(Server):
        def subscribe(self, task, after):
            raise LOST

    server = Breaking(["one ", "two"], ids=False)
    assert converse(server, lambda c: c.watch("t"))[0] == "one two"
    assert server.slept == []


class Authorising(Server):
    """A task that waits for authorisation; `streams` are the events of each subscription."""

    def __init__(self, streams):
        super().__init__([])
        self.streams = streams

    def subscribe(self, task, after):
        self.asked.append(after)
        for state in self.streams.pop(0):
            status = TaskStatus(state=f"TASK_STATE_{state}")
            yield Item(StreamResponse(task=Task(id="t", context_id="c", status=status)))


def test_a_wait_for_authorisation_is_followed_from_stream_to_stream():
    class Slow(Authorising):
        def subscribe(self, task, after):
            yield from super().subscribe(task, after)
            self.now += 60.0  # as a function that ends its streams before its own time is over

    server = Slow([["AUTH_REQUIRED"], ["AUTH_REQUIRED"], ["WORKING", "COMPLETED"]])
    converse(server, lambda c: c.watch("t"))
    assert server.streams == []


def test_a_server_that_keeps_no_stream_open_meanwhile_ends_the_turn():
    server = Authorising([["AUTH_REQUIRED"], ["not asked for"]])
    converse(server, lambda c: c.watch("t"))
    assert len(server.asked) == 1


def test_a_blocking_call_ends_with_it():
    class Asking(Server):
        def send(self, request):
            status = TaskStatus(state="TASK_STATE_AUTH_REQUIRED", message=_say("log in"))
            return StreamResponse(task=Task(id="t", context_id="c", status=status))

    assert converse(Asking([]), lambda c: c.send_blocking(REQUEST))[0] == "log in"
