"""What agents do: steps drawn by the seed, and what the finished task must hold because of them."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass
from random import Random
from typing import Any

from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatusUpdateEvent,
)
from a2a.utils.errors import UnsupportedOperationError

from a2a_fn.errors import Unavailable
from a2a_fn.turns.turn import Turn

COMPLETED = TaskState.TASK_STATE_COMPLETED
FAILED = TaskState.TASK_STATE_FAILED
INPUT_REQUIRED = TaskState.TASK_STATE_INPUT_REQUIRED
ENDS = {
    "complete": COMPLETED,
    "ask": INPUT_REQUIRED,
    "fail": FAILED,
    "return": COMPLETED,
    "publish": COMPLETED,
    "reply": COMPLETED,
    "raise": FAILED,
    "refuse": FAILED,
}
_TOKEN = re.compile(r"<[^<>]+>")
_BIG = "." * 9000  # more than the writer keeps back


class ScriptedFailure(Exception):
    """What an agent raises when its script says so."""


@dataclass(frozen=True, slots=True)
class Script:
    """One turn's work. A step is (what, argument); the number of the next one is the checkpoint."""

    name: str  # the messageId that it answers
    steps: tuple[tuple[str, Any], ...]
    end: str
    poison: int = -1  # the step at which its process dies, each time
    stubborn: bool = False  # swallows what a call raises, and goes on
    lingers: float = 0.0  # seconds that it goes on after it has ended the turn

    def token(self, i: int) -> str:
        """What step ``i`` says."""
        return f"<{self.name}.{i}>"

    def said(self) -> list[tuple[str, bool]]:
        """The tokens in the order of the finished answer, and whether each must be there."""
        said = [
            (self.token(i), what != "hasty say")
            for i, (what, _) in enumerate(self.steps)
            if what in ("say", "big", "note", "hasty say")
        ]
        if self.end not in ("return", "raise", "refuse"):
            said.append((self.token(len(self.steps)), True))
        return said

    def artifacts(self) -> dict[str, list[str]]:
        """The texts of each artifact's parts."""
        found: dict[str, list[str]] = {}
        for i, (what, argument) in enumerate(self.steps):
            if what == "chunk":
                found.setdefault(f"{self.name}-{argument}", []).append(self.token(i))
        return found


def draw(rng: Random, name: str, *, faults: bool = True) -> Script:
    """A script."""
    steps: list[tuple[str, Any]] = []
    for _ in range(rng.choice((0, 1, 2, 3, 4, 6))):
        x = rng.random()
        if x < 0.34:
            steps += [("say", None)] * rng.choice((1, 1, 2, 4))
        elif x < 0.52:
            steps.append(("save", None))
        elif x < 0.66:
            steps.append(("chunk", rng.choice("ab")))
        elif x < 0.87:
            pause = rng.choice((rng.uniform(0, 0.3), rng.uniform(0.1, 8), rng.uniform(15, 70)))
            steps.append(("sleep", round(pause, 3)))
        elif x < 0.90:
            steps.append(("tool", None))
        elif x < 0.92:
            steps.append(("note", None))
        elif x < 0.94:
            steps.append(("big", None))
        else:
            what = rng.choice(("hasty say", "hasty save"))
            steps.append((what, round(rng.uniform(0, 0.1), 3)))
    end = rng.choice(("complete", "complete", "ask", "ask", "ask", *ENDS))
    x = rng.random()
    poison = rng.randrange(len(steps) + 1) if faults and x < 0.12 else -1
    lingers = rng.choice((0.01, 3.0)) if x > 0.94 and end in ("complete", "ask") else 0.0
    return Script(name, tuple(steps), end, poison, faults and 0.15 < x < 0.3, lingers)


async def perform(turn: Turn, script: Script, die: Any) -> None:
    """Be the agent of this script, from the checkpoint on."""
    begun = {
        f"{script.name}-{arg}" for what, arg in script.steps[: _start(turn)] if what == "chunk"
    }
    for i in range(_start(turn), len(script.steps)):
        if i == script.poison:
            await die()
        try:
            await _step(turn, script, i, begun)
        except Unavailable:
            if not script.stubborn:
                raise
    if script.poison == len(script.steps):
        await die()
    await _end(turn, script)
    if script.lingers:
        await asyncio.sleep(script.lingers)


def _start(turn: Turn) -> int:
    return int(turn.checkpoint or b"0")


async def _step(turn: Turn, script: Script, i: int, begun: set[str]) -> None:
    what, argument = script.steps[i]
    token = script.token(i)
    if what == "say":
        await turn.say(token)
    elif what == "big":
        await turn.say(token + _BIG)
    elif what in ("hasty say", "hasty save"):
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(argument):
                await (turn.say(token) if what == "hasty say" else turn.save(b"%d" % (i + 1)))
    elif what == "save":
        await turn.save(b"%d" % (i + 1))
    elif what == "sleep":
        await asyncio.sleep(argument)
    elif what == "chunk":
        name = f"{script.name}-{argument}"
        await turn.artifact(name, Part(text=token), append=name in begun, last=False)
        begun.add(name)
    elif what == "tool":
        await turn.tool(f"t{i}", "look", "completed", result="x")
    elif what == "note":
        await turn.publish(_status(token, i))


def _status(text: str, i: int, state: int = 0) -> TaskStatusUpdateEvent:
    status = TaskStatusUpdateEvent()
    status.status.state = state  # type: ignore[assignment]
    message = status.status.message
    message.message_id, message.role = f"note-{i}-{text}", Role.ROLE_AGENT
    message.parts.add().text = text
    return status


async def _end(turn: Turn, script: Script) -> None:
    last = len(script.steps)
    token = script.token(last)
    match script.end:
        case "complete":
            await turn.complete(token)
        case "ask":
            await turn.ask(token)
        case "fail":
            await turn.fail(token)
        case "publish":
            await turn.publish(_status(token, last, COMPLETED))
        case "reply":
            await turn.reply(Message(message_id=f"reply-{token}", parts=[Part(text=token)]))
        case "raise":
            raise ScriptedFailure("the script says so")
        case "refuse":
            raise UnsupportedOperationError("the script says so")


def answer(task: Task) -> list[str]:
    """The tokens of the agent's messages since the last message of the user."""
    texts: list[str] = []
    for message in task.history:
        if message.role == Role.ROLE_USER:
            texts.clear()
        else:
            texts += [part.text for part in message.parts]
    if task.status.HasField("message"):
        texts += [part.text for part in task.status.message.parts]
    return _TOKEN.findall("".join(texts))


def matches(tokens: list[str], said: list[tuple[str, bool]]) -> bool:
    """Whether the tokens are what was said: in order, each once, none missing that is needed."""
    rest = iter(tokens)
    token = next(rest, None)
    for expected, needed in said:
        if token == expected:
            token = next(rest, None)
        elif needed:
            return False
    return token is None
