"""What the IaC agent takes of a message, to the byte, over a real connection."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.protocol.deployment import Deployment, deployed, said

MIB = 1 << 20
INVALID, UNSUPPORTED, MEDIA = -32602, -32004, -32005
TEMPLATE = "ROSTemplateFormatVersion: '2015-09-01'\nResources: {}\n"
FAILED, WAITING = "TASK_STATE_FAILED", "TASK_STATE_INPUT_REQUIRED"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The only folder that messages may name."""
    (tmp_path / "root").mkdir()
    return (tmp_path / "root").resolve()


@pytest.fixture
async def iac(root: Path, tmp_path: Path) -> AsyncIterator[Deployment]:
    async with deployed(
        data=str(root / "data"),
        allowed_cwds=(str(root),),
        text_mime_types=("text/x-hcl", "application/x-plan"),
        multimodal_mime_types=("application/pdf",),
        body_limit=40 * MIB,
    ) as deployment:
        yield deployment


def raw(data: bytes, media_type: str = "", **more: str) -> dict[str, str]:
    part = {"raw": base64.b64encode(data).decode(), **more}
    return {**part, "mediaType": media_type} if media_type else part


def url(path: Path | str, media_type: str = "application/yaml") -> dict[str, str]:
    where = path.as_uri() if isinstance(path, Path) else path
    return {"url": where, "mediaType": media_type} if media_type else {"url": where}


def at(cwd: object, **more: object) -> dict[str, object]:
    return {"metadata": {"iac_code": {"cwd": cwd, **more}}}


# ---------------------------------------------------------------- media types


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/json",
        "text/markdown",
        "text/yaml",
        "application/yaml",
        "application/x-yaml",
        "text/x-hcl",
        "application/x-plan",
        "Text/Plain; charset=utf-8",
    ],
)
async def test_text_of_every_listed_and_configured_type_is_taken(
    iac: Deployment, media_type: str
) -> None:
    task = await iac.task("review", {"text": TEMPLATE, "filename": "a", "mediaType": media_type})
    assert task["status"]["state"] == WAITING
    task = await iac.task("review", raw(TEMPLATE.encode(), media_type))
    assert "reviewed 1 file" in said(task)


@pytest.mark.parametrize(
    "part",
    [
        {"text": "x", "mediaType": "application/zip"},
        {"text": "x", "mediaType": "image/png"},
        raw(b"PK", "application/zip"),
        {"data": {}, "mediaType": "application/zip"},
        {"url": "file:///x", "mediaType": "video/mp4"},
    ],
)
async def test_another_media_type_is_refused(iac: Deployment, part: dict[str, Any]) -> None:
    assert await iac.refusal(part) == (MEDIA, "A2A part has unsupported media type.")


@pytest.mark.parametrize(
    "media_type", ["image/png", "audio/wav", "application/pdf", "application/octet-stream"]
)
async def test_what_is_no_text_is_described_by_a_manifest(iac: Deployment, media_type: str) -> None:
    data = b"\x89\xff\x00"
    task = await iac.task("look", raw(data, media_type, filename="it"))
    sha256 = hashlib.sha256(data).hexdigest()
    assert f"it ({media_type}, 3 bytes, SHA-256 {sha256})" in said(task)


async def test_bytes_may_come_as_data(iac: Deployment) -> None:
    inner = {"bytes": base64.b64encode(b"\x89PNG").decode()}
    part = {"data": inner, "mediaType": "image/png", "filename": "logo.png"}
    sha256 = hashlib.sha256(b"\x89PNG").hexdigest()
    assert f"logo.png (image/png, 4 bytes, SHA-256 {sha256})" in said(await iac.task(part))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (["x"], "A2A binary data parts must contain an object."),
        ({}, "A2A binary data parts must include base64 bytes."),
        ({"bytes": 3}, "A2A binary data parts must include base64 bytes."),
        ({"bytes": "no base64"}, "A2A binary data part bytes must be valid base64."),
        ({"bytes": "é"}, "A2A binary data part bytes must be valid base64."),
    ],
)
async def test_bytes_as_data_must_be_base64(iac: Deployment, data: Any, reason: str) -> None:
    assert await iac.refusal({"data": data, "mediaType": "image/png"}) == (INVALID, reason)


async def test_structured_data_must_be_json(iac: Deployment) -> None:
    reason = "A2A data parts must use application/json media type."
    part = {"data": {"a": 1}, "mediaType": "application/yaml"}
    assert await iac.refusal(part) == (INVALID, reason)
    task = await iac.task({"data": {"ROSTemplateFormatVersion": "2015-09-01"}})
    assert "reviewed 1 file" in said(task)


async def test_raw_text_must_be_utf8(iac: Deployment) -> None:
    reason = "A2A raw parts must contain valid UTF-8."
    assert await iac.refusal(raw(b"caf\xe9", "text/plain")) == (INVALID, reason)
    assert (await iac.task(raw("café".encode(), "text/plain")))["status"]["state"] == WAITING


async def test_an_error_says_which_part(iac: Deployment) -> None:
    answer = await iac.send("fine", raw(b"\xff", "text/plain"))
    violations = answer["error"]["data"][1]["fieldViolations"]
    assert [one["field"] for one in violations] == ["message.parts[1]"]


# ---------------------------------------------------------------- limits, to the byte


def padded(size: int) -> str:
    """Compact JSON of this many bytes with a character of three bytes and an escape in it."""
    frame = len(json.dumps({"k": "€\n"}, ensure_ascii=False, separators=(",", ":")).encode())
    return "€\n" + "x" * (size - frame)


@pytest.mark.parametrize(
    ("build", "limit", "what"),
    [
        (lambda n: {"text": "€" + "x" * (n - 3)}, MIB, "A2A text part"),
        (lambda n: raw(b"x" * n, "text/plain"), MIB, "A2A raw part"),
        (lambda n: raw(b"\xff" * n, "image/png"), 5 * MIB, "A2A binary raw part"),
        (lambda n: raw(b"\xff" * n), 5 * MIB, "A2A binary raw part"),
        (lambda n: {"data": {"k": padded(n)}}, MIB, "A2A data part"),
        (
            lambda n: {
                "data": {"bytes": base64.b64encode(b"\xff" * n).decode()},
                "mediaType": "image/png",
            },
            5 * MIB,
            "A2A binary data part",
        ),
    ],
    ids=["text", "raw text", "raw image", "raw", "data", "data with bytes"],
)
async def test_the_limit_of_a_part_is_exact(
    iac: Deployment, build: Any, limit: int, what: str
) -> None:
    assert "result" in await iac.send("look", build(limit))
    reason = f"{what} content is too large."
    assert await iac.refusal("look", build(limit + 1)) == (INVALID, reason)


@pytest.mark.parametrize(
    ("media_type", "limit", "what"),
    [
        ("application/yaml", MIB, "A2A file URL part"),
        ("image/png", 25 * MIB, "A2A binary file URL part"),
        ("", 25 * MIB, "A2A binary file URL part"),
    ],
)
async def test_the_limit_of_a_file_is_exact(
    iac: Deployment, root: Path, media_type: str, limit: int, what: str
) -> None:
    (root / "f").write_bytes(b"x" * limit)
    assert "result" in await iac.send("look", url(root / "f", media_type), **at(str(root)))
    with (root / "f").open("ab") as file:
        file.write(b"x")
    reason = f"{what} content is too large."
    refusal = await iac.refusal("look", url(root / "f", media_type), **at(str(root)))
    assert refusal == (INVALID, reason)


async def test_the_limit_of_the_parts_is_exact(iac: Deployment) -> None:
    assert "result" in await iac.send(*["look"] * 256)
    assert await iac.refusal(*["look"] * 257) == (INVALID, "message.parts must be at most 256")


async def test_the_files_of_a_message_have_a_limit_together(iac: Deployment, root: Path) -> None:
    (root / "f").write_bytes(b"x" * 5 * MIB)
    five = [url(root / "f", "image/png")] * 5
    assert "result" in await iac.send("look", *five, **at(str(root)))
    (root / "one").write_bytes(b"x")
    for kind in ("image/png", "application/yaml"):
        answer = await iac.send("look", *five, url(root / "one", kind), **at(str(root)))
        assert answer["error"]["code"] == INVALID
        assert answer["error"]["message"] == "A2A file URL parts are too large together."
        violations = answer["error"]["data"][1]["fieldViolations"]
        assert [one["field"] for one in violations] == ["message.parts[6]"]


# ---------------------------------------------------------------- files of this machine


async def test_a_file_of_the_workspace_is_read(iac: Deployment, root: Path) -> None:
    (root / "a b%20.yml").write_text(TEMPLATE)
    task = await iac.task("review", url(root / "a b%20.yml"), **at(str(root)))
    assert "reviewed 1 file" in said(task)


async def test_a_picture_of_the_workspace_is_described(iac: Deployment, root: Path) -> None:
    (root / "net.png").write_bytes(b"\x89PNG")
    task = await iac.task("look", url(root / "net.png", "image/png"), **at(str(root)))
    assert "net.png (image/png, 4 bytes" in said(task)


@pytest.mark.parametrize(
    "where",
    [
        "https://example.com/t.yml",
        "http://127.0.0.1/t.yml",
        "ftp://example.com/t.yml",
        "file://example.com/etc/passwd",
        "file:relative.yml",
        "file:///t.yml?x=1",
        "/etc/passwd",
        "data:text/plain,x",
    ],
)
async def test_only_files_of_this_machine_may_be_named(iac: Deployment, where: str) -> None:
    reason = "A2A file URL parts must use local file:// URLs."
    assert await iac.refusal(url(where)) == (INVALID, reason)


async def test_a_file_outside_is_refused_alike_whether_it_exists_or_not(
    iac: Deployment, root: Path
) -> None:
    secret = root.parent / "secret.yml"
    secret.write_text(TEMPLATE)
    (root / "here").mkdir()
    (root / "here" / "link.yml").symlink_to(secret)
    (root / "beside.yml").write_text(TEMPLATE)
    cwd = at(str(root / "here"))
    outside = (INVALID, "A2A file URL part is outside the allowed workspace.")
    for where in (
        secret,
        root.parent / "no-such.yml",
        root / "here" / "link.yml",
        root / "beside.yml",  # in a root, but not in the message's folder
        f"file://{root}/here/../beside.yml",
        f"file://{root}/here/%2e%2e/beside.yml",
        f"file://{root}/here-not/x",
        "file:///etc/passwd",
        "file:////etc/passwd",
        f"file:///{'x' * 5000}",
    ):
        assert await iac.refusal(url(where), **cwd) == outside, where


async def test_the_servers_own_data_is_outside(iac: Deployment, root: Path) -> None:
    (root / "data").mkdir()
    (root / "data" / "id.key").write_text("0" * 64)
    outside = (INVALID, "A2A file URL part is outside the allowed workspace.")
    assert await iac.refusal(url(root / "data" / "id.key"), **at(str(root))) == outside
    task = await iac.task("review", **at(str(root / "data")))
    assert said(task) == "Invalid A2A workspace metadata."


async def test_what_is_no_file_does_not_exist(iac: Deployment, root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "folder").mkdir()
    (root / "loop").symlink_to(root / "loop2")
    missing = (INVALID, "A2A file URL part must reference an existing file.")
    for name in ("no-such", "pipe", "folder", "x%00y", "loop"):
        assert await iac.refusal(url(f"file://{root}/{name}"), **at(str(root))) == missing, name


async def test_a_text_file_must_be_utf8(iac: Deployment, root: Path) -> None:
    (root / "latin.yml").write_bytes(b"caf\xe9")
    reason = "A2A file URL parts must contain valid UTF-8."
    assert await iac.refusal(url(root / "latin.yml"), **at(str(root))) == (INVALID, reason)


async def test_without_a_cwd_files_are_looked_for_in_the_first_root(
    iac: Deployment, root: Path
) -> None:
    (root / "t.yml").write_text(TEMPLATE)
    assert "reviewed 1 file" in said(await iac.task("review", url(root / "t.yml")))


async def test_a_follow_up_reads_in_the_folder_of_its_context(iac: Deployment, root: Path) -> None:
    for name in ("a", "b"):
        (root / name).mkdir()
        (root / name / "t.yml").write_text(TEMPLATE)
    first = await iac.task("Create a VPC", **at(str(root / "a")))
    again = {"contextId": first["contextId"]}
    assert "reviewed 1 file" in said(await iac.task("review", url(root / "a" / "t.yml"), **again))
    task = await iac.task("review", url(root / "b" / "t.yml"), **again)
    assert task["status"]["state"] == FAILED
    assert said(task) == "A2A file URL part is outside the allowed workspace."


# ---------------------------------------------------------------- the workspace


@pytest.mark.parametrize(
    "metadata",
    [
        {"cwd": "relative"},
        {"cwd": ""},
        {"cwd": "~"},
        {"cwd": 3},
        {"cwd": ["/"]},
        {"cwd": "/"},
        {"cwd": "/etc"},
        {"cwd": "ROOT/no-such"},
        {"cwd": "ROOT/file"},
        {"cwd": "ROOT/.."},
        {"cwd": "ROOT/out"},
        {"cwd": "ROOT/\0"},
        {"cwd": "ROOT/" + "x" * 5000},
        {"cwd": "ROOT/no-such", "createCwd": "yes"},
        {"cwd": "ROOT/file", "createCwd": True},
        {"cwd": "ROOT/file/below", "createCwd": True},
        {"cwd": "ROOT/out/new", "createCwd": True},
        {"cwd": "ROOT/../new", "createCwd": True},
        "a string",
        ["a list"],
    ],
)
async def test_a_bad_workspace_fails_the_task(iac: Deployment, root: Path, metadata: Any) -> None:
    (root / "file").write_text("")
    (root / "out").symlink_to(root.parent)
    if isinstance(metadata, dict) and isinstance(metadata["cwd"], str):
        metadata = {**metadata, "cwd": metadata["cwd"].replace("ROOT", str(root))}
    task = await iac.task("Create a VPC", metadata={"iac_code": metadata})
    assert task["status"]["state"] == FAILED
    assert said(task) == "Invalid A2A workspace metadata."
    assert not (root.parent / "new").exists()


async def test_a_bad_workspace_is_not_the_contexts(iac: Deployment, root: Path) -> None:
    bad = await iac.task("Create a VPC", **at("/etc"))
    good = await iac.task("Create a VPC", contextId=bad["contextId"], **at(str(root)))
    assert good["status"]["state"] == WAITING


async def test_a_context_keeps_its_folder(iac: Deployment, root: Path) -> None:
    (root / "a").mkdir()
    (root / "b").mkdir()
    (root / "same").symlink_to(root / "a")
    task = await iac.task("Create a VPC", **at(str(root / "a")))
    context = {"contextId": task["contextId"]}
    other = (UNSUPPORTED, "A2A context belongs to a different workspace")
    assert await iac.refusal("Create a VPC", **context, **at(str(root / "b"))) == other
    for spelling in (f"{root}/a/", f"{root}/b/../a", f"{root}/./a", f"{root}/same"):
        answer = await iac.task("Create a VPC", **context, **at(spelling))
        assert answer["status"]["state"] == WAITING, spelling


async def test_a_missing_folder_is_made_when_asked(iac: Deployment, root: Path) -> None:
    task = await iac.task("Create a VPC", **at(str(root / "new" / "one"), createCwd=True))
    assert task["status"]["state"] == WAITING
    assert (root / "new" / "one").is_dir()


@pytest.mark.parametrize("parts", [[""], ["  \n "], ["", ""]])
async def test_empty_text_fails_the_task(iac: Deployment, parts: list[str]) -> None:
    task = await iac.task(*parts)
    assert task["status"]["state"] == FAILED
    assert said(task) == "A2A server currently accepts text input only."


async def test_no_message_tells_a_path(iac: Deployment, root: Path) -> None:
    answers = [
        await iac.send(url(root / "no-such"), **at(str(root))),
        await iac.send("x", **at(str(root / "no-such"))),
    ]
    assert answers[0]["error"]
    said_of_it = json.dumps(answers[0]) + json.dumps(answers[1]["result"]["task"]["status"])
    assert str(root) not in said_of_it


# ---------------------------------------------------------------- other agents


async def test_an_executor_sees_to_its_parts_itself() -> None:
    class Says:
        async def run(self, turn: Any) -> None:
            await turn.complete(" ".join(part.url or part.text for part in turn.message.parts))

    async with deployed(Says(), agent="executor:no.such:Agent") as deployment:
        task = await deployment.task({"url": "https://example.com/x"}, **at("nowhere"))
        assert said(task) == "https://example.com/x"
        refused = (MEDIA, "A2A part has unsupported media type.")
        assert await deployment.refusal(raw(b"x", "image/png")) == refused
        assert await deployment.refusal({"text": "x", "mediaType": "image/png"}) == refused
        task = await deployment.task(raw(b"x"), {"text": "y", "mediaType": "Text/plain; x=1"})
        assert task["status"]["state"] == "TASK_STATE_COMPLETED"
        many = (INVALID, "message.parts must be at most 256")
        assert await deployment.refusal(*["x"] * 257) == many
