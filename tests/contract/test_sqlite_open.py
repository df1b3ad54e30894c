"""SQLite files that are not ours, or not yet: what is said, and that they are left alone."""

from __future__ import annotations

import pytest

from a2a_fn.engines.sqlite import SqliteRows
from a2a_fn.errors import InvalidSettings
from a2a_fn.ports import Put

from .test_sqlite import raw


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a2a.db"


@pytest.fixture
async def rows(path, clock):
    rows = SqliteRows(path, clock=clock, patience=5)
    yield rows
    await rows.close()


async def test_a_file_that_is_no_database(rows, path):
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(InvalidSettings, match=r"a2a\.db.*not a database"):
        await rows.get("p", "k")


async def test_a_folder_that_does_not_exist(clock, tmp_path):
    rows = SqliteRows(tmp_path / "no" / "a2a.db", clock=clock)
    with pytest.raises(InvalidSettings, match=r"no/a2a\.db.*folder must exist"):
        await rows.write([Put("p", "k", b"1")])


async def test_a_folder_instead_of_a_file(clock, tmp_path):
    with pytest.raises(InvalidSettings, match=str(tmp_path)):
        await SqliteRows(tmp_path, clock=clock).get("p", "k")


async def test_a_database_of_another_program_is_left_as_it_was(rows, path):
    raw(path, "CREATE TABLE rows (recipe TEXT)")
    before = path.read_bytes()
    with pytest.raises(InvalidSettings, match=r"a2a\.db.*another program"):
        await rows.get("p", "k")
    assert path.read_bytes() == before


async def test_a_file_of_a_newer_version_is_refused(rows, path):
    await rows.write([Put("p", "k", b"1")])
    await rows.close()
    raw(path, "PRAGMA user_version = 7")
    with pytest.raises(InvalidSettings, match=r"a2a\.db.*layout 7.*newer"):
        await rows.get("p", "k")
    raw(path, "PRAGMA user_version = 1")
    assert (await rows.get("p", "k")).value == b"1"


async def test_a_mended_path_works_without_a_restart(rows, path):
    path.write_bytes(b"Dear diary, " * 1000)
    with pytest.raises(InvalidSettings):
        await rows.get("p", "k")
    path.unlink()
    assert await rows.get("p", "k") is None
