"""Where a turn works: in a folder of this machine, or in its context's own, kept between turns."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from a2a.types.a2a_pb2 import Message, Task
from google.protobuf.json_format import MessageToDict

from ..media import as_text
from ..snapshots import Files, keep, restore
from ..turns.turn import Turn
from ..workspace import InvalidWorkspace, Roots, Wish, Workspace, wish

TEMPLATES = (".tf", ".yml", ".yaml", ".json", ".template")
NOTE = "workspace"  # of a task: {"sha256": the manifest, "version": 1, 2, ... in the context}


class Desk:
    """Where one turn works, while it does. Folders of the machine are only read."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    async def write(self, name: str, data: bytes) -> None:
        """Add a file that the agent made, where the context has a folder of its own."""

    async def keep(self) -> None:
        """Note the folder as it is for the turns after; it counts from the turn's next slot on."""

    async def templates(self) -> dict[str, str]:
        """The templates in the context's own folder: path -> text."""
        return {}


class Place(Protocol):
    """How a deployment's turns come by their folders."""

    def enter(self, turn: Turn) -> AbstractAsyncContextManager[Desk]:
        """The turn's desk. Raises InvalidWorkspace."""
        ...


class LocalPlace:
    """Folders of this machine: the one that the message names, or its context, or the default."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    @asynccontextmanager
    async def enter(self, turn: Turn) -> AsyncIterator[Desk]:
        """See ``Place.enter``; a folder that is to be made is there afterwards."""
        asked = wished(turn.message)
        if asked is not None:
            folder = self._roots.make(asked)
        elif turn.workspace:
            folder = self._roots.find(Wish(turn.workspace))
        else:
            folder = self._roots.default()
        yield Desk(self._roots.workspace(folder))


class KeptPlace:
    """A folder for each context, restored when a turn begins and kept when it ends.

    Two workers of one turn never share it, and only the one that can write to the journal decides
    which state of it the next turn finds.
    """

    @asynccontextmanager
    async def enter(self, turn: Turn) -> AsyncIterator[Desk]:
        """See ``Place.enter``. Raises NotFound, DamagedFolder if the blob store lost it."""
        if wished(turn.message) is not None:
            raise InvalidWorkspace
        others = [task for task in await turn.conversation() if task.id != turn.task.id]
        last = newest([*others, turn.task])
        folder = await asyncio.to_thread(_made)
        try:
            files = await restore(folder, str(last.get("sha256", "")), turn.blobs)
            yield _KeptDesk(turn, folder, files, int(last.get("version", 0)))
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


class _KeptDesk(Desk):
    def __init__(self, turn: Turn, folder: Path, files: Files, version: int) -> None:
        super().__init__(Workspace(folder, (folder,), relative=True))
        self._turn = turn
        self._folder = folder
        self._files = files
        self._version = version

    async def write(self, name: str, data: bytes) -> None:
        await asyncio.to_thread((self._folder / name).write_bytes, data)

    async def keep(self) -> None:
        manifest, files = await keep(self._folder, self._files, self._turn.blobs)
        if files != self._files:
            self._files = files
            self._version += 1
            self._turn.note(NOTE, {"sha256": manifest, "version": self._version})

    async def templates(self) -> dict[str, str]:
        found = {}
        for path in sorted(self._files):
            if path.endswith(TEMPLATES):
                text = as_text(await asyncio.to_thread((self._folder / path).read_bytes))
                if text is not None:
                    found[path] = text
        return found


def _made() -> Path:
    return Path(tempfile.mkdtemp(prefix="workspace-")).resolve()


def wished(message: Message) -> Wish | None:
    """The folder that a message asks for. Raises InvalidWorkspace."""
    if "iac_code" not in message.metadata.fields:
        return None
    return wish(message.metadata["iac_code"])


def newest(tasks: Iterable[Task]) -> dict[str, Any]:
    """The note of the folder's newest state among a context's tasks; empty if there is none."""
    notes = []
    for task in tasks:
        note = task.metadata.fields.get(f"iac_code.{NOTE}")
        if note is not None:
            notes.append(MessageToDict(note.struct_value))
    return max(notes, key=lambda note: float(note.get("version", 0)), default={})
