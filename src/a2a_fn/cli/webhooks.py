"""Commands on the webhooks of a task: webhooks list, set, get, delete."""

from __future__ import annotations

from typing import Annotated

import typer

from .access import Access, with_access
from .push_options import Push, PushAuth, PushId, PushToken
from .remote import AsJson, Url, open_session, read_webhook

TaskId = Annotated[str, typer.Argument(metavar="TASK", help="The task's id.")]
WebhookId = Annotated[
    str, typer.Argument(metavar="ID", help="The webhook's id; else the task's, as one without has.")
]
ShowSecrets = Annotated[
    bool, typer.Option("--show-secrets", help="With tokens, credentials and the URL's query.")
]


def add_to(app: typer.Typer) -> None:
    """Add the group."""
    group = typer.Typer(help="See and say where a task's events are pushed to.")
    for name, command in (("list", list_), ("set", set_), ("get", get), ("delete", delete)):
        group.command(name)(with_access(command))
    app.add_typer(group, name="webhooks", rich_help_panel="Talk to an agent")


def list_(
    url: Url,
    task: TaskId,
    show_secrets: ShowSecrets = False,
    json: AsJson = False,
    *,
    access: Access,
) -> int:
    """List the webhooks of a task."""
    with open_session(url, access, json) as session:
        return session.webhooks(task, secrets=show_secrets).list()


def set_(
    url: Url,
    task: TaskId,
    webhook: Annotated[
        str, typer.Argument(metavar="WEBHOOK", help="The URL that pushes are sent to.")
    ],
    push_token: PushToken = "",
    push_auth: PushAuth = "",
    push_id: PushId = "",
    json: AsJson = False,
    *,
    access: Access,
) -> int:
    """Push a task's events to a URL, from its next one on."""
    push = Push(webhook, push_token, push_auth, push_id)
    push.check(access)
    wanted = read_webhook(push, "WEBHOOK")
    with open_session(url, access, json) as session:
        return session.webhooks(task, wanted).set(wanted.config)


def get(
    url: Url,
    task: TaskId,
    id: WebhookId = "",
    show_secrets: ShowSecrets = False,
    json: AsJson = False,
    *,
    access: Access,
) -> int:
    """Show one webhook of a task."""
    with open_session(url, access, json) as session:
        return session.webhooks(task, secrets=show_secrets).get(id)


def delete(
    url: Url, task: TaskId, id: WebhookId = "", json: AsJson = False, *, access: Access
) -> int:
    """Delete a webhook of a task.

    Nothing more is pushed to it. One that is not there is no failure.
    """
    with open_session(url, access, json) as session:
        return session.webhooks(task).delete(id)
