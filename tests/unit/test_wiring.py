"""The composition root: what is made when, and what is kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from a2a_fn.errors import InvalidSettings
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services
from a2a_fn.workspace import PartRefused


async def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    services = build_services(Settings(data=str(tmp_path / "data")))
    services.app()
    assert not (tmp_path / "data" / "a2a-fn.db").exists()
    await services.close()


def test_the_secret_is_made_once_and_for_the_owner_only(tmp_path: Path) -> None:
    settings = Settings(data=str(tmp_path / "data"))
    first, second = build_services(settings).secret, build_services(settings).secret
    assert first == second
    assert len(first) == 32
    assert stat.S_IMODE((tmp_path / "data" / "id.key").stat().st_mode) == 0o600
    assert os.listdir(tmp_path / "data") == ["id.key"]


def test_a_given_secret_is_used_and_not_kept(tmp_path: Path) -> None:
    one, other = (
        build_services(Settings(data=str(tmp_path), id_key="k" * n)).secret for n in (98, 99)
    )
    assert one != other
    assert not os.listdir(tmp_path)


def test_files_with_secrets_are_in_no_workspace(tmp_path: Path) -> None:
    names = ("a.yml", "card.yml", "token", "key.pem", "ann", "data/id.key", "template.yml")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Resources: {}\n")
    settings = Settings(
        data=str(tmp_path / "data"),
        allowed_cwds=(str(tmp_path),),
        config=str(tmp_path / "a.yml"),
        card=str(tmp_path / "card.yml"),
        token=f"file:{tmp_path / 'token'}",
        signing_keys=(f"file:{tmp_path / 'key.pem'}",),
        principals=({"name": "ann", "token": f"file:{tmp_path / 'ann'}"},),
    )
    roots = build_services(settings).roots
    assert roots is not None
    workspace = roots.workspace(tmp_path)
    for name in names[:-1]:
        with pytest.raises(PartRefused, match="outside the allowed workspace"):
            workspace.read((tmp_path / name).as_uri(), 1000, "too large")
    assert workspace.read((tmp_path / names[-1]).as_uri(), 1000, "too large")


def test_a_data_folder_that_cannot_be_made_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidSettings, match=r"data: cannot make .*file/data"):
        _ = build_services(Settings(data=str(tmp_path / "file" / "data"))).data


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("executor:no.such.module:X", "cannot import 'no.such.module'"),
        ("executor:json:Nothing", "has no 'Nothing'"),
        ("executor:pathlib:Path", "has no execute"),
        ("agent:pathlib:Path", r"has no run\(turn\)"),
        ("agent:fractions:Decimal", "cannot be made|has no run"),
        ("agent:types:MethodType", "'types:MethodType' cannot be made: TypeError"),
    ],
)
def test_an_agent_that_cannot_be_loaded_is_a_clear_error(agent: str, words: str) -> None:
    with pytest.raises(InvalidSettings, match=words):
        _ = build_services(Settings(engine="memory", agent=agent)).agent


def test_the_http_side_never_imports_the_agent_or_the_sdks_server() -> None:
    code = (
        "import sys; from a2a_fn.settings import Settings;"
        "from a2a_fn.wiring import build_services;"
        "build_services(Settings(engine='memory', agent='executor:no.such:Agent')).app();"
        "bad = ('a2a.server', 'a2a.client', 'a2a.compat', 'pydantic', 'httpx', 'yaml', 'hcl2',"
        " 'a2a_fn.iac', 'a2a_fn.turns', 'a2a_fn.agents.executor', 'sqlite3', 'uvicorn', 'typer');"
        "sys.exit(' '.join(m for m in sys.modules if m in bad) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
