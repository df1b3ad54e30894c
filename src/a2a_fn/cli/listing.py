"""Tasks, webhooks, cards as text: aligned on a terminal, tab-separated lines elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from a2a.types.a2a_pb2 import (
    AgentCard,
    ListTasksResponse,
    Message,
    Role,
    Task,
    TaskPushNotificationConfig,
    TaskState,
)
from google.protobuf.timestamp_pb2 import Timestamp

from .cards import ways_in
from .failures import Failure
from .screen import Screen, one_line
from .shelf import label
from .transcript import message_text, state_word

STATES = {state_word(number): TaskState.Name(number) for number in TaskState.values() if number}


def state_name(word: str) -> str:
    """The TaskState's name for `working`, `TASK_STATE_WORKING` and the like; "" means any state."""
    if not word:
        return TaskState.Name(TaskState.TASK_STATE_UNSPECIFIED)
    key = word.lower().replace("_", "-").removeprefix("task-state-")
    if key not in STATES:
        raise Failure(f"--status {word}: there is no such state, only {', '.join(STATES)}")
    return STATES[key]


def timestamp(text: str) -> Timestamp | None:
    """A time as people write it: a date, or ISO 8601; without a zone it is this machine's. None
    for no text."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise Failure(
            f"--after {text}: not a time such as 2026-12-01 or 2026-12-01T09:30:00Z"
        ) from None
    value = Timestamp()
    try:
        value.FromDatetime(time.astimezone(UTC))
    except (ValueError, OverflowError):
        raise Failure(f"--after {text}: out of range") from None
    return value


def show_tasks(screen: Screen, page: ListTasksResponse) -> None:
    """One line a task: state, time of the state, task, context, and what was said last."""
    rows = [
        (
            state_word(task.status.state),
            _time(task),
            task.id,
            task.context_id,
            one_line(message_text(task.status.message), 60),
        )
        for task in page.tasks
    ]
    _table(screen, ("STATE", "SINCE", "TASK", "CONTEXT", "LAST WORDS"), rows)
    if page.next_page_token:
        screen.note(
            f"{len(rows)} of {page.total_size} tasks; --all shows the rest, "
            f"--page-token {page.next_page_token} the next page"
        )
    elif not rows:
        screen.note("no tasks")


def show_task(screen: Screen, task: Task) -> None:
    """The state, then the messages, then what the artifacts are called."""
    screen.say(f"{state_word(task.status.state)}  task {task.id}  context {task.context_id}\n")
    if task.status.HasField("timestamp"):
        screen.say(f"since {_time(task)}\n")
    messages = list(task.history)
    if task.status.HasField("message"):
        messages.append(task.status.message)
    for message in messages:
        _show_message(screen, message)
    for artifact in task.artifacts:
        line = f"\nartifact {label(artifact)}"
        if artifact.description:
            line += f": {one_line(artifact.description)}"
        screen.say(line)
    screen.end_line()


def show_webhooks(screen: Screen, configs: Iterable[TaskPushNotificationConfig]) -> None:
    """One line a webhook: its id, where it leads, how a push proves who sends it, its token."""
    rows = []
    for config in configs:
        said = config.authentication
        auth = f"{said.scheme} {said.credentials}".strip()
        cells = (config.id, config.url, auth, config.token)
        rows.append(tuple(one_line(cell, 5000) or "-" for cell in cells))
    _table(screen, ("WEBHOOK", "URL", "AUTHENTICATION", "TOKEN"), rows)
    if not rows:
        screen.note("no webhooks")


def show_card(screen: Screen, card: AgentCard) -> None:
    """Name, description, interfaces, abilities and skills."""
    screen.say(f"{one_line(card.name)} {one_line(card.version)}\n")
    if card.description:
        screen.say(f"{one_line(card.description, 500)}\n")
    for interface in card.supported_interfaces:
        version = f"{interface.protocol_binding} {interface.protocol_version}"
        tenant = f"  tenant {one_line(interface.tenant)}" if interface.tenant else ""
        screen.say(f"interface  {one_line(version)}  {one_line(interface.url, 500)}{tenant}\n")
    abilities = [field.name for field, value in card.capabilities.ListFields() if value is True]
    screen.say(f"can  {', '.join(abilities).replace('_', ' ') or 'nothing optional'}\n")
    screen.say(f"takes  {', '.join(map(one_line, card.default_input_modes))}\n")
    if card.security_schemes:
        screen.say(f"{one_line(ways_in(card), 500).removeprefix('the card ')}\n")
    for extension in card.capabilities.extensions:
        required = "  required" if extension.required else ""
        screen.say(f"extension  {one_line(extension.uri)}{required}\n")
    if card.signatures:
        screen.say(f"signed  {len(card.signatures)} times\n")
    for skill in card.skills:
        screen.say(f"skill  {one_line(skill.id)}  {one_line(skill.description)}\n")


def _show_message(screen: Screen, message: Message) -> None:
    who = "you" if message.role == Role.ROLE_USER else "agent"
    screen.say(f"\n[{who}]\n{message_text(message)}")
    screen.end_line()


def _table(screen: Screen, names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    if not screen.is_terminal:
        for row in rows:
            screen.say("\t".join(row) + "\n")
    elif rows:
        # Never folded: an id that is broken over two lines cannot be copied.
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        for row in (names, *rows):
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            screen.say("  ".join(cells).rstrip() + "\n")


def _time(task: Task) -> str:
    if not task.status.HasField("timestamp"):
        return "-"
    return task.status.timestamp.ToDatetime().strftime("%Y-%m-%d %H:%M:%SZ")
