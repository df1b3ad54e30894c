"""A folder that is kept in the blob store and restored elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from a2a_fn import snapshots
from a2a_fn.engines.memory import MemoryBlobs
from a2a_fn.errors import NotFound
from a2a_fn.snapshots import DamagedFolder, FolderTooLarge, keep, restore


@pytest.fixture
def blobs() -> MemoryBlobs:
    return MemoryBlobs()


def filled(folder: Path, **files: bytes) -> Path:
    for name, data in files.items():
        path = folder / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


async def test_what_is_kept_is_restored(tmp_path: Path, blobs: MemoryBlobs) -> None:
    folder = filled(tmp_path / "a", main=b"1", modules__vpc__main=b"\x00\xff", empty=b"")
    manifest, files = await keep(folder, {}, blobs)
    assert await restore(tmp_path / "b", manifest, blobs) == files
    assert content(tmp_path / "b") == content(folder)


async def test_the_same_files_are_the_same_state(tmp_path: Path, blobs: MemoryBlobs) -> None:
    one, _ = await keep(filled(tmp_path / "a", x=b"1", y=b"2"), {}, blobs)
    other, _ = await keep(filled(tmp_path / "b", y=b"2", x=b"1"), {}, blobs)
    assert one == other
    changed, _ = await keep(filled(tmp_path / "b", y=b"3"), {}, blobs)
    assert changed != one


async def test_only_what_changed_is_put_again(tmp_path: Path) -> None:
    class Counting(MemoryBlobs):
        puts = 0

        async def put(self, data: bytes, media_type: str = "") -> str:
            self.puts += 1
            return await super().put(data, media_type)

    blobs = Counting()
    folder = filled(tmp_path, x=b"1", y=b"2")
    _, files = await keep(folder, {}, blobs)
    before = blobs.puts
    await keep(filled(folder, z=b"3"), files, blobs)
    assert blobs.puts - before == 2  # the new file, and the manifest


async def test_no_state_is_an_empty_folder(tmp_path: Path, blobs: MemoryBlobs) -> None:
    assert await restore(tmp_path, "", blobs) == {}
    assert content(tmp_path) == {}


async def test_links_are_not_followed(tmp_path: Path, blobs: MemoryBlobs) -> None:
    outside = filled(tmp_path / "outside", secret=b"s")
    folder = filled(tmp_path / "a", x=b"1")
    (folder / "link").symlink_to(outside / "secret")
    (folder / "folder").symlink_to(outside)
    (folder / "dangling").symlink_to("nowhere")
    _, files = await keep(folder, {}, blobs)
    assert set(files) == {"x"}


@pytest.mark.parametrize(
    "path",
    ["../x", "a/../../x", "/x", "a//x", "./x", "a/.", "", "a/", "x\0y", "..\\x", "a/b/../.."],
)
async def test_a_path_that_leads_elsewhere_is_not_written(
    tmp_path: Path, blobs: MemoryBlobs, path: str
) -> None:
    (tmp_path / "folder").mkdir()
    entry = [await blobs.put(b"1"), 1]
    manifest = await blobs.put(json.dumps({"files": {"first": entry, path: entry}}).encode())
    with pytest.raises(DamagedFolder):
        await restore(tmp_path / "folder", manifest, blobs)
    assert content(tmp_path) == {}


@pytest.mark.parametrize(
    "manifest", [b"", b"no json", b"[]", b"{}", b'{"files": []}', b'{"files": {"x": 3}}']
)
async def test_a_manifest_that_is_none_is_refused(
    tmp_path: Path, blobs: MemoryBlobs, manifest: bytes
) -> None:
    with pytest.raises(DamagedFolder):
        await restore(tmp_path, await blobs.put(manifest), blobs)


async def test_a_blob_that_is_gone_is_not_found(tmp_path: Path, blobs: MemoryBlobs) -> None:
    with pytest.raises(NotFound):
        await restore(tmp_path, "0" * 64, blobs)


async def test_the_number_of_files_is_limited(
    tmp_path: Path, blobs: MemoryBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "FILES", 3)
    folder = filled(tmp_path / "a", x=b"", y=b"", z=b"")
    manifest, _ = await keep(folder, {}, blobs)
    with pytest.raises(FolderTooLarge, match="has 4 files; it may have 3"):
        await keep(filled(folder, more=b""), {}, blobs)
    monkeypatch.setattr(snapshots, "FILES", 2)
    with pytest.raises(DamagedFolder):
        await restore(tmp_path / "b", manifest, blobs)


async def test_the_bytes_are_limited_together(
    tmp_path: Path, blobs: MemoryBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "BYTES", 5)
    folder = filled(tmp_path, x=b"123", y=b"45")
    assert len((await keep(folder, {}, blobs))[1]) == 2
    with pytest.raises(FolderTooLarge):
        await keep(filled(folder, z=b"6"), {}, blobs)
