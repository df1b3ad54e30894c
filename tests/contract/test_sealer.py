"""Sealing, by the keyring in a file; and that file, used by several processes at once."""

from __future__ import annotations

import base64
import logging
import multiprocessing
import os
import stat
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_fn.engines.keyfile import KeyFile, KeyringSealer, located, write_private
from a2a_fn.errors import Conflict, InvalidSettings, Unsealed
from a2a_fn.push import keyring

NOW = 1_796_000_000_000
KEYS = keyring.fresh(NOW)
BOUND = "5:owner3:t-16:config"


@pytest.fixture
def sealer():
    return KeyringSealer(lambda: KEYS)


@pytest.fixture
def file(tmp_path):
    return KeyFile(tmp_path / "push-keys.json")


# ---------------------------------------------------------------- sealing


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 100])
async def test_what_was_sealed_is_opened(sealer, data):
    sealed = await sealer.seal(data, BOUND)
    assert await sealer.open(sealed, BOUND) == data


async def test_the_text_tells_nothing(sealer):
    sealed = await sealer.seal(b"hush-hush", BOUND)
    version, key, text = sealed.split(".")
    assert (version, key) == ("v1", KEYS.sealing[0].id)
    assert sealed.isascii() and "owner" not in sealed
    assert b"hush" not in base64.urlsafe_b64decode(text + "==")


async def test_the_same_data_twice_gives_two_texts(sealer):
    assert len({await sealer.seal(b"x", BOUND) for _ in range(100)}) == 100


@pytest.mark.parametrize("bound", ["", "5:owner3:t-26:config", BOUND + " ", BOUND.upper()])
async def test_it_opens_only_where_it_belongs(sealer, bound):
    sealed = await sealer.seal(b"x", BOUND)
    with pytest.raises(Unsealed):
        await sealer.open(sealed, bound)


async def test_any_change_of_any_character_is_noticed(sealer):
    sealed = await sealer.seal(b"four", BOUND)
    for i, character in enumerate(sealed):
        for other in "Aa0-_.=+/ é":
            if other != character:
                with pytest.raises(Unsealed):
                    await sealer.open(sealed[:i] + other + sealed[i + 1 :], BOUND)
        with pytest.raises(Unsealed):
            await sealer.open(sealed[:i] + sealed[i + 1 :], BOUND)
        with pytest.raises(Unsealed):
            await sealer.open(sealed[:i] + "=" + sealed[i:], BOUND)
    for more in ("A", "=", "\n", ".x"):
        with pytest.raises(Unsealed):
            await sealer.open(sealed + more, BOUND)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("v1.aB0_-=\n é\ud800"), max_size=60))
async def test_any_other_text_is_unsealed(text):
    with pytest.raises(Unsealed):
        await KeyringSealer(lambda: KEYS).open(text, BOUND)


async def test_a_rotated_key_still_opens_and_the_new_one_seals(sealer):
    old = await sealer.seal(b"x", BOUND)
    after = keyring.rotated(KEYS, NOW)
    rotated = KeyringSealer(lambda: after)
    assert await rotated.open(old, BOUND) == b"x"
    new = await rotated.seal(b"x", BOUND)
    assert new.split(".")[1] == after.sealing[0].id != old.split(".")[1]
    with pytest.raises(Unsealed, match=f"no sealing key {after.sealing[0].id}"):
        await sealer.open(new, BOUND)


async def test_no_error_tells_what_is_secret(sealer):
    sealed = await sealer.seal(b"hush-hush", BOUND)
    secrets = ["hush", base64.b64encode(KEYS.sealing[0].key).decode(), "owner", sealed[-12:]]
    for text, bound in ((sealed[:-1], BOUND), (sealed, "other"), (f"v1.{'k' * 9}.{sealed}", "")):
        with pytest.raises(Unsealed) as caught:
            await sealer.open(text, bound)
        assert not [secret for secret in secrets if secret in str(caught.value)]


# ---------------------------------------------------------------- the file


def test_it_is_made_once_and_only_its_owner_reads_it(file, tmp_path):
    made = file.keyring()
    assert KeyFile(file.path).keyring().sealing == made.sealing
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert os.listdir(tmp_path) == ["push-keys.json"]


def _make(path, ready, found):
    ready.wait(30)
    found.put(KeyFile(path).keyring().sealing[0].id)


def test_of_processes_that_come_together_one_makes_it(file):
    spawn = multiprocessing.get_context("spawn")
    ready, found = spawn.Barrier(3), spawn.Queue()
    processes = [spawn.Process(target=_make, args=(file.path, ready, found)) for _ in range(3)]
    for process in processes:
        process.start()
    ids = {found.get(timeout=60) for _ in processes}
    for process in processes:
        process.join(30)
    assert ids == {file.keyring().sealing[0].id}


async def test_a_rotation_is_noticed_without_a_restart(file):
    server = KeyFile(file.path)
    sealer = KeyringSealer(server.keyring)
    old = await sealer.seal(b"x", BOUND)
    after = file.rotate(file.load())
    assert server.keyring().signing[0].kid == after.signing[0].kid
    assert (await sealer.seal(b"x", BOUND)).split(".")[1] == after.sealing[0].id
    assert await sealer.open(old, BOUND) == b"x"


def test_an_unchanged_file_is_read_once(file, monkeypatch):
    first = file.keyring()
    monkeypatch.setattr(file, "load", lambda: pytest.fail("read again"))
    assert all(file.keyring() is first for _ in range(3))


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o400])
def test_a_rotation_keeps_the_mode(file, mode):
    file.make()
    file.path.chmod(mode)
    file.rotate(file.load())
    assert stat.S_IMODE(file.path.stat().st_mode) == mode


def test_a_rotation_keeps_a_link(file, tmp_path):
    real = tmp_path / "elsewhere"
    real.mkdir()
    KeyFile(real / "ring.json").make()
    file.path.symlink_to(real / "ring.json")
    after = file.rotate(file.load())
    assert file.path.is_symlink()
    assert KeyFile(real / "ring.json").load().sealing == after.sealing


def test_of_two_rotations_at_once_one_wins_and_none_is_torn(file):
    file.make()
    for _ in range(5):
        seen = file.load()
        together = threading.Barrier(2)
        ended: list[keyring.Keyring | Conflict] = []

        def rotate(seen=seen, together=together, ended=ended):
            mine = KeyFile(file.path)
            together.wait(30)
            try:
                ended.append(mine.rotate(seen))
            except Conflict as error:
                ended.append(error)

        threads = [threading.Thread(target=rotate) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        (winner,) = [end for end in ended if isinstance(end, keyring.Keyring)]
        assert len(ended) == 2
        assert file.load().sealing == winner.sealing
        assert winner.sealing[1:] == seen.sealing


def test_a_reader_never_sees_half_a_rotation(file):
    file.make()
    stop, faults, read = threading.Event(), [], []

    def watch():
        server = KeyFile(file.path)
        while not stop.is_set():
            try:
                read.append(server.load().signing[0].kid)
            except InvalidSettings as error:
                faults.append(error)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for _ in range(20):
        file.rotate(file.load())
    stop.set()
    watcher.join(30)
    assert read and not faults


def test_a_failed_rotation_leaves_nothing_behind(file, tmp_path, monkeypatch):
    file.make()
    before = file.path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        file.rotate(file.load())
    assert os.listdir(tmp_path) == ["push-keys.json"]
    assert file.path.read_bytes() == before


@pytest.mark.parametrize("damage", ["{", "\xff", None])
def test_a_file_that_is_damaged_in_use_leaves_the_keys_as_they_were(file, damage, caplog):
    before = file.keyring()
    if damage is None:
        file.path.unlink()
    else:
        file.path.write_text(damage, "latin-1")
    with caplog.at_level(logging.WARNING):
        assert [file.keyring() for _ in range(3)] == [before] * 3
    assert len(caplog.records) == 1
    assert "push-keys.json" in caplog.text


def test_a_damaged_file_is_used_again_when_it_is_mended(file):
    file.keyring()
    file.path.write_text("{")
    file.keyring()
    file.path.unlink()
    write_private(file.path, keyring.write(KEYS))
    assert file.keyring().sealing == KEYS.sealing


@pytest.mark.parametrize(
    ("content", "why"), [(b"{", "is not a keyring"), (b"\xff", "UTF-8"), (b" " * 70_000, "longer")]
)
def test_a_file_that_is_no_keyring_is_a_fault_that_names_it(tmp_path, content, why):
    path = tmp_path / "mine.json"
    path.write_bytes(content)
    with pytest.raises(InvalidSettings, match=why) as caught:
        KeyFile(path, where="push-keys: file:mine.json").keyring()
    assert str(caught.value).startswith("push-keys: file:mine.json: ")


def test_a_file_that_a_person_names_is_not_made(tmp_path):
    named = located(f"file:{tmp_path / 'tpyo.json'}", tmp_path)
    with pytest.raises(InvalidSettings, match=r"^push-keys: file:.*tpyo\.json: cannot be read"):
        named.keyring()
    assert not os.listdir(tmp_path)


def test_where_the_keyring_is(tmp_path):
    assert located("", tmp_path).path == tmp_path / "push-keys.json"
    assert located("file:/etc/ring.json", tmp_path).path == Path("/etc/ring.json")
    for elsewhere in ("env:RING", "ssm:/app/ring", "value:file:x", keyring.write(KEYS)):
        assert located(elsewhere, tmp_path) is None


def test_a_folder_in_its_place_is_a_fault(tmp_path):
    with pytest.raises(InvalidSettings, match="cannot be read: Is a directory"):
        KeyFile(tmp_path).keyring()


def test_a_private_file_is_never_written_over_another(tmp_path):
    path = tmp_path / "x"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        write_private(path, "other")
    assert path.read_text() == "mine"
