"""Which folders and files a message may name, whatever it writes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import BinaryIO

import pytest
from a2a.types.a2a_pb2 import Message, Part
from a2a.utils.errors import A2AError
from google.protobuf.struct_pb2 import Struct, Value
from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_fn.agents.reading import READS, read
from a2a_fn.media import FILES_LIMIT, media_types
from a2a_fn.profile import IAC
from a2a_fn.protocol.parts import Intake
from a2a_fn.workspace import (
    InvalidWorkspace,
    PartRefused,
    Roots,
    Wish,
    Workspace,
    _descriptor,
    local_path,
    relative_path,
)

STEPS = st.lists(
    st.sampled_from(["..", ".", "", "%2e%2e", "%2E.", "a", "link", "//", "%00", "%2f", "é", "\\"])
)


@pytest.fixture(scope="module")
def tree() -> Path:
    """A root with a link that leads out of it, beside a secret."""
    top = Path(tempfile.mkdtemp()).resolve()
    (top / "root" / "a").mkdir(parents=True)
    (top / "root" / "link").symlink_to(top)
    (top / "secret").write_text("s")
    (top / "root" / "open").write_text("o")
    return top


@given(steps=STEPS, secret=st.sampled_from(["secret", "open", "root/open"]), relative=st.booleans())
@settings(max_examples=300, deadline=None)
def test_no_spelling_of_a_path_leads_out(
    tree: Path, steps: list[str], secret: str, relative: bool
) -> None:
    root = tree / "root"
    start = "file:///" if relative else f"file://{root}/"
    workspace = Workspace(root, (root,), relative=relative)
    try:
        data = workspace.read("/".join([start, *steps, secret]), 10, "too large")
    except PartRefused:
        return
    assert data == b"o"


def test_by_default_the_working_and_the_temporary_folder_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    roots = Roots()
    here, temporary = (tmp_path / "here").resolve(), (tmp_path / "temporary").resolve()
    assert roots.default() == here
    assert [roots.find(Wish(str(folder))) for folder in (here, temporary)] == [here, temporary]
    with pytest.raises(InvalidWorkspace):
        roots.find(Wish(str(tmp_path.resolve())))


def test_roots_may_be_relative_and_the_working_folder_need_not_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path)
    roots = Roots(["a"])
    assert roots.default() == (tmp_path / "a").resolve()
    with pytest.raises(InvalidWorkspace):
        roots.find(Wish(str(tmp_path)))


def test_a_link_made_after_the_look_is_not_followed(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "x").write_text("x")

    class Late(Workspace):
        def locate(self, url: str) -> Path:
            path = super().locate(url)
            path.unlink()
            path.symlink_to("/etc/passwd")
            return path

    with pytest.raises(PartRefused, match="must reference an existing file"):
        Late(root, (root,)).read(f"file://{root}/x", 10_000, "too large")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("file:///a/b", "/a/b"),
        ("file://localhost/a", "/a"),
        ("FILE:///a", "/a"),
        ("file:/a", "/a"),
        ("file:///a%20b%3F%23", "/a b?#"),
        ("file:///%C3%A9", "/é"),
        ("file:////a", "/a"),
    ],
)
def test_a_file_url_is_a_path(url: str, path: str) -> None:
    assert str(local_path(url)) == path


def test_a_relative_path_begins_at_its_folder() -> None:
    assert str(relative_path("file:///a/../b/./c")) == "b/c"
    with pytest.raises(PartRefused):
        relative_path("file:///a/../../b")


# ---------------------------------------------------------------- whatever a message has in it

TEXT = st.text(max_size=20)
TYPES = st.sampled_from(
    ["", "text/plain", "image/png", "application/json", "application/octet-stream", "x", "a/b;c"]
)
URLS = st.one_of(TEXT, TEXT.map("file://{}".format), TEXT.map("file:///{}".format))
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(allow_nan=False, allow_infinity=False), TEXT),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(TEXT, inner)),
    max_leaves=8,
)


def value(plain: object) -> Value:
    made = Value()
    if isinstance(plain, dict):
        for key, item in plain.items():
            made.struct_value.fields[key].CopyFrom(value(item))
        made.struct_value.SetInParent()
    elif isinstance(plain, list):
        made.list_value.values.extend(value(item) for item in plain)
        made.list_value.SetInParent()
    elif isinstance(plain, bool):
        made.bool_value = plain
    elif isinstance(plain, float):
        made.number_value = plain
    elif isinstance(plain, str):
        made.string_value = plain
    else:
        made.null_value = 0
    return made


PARTS = st.builds(
    Part,
    filename=TEXT,
    media_type=TYPES,
) | st.one_of(
    st.builds(Part, text=TEXT, media_type=TYPES),
    st.builds(Part, raw=st.binary(max_size=20), media_type=TYPES, filename=TEXT),
    st.builds(Part, url=URLS, media_type=TYPES),
    st.builds(lambda data, t: Part(data=value(data), media_type=t), VALUES, TYPES),
    st.builds(lambda data: Part(data=value({"bytes": data}), media_type="image/png"), VALUES),
)


@given(parts=st.lists(PARTS, max_size=4), about=VALUES, kept=st.booleans())
@settings(max_examples=300, deadline=None)
def test_a_message_is_taken_or_refused_in_a2as_words(
    tree: Path, parts: list[Part], about: object, kept: bool
) -> None:
    message = Message(parts=parts, metadata=Struct(fields={"iac_code": value(about)}))
    before = message.SerializeToString(deterministic=True)
    roots = None if kept else Roots([tree / "root"])
    intake = Intake(IAC, media_types(IAC.input_modes), roots)
    try:
        assert intake(message) == ""
    except A2AError as error:
        assert error.message
    else:
        workspace = None if roots is None else roots.workspace(tree / "root")
        try:
            read(message, READS, workspace)
        except PartRefused as refused:
            assert str(refused)
    assert message.SerializeToString(deterministic=True) == before


def test_a_folder_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "f").write_text("x")
    os.close(_descriptor(tmp_path / "real" / "f"))
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for path in (tmp_path / "link" / "f", tmp_path / "real" / "f" / "x", tmp_path / "none" / "f"):
        with pytest.raises(OSError):
            _descriptor(path)


def test_a_hidden_file_is_hidden_where_it_is_now(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).write_text("secret")
    (tmp_path / "token").symlink_to(tmp_path / "one")
    workspace = Roots([tmp_path], hidden=[tmp_path / "token"])
    for name in ("one", "two"):
        (tmp_path / "token").unlink()
        (tmp_path / "token").symlink_to(tmp_path / name)
        with pytest.raises(PartRefused, match="outside"):
            workspace.workspace(tmp_path).read((tmp_path / name).as_uri(), 100, "too large")


def test_the_root_of_the_machine_is_no_root_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    workspace = Roots().workspace(None)
    for path in ("/etc/passwd", "/proc/self/environ"):
        with pytest.raises(PartRefused, match="outside"):
            workspace.read(f"file://{path}", 10_000_000, "too large")
    with pytest.raises(PartRefused, match="outside"):
        Roots(["/"]).workspace(None).read("file:///proc/self/status", 10_000_000, "too large")


def test_a_path_that_is_too_long_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "resolve", None)
    with pytest.raises(PartRefused, match="outside"):
        Workspace(None, ()).locate("file:///" + "a/" * 3000)
    with pytest.raises(InvalidWorkspace):
        Roots(["/tmp"]).find(Wish("/" + "a/" * 3000))


# ---------------------------------------------------------------- between the look and the reading


@pytest.mark.parametrize("depth", [1, 3])
def test_a_folder_that_becomes_a_link_after_the_look_is_not_followed(
    tmp_path: Path, depth: int
) -> None:
    root, below = tmp_path.resolve() / "root", "/".join(["in"] * depth)
    for top, text in (("root/a", "open"), ("away", "secret")):
        (tmp_path / top / below).mkdir(parents=True)
        (tmp_path / top / below / "x").write_text(text)

    class Late(Workspace):
        def locate(self, url: str) -> Path:
            path = super().locate(url)
            (root / "a").rename(root / "b")
            (root / "a").symlink_to(tmp_path / "away")
            return path

    with pytest.raises(PartRefused, match="must reference an existing file"):
        Late(root, (root,)).read(f"file://{root}/a/{below}/x", 10, "too large")


def test_no_folder_is_made_behind_a_link_that_came_after_the_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve() / "root"
    (root / "a").mkdir(parents=True)
    (tmp_path / "away").mkdir()
    roots = Roots([root])
    find = roots.find

    def late(asked: Wish) -> Path:
        folder = find(asked)
        (root / "a").rmdir()
        (root / "a").symlink_to(tmp_path / "away")
        return folder

    monkeypatch.setattr(roots, "find", late)
    with pytest.raises(InvalidWorkspace):
        roots.make(Wish(f"{root}/a/new", create=True))
    assert not list((tmp_path / "away").iterdir())


def test_links_within_the_roots_are_followed(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "real" / "in").mkdir(parents=True)
    (root / "real" / "in" / "x").write_text("x")
    (root / "link").symlink_to("real/in")
    (root / "y").symlink_to(root / "link" / "x")
    workspace = Roots([root]).workspace(root)
    for name in ("link/x", "y", "link/../in/x"):
        assert workspace.read(f"file://{root}/{name}", 10, "too large") == b"x"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list everything")
def test_a_folder_that_may_not_be_listed_may_be_passed(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "in").mkdir()
    (root / "in" / "x").write_text("x")
    (root / "in").chmod(0o311)
    try:
        assert Workspace(root, (root,)).read(f"file://{root}/in/x", 10, "too large") == b"x"
    finally:
        (root / "in").chmod(0o755)


def test_what_is_refused_is_closed(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "folder").mkdir()
    (root / "big").write_bytes(b"xx")
    (root / "key").write_text("k")
    os.link(root / "key", root / "copy")
    workspace = Roots([root], [root / "key"]).workspace(root)
    before = len(os.listdir("/dev/fd"))
    for name in ("folder", "big", "copy", "folder/none"):
        with pytest.raises(PartRefused):
            workspace.check(f"file://{root}/{name}", 1, "too large")
    assert len(os.listdir("/dev/fd")) == before


def test_a_file_that_has_nothing_yet_is_no_file(tmp_path: Path) -> None:
    """As some of a system's own files that call themselves regular."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)

    class Waiting(Workspace):
        def _open(self, url: str, limit: int, too_large: str) -> BinaryIO:
            return open(ours, "rb")

    try:
        with pytest.raises(PartRefused, match="must reference an existing file"):
            Waiting(tmp_path, (tmp_path,)).read("file:///x", 10, "too large")
    finally:
        os.close(theirs)


# ---------------------------------------------------------------- what is in no workspace


def test_a_hidden_link_is_hidden_wherever_it_points_by_now(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    for name in ("old", "new"):
        (root / name).write_text(name)
    (root / "token").symlink_to("old")
    roots = Roots([root], [root / "token"])
    workspace = roots.workspace(root)
    urls = {name: f"file://{root}/{name}" for name in ("old", "new", "token")}
    assert workspace.read(urls["new"], 10, "too large") == b"new"
    (root / "next").symlink_to("new")
    (root / "next").rename(root / "token")
    for name in ("new", "token"):
        with pytest.raises(PartRefused, match="outside the allowed workspace"):
            workspace.read(urls[name], 10, "too large")
    assert workspace.read(urls["old"], 10, "too large") == b"old"


def test_a_second_name_of_a_hidden_file_is_hidden(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "key").write_text("k")
    os.link(root / "key", root / "copy")
    with pytest.raises(PartRefused, match="outside the allowed workspace"):
        Roots([root], [root / "key"]).workspace(root).check(f"file://{root}/copy", 10, "too large")


@pytest.mark.parametrize("folder", ["/proc", "/proc/self", "/sys", "/dev"])
def test_the_systems_own_folders_are_hidden_even_if_all_is_open(folder: str) -> None:
    roots = Roots(["/"])
    with pytest.raises(InvalidWorkspace):
        roots.find(Wish(folder))
    with pytest.raises(PartRefused, match="outside the allowed workspace"):
        roots.workspace().check(f"file://{folder}/self/environ", 10, "too large")


def test_where_nothing_may_be_written_and_all_is_closed_no_file_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing() -> str:
        raise FileNotFoundError

    monkeypatch.chdir("/")
    monkeypatch.setattr(tempfile, "gettempdir", missing)
    roots = Roots()
    with pytest.raises(PartRefused, match="outside the allowed workspace"):
        roots.workspace(roots.default()).check("file:///etc/passwd", 10_000, "too large")


# ---------------------------------------------------------------- how long, and how much


def test_the_limit_of_a_path_is_exact_and_nothing_longer_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    roots = Roots([root])
    workspace = roots.workspace(root)
    steps = "/." * 3000  # of no length in the end, but a path
    for over in (0, 1):
        path = f"{root}{steps}"[: 4096 + over - 2].rstrip("/.")
        path += "/" * (4096 + over - len(path))
        assert len(path) == 4096 + over
        if not over:
            assert workspace.locate(f"file://{path}") == root
            assert roots.find(Wish(path)) == root
            continue

        def unasked(*args: object, **more: object) -> None:
            raise AssertionError("looked at")

        monkeypatch.setattr(Path, "resolve", unasked)
        with pytest.raises(PartRefused, match="outside the allowed workspace"):
            workspace.locate(f"file://{path}")
        with pytest.raises(PartRefused, match="outside the allowed workspace"):
            relative_path(f"file://{path}")
        with pytest.raises(InvalidWorkspace):
            roots.find(Wish(path))


def test_a_path_is_measured_in_bytes_and_not_as_it_is_escaped(tmp_path: Path) -> None:
    name = "é" * 100
    path = "/" + "/".join([name] * 20)  # 4,020 bytes; a URL of three times as many
    assert str(local_path("file://" + path.replace("é", "%C3%A9"))) == path
    with pytest.raises(PartRefused):
        local_path("file:///" + "é" * 2048)


def test_an_agent_reads_no_more_of_a_messages_files_than_together_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve()
    with (root / "half").open("wb") as file:
        file.truncate(FILES_LIMIT // 2)
    (root / "one").write_bytes(b"1")
    asked: list[int] = []
    monkeypatch.setattr(
        Workspace,
        "read",
        lambda self, url, limit, too_large, read=Workspace.read: (
            asked.append(limit),
            read(self, url, limit, too_large),
        )[1],
    )
    half, one = Part(url=f"file://{root}/half"), Part(url=f"file://{root}/one")
    request = read(Message(parts=[half, half]), READS, Workspace(root, (root,)))
    assert [manifest.size for manifest in request.unread] == [FILES_LIMIT // 2] * 2
    with pytest.raises(PartRefused, match="too large together"):
        read(Message(parts=[half, half, one]), READS, Workspace(root, (root,)))
    assert asked[-1] == 0
