"""Commands that talk to an agent: call, tasks, task, cancel, watch, card."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Annotated

import typer

from .access import Access, reads_stdin, with_access
from .failures import Failure, needs
from .push_options import Push, PushAuth, PushId, PushToken, PushUrl

if TYPE_CHECKING:
    from .push_config import Webhook
    from .session import Session

Url = Annotated[str, typer.Argument(help="The agent's URL, such as http://127.0.0.1:8080.")]
TaskId = Annotated[str, typer.Argument(metavar="ID", help="The task's id.")]
AsJson = Annotated[bool, typer.Option("--json", help="JSON on stdout, nothing else.")]
Out = Annotated[
    Path | None,
    typer.Option(help="Save artifacts below this directory; no file there is overwritten."),
]
Timeout = Annotated[float | None, typer.Option(min=0.1, help="Stop waiting after so many seconds.")]


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (call, watch, task, tasks, cancel, card):
        app.command(rich_help_panel="Talk to an agent")(with_access(command))


def call(
    url: Url,
    text: Annotated[str, typer.Argument(help='The message; "-" reads it from stdin.')],
    file: Annotated[
        list[Path] | None, typer.Option(help="A file to send along; may be repeated.")
    ] = None,
    context: Annotated[str, typer.Option(help="Go on in this conversation.")] = "",
    task: Annotated[str, typer.Option(help="Go on with this task.")] = "",
    cwd: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Work in this folder of the agent's machine."),
    ] = None,
    create_cwd: Annotated[
        bool, typer.Option("--create-cwd", help="Make that folder if it is not there.")
    ] = False,
    no_stream: Annotated[
        bool, typer.Option("--no-stream", help="Wait for the whole answer.")
    ] = False,
    out: Out = None,
    json: AsJson = False,
    timeout: Timeout = None,
    message_id: Annotated[
        str, typer.Option(help="The message's id; the same again is the same request.")
    ] = "",
    push_url: PushUrl = None,
    push_token: PushToken = "",
    push_auth: PushAuth = "",
    push_id: PushId = "",
    *,
    access: Access,
) -> int:
    """Send a message and show the answer as it comes.

    The answer goes to stdout, remarks (tools, artifacts, how to go on) to stderr. With --json,
    stdout has one A2A StreamResponse a line, and as the last line the whole task.
    """
    if text == "-" and reads_stdin(access):
        raise Failure("stdin holds the message: give the secret as file:PATH")
    _check_cwd(cwd, create_cwd)
    push = Push(push_url, push_token, push_auth, push_id)
    push.check(access, message=text == "-")
    message = sys.stdin.read() if text == "-" else text
    if not message.strip() and not file:
        raise Failure('the message is empty: say what you want, as in a2a-fn call URL "..."')
    webhook = None if push.url is None else read_webhook(push)
    with open_session(url, access, json, out, timeout) as session:
        return session.call(
            message,
            file or (),
            context=context,
            task=task,
            message_id=message_id or uuid.uuid4().hex,
            stream=not no_stream,
            cwd=cwd,
            create_cwd=create_cwd,
            webhook=webhook,
        )


def watch(
    url: Url,
    id: TaskId,
    out: Out = None,
    json: AsJson = False,
    timeout: Timeout = None,
    *,
    access: Access,
) -> int:
    """Show a task's events from now until its turn has ended.

    A task that waits for authorisation is followed on: it may get it elsewhere.
    """
    with open_session(url, access, json, out, timeout) as session:
        return session.watch(id)


def task(
    url: Url,
    id: TaskId,
    history: Annotated[
        int | None, typer.Option(min=0, help="Show only the last N messages.")
    ] = None,
    out: Out = None,
    json: AsJson = False,
    *,
    access: Access,
) -> int:
    """Show one task: its state, messages and artifacts."""
    with open_session(url, access, json, out) as session:
        return session.task(id, history)


def tasks(
    url: Url,
    context: Annotated[str, typer.Option(help="Only this conversation.")] = "",
    status: Annotated[
        str, typer.Option(help="Only this state, such as working or input-required.")
    ] = "",
    after: Annotated[
        str, typer.Option(metavar="TIME", help="Only those whose state is of then or later.")
    ] = "",
    page_size: Annotated[int, typer.Option(min=1, max=100, help="Tasks a page.")] = 50,
    page_token: Annotated[str, typer.Option(help="The page that the one before named.")] = "",
    include_artifacts: Annotated[
        bool, typer.Option("--include-artifacts", help="With --json: with their artifacts.")
    ] = False,
    every: Annotated[bool, typer.Option("--all", help="All pages from there.")] = False,
    json: AsJson = False,
    *,
    access: Access,
) -> int:
    """List your tasks, the newest first."""
    with open_session(url, access, json) as session:
        return session.tasks(
            context=context,
            status=status,
            after=after,
            page_size=page_size,
            page_token=page_token,
            include_artifacts=include_artifacts,
            every=every,
        )


def cancel(url: Url, id: TaskId, json: AsJson = False, *, access: Access) -> int:
    """Cancel a task."""
    with open_session(url, access, json) as session:
        return session.cancel(id)


def card(
    url: Url,
    extended: Annotated[
        bool, typer.Option("--extended", help="The card for those who are authenticated.")
    ] = False,
    json: AsJson = False,
    *,
    access: Access,
) -> int:
    """Show the agent's card."""
    with open_session(url, access, json) as session:
        return session.card(extended=extended)


def _check_cwd(cwd: str | None, create: bool) -> None:
    if cwd is None:
        if create:
            raise Failure("--create-cwd makes the folder of --cwd DIR: name it")
    elif not (PurePosixPath(cwd).is_absolute() or PureWindowsPath(cwd).is_absolute()):
        raise Failure(f"--cwd {cwd!r}: must be absolute, since it is on the agent's machine")


def read_webhook(push: Push, name: str = "--push-url") -> Webhook:
    """The webhook of these options, with its secrets; `name`: what the user calls its URL."""
    with needs("cli"):
        from .push_config import read_webhook
    return read_webhook(push, name)


def open_session(
    url: str,
    access: Access,
    as_json: bool,
    out: Path | None = None,
    timeout: float | None = None,
) -> Session:
    """One command's dealings with the agent at a URL."""
    with needs("cli"):  # imported here: the other commands do without httpx and the A2A types
        from .session import Session
    return Session(url, access, out, timeout, as_json=as_json)
