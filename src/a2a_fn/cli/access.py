"""The options of every command that talks to an agent: declared once, added to each."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from .failures import Failure

HEADERS_VARIABLE = "A2A_FN_CALL_HEADERS"


class Binding(enum.StrEnum):
    """The bindings that this client speaks."""

    JSONRPC = "jsonrpc"
    HTTP_JSON = "http+json"


class Protocol(enum.StrEnum):
    """The versions of A2A that this client speaks."""

    V10 = "1.0"
    V03 = "0.3"


def _option(*names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel="Access to the agent", **more)


def _secret(variable: str, meaning: str, **more: Any) -> Any:
    return _option(envvar=f"A2A_FN_CALL_{variable}", help=meaning, **more)


@dataclass(frozen=True, slots=True)
class Access:
    """How to reach an agent: as whom, over which of its interfaces, and what its card must prove.

    A secret may be `file:PATH`, or `-` for a line of stdin, so that no other user of the machine
    sees it in the list of processes.
    """

    token: Annotated[
        str, _secret("TOKEN", "Bearer token. As each secret: also file:PATH, or - for stdin.")
    ] = ""
    basic: Annotated[str, _secret("BASIC", "Basic credentials.", metavar="USER:PASSWORD")] = ""
    api_key: Annotated[str, _secret("API_KEY", "API key.")] = ""
    api_key_header: Annotated[
        str,
        _secret("API_KEY_HEADER", "Header of the API key; else the card's word, else X-API-Key."),
    ] = ""
    header: Annotated[
        list[str] | None,
        _option(
            metavar="NAME:VALUE",
            help=f"A header to send, kept as secret as the rest; may be repeated. Also "
            f"{HEADERS_VARIABLE}, one a line.",
        ),
    ] = None
    extension: Annotated[
        list[str] | None,
        _option(metavar="URI", help="An A2A extension to ask for; may be repeated."),
    ] = None
    binding: Annotated[
        Binding | None, _option(help="Use this binding; else the first on the card.")
    ] = None
    protocol: Annotated[
        Protocol | None, _option(help="Use this version of A2A; else the first on the card.")
    ] = None
    tenant: Annotated[
        str | None,
        _option(metavar="NAME", help="Ask in this tenant; else in the one that the card names."),
    ] = None
    trust_url: Annotated[
        bool,
        _option(
            "--trust-url", help="Send credentials to the card's URL even if it is another host's."
        ),
    ] = False
    verify_card_secret: Annotated[
        str, _secret("CARD_SECRET", "Verify the card's HS256 signature with this secret.")
    ] = ""
    verify_card_jwks: Annotated[
        Path | None, _option(metavar="FILE", help="Verify the card with the keys of this JWKS.")
    ] = None
    verify_card_jwks_url: Annotated[
        str, _option(metavar="URL", help="Verify the card with the keys of this JWKS.")
    ] = ""
    require_card_signature: Annotated[
        bool,
        _option(
            "--require-card-signature",
            help="Fail without one of the --verify-card options; each refuses an unsigned card.",
        ),
    ] = False


def reads_stdin(access: Access) -> int:
    """How many secrets come from stdin, which can hold one thing only."""
    values = [access.token, access.basic, access.api_key, access.verify_card_secret]
    values += [line.partition(":")[2].strip() for line in access.header or ()]
    return values.count("-")


def check_tenant(access: Access) -> None:
    """A Failure for a tenant that no agent can have."""
    if access.tenant is not None and not access.tenant.strip():
        raise Failure("--tenant is empty: leave it out for the tenant that the card names")
    if access.tenant and access.protocol == "0.3":
        raise Failure("A2A 0.3 has no tenants: leave out --tenant, or --protocol 0.3")


ANYONE = Access()
"""No credentials, no conditions."""


def with_access(command: Callable[..., int]) -> Callable[..., int]:
    """The command with the options of Access, which it gets as its argument `access`."""
    names = [field.name for field in fields(Access)]

    @functools.wraps(command)
    def run(**given: Any) -> int:
        access = Access(**{name: given.pop(name) for name in names})
        return command(**given, access=access)

    own = inspect.signature(command, eval_str=True).parameters.values()
    hints = get_type_hints(Access, include_extras=True)
    added = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(Access)
    ]
    kept = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for parameter in own
        if parameter.name != "access"
    ]
    parameters = kept + added
    run.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
