"""One command's dealings with one agent, from the request to the exit code."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

from a2a.types.a2a_pb2 import ListTasksRequest, Role, SendMessageRequest, StreamResponse, TaskState
from google.protobuf.message import Message

from .access import Access
from .answers import TimedOut
from .attachments import read_part
from .cards import check_pushes, read_card
from .client import Client, Item
from .conversation import Conversation
from .credentials import redact
from .failures import Exit, Failure
from .listing import show_card, show_task, show_tasks, state_name, timestamp
from .plain import to_json
from .push_config import Webhook
from .screen import Screen
from .shelf import Shelf
from .silence import REMARK, Silence
from .transcript import TERMINAL, Transcript, state_word
from .webhook_session import WebhookSession
from .writing import check_directory


class Session:
    """A context manager around one command; each method does it and returns the exit code."""

    def __init__(
        self,
        url: str,
        access: Access,
        out: Path | None,
        timeout: float | None,
        *,
        as_json: bool,
    ) -> None:
        if out is not None:
            check_directory(out)
        self._screen = Screen(machine=as_json)
        self._client = Client(url, access, timeout, self._screen.warn)
        self._shelf = Shelf(out, self._client.download)
        self._silence = Silence(self._remark)
        self._waits = False  # for authorisation, which a person gives
        self._saves = out is not None
        self._secrets: frozenset[str] = frozenset()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._client.close()
        if isinstance(error, Failure):  # what a server sent back may hold what was sent to it
            error.args = (redact(self._client.redact(str(error)), self._secrets),)

    def call(
        self,
        text: str,
        files: Iterable[Path],
        *,
        context: str,
        task: str,
        message_id: str,
        stream: bool,
        cwd: str | None = None,
        create_cwd: bool = False,
        webhook: Webhook | None = None,
    ) -> int:
        """Send a message and show its turn. `cwd`: the folder of the agent's machine to work in;
        `webhook`: where the task's events are to be pushed, too."""
        card = self._client.card()
        request = SendMessageRequest()
        if webhook is not None:
            self._secrets = webhook.secrets
            check_pushes(card, self._client.url)
            request.configuration.task_push_notification_config.CopyFrom(webhook.config)
        message = request.message
        message.message_id, message.role = message_id, Role.ROLE_USER
        message.context_id, message.task_id = context, task
        if cwd is not None:
            folder = {"cwd": cwd} | ({"createCwd": True} if create_cwd else {})
            message.metadata.update({"iac_code": folder})
        if text.strip():
            message.parts.add(text=text)
        message.parts.extend(read_part(path, card.default_input_modes) for path in files)
        transcript = Transcript(
            self._screen, self._shelf, message_id=message_id, continues=bool(task)
        )
        conversation = self._conversation(transcript)
        streams = stream and card.capabilities.streaming
        send = conversation.send_streaming if streams else conversation.send_blocking
        return self._follow(lambda: send(request), transcript)

    def watch(self, task: str) -> int:
        """Show a task's events until its turn has ended."""
        transcript = Transcript(self._screen, self._shelf)
        conversation = self._conversation(transcript)
        return self._follow(lambda: conversation.watch(task), transcript)

    def task(self, task: str, history: int | None) -> int:
        """Show one task and save its artifacts."""
        found = self._client.task(task, history)
        for artifact in found.artifacts:
            self._shelf.replace(artifact)
        if self._screen.machine:
            self._screen.raw(_pretty(found))
        else:
            show_task(self._screen, found)
        for place in self._shelf.save(ended=True):
            self._screen.note(f"saved {place}", style="green")
        return Exit.OK

    def tasks(
        self,
        *,
        context: str,
        status: str,
        after: str,
        page_size: int,
        page_token: str,
        include_artifacts: bool,
        every: bool,
    ) -> int:
        """List tasks, one page or all."""
        request = ListTasksRequest(
            context_id=context,
            page_size=page_size,
            page_token=page_token,
            history_length=0,
            status=state_name(status),
            status_timestamp_after=timestamp(after),
        )
        if include_artifacts:
            request.include_artifacts = True
        answer = page = self._client.tasks(request)
        seen = {""}
        while every and page.next_page_token not in seen:
            seen.add(page.next_page_token)  # a server that repeats itself must not hold us
            request.page_token = page.next_page_token
            page = self._client.tasks(request)
            answer.tasks.extend(page.tasks)
            answer.next_page_token = page.next_page_token
        if self._screen.machine:
            self._screen.raw(_pretty(answer))
        else:
            show_tasks(self._screen, answer)
        return Exit.OK

    def cancel(self, task: str) -> int:
        """Cancel a task."""
        canceled = self._client.cancel(task)
        if self._screen.machine:
            self._screen.raw(_pretty(canceled))
        else:
            self._screen.say(f"{state_word(canceled.status.state)}  task {canceled.id}\n")
        return Exit.OK if canceled.status.state == TaskState.TASK_STATE_CANCELED else Exit.FAILED

    def webhooks(
        self, task: str, webhook: Webhook | None = None, *, secrets: bool = False
    ) -> WebhookSession:
        """A command on the webhooks of a task; `webhook`: the one that it sets."""
        self._secrets = webhook.secrets if webhook else frozenset()
        return WebhookSession(self._client, self._screen, task, secrets=secrets)

    def card(self, *, extended: bool) -> int:
        """Show the agent's card; as JSON exactly as it is served (or what is signed of it)."""
        client = self._client
        document = client.extended_card_json() if extended else client.card_json()
        if self._screen.machine:
            self._screen.raw(json.dumps(document, ensure_ascii=False, indent=2))
        else:
            show_card(self._screen, read_card(document))
        return Exit.OK

    def _conversation(self, transcript: Transcript) -> Conversation:
        return Conversation(self._client, transcript, self._screen, self._on_event)

    def _remark(self) -> None:
        if not self._waits:
            self._screen.note(REMARK, style="yellow")

    def _on_event(self, item: Item) -> None:
        self._silence.heard()
        task = item.response.task if item.response.HasField("task") else item.response.status_update
        self._waits = task.status.state == TaskState.TASK_STATE_AUTH_REQUIRED
        if self._screen.machine:
            self._screen.raw(_line(item.response))

    def _follow(self, turn: Callable[[], None], transcript: Transcript) -> int:
        try:
            with self._silence:
                turn()
        except KeyboardInterrupt:
            self._screen.end_line()
            raise Failure(self._stopped(transcript), Exit.STOPPED) from None
        except TimedOut as e:
            self._screen.end_line()
            raise Failure(f"{e}; {self._rest(transcript)}", e.code) from e
        except Failure:
            self._screen.end_line()
            raise
        self._screen.end_line()
        if transcript.replied:
            self._screen.note(_reply_line(transcript, self._client.address))
            return Exit.OK
        if self._screen.machine:
            self._screen.raw(_line(StreamResponse(task=self._client.task(transcript.task_id))))
        else:
            self._screen.note(self._last_line(transcript), style="bold")
        return Exit.FAILED if transcript.failed else Exit.OK

    def _last_line(self, transcript: Transcript) -> str:
        url, task = self._client.address, transcript.task_id
        line = f"{state_word(transcript.state)}  task {task}  context {transcript.context_id}"
        if transcript.state in TERMINAL:
            line += f'\ngo on: a2a-fn call {url} "..." --context {transcript.context_id}'
        else:  # the task waits for its user; a message to the context would begin another
            line += f'\ngo on: a2a-fn call {url} "..." --task {task}'
        if self._shelf.entries and not self._saves:
            line += f"\nsave its artifacts: a2a-fn task {url} {task} --out DIR"
        return line

    def _stopped(self, transcript: Transcript) -> str:
        url, task = self._client.address, transcript.task_id
        if not task:
            return f"stopped; {self._rest(transcript)}"
        return f"stopped; {self._rest(transcript)}; a2a-fn cancel {url} {task} ends it"

    def _rest(self, transcript: Transcript) -> str:
        if transcript.task_id:
            return f"the task goes on: a2a-fn watch {self._client.address} {transcript.task_id}"
        if transcript.message_id:
            again = f"the same call with --message-id {transcript.message_id}"
            return f"the message may have been accepted: {again} asks after it"
        return "nothing was changed"


def _reply_line(transcript: Transcript, url: str) -> str:
    line = "answered with a message, no task"
    if transcript.context_id:
        line += f'\ngo on: a2a-fn call {url} "..." --context {transcript.context_id}'
    return line


def _line(message: Message) -> str:
    return json.dumps(to_json(message), ensure_ascii=False, separators=(",", ":"))


def _pretty(message: Message) -> str:
    return json.dumps(to_json(message), ensure_ascii=False, indent=2)
