"""What is printed of a task's events: each text once, tools and artifacts as remarks.

Pieces of one message share a messageId; they come in WORKING updates and follow one another on
the line. A Task, or an update that ends or interrupts the turn, holds whole messages: of those
only what was not yet printed is.
"""

from __future__ import annotations

import json
from typing import Any

from a2a.types.a2a_pb2 import Message, Role, StreamResponse, Task, TaskState
from a2a.types.a2a_pb2 import TaskArtifactUpdateEvent as ArtifactUpdate
from a2a.types.a2a_pb2 import TaskStatusUpdateEvent as StatusUpdate

from .plain import to_json
from .screen import Screen, one_line
from .shelf import Shelf, label

FAILED = frozenset(
    {
        TaskState.TASK_STATE_FAILED,
        TaskState.TASK_STATE_CANCELED,
        TaskState.TASK_STATE_REJECTED,
    }
)
TERMINAL = FAILED | {TaskState.TASK_STATE_COMPLETED}
AUTH_REQUIRED = TaskState.TASK_STATE_AUTH_REQUIRED
SETTLED = TERMINAL | {TaskState.TASK_STATE_INPUT_REQUIRED, AUTH_REQUIRED}


def state_word(state: int) -> str:
    """`input-required` for TASK_STATE_INPUT_REQUIRED."""
    try:
        name = TaskState.Name(state)
    except ValueError:  # of a later version
        return f"state {state}"
    return name.removeprefix("TASK_STATE_").lower().replace("_", "-")


class Transcript:
    """One turn as the user sees it. `message_id` is the message that this command sends, if any;
    `continues` says that it goes to a task which has history already.

    A task that waits for authorisation may go on by itself once it has it (A2A 1.0, 7.6.2): that
    ends the turn only if `follows` is False.
    """

    def __init__(
        self, screen: Screen, shelf: Shelf, *, message_id: str = "", continues: bool = False
    ) -> None:
        self.message_id = message_id
        self.task_id = ""
        self.context_id = ""
        self.state: int = TaskState.TASK_STATE_UNSPECIFIED
        self.replied = False  # the agent answered with a message and no task
        self.settled = False  # the turn has ended: nothing more is to come
        self.follows = True
        self._screen = screen
        self._shelf = shelf
        self._continues = continues
        self._printed: dict[str, str] = {}  # messageId -> text
        self._current = ""
        self._restarted = False
        self._tools: dict[str, str] = {}  # toolUseId -> name

    @property
    def failed(self) -> bool:
        """Whether the task ended badly."""
        return self.state in FAILED

    def take(self, response: StreamResponse, *, opening: bool = False) -> None:
        """Show one event. `opening`: it is the first of a new turn's stream, and may still show
        the task as it was before the message."""
        match response.WhichOneof("payload"):
            case "message":
                self.context_id = response.message.context_id or self.context_id
                self._whole(_key(response.message), message_text(response.message))
                self.replied = self.settled = True
            case "task":
                self.take_task(response.task, opening=opening)
            case "status_update":
                self._take_status(response.status_update)
            case "artifact_update":
                self._take_artifact(response.artifact_update)

    def take_task(self, task: Task, *, opening: bool = False) -> None:
        """Show what a Task says beyond what was shown before."""
        self.task_id, self.context_id = task.id, task.context_id
        self._enter(task.status.state)
        messages, here = self._of_this_turn(task)
        rests = self.state in SETTLED and task.status.HasField("message")
        ending = messages.pop() if rests and messages else None
        told: dict[str, list[str]] = {}
        for message in messages:
            told.setdefault(_key(message), []).append(message_text(message))
        if opening and self._continues and not here:
            if ending is not None:
                told.setdefault(_key(ending), []).append(message_text(ending))
            self._printed |= {key: "".join(texts) for key, texts in told.items()}
        else:
            for key, texts in told.items():
                self._retell(key, texts)
            if ending is not None:
                self._whole(_key(ending), message_text(ending))
        for artifact in task.artifacts:
            if opening and self._continues:
                self._shelf.known(artifact)
            elif self._shelf.replace(artifact):
                self._screen.note(f"artifact {label(artifact)}")
        self.settled = self.state in TERMINAL if opening else self._ends()
        self.save(ended=self.settled)

    def skim(self, task: Task) -> None:
        """Take a Task for its state only: the events that made it so are still to come."""
        self.task_id, self.context_id, self.state = task.id, task.context_id, task.status.state

    def end(self) -> None:
        """The stream ended by itself."""
        if self.settled or self._ends():
            self.settle()

    def rest(self) -> None:
        """Nobody will tell more of a task that waits for authorisation."""
        if self.state in SETTLED:
            self.settle()

    def settle(self) -> None:
        """The turn rests as it is."""
        self.settled = True
        self.save(ended=True)

    def save(self, *, ended: bool) -> None:
        """Save the artifacts that are whole, and name their files."""
        for place in self._shelf.save(ended=ended):
            self._screen.note(f"saved {place}", style="green")

    def _of_this_turn(self, task: Task) -> tuple[list[Message], bool]:
        """The agent's messages since the last user message, and whether ours is among them."""
        messages = list(task.history)
        if task.status.HasField("message"):
            messages.append(task.status.message)
        start, here = 0, False
        for n, message in enumerate(messages):
            if message.role == Role.ROLE_USER:
                start = n + 1
                here = here or message.message_id == self.message_id
        return messages[start:], here

    def _enter(self, state: int) -> None:
        if state == AUTH_REQUIRED != self.state and self.follows:
            self._screen.note(
                "the task waits for authorisation, which is given elsewhere; still following "
                "(Ctrl-C leaves it as it is)",
                style="yellow",
            )
        self.state = state

    def _ends(self) -> bool:
        """Whether a turn that comes into this state has ended."""
        return self.state in SETTLED and not (self.state == AUTH_REQUIRED and self.follows)

    def _take_status(self, update: StatusUpdate) -> None:
        self.task_id = update.task_id or self.task_id
        self.context_id = update.context_id or self.context_id
        if update.status.state != TaskState.TASK_STATE_UNSPECIFIED:
            self._enter(update.status.state)
        if update.HasField("metadata"):
            self._take_metadata(to_json(update.metadata).get("iac_code"))
        if update.status.HasField("message") and update.status.message.role != Role.ROLE_USER:
            key, text = _key(update.status.message), message_text(update.status.message)
            if self.state in SETTLED:
                self._whole(key, text)
            else:
                self._piece(key, text)
        if self._ends():
            self.settle()

    def _take_artifact(self, update: ArtifactUpdate) -> None:
        if self._shelf.update(update):
            artifact = self._shelf.entries[update.artifact.artifact_id].artifact
            self._screen.note(f"artifact {label(artifact)}")
        self.save(ended=False)

    def _take_metadata(self, ours: Any) -> None:
        if not isinstance(ours, dict):
            return
        turn, tool = ours.get("turn"), ours.get("tool")
        if isinstance(turn, dict) and turn.get("restarted") is True:
            self._screen.end_line()
            self._screen.note(
                "the turn was restarted: what followed its last save (everything, if it never "
                "saved) is said again",
                style="yellow",
            )
            self._printed.pop(self._current, None)
            self._current, self._restarted = "", True
        # Of a tool's input as it is written (input_delta, input_complete) nothing is shown.
        if isinstance(tool, dict) and not str(tool.get("status", "")).startswith("input_"):
            self._screen.note(self._tool_line(tool), style="cyan")

    def _tool_line(self, tool: dict[str, Any]) -> str:
        use = str(tool.get("toolUseId", ""))
        name = str(tool.get("name") or self._tools.get(use) or use or "tool")
        self._tools[use] = name
        line = f"tool {one_line(name, 60)}: {one_line(str(tool.get('status', '')), 40)}"
        detail = tool.get("result", tool.get("input"))
        if detail not in (None, "", {}, []):
            text = detail if isinstance(detail, str) else json.dumps(detail, ensure_ascii=False)
            line += f" - {one_line(text, 120)}"
        return line

    def _piece(self, key: str, text: str) -> None:
        if not text:
            return
        self._begin(key)
        self._printed[key] = self._printed.get(key, "") + text
        self._screen.say(text)

    def _whole(self, key: str, text: str) -> None:
        known = self._printed.get(key)
        rest = text
        if known is None:
            # An agent may stream under one id and say the whole again under another.
            said = list(self._printed.values())
            if not text or text in said or text == "".join(said):
                return
        elif text.startswith(known):
            rest = text[len(known) :]
            if not rest:
                return
        elif known.endswith(text) or (self._restarted and text.endswith(known)):
            return  # a restarted turn says again what was printed before, in part or in full
        self._begin(key)
        self._printed[key] = text
        self._screen.say(rest)

    def _retell(self, key: str, texts: list[str]) -> None:
        """Print what was not printed before of one message, as a Task tells it: in one text, or in
        the pieces that it came in (the SDK's server keeps each)."""
        known = self._printed.get(key)
        if known is None or len(texts) == 1:
            return self._whole(key, "".join(texts))
        at, fresh = 0, ""
        for n, text in enumerate(texts):
            left = known[at:]
            if n and text == known[:at] + fresh:
                continue  # the whole after its pieces
            if text and left.startswith(text):
                at += len(text)
            elif text.startswith(left):
                fresh += text[len(left) :]
                at = len(known)
            else:  # not what was printed, so it was told in another way
                return self._whole(key, "".join(texts))
        self._piece(key, fresh)

    def _begin(self, key: str) -> None:
        """Be on the line of this message."""
        if key != self._current:
            self._screen.end_line()
            self._current = key


def _key(message: Message) -> str:
    return message.message_id or message_text(message)


def message_text(message: Message) -> str:
    """A message as text: data as JSON, binary parts by their name and size."""
    pieces = []
    for part in message.parts:
        match part.WhichOneof("content"):
            case "text":
                pieces.append(part.text)
            case "data":
                pieces.append(json.dumps(to_json(part.data), ensure_ascii=False, indent=2))
            case "url":
                pieces.append(part.url)
            case "raw":
                name = part.filename or part.media_type or "data"
                pieces.append(f"[{name}, {len(part.raw)} bytes]")
    return "".join(pieces)
