"""A turn followed to its end, across lost connections: nothing missed, nothing shown twice."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterable

from a2a.types.a2a_pb2 import SendMessageRequest

from .answers import UNSUPPORTED, Lost, Refused
from .client import Client, Item
from .failures import Exit, Failure
from .screen import Screen
from .transcript import Transcript

GIVE_UP = 120.0  # s without any answer from the server
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0  # s at most between two attempts, doubled in between

Event = Callable[[Item], None]  # called with each event that is new, before it is shown


def _ignore(item: Item) -> None:
    return None


class Conversation:
    """Drives one turn. `on_event` sees each event once; `sleep` and `clock` are in seconds;
    `jitter` takes the longest wait and gives the one to keep."""

    def __init__(
        self,
        client: Client,
        transcript: Transcript,
        screen: Screen,
        on_event: Event = _ignore,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
        jitter: Callable[[float], float] = lambda most: random.uniform(0.0, most),  # noqa: S311
    ) -> None:
        self._client = client
        self._transcript = transcript
        self._screen = screen
        self._on_event = on_event
        self._sleep = sleep
        self._clock = clock
        self._jitter = jitter
        self._last = ""  # SSE id of the newest event shown
        self._shown = 0  # events so far

    def send_streaming(self, request: SendMessageRequest) -> None:
        """Send a message and show its turn as it happens."""
        try:
            self._show(self._client.stream(request), sending=True)
        except Lost as e:
            if not self._transcript.task_id:
                raise self._unsure(request, e) from e
            self._screen.note(f"{e}; subscribing again", style="yellow")
        if not self._transcript.settled:
            self.watch(self._transcript.task_id)

    def send_blocking(self, request: SendMessageRequest) -> None:
        """Send a message, wait for the answer, and ask again until the turn has ended or waits."""
        self._transcript.follows = False
        try:
            answer = self._client.send(request)
        except Lost as e:
            raise self._unsure(request, e) from e
        self._transcript.take(answer)
        self._poll(self._transcript.task_id)

    def watch(self, task: str) -> None:
        """Show a task's events until its turn has ended."""
        patience = _Patience(self)
        while not self._transcript.settled:
            began, shown, ended = self._clock(), self._shown, True
            try:
                self._show(self._client.subscribe(task, self._last))
                patience.heard()
            except Refused as e:
                if e.error != UNSUPPORTED:
                    raise
                return self._poll(task)  # the task has ended, or the agent does not stream
            except Lost as e:
                patience.lost(e, task)
                ended = False
                if not self._last and self._shown == shown:
                    self._look(task)  # its server may break a stream that it cannot give
            if self._shown > shown + 1 or self._clock() - began > _LONGEST_WAIT:
                patience.reset()  # a stream that works, and is cut at times, as functions do
            elif ended:
                self._transcript.rest()  # the server keeps no stream open for what may come
            if not self._transcript.settled:
                patience.wait()

    def _show(self, items: Iterable[Item], *, sending: bool = False) -> None:
        first = True
        for item in items:
            opening, first = first, False
            if self._is_new(item, resumed=opening and not sending):
                self._on_event(item)
                self._transcript.take(item.response, opening=opening and sending)
                self._last = item.id or self._last
                self._shown += 1
            if self._transcript.settled:
                return
        self._transcript.end()

    def _is_new(self, item: Item, *, resumed: bool) -> bool:
        if not (item.id.isdecimal() and self._last.isdecimal()):
            return True  # another server's ids, or none
        if int(item.id) > int(self._last):
            return True
        if resumed and item.response.HasField("task"):
            # A resumed stream opens with the task, then sends what was missed.
            self._transcript.skim(item.response.task)
        return False

    def _poll(self, task: str) -> None:
        patience = _Patience(self)
        while not self._transcript.settled:
            try:
                self._transcript.take_task(self._client.task(task))
                patience.heard()
            except Lost as e:
                patience.lost(e, task)
            if not self._transcript.settled:
                patience.wait()

    def _look(self, task: str) -> None:
        with contextlib.suppress(Lost):
            self._transcript.take_task(self._client.task(task))

    def _unsure(self, request: SendMessageRequest, lost: Lost) -> Failure:
        if lost.sent:
            again = f"--message-id {request.message.message_id}"
            hint = f"the message may have been accepted; the same call with {again} asks after it"
            return Failure(f"{lost}; {hint}", Exit.UNREACHABLE)
        return lost

    def pause(self, most: float, least: float) -> None:
        """Sleep for some part of `most` s, but at least `least`, and not past the deadline. Many
        clients that lost one server must not come back to it at the same moment."""
        self._sleep(self._client.remaining(max(least, self._jitter(most))))

    def now(self) -> float:
        """The clock, in s."""
        return self._clock()

    def give_up(self, task: str, lost: Lost) -> Failure:
        """What to tell when the server is gone for too long."""
        hint = f"the task may still run: a2a-fn watch {self._client.address} {task}"
        return Failure(f"{lost}; {hint}", Exit.UNREACHABLE)

    def warn(self, text: str) -> None:
        """Remark something out of the ordinary."""
        self._screen.note(text, style="yellow")


class _Patience:
    """How long to wait before the next attempt, and when to stop trying."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._heard = conversation.now()
        self._told = False
        self._wait = _FIRST_WAIT
        self._asked = 0.0  # s that the server asked for

    def heard(self) -> None:
        """The server answered."""
        self._heard, self._told = self._conversation.now(), False

    def reset(self) -> None:
        """Work was done: begin again with a short wait."""
        self.heard()
        self._wait = _FIRST_WAIT

    def lost(self, error: Lost, task: str) -> None:
        """No answer: go on waiting, or give up."""
        if self._conversation.now() - self._heard > GIVE_UP:
            raise self._conversation.give_up(task, error) from error
        if not self._told:
            self._conversation.warn(f"{error}; trying again")
        self._told = True
        self._asked = min(error.after, 60.0)

    def wait(self) -> None:
        """Wait, longer at each turn."""
        self._conversation.pause(self._wait, self._asked)
        self._asked = 0.0
        self._wait = min(self._wait * 2, _LONGEST_WAIT)
