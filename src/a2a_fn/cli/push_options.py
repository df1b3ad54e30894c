"""The options of a webhook: what `call --push-url` and `webhooks set` take."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import typer

from .access import Access, reads_stdin
from .failures import Failure

TOKEN_VARIABLE = "A2A_FN_CALL_PUSH_TOKEN"  # noqa: S105 - its name
AUTH_VARIABLE = "A2A_FN_CALL_PUSH_AUTH"


def _option(**more: Any) -> Any:
    return typer.Option(rich_help_panel="Webhook", **more)


PushUrl = Annotated[
    str | None, _option(metavar="WEBHOOK", help="Push the task's events to this URL, too.")
]
PushToken = Annotated[
    str,
    _option(
        help=f"Token that each push carries. Also {TOKEN_VARIABLE}, file:PATH, or - for stdin."
    ),
]
PushAuth = Annotated[
    str,
    _option(
        metavar='"SCHEME CREDENTIALS"',
        help='How a push proves who sends it: "Bearer SECRET", "Basic USER:PASSWORD", "ApiKey KEY" '
        f'or "HMAC SECRET". Also {AUTH_VARIABLE}; all of it or the credentials may be file:PATH, '
        "or - for stdin.",
    ),
]
PushId = Annotated[
    str, _option(metavar="ID", help="The webhook's id; the same again sets it anew.")
]


class Push(NamedTuple):
    """The options as given; `url` is None where there is no webhook."""

    url: str | None = None
    token: str = ""
    auth: str = ""
    id: str = ""

    def __repr__(self) -> str:
        return f"Push(id={self.id!r})"

    def check(self, access: Access, *, message: bool = False) -> None:
        """A Failure for an option without the one that it belongs to, and for a stdin that would
        have to hold two things; `message`: it holds the message."""
        if self.url is None:
            for name in ("token", "auth", "id"):
                if getattr(self, name):
                    raise Failure(f"--push-{name} goes with --push-url WEBHOOK: name it")
        ours = [self.token, *self.auth.split(None, 1)[-1:]].count("-")
        if not ours:
            return
        if message:
            raise Failure("stdin holds the message: give the secret as file:PATH")
        if ours + reads_stdin(access) > 1:
            raise Failure("stdin holds one secret: give the others as file:PATH")
