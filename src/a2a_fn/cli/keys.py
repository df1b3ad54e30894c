"""`a2a-fn keys`: the keyring that signs pushes and seals what webhooks' configs hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .failures import Exit, Failure, needs
from .local import Config, Data, read_settings, told

if TYPE_CHECKING:
    from a2a_fn.engines.keyfile import KeyFile
    from a2a_fn.push.keyring import Keyring
    from a2a_fn.settings import Settings


def add_to(app: typer.Typer) -> None:
    """Add the group of commands."""
    group = typer.Typer(help="The keys that sign pushes, and seal the credentials of webhooks.")
    for command in (show, rotate, export):
        group.command()(command)
    app.add_typer(group, name="keys", rich_help_panel="Run the agent on this machine")


def show(
    data: Data = None,
    config: Config = None,
    jwks: Annotated[bool, typer.Option("--jwks", help="Only the public keys, as JSON.")] = False,
) -> int:
    """Show the names and dates of the keys, and the public ones."""
    with needs("push"), told():
        from a2a_fn.push import keyring

        keys = _present(read_settings(config, data=data))
        public = json.dumps({"keys": keyring.public_jwks(keys)}, indent=2)
        live = keyring.LIVE
    if not jwks:
        for i, key in enumerate(keys.signing):
            role = "signs" if i == 0 else "verifies" if i < live else "out of use"
            typer.echo(f"signing  {key.kid}  {key.created}  {role}")
        for i, sealing in enumerate(keys.sealing):
            typer.echo(f"sealing  {sealing.id}  {sealing.created}  {'opens' if i else 'seals'}")
    typer.echo(public)
    return Exit.OK


def rotate(data: Data = None, config: Config = None) -> int:
    """Put new keys into use; what the old ones signed and sealed stays good.

    Running servers take them up by themselves. The signing key before stays published until the
    next rotation, sealing keys stay for good.
    """
    settings = read_settings(config, data=data)
    with needs("push"), told():
        from a2a_fn.errors import Conflict

        file = _file(settings)
        if file is None:
            raise Failure(
                f"push-keys is {_place(settings.push_keys)}, which cannot be changed from here: "
                "`a2a-fn keys export FILE`, set push-keys to file:FILE and rotate that, then "
                "put the file's content there again and restart the servers"
            )
        if file.made and not file.path.exists():
            _make(settings, file)
            return Exit.OK
        try:
            after = file.rotate(file.load())
        except Conflict:
            raise Failure(
                f"{file.path} was changed by someone else just now: see `a2a-fn keys show`",
                Exit.FAILED,
            ) from None
    typer.echo(f"signing  {after.signing[0].kid}")
    typer.echo(f"sealing  {after.sealing[0].id}")
    return Exit.OK


def export(
    to: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A new file, readable by you only.")
    ] = None,
    data: Data = None,
    config: Config = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Print it to stdout: whoever reads that has the keys.")
    ] = False,
) -> int:
    """Write the whole keyring, private keys too, for a secret manager; made if there is none."""
    if to is None and not yes:
        raise Failure("give a FILE, or --yes to print private keys to stdout")
    if to is not None and yes:
        raise Failure("give a FILE or --yes, not both")
    with needs("push"), told():
        from a2a_fn.engines.keyfile import write_private
        from a2a_fn.push import keyring

        settings = read_settings(config, data=data)
        file = _file(settings)
        if file is not None and file.made and not file.path.exists():
            _make(settings, file)
        text = keyring.write(_present(settings))
        if to is not None:
            try:
                write_private(to, text)
            except FileExistsError:
                raise Failure(f"{to} exists: a keyring is not written over a file") from None
            return Exit.OK
    typer.echo(text, nl=False)
    return Exit.OK


def _present(settings: Settings) -> Keyring:
    """The keyring where the settings say that it is; none is made."""
    file = _file(settings)
    if file is None:
        from a2a_fn.push import keyring
        from a2a_fn.wiring import build_services

        return keyring.read(build_services(settings).reveal("push-keys", settings.push_keys))
    if file.made and not file.path.exists():
        raise Failure(
            f"there is no keyring in {file.path.parent} yet: `a2a-fn keys rotate` makes one, and "
            "so does a server with push-notifications"
        )
    return file.load()


def _file(settings: Settings) -> KeyFile | None:
    """The keyring's file; None if it is somewhere else."""
    from a2a_fn.engines.keyfile import located

    return located(settings.push_keys, Path(settings.data))


def _make(settings: Settings, file: KeyFile) -> None:
    from a2a_fn.wiring import build_services

    folder = build_services(settings).data  # now it is there
    file.make()
    typer.echo(f"made {folder / file.path.name}", err=True)


def _place(text: str) -> str:
    """Where a setting's value is kept, without the value."""
    scheme, _, name = text.partition(":")
    if scheme in ("env", "ssm", "secretsmanager"):
        return f"kept at {scheme}:{name}"
    return "written in the settings"
