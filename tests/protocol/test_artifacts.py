"""Artifacts that are handed over by URL: what the URL says, and who gets what is behind it."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
import yaml
from tests.protocol.deployment import Deployment, deployed

from a2a_fn.engines.memory import MemoryBlobs
from a2a_fn.errors import Unavailable

WISH = "Create a VPC with two vSwitches"
NAME = 'a "bad" näme; x=1.tf'
EXTENSION = "urn:iac-code:a2a:artifact-metadata:v1"


class HandsOver:
    """An agent that hands over one file, of the name and bytes that it is told."""

    def __init__(self, name: str = "t.bin", data: bytes = b"\x00\xff", media: str = "a/b") -> None:
        self.name, self.data, self.media = name, data, media

    async def run(self, turn: Any) -> None:
        await turn.file(self.name, self.data, self.media)
        await turn.complete()


def only_part(task: dict[str, Any]) -> dict[str, Any]:
    (artifact,) = task["artifacts"]
    (part,) = artifact["parts"]
    return part


async def get(deployment: Deployment, url: str, method: str = "GET", **headers: str) -> Any:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return await deployment.http.request(method, url, headers=given)


# ---------------------------------------------------------------- what the event says


async def test_a_generated_template_is_one_url_with_its_metadata() -> None:
    async with deployed() as deployment:
        task = await deployment.task(WISH)
        (artifact,) = task["artifacts"]
        part = only_part(task)
        got = await get(deployment, part["url"])
        sha256 = hashlib.sha256(got.content).hexdigest()
        about = {
            "byteSize": len(got.content),
            "sha256": sha256,
            "mediaType": "application/yaml",
        }
        assert part == {
            "url": f"{deployment.url}artifacts/{task['id']}/{sha256}/template.yml",
            "filename": "template.yml",
            "mediaType": "application/yaml",
            "metadata": about,
        }
        assert artifact["extensions"] == [EXTENSION]
        assert artifact["metadata"]["iac_code"]["artifact"] == {
            "artifactId": "template.yml",
            "filename": "template.yml",
            **about,
        }
        assert len(yaml.safe_load(got.text)["Resources"]) == 3


async def test_every_operation_gives_the_url_as_the_caller_sees_the_server() -> None:
    async with deployed() as deployment:
        task = await deployment.task(WISH)
        url = only_part(task)["url"]
        found = (await deployment.call("GetTask", {"id": task["id"]}))["result"]
        listed = (await deployment.call("ListTasks", {"includeArtifacts": True}))["result"]
        assert [only_part(one)["url"] for one in (found, *listed["tasks"])] == [url] * 2
        named = await deployment.call("GetTask", {"id": task["id"]}, Host="agent.example.com")
        assert only_part(named["result"])["url"].startswith("http://agent.example.com/artifacts/")


async def test_a_stream_gives_the_url_too() -> None:
    async with deployed() as deployment:
        message = {"messageId": "s", "role": "ROLE_USER", "parts": [{"text": WISH}]}
        call = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "SendStreamingMessage",
            "params": {"message": message},
        }
        answer = await deployment.http.post(
            deployment.url, json=call, headers={"A2A-Version": "1.0"}
        )
        frames = [
            json.loads(line[6:])["result"]
            for line in answer.text.splitlines()
            if line.startswith("data: ")
        ]
        (update,) = [f["artifactUpdate"] for f in frames if "artifactUpdate" in f]
        url = update["artifact"]["parts"][0]["url"]
        assert url.startswith(f"{deployment.url}artifacts/")
        assert (await get(deployment, url)).status_code == 200


async def test_the_public_url_counts_where_there_is_one() -> None:
    async with deployed(public_url="https://agent.example.com/a2a/") as deployment:
        task = await deployment.task(WISH)
        url = only_part(task)["url"]
        assert url.startswith(f"https://agent.example.com/a2a/artifacts/{task['id']}/")


async def test_in_a_tenant_the_url_is_the_tenants() -> None:
    async with deployed() as deployment:
        message = {"messageId": "t", "role": "ROLE_USER", "parts": [{"text": WISH}]}
        params = {"message": message, "tenant": "acme"}
        task = (await deployment.call("SendMessage", params))["result"]["task"]
        url = only_part(task)["url"]
        assert url.startswith(f"{deployment.url}acme/artifacts/")
        assert (await get(deployment, url)).status_code == 200
        for other in ("/other/artifacts/", "/artifacts/"):
            assert (
                await get(deployment, url.replace("/acme/artifacts/", other))
            ).status_code == 404


async def test_a_file_url_names_a_file_of_this_machine(tmp_path: Any) -> None:
    async with deployed(artifact_urls="file", data=str(tmp_path / "data")) as deployment:
        part = only_part(await deployment.task(WISH))
        where = httpx.URL(part["url"])
        assert where.scheme == "file"
        path = tmp_path.joinpath(where.path)
        assert hashlib.sha256(path.read_bytes()).hexdigest() == part["metadata"]["sha256"]
        assert path.name == "template.yml"
        assert (tmp_path / "data" / "artifacts") in path.parents
        assert [one.name for one in path.parent.iterdir()] == ["template.yml"]


async def test_inline_the_content_is_the_part() -> None:
    async with deployed(artifact_urls="inline") as deployment:
        part = only_part(await deployment.task(WISH))
        assert "Resources" in yaml.safe_load(part["text"])
        assert "url" not in part
    async with deployed(HandsOver(), artifact_urls="inline") as deployment:
        part = only_part(await deployment.task("x"))
        assert base64.b64decode(part["raw"]) == b"\x00\xff"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "/a", "a\\b", "a\nb", "x" * 201])
async def test_a_name_that_is_no_file_name_is_the_agents_error(name: str) -> None:
    async with deployed(HandsOver(name)) as deployment:
        task = await deployment.task("x")
        assert task["status"]["state"] == "TASK_STATE_FAILED"
        assert "artifacts" not in task


# ---------------------------------------------------------------- what is behind it


async def test_the_answer_is_the_bytes_and_no_page_of_this_server() -> None:
    async with deployed(HandsOver(NAME, b"<script>", "text/html")) as deployment:
        part = only_part(await deployment.task("x"))
        got = await get(deployment, part["url"])
        assert (got.status_code, got.content) == (200, b"<script>")
        sha256 = hashlib.sha256(b"<script>").hexdigest()
        expected = {
            "content-type": "text/html",
            "content-length": "8",
            "content-disposition": (
                "attachment; filename=\"a _bad_ n_me_ x_1.tf\"; filename*=UTF-8''"
                + quote(NAME, safe="")
            ),
            "etag": f'"{sha256}"',
            "cache-control": "private, max-age=300",
            "x-content-type-options": "nosniff",
            "content-security-policy": "default-src 'none'; sandbox",
        }
        assert {name: got.headers[name] for name in expected} == expected


async def test_head_says_the_same_without_the_bytes() -> None:
    async with deployed(HandsOver()) as deployment:
        url = only_part(await deployment.task("x"))["url"]
        got, head = await get(deployment, url), await get(deployment, url, "HEAD")
        assert head.content == b""
        assert (head.status_code, head.headers["content-length"]) == (200, "2")
        assert {**head.headers, "date": ""} == {**got.headers, "date": ""}


async def test_who_has_it_is_told_so() -> None:
    async with deployed(HandsOver()) as deployment:
        url = only_part(await deployment.task("x"))["url"]
        etag = (await get(deployment, url)).headers["etag"]
        for known in (etag, f"W/{etag}", f'"x", {etag}', "*"):
            again = await get(deployment, url, If_None_Match=known)
            assert (again.status_code, again.content) == (304, b"")
        assert (await get(deployment, url, If_None_Match='"x"')).status_code == 200


@pytest.mark.parametrize("media", ["text/html\r\nX-Evil: 1", "", "no type", "text/ü"])
async def test_a_media_type_that_is_none_does_not_get_into_the_headers(media: str) -> None:
    async with deployed(HandsOver(media=media)) as deployment:
        got = await get(deployment, only_part(await deployment.task("x"))["url"])
        assert got.headers["content-type"] == "application/octet-stream"
        assert "x-evil" not in got.headers


async def test_other_methods_are_not_allowed() -> None:
    async with deployed(HandsOver()) as deployment:
        url = only_part(await deployment.task("x"))["url"]
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            answer = await get(deployment, url, method)
            assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD")


async def test_a_store_with_addresses_of_its_own_is_where_the_caller_is_sent() -> None:
    class Signed(MemoryBlobs):
        asked: list[tuple[str, int]]

        async def url(self, key: str, seconds: int) -> str | None:
            self.asked = [(key, seconds)]
            return f"https://store.example.com/{key}?signature=s"

    async with deployed(HandsOver()) as deployment:
        url = only_part(await deployment.task("x"))["url"]
        kept = deployment.services.journal.blobs
        deployment.services.journal.blobs = signed = Signed()
        got = await get(deployment, url)
        sha256 = url.split("/")[-2]
        assert signed.asked == [(sha256, 300)]
        assert got.status_code == 307
        assert got.headers["location"] == f"https://store.example.com/{sha256}?signature=s"
        assert got.headers["cache-control"] == "no-store"
        assert got.content == b""
        deployment.services.journal.blobs = kept


async def test_a_silent_store_is_503() -> None:
    class Silent(MemoryBlobs):
        async def url(self, key: str, seconds: int) -> str | None:
            raise Unavailable("the store at 10.0.0.1 is silent")

    async with deployed(HandsOver()) as deployment:
        url = only_part(await deployment.task("x"))["url"]
        deployment.services.journal.blobs = Silent()
        got = await get(deployment, url)
        assert (got.status_code, got.headers["retry-after"]) == (503, "1")
        assert "10.0.0.1" not in got.text


# ---------------------------------------------------------------- who gets it


async def test_only_the_owner_gets_it_and_others_see_what_nobody_has() -> None:
    people = tuple({"name": n, "token": f"token-of-{n}"} for n in ("ann", "bob"))
    async with deployed(HandsOver(), principals=people) as deployment:
        ann, bob = ({"Authorization": f"Bearer token-of-{n}"} for n in ("ann", "bob"))
        message = {"messageId": "a", "role": "ROLE_USER", "parts": [{"text": "x"}]}
        sent = await deployment.call("SendMessage", {"message": message}, **ann)
        task = sent["result"]["task"]
        url = only_part(task)["url"]
        assert (await get(deployment, url, **ann)).status_code == 200
        unknown = (await get(deployment, url)), (await get(deployment, url, Authorization="x"))
        assert [answer.status_code for answer in unknown] == [401, 401]
        assert unknown[0].json() == {"error": "Unauthorized"}
        sha256 = urlsplit(url).path.split("/")[3]
        answers = [
            await get(deployment, where, **who)
            for where, who in (
                (url, bob),
                (url.replace(task["id"], task["id"][:-1] + "0"), bob),
                (url.replace(task["id"], "nonsense"), ann),
                (url.replace(sha256, "0" * 64), ann),
                (url.replace(sha256, sha256.upper()), ann),
                (url + "x", ann),
                (url.replace("t.bin", "..%2ft.bin"), ann),
            )
        ]
        assert {answer.status_code for answer in answers} == {404}
        for answer in answers[:5]:
            assert answer.content == answers[0].content
            assert {**answer.headers, "date": ""} == {**answers[0].headers, "date": ""}


async def test_a_blob_that_no_artifact_names_is_not_served() -> None:
    """Checkpoints and large slots are in the same store."""
    async with deployed(HandsOver()) as deployment:
        url = only_part(await deployment.task("x"))["url"]
        key = await deployment.services.journal.blobs.put(b"a checkpoint")
        other = url.replace(url.split("/")[-2], key)
        assert (await get(deployment, other)).status_code == 404


async def test_the_executors_own_urls_are_left_alone() -> None:
    class Elsewhere:
        async def run(self, turn: Any) -> None:
            from a2a.types.a2a_pb2 import Part

            await turn.artifact("a", Part(url="https://elsewhere.example.com/artifacts/x"))
            await turn.complete()

    async with deployed(Elsewhere()) as deployment:
        part = only_part(await deployment.task("x"))
        assert part["url"] == "https://elsewhere.example.com/artifacts/x"
