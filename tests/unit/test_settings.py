"""Settings: where they come from, who wins, and one error that says all that is wrong."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from a2a_fn.errors import InvalidSettings
from a2a_fn.settings import NOT_EMPTY, Settings, load


def test_the_defaults_are_valid() -> None:
    assert load(environ={}) == Settings()
    for setting in dataclasses.fields(Settings):
        check = setting.metadata["check"]
        assert not (check and check(setting.default)), setting.name
        assert setting.metadata["meaning"]


def test_the_environment_wins_over_the_file_and_arguments_over_both(tmp_path: Path) -> None:
    config = tmp_path / "a2a.yml"
    config.write_text("port: 1\nhost: file\nblocking-wait: 2.5\nstreaming: no\n")
    settings = load(
        config,
        {"port": 3, "host": None},
        {"A2A_FN_PORT": "2", "A2A_FN_HOST": "env", "OTHER": "x"},
    )
    assert (settings.port, settings.host) == (3, "env")
    assert (settings.blocking_wait, settings.streaming) == (2.5, False)


def test_every_fault_is_said_at_once_with_its_place(tmp_path: Path) -> None:
    config = tmp_path / "a2a.yml"
    config.write_text("blocking-wiat: 3\nport: many\nagent: [a]\n")
    with pytest.raises(InvalidSettings) as caught:
        load(config, {"workers": -1}, {"A2A_FN_STREAMING": "perhaps", "A2A_FN_ENGINE": "floppy"})
    said = str(caught.value)
    for words in (
        f"{config}: blocking-wiat: there is no such setting; did you mean blocking-wait?",
        "port: must be a whole number, not 'many'",
        "agent: must be text, not a list",
        "--workers: must be from 0 to 1000",
        "A2A_FN_STREAMING: must be true or false",
        "A2A_FN_ENGINE: must be one of sqlite, redis, memory, not 'floppy'",
    ):
        assert words in said
    assert len(said.splitlines()) == 6


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"- a\n- b\n", "must be a mapping of settings, not a list"),
        (b"a: [", "is not YAML"),
        (b"\xff\xfe\xff", "is not UTF-8"),
        (b"1: 2\n", "there is no such setting"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path: Path, content: bytes, words: str) -> None:
    config = tmp_path / "a2a.yml"
    config.write_bytes(content)
    with pytest.raises(InvalidSettings, match=words):
        load(config, environ={})


@pytest.mark.parametrize(
    "line",
    [
        "token: @hunter2",
        "token: 'hunter2",
        "api-key: abc: hunter2",
        "public-url: ftp://u:hunter2@h/",
    ],
)
def test_a_fault_in_a_file_does_not_print_what_may_be_a_secret(tmp_path: Path, line: str) -> None:
    config = tmp_path / "a2a.yml"
    config.write_text(f"host: 127.0.0.1\n{line}\n")
    with pytest.raises(InvalidSettings) as caught:
        load(config, environ={})
    assert "hunter2" not in str(caught.value)
    assert str(config) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="No such file"):
        load(tmp_path / "none.yml", environ={})


def test_an_empty_file_is_no_settings(tmp_path: Path) -> None:
    config = tmp_path / "a2a.yml"
    config.write_text("# nothing yet\n")
    assert load(config, environ={}) == Settings(config=str(config))
    assert load(environ={"A2A_FN_CONFIG": str(config)}) == Settings(config=str(config))


@pytest.mark.parametrize("url", ["ftp://x", "example.com", "https://x/?a=b", "https://"])
def test_a_public_url_must_be_one(url: str) -> None:
    with pytest.raises(InvalidSettings, match="PUBLIC_URL"):
        load(environ={"A2A_FN_PUBLIC_URL": url})


def test_a_secret_is_never_repeated() -> None:
    with pytest.raises(InvalidSettings) as caught:
        load(overrides={"id_key": ["hunter2"]}, environ={})
    assert "hunter2" not in str(caught.value)


def test_the_readme_has_every_setting_with_its_default_and_meaning() -> None:
    def shown(default: object) -> str:
        if isinstance(default, tuple):
            words = ", ".join(default)
        elif isinstance(default, bool):
            words = str(default).lower()
        else:
            words = f"{default:g}" if isinstance(default, float) else str(default)
        return f"`{words}`" if words else ""

    readme = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    table = readme[readme.index("| key | default | meaning |") :].split("\n\n")[0]
    assert table.splitlines()[2:] == [
        f"| `{setting.name.replace('_', '-')}` | {shown(setting.default)} | "
        f"{setting.metadata['meaning']} |"
        for setting in dataclasses.fields(Settings)
    ]


def test_a_short_key_of_ids_is_refused_unless_it_is_kept_elsewhere() -> None:
    with pytest.raises(InvalidSettings, match="at least 16 characters"):
        load(environ={"A2A_FN_ID_KEY": "hunter2"})
    assert load(environ={"A2A_FN_ID_KEY": "env:KEY"}).id_key == "env:KEY"


@pytest.mark.parametrize("name", NOT_EMPTY)
def test_a_credential_that_is_empty_is_not_taken_for_none(name: str) -> None:
    with pytest.raises(InvalidSettings, match="must not be empty"):
        load(environ={f"A2A_FN_{name.upper()}": ""})
    assert load(environ={name: ""}) == Settings()
