"""A turn followed to its end, across lost connections: nothing missed, nothing shown twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from a2a.types.a2a_pb2 import SendMessageRequest, Task

from .client import UNSUPPORTED, Client, Item, Lost, Refused
from .failures import Exit, Failure
from .screen import Screen
from .transcript import Transcript

GIVE_UP = 120.0  # s without any answer from the server
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 8.0  # s between two attempts, doubled in between

Event = Callable[[Item], None]  # called with each event that is new, before it is shown


def _ignore(item: Item) -> None:
    return None


class Conversation:
    """Drives one turn. `on_event` sees each event once; `sleep` and `clock` are in seconds."""

    def __init__(
        self,
        client: Client,
        transcript: Transcript,
        screen: Screen,
        on_event: Event = _ignore,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._transcript = transcript
        self._screen = screen
        self._on_event = on_event
        self._sleep = sleep
        self._clock = clock
        self._last = ""  # SSE id of the newest event shown

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
        """Send a message, wait for the answer, and ask again until the turn has ended."""
        try:
            answer = self._client.send(request)
        except Lost as e:
            raise self._unsure(request, e) from e
        self._transcript.take(answer)
        self._poll()

    def watch(self, task: str) -> None:
        """Show a task's events until its turn has ended."""
        wait, heard, told = 0.0, self._clock(), False
        while not self._transcript.settled:
            if wait:
                self._sleep(self._client.remaining(wait))
            wait = min(max(_FIRST_WAIT, wait * 2), _LONGEST_WAIT)
            began, last = self._clock(), self._last
            try:
                self._show(self._client.subscribe(task, self._last))
            except Refused as e:
                if e.error != UNSUPPORTED:
                    raise
                # The task has ended, or the agent does not stream.
                self._transcript.take_task(self._client.task(task))
                return self._poll()
            except Lost as e:
                if self._clock() - heard > GIVE_UP:
                    raise self._gave_up(task, e) from e
                if not told:
                    self._screen.note(f"{e}; trying again", style="yellow")
                told = True
                wait = max(wait, min(e.after or 0.0, 60.0))
            else:
                heard, told = self._clock(), False
            if self._last != last or self._clock() - began > 2 * _LONGEST_WAIT:
                wait, heard, told = _FIRST_WAIT, self._clock(), False

    def _show(self, items: Iterable[Item], *, sending: bool = False) -> None:
        first = True
        for item in items:
            opening, first = first, False
            if self._is_new(item, resumed=opening and not sending):
                self._on_event(item)
                self._transcript.take(item.response, opening=opening and sending)
                self._last = item.id or self._last
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

    def _poll(self) -> None:
        wait = _FIRST_WAIT
        while not self._transcript.settled:
            self._sleep(self._client.remaining(wait))
            wait = min(wait * 1.5, _LONGEST_WAIT)
            task: Task = self._client.task(self._transcript.task_id)
            self._transcript.take_task(task)

    def _unsure(self, request: SendMessageRequest, lost: Lost) -> Failure:
        if lost.sent:
            again = f"--message-id {request.message.message_id}"
            hint = f"the message may have been accepted; the same call with {again} asks after it"
            return Failure(f"{lost}; {hint}", Exit.UNREACHABLE)
        return lost

    def _gave_up(self, task: str, lost: Lost) -> Failure:
        hint = f"the task may still run: a2a-fn watch {self._client.url} {task}"
        return Failure(f"{lost}; {hint}", Exit.UNREACHABLE)
