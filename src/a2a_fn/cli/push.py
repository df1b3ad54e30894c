"""Commands of whoever runs the agent on what could not be pushed: push dead, push redrive."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from .failures import Exit, Failure, needs
from .local import Config, Data, read_settings, told
from .screen import printable

if TYPE_CHECKING:
    from a2a_fn.outbox import Outbox
    from a2a_fn.push.letters import Letter

T = TypeVar("T")

group = typer.Typer(
    name="push",
    help="Look at pushes that were given up, and bring them back.",
)

Task = Annotated[str | None, typer.Option(help="Of this task only.")]


def add_to(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, rich_help_panel="Run the agent on this machine")


@group.command()
def dead(
    task: Task = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    data: Data = None,
    config: Config = None,
) -> int:
    """List what was given up: which event of which task, since when, and the last answer."""

    async def work(outbox: Outbox) -> list[Letter]:
        return [letter async for letter in _letters(outbox, task)]

    letters = _run(work, data, config)
    for letter in letters:
        typer.echo(json.dumps(letter._asdict()) if as_json else _line(letter))
    if not letters and not as_json:
        typer.echo("Nothing was given up.", err=True)
    return Exit.OK


@group.command()
def redrive(
    task: Task = None,
    everything: Annotated[bool, typer.Option("--all", help="All that was given up.")] = False,
    data: Data = None,
    config: Config = None,
) -> int:
    """Send again what was given up, and all that came after it."""
    if bool(task) == everything:
        raise Failure("name a task with --task, or say --all", Exit.USAGE)

    async def work(outbox: Outbox) -> list[tuple[Letter, bool]]:
        from a2a_fn.push import letters

        found = [letter async for letter in _letters(outbox, task)]
        return [(letter, await letters.redrive(outbox.journal, letter)) for letter in found]

    done = _run(work, data, config)
    for letter, revived in done:
        what = "sent again" if revived else "its webhook is deleted, or set anew since"
        typer.echo(f"{letter.task} {letter.config}: {what}")
    if not done:
        raise Failure(f"nothing of task {task} was given up" if task else "nothing was given up")
    return Exit.OK


async def _letters(outbox: Outbox, task: str | None) -> AsyncIterator[Letter]:
    from a2a_fn.push import letters

    async for letter in letters.listed(outbox.journal):
        if task in (None, letter.task):
            yield letter


def _line(letter: Letter) -> str:
    since = datetime.fromtimestamp(letter.since / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    last = f"{letter.status} {letter.answer}".strip() if letter.status else letter.answer
    return (
        f"{since}  {letter.task}  {letter.config}  event {letter.generation}, "
        f"{letter.attempts} {'try' if letter.attempts == 1 else 'tries'}: "
        f"{printable(' '.join(last.split()))[:200]}"
    )


def _run(work: Callable[[Outbox], Awaitable[T]], data: Data, config: Config) -> T:
    settings = read_settings(config, data=data, push_notifications=True)
    with needs("push"), told():
        from a2a_fn.wiring import build_services

        async def run() -> T:
            services = build_services(settings)
            try:
                assert services.outbox is not None  # noqa: S101 - it is switched on above
                return await work(services.outbox)
            finally:
                await services.close()

        return asyncio.run(run())
