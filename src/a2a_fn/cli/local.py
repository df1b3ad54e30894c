"""Commands that run the agent on this machine: serve, work, invoke."""

from __future__ import annotations

import asyncio
import enum
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .failures import Exit, Failure, needs

if TYPE_CHECKING:
    from a2a_fn.settings import Settings

Data = Annotated[Path | None, typer.Option(help="Where the state is kept.")]
Agent = Annotated[
    str | None,
    typer.Option(
        help="Who answers: iac:offline, echo:, agent:package.module:Name, or "
        "executor:package.module:Name."
    ),
]
Config = Annotated[Path | None, typer.Option(help="A YAML file with settings.")]


class Handler(enum.StrEnum):
    """The deployed functions."""

    HTTP = "http"
    TURN = "turn"
    PUSH = "push"
    SWEEP = "sweep"


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (serve, work, invoke):
        app.command(rich_help_panel="Run the agent on this machine")(command)


def serve(
    host: Annotated[str | None, typer.Option(help="The address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")
    ] = None,
    data: Data = None,
    agent: Agent = None,
    config: Config = None,
    workers: Annotated[
        int | None, typer.Option(min=0, help="Turns at a time; 0 serves HTTP only.")
    ] = None,
) -> int:
    """Serve the agent: HTTP, turn workers and the sweeper in one process."""
    settings = read_settings(config, host=host, port=port, data=data, agent=agent)
    with needs("cli"), told():
        from a2a_fn.hosts import local

        return asyncio.run(local.serve(settings, workers=workers))


def work(
    data: Data = None,
    agent: Agent = None,
    config: Config = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Turns at a time.")] = None,
) -> int:
    """Work on turns only, beside a `serve --workers 0` on the same data."""
    settings = read_settings(config, data=data, agent=agent)
    with needs("cli"), told():
        from a2a_fn.hosts import local

        return asyncio.run(local.work(settings, workers=workers))


def invoke(
    handler: Annotated[Handler, typer.Argument(help="Which function.")],
    event: Annotated[Path, typer.Argument(metavar="EVENT.json", help="The event it gets.")],
    data: Data = None,
    agent: Agent = None,
    config: Config = None,
) -> int:
    """Call a deployed handler with a sample event; what it returns goes to stdout as JSON."""
    payload = _event(event)
    settings = read_settings(config, data=data, agent=agent)
    with needs("cli"), told():
        from a2a_fn.hosts import local

        result = local.invoke(handler.value, payload, settings)
    typer.echo(json.dumps(result, ensure_ascii=False, indent=2))
    return Exit.OK


def read_settings(config: Path | None, **options: object) -> Settings:
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # so that --agent finds a module of the user's own folder
    with needs("cli"), told():
        from a2a_fn import settings

        overrides = {
            name: str(value) if isinstance(value, Path) else value
            for name, value in options.items()
            if value is not None
        }
        return settings.load(config, overrides)


def _event(path: Path) -> dict[str, Any]:
    try:
        event = json.loads(path.read_text("utf-8"))
    except OSError as e:
        raise Failure(f"{path} cannot be read: {e.strerror or e}") from e
    except ValueError as e:
        raise Failure(f"{path} is not JSON: {e}") from e
    if not isinstance(event, dict):
        raise Failure(f"{path} must hold a JSON object, as the cloud sends it")
    return event


@contextmanager
def told() -> Iterator[None]:
    """Turn what the host may raise into a Failure."""
    from a2a_fn import errors

    try:
        yield
    except errors.InvalidSettings as e:
        raise Failure("; ".join(str(e).splitlines())) from e
    except errors.A2aFnError as e:
        raise Failure(str(e), Exit.FAILED) from e
    except OSError as e:
        raise Failure(f"{e.filename or 'the host'}: {e.strerror or e}", Exit.FAILED) from e
