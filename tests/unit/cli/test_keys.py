"""keys show, rotate, export: what they print, what they write, and what they never show."""

from __future__ import annotations

import json
import stat

import pytest

from a2a_fn.engines.keyfile import KeyFile
from a2a_fn.push import keyring


@pytest.fixture(autouse=True)
def bare(monkeypatch, tmp_path):
    """No settings but the test's, and a folder of its own."""
    for name in ("A2A_FN_PUSH_KEYS", "A2A_FN_DATA", "A2A_FN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def data(tmp_path):
    """A data folder with a keyring that was rotated twice."""
    folder = tmp_path / "data"
    folder.mkdir()
    file = KeyFile(folder / "push-keys.json")
    file.make()
    file.rotate(file.load())
    file.rotate(file.load())
    return folder


def ring(folder) -> keyring.Keyring:
    return KeyFile(folder / "push-keys.json").load()


def private(keys_: keyring.Keyring) -> list[str]:
    document = json.loads(keyring.write(keys_))
    lines = [line for key in document["signing"] for line in key["key"].splitlines()]
    return [line for line in lines if "---" not in line] + [
        key["key"] for key in document["sealing"]
    ]


# ---------------------------------------------------------------- show


def test_show_names_every_key_and_prints_the_public_ones(cli, data):
    result = cli("keys", "show", "--data", data)
    now = ring(data)
    assert result.code == 0
    for key in now.signing:
        assert f"{key.kid}  {key.created}" in result.out
    for key in now.sealing:
        assert f"{key.id}  {key.created}" in result.out
    assert [line.split()[-1] for line in result.out.splitlines()[:5]] == [
        "signs", "verifies", "seals", "opens", "opens"
    ]  # fmt: skip
    assert json.loads(result.out[result.out.index("{") :]) == {"keys": keyring.public_jwks(now)}


def test_show_shows_nothing_private(cli, data):
    result = cli("keys", "show", "--data", data)
    assert not [secret for secret in private(ring(data)) if secret in result.out + result.err]


def test_only_the_key_set_for_a_script(cli, data):
    result = cli("keys", "show", "--jwks", "--data", data)
    assert json.loads(result.out) == {"keys": keyring.public_jwks(ring(data))}


def test_show_makes_no_keys(cli, tmp_path):
    result = cli("keys", "show", "--data", tmp_path / "new")
    assert result.code == 2
    assert "a2a-fn keys rotate" in result.err
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("how", ["text", "env:RING", "file:ring.json"])
def test_show_reads_the_keyring_where_the_settings_say(cli, monkeypatch, tmp_path, how):
    text = keyring.write(keyring.fresh(0))
    monkeypatch.setenv("RING", text)
    (tmp_path / "ring.json").write_text(text)
    monkeypatch.setenv("A2A_FN_PUSH_KEYS", text if how == "text" else how)
    result = cli("keys", "show")
    assert keyring.read(text).signing[0].kid in result.out
    assert not [secret for secret in private(keyring.read(text)) if secret in result.out]


@pytest.mark.parametrize("command", ["show", "rotate", "export"])
@pytest.mark.parametrize("content", ["{", '{"signing": [], "sealing": 1}', None])
def test_a_file_that_is_no_keyring_is_one_line_that_names_it(
    cli, monkeypatch, tmp_path, command, content
):
    if content is not None:
        (tmp_path / "ring.json").write_text(content)
    monkeypatch.setenv("A2A_FN_PUSH_KEYS", "file:ring.json")
    result = cli("keys", command, *(["out.json"] if command == "export" else []))
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "push-keys: file:ring.json" in result.err
    assert not (tmp_path / "out.json").exists()


# ---------------------------------------------------------------- rotate


def test_rotate_puts_new_keys_into_use(cli, data):
    before = ring(data)
    result = cli("keys", "rotate", "--data", data)
    after = ring(data)
    assert result.code == 0
    assert after.signing[0].kid in result.out and after.sealing[0].id in result.out
    assert after.signing[1].kid == before.signing[0].kid
    assert after.sealing[1:] == before.sealing
    assert not [secret for secret in private(after) if secret in result.out + result.err]


def test_the_first_rotation_makes_the_keyring(cli, tmp_path):
    folder = tmp_path / "new"
    assert cli("keys", "rotate", "--data", folder).code == 0
    assert len(ring(folder).signing) == 1
    assert stat.S_IMODE((folder / "push-keys.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_rotate_works_on_the_file_that_the_settings_name(cli, data, tmp_path):
    config = tmp_path / "a2a.yml"
    config.write_text(f"push-keys: file:{data / 'push-keys.json'}\ndata: {tmp_path / 'other'}\n")
    before = ring(data)
    assert cli("keys", "rotate", "--config", config).code == 0
    assert ring(data).signing[1].kid == before.signing[0].kid
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("reference", "place"),
    [("env:RING", "env:RING"), ("ssm:/app/ring", "ssm:/app/ring"), ("text", "in the settings")],
)
def test_a_keyring_kept_elsewhere_is_rotated_there(cli, monkeypatch, reference, place):
    text = keyring.write(keyring.fresh(0))
    monkeypatch.setenv("RING", text)
    monkeypatch.setenv("A2A_FN_PUSH_KEYS", text if reference == "text" else reference)
    result = cli("keys", "rotate")
    assert result.code == 2
    assert place in result.err and "keys export" in result.err
    assert not [secret for secret in private(keyring.read(text)) if secret in result.err]


def test_a_rotation_that_lost_says_so(cli, data, monkeypatch):
    load = KeyFile.load
    loads = []

    def another_comes_between(self):
        loads.append(1)
        found = load(self)
        if len(loads) == 1:
            KeyFile(self.path).rotate(load(self))
        return found

    monkeypatch.setattr(KeyFile, "load", another_comes_between)
    result = cli("keys", "rotate", "--data", data)
    assert result.code == 1
    assert "keys show" in result.err
    assert len(ring(data).sealing) == 4


# ---------------------------------------------------------------- export


def test_export_writes_the_whole_keyring_to_a_private_file(cli, data, tmp_path):
    result = cli("keys", "export", tmp_path / "out.json", "--data", data)
    assert (result.code, result.out) == (0, "")
    assert (tmp_path / "out.json").read_text() == keyring.write(ring(data))
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == 0o600


def test_export_writes_over_nothing(cli, data, tmp_path):
    (tmp_path / "out.json").write_text("mine")
    result = cli("keys", "export", tmp_path / "out.json", "--data", data)
    assert result.code == 2 and "exists" in result.err
    assert (tmp_path / "out.json").read_text() == "mine"


def test_export_prints_private_keys_only_when_told_to(cli, data):
    refused = cli("keys", "export", "--data", data)
    assert (refused.code, refused.out) == (2, "")
    assert "--yes" in refused.err
    assert keyring.write(ring(data)) == cli("keys", "export", "--yes", "--data", data).out


def test_export_goes_to_one_place(cli, data):
    assert cli("keys", "export", "x.json", "--yes", "--data", data).code == 2


def test_what_was_exported_is_a_setting(cli, data, tmp_path, monkeypatch):
    cli("keys", "export", tmp_path / "out.json", "--data", data)
    monkeypatch.setenv("A2A_FN_PUSH_KEYS", (tmp_path / "out.json").read_text())
    assert ring(data).signing[0].kid in cli("keys", "show").out
