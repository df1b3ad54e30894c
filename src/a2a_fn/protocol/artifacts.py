"""Artifacts that are handed over by URL: their addresses, and the route that serves them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar
from urllib.parse import quote

from a2a.types.a2a_pb2 import (
    Artifact,
    ListTasksResponse,
    Part,
    SendMessageResponse,
    StreamResponse,
    Task,
)
from a2a.utils.errors import InvalidParamsError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from ..errors import NotFound, Unavailable
from ..journal import intents
from ..journal.journal import Journal
from .callers import Caller
from .errors import RETRY_AFTER
from .exchange import header
from .gate import Gate

URL_SECONDS = 300
"""How long an address in the blob store is good for; it is followed at once."""

_ROOT = "/artifacts/"
_MEDIA_TYPE = re.compile(r"[\w.+-]+/[\w.+-]+(; ?[\w.-]+=[\w.-]+)*", re.ASCII)

P = TypeVar("P", Task, StreamResponse, SendMessageResponse, ListTasksResponse)


def absolute(payload: P, caller: Caller) -> P:
    """The payload with the addresses of artifacts as this caller can follow them.

    A worker does not know under which name the server is seen, so the journal has paths. The
    payload itself is never changed, and it is what comes back when there is nothing to do.
    """
    if not caller.base_url or not any(_relative(_artifacts(payload))):
        return payload
    root = f"{caller.base_url}/{caller.tenant}" if caller.tenant else caller.base_url
    mended = type(payload)()
    mended.CopyFrom(payload)
    for part in list(_relative(_artifacts(mended))):
        part.url = root + part.url
    return mended


def _artifacts(
    payload: Task | StreamResponse | SendMessageResponse | ListTasksResponse,
) -> Iterator[Artifact]:
    if isinstance(payload, ListTasksResponse):
        for task in payload.tasks:
            yield from task.artifacts
    elif isinstance(payload, Task):
        yield from payload.artifacts
    elif payload.HasField("task"):
        yield from payload.task.artifacts
    elif isinstance(payload, StreamResponse) and payload.HasField("artifact_update"):
        yield payload.artifact_update.artifact


def _relative(artifacts: Iterable[Artifact]) -> Iterator[Part]:
    for artifact in artifacts:
        for part in artifact.parts:
            if part.url.startswith(_ROOT):
                yield part


class ArtifactRoute:
    """The ASGI application at ``app.ARTIFACT_PATHS``: an artifact, for its task's owner only."""

    def __init__(self, journal: Journal, gate: Gate) -> None:
        self._journal = journal
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        try:
            caller = await self._gate.admit(scope)
            part, sha256 = await self._find(caller, scope["path_params"])
            head = scope["method"] == "HEAD"
            where = None if head else await self._journal.blobs.url(sha256, URL_SECONDS)
            if where is not None:
                headers = {"Location": where, "Cache-Control": "no-store", "Content-Length": "0"}
                await _send(send, 307, headers)
                return
            headers = _headers(part, sha256)
            known = header(scope, b"if-none-match")
            if known == "*" or headers["ETag"] in known:
                await _send(send, 304, headers)
                return
            data = await self._journal.blobs.get(sha256)
        except (NotFound, InvalidParamsError):
            raise HTTPException(404) from None
        except Unavailable:
            raise HTTPException(503, headers={"Retry-After": str(RETRY_AFTER)}) from None
        headers["Content-Length"] = str(len(data))
        await _send(send, 200, headers, b"" if head else data)

    async def _find(self, caller: Caller, path: dict[str, str]) -> tuple[Part, str]:
        """The part that stands for the artifact, and its key. Raises NotFound for what is not
        there, or is another's: nobody can tell which."""
        caller = self._gate.enter(caller, path.get("tenant", ""))
        view = await intents.find(self._journal, caller.owner, path["task"])
        sha256 = path["sha256"]
        url = f"{_ROOT}{path['task']}/{sha256}/{quote(path['name'], safe='')}"
        for artifact in view.tasks[path["task"]].task.artifacts:
            for part in artifact.parts:
                if part.url == url:
                    return part, sha256
        raise NotFound(url)


def _headers(part: Part, sha256: str) -> dict[str, str]:
    """An agent wrote it, so a browser must not run it as a page of this server."""
    known = _MEDIA_TYPE.fullmatch(part.media_type)
    return {
        "Content-Type": part.media_type if known else "application/octet-stream",
        "Content-Disposition": _disposition(part.filename),
        "ETag": f'"{sha256}"',
        "Cache-Control": "private, max-age=300",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }


def _disposition(filename: str) -> str:
    """RFC 6266: a plain name for old readers, and the whole one."""
    plain = re.sub(r"[^A-Za-z0-9._ -]", "_", filename)
    value = f'attachment; filename="{plain}"'
    return value if plain == filename else f"{value}; filename*=UTF-8''{quote(filename, safe='')}"


async def _send(send: Send, status: int, headers: dict[str, str], body: bytes = b"") -> None:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    await send({"type": "http.response.body", "body": body})
