"""The command line: its groups of commands, and how every failure becomes one line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from a2a_fn import __version__

from . import keys, local, offline, push, remote, webhooks
from .failures import Exit, Failure
from .screen import printable

app = typer.Typer(
    name="a2a-fn",
    help="Run an A2A agent on functions or on this machine, talk to one, and review or generate "
    "infrastructure templates without a server.",
    epilog="Exit codes: 0 done; 1 the task failed, or the review did; 2 bad usage or "
    "input; 3 the server cannot be reached or did not answer; 130 stopped with Ctrl-C.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich" if sys.stdout.isatty() else None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
remote.add_to(app)
webhooks.add_to(app)
offline.add_to(app)
local.add_to(app)
push.add_to(app)
keys.add_to(app)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code; every failure is one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:  # a terminal that cannot show a character is no reason to fail
            reconfigure(errors="replace")
    try:
        command = typer.main.get_command(app)
        result = command.main(list(arguments), prog_name="a2a-fn", standalone_mode=False)
        sys.stdout.flush()
        return int(result or Exit.OK)
    except Failure as e:
        return _tell(str(e), e.code)
    except typer.TyperException as e:
        path = getattr(getattr(e, "ctx", None), "command_path", "a2a-fn")
        return _tell(f"{e.format_message()} ({path} --help shows the usage)", Exit.USAGE)
    except (KeyboardInterrupt, typer.Abort):
        return _tell("stopped", Exit.STOPPED)
    except BrokenPipeError:
        # Whoever read the output has gone, as `head` does. Python flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAILED
    except OSError as e:
        where = f"{e.filename}: " if e.filename else ""
        return _tell(f"{where}{e.strerror or e}", Exit.FAILED)
    except Exception as e:
        if sys.flags.dev_mode:
            raise
        hint = "a fault of a2a-fn; python -X dev -m a2a_fn shows where"
        return _tell(f"{type(e).__name__}: {e} ({hint})", Exit.FAILED)


def _tell(message: str, code: Exit) -> int:
    print(f"a2a-fn: {printable(' '.join(message.split()))}", file=sys.stderr)
    return code
