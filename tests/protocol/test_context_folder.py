"""A folder for each context, kept in the blob store between turns (setting workspace=context)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import yaml
from tests.protocol.deployment import Deployment, deployed, said

from a2a_fn import snapshots

WISH = "Create a VPC"
INVALID = -32602


@pytest.fixture
async def iac() -> AsyncIterator[Deployment]:
    async with deployed(workspace="context") as deployment:
        yield deployment


def url(path: str) -> dict[str, str]:
    return {"url": f"file://{path}", "mediaType": "application/yaml"}


async def test_what_one_turn_made_the_next_one_reads(iac: Deployment) -> None:
    first = await iac.task(WISH)
    context = {"contextId": first["contextId"]}
    again = await iac.task("review it", url("/template.yml"), **context)
    assert "reviewed 1 file" in said(again)
    assert "reviewed 1 file" in said(await iac.task("Review the template", **context))
    followed = await iac.task("Review it", taskId=first["id"])
    assert "reviewed 1 file" in said(followed)


async def test_the_newest_state_counts_whichever_task_made_it(iac: Deployment) -> None:
    first = await iac.task(WISH)
    context = {"contextId": first["contextId"]}
    await iac.task("Create an OSS bucket", **context)  # a younger task, an older state
    await iac.task("Create a VPC with two vSwitches and a security group", taskId=first["id"])
    seen: dict[str, Any] = {}

    class Looks:
        async def run(self, turn: Any) -> None:
            from a2a_fn.agents.places import KeptPlace

            async with KeptPlace().enter(turn) as desk:
                seen.update(await desk.templates())
            await turn.complete()

    iac.services.__dict__["agent"] = Looks()
    await iac.task("look", **context)
    kinds = {one["Type"] for one in yaml.safe_load(seen["template.yml"])["Resources"].values()}
    assert "ALIYUN::ECS::SecurityGroup" in kinds


async def test_the_state_is_named_in_the_tasks_metadata(iac: Deployment) -> None:
    task = await iac.task(WISH)
    note = task["metadata"]["iac_code.workspace"]
    assert (set(note), note["version"]) == ({"sha256", "version"}, 1)
    follow_up = await iac.task("Create an OSS bucket", taskId=task["id"])
    assert follow_up["metadata"]["iac_code.workspace"]["version"] == 2
    unchanged = await iac.task("hello", taskId=task["id"])
    assert unchanged["metadata"]["iac_code.workspace"]["version"] == 2


async def test_another_context_has_another_folder(iac: Deployment) -> None:
    await iac.task(WISH)
    other = await iac.task("review", url("/template.yml"))
    assert other["status"]["state"] == "TASK_STATE_FAILED"
    assert said(other) == "A2A file URL part must reference an existing file."


async def test_a_folder_of_the_machine_cannot_be_named(iac: Deployment) -> None:
    for cwd in ("/tmp", "/", "template.yml"):
        task = await iac.task(WISH, metadata={"iac_code": {"cwd": cwd}})
        assert said(task) == "Invalid A2A workspace metadata."


async def test_a_file_of_the_machine_cannot_be_named(iac: Deployment) -> None:
    outside = (INVALID, "A2A file URL part is outside the allowed workspace.")
    for path in ("/../etc/passwd", "/x/../../etc/passwd", "/%2e%2e/etc/passwd"):
        assert await iac.refusal(url(path)) == outside
    remote = (INVALID, "A2A file URL parts must use local file:// URLs.")
    assert await iac.refusal({"url": "https://example.com/x"}) == remote
    assert said(await iac.task(url("/etc/passwd"))) == (
        "A2A file URL part must reference an existing file."
    )


async def test_a_folder_that_grew_too_large_fails_the_task_and_the_old_one_stays(
    iac: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await iac.task(WISH)
    context = {"contextId": first["contextId"]}
    with monkeypatch.context() as patch:
        patch.setattr(snapshots, "FILES", 1)
        task = await iac.task("Create a VPC in Terraform", **context)
        assert task["status"]["state"] == "TASK_STATE_FAILED"
        assert said(task) == "the workspace has 4 files; it may have 1"
    assert "reviewed 1 file" in said(await iac.task("Review the template", **context))
