"""The folder that a message's files are in: which folders there may be, and what is read there.

A caller names folders and files of the machine that the agent runs on, so every path is resolved,
links and all, before it is looked at, and a path that leads out of the allowed roots is refused
before anything tells whether it exists.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from .errors import A2aFnError

NOT_LOCAL = "A2A file URL parts must use local file:// URLs."
OUTSIDE = "A2A file URL part is outside the allowed workspace."
MISSING = "A2A file URL part must reference an existing file."
NOT_UTF8 = "A2A file URL parts must contain valid UTF-8."
TEXT_TOO_LARGE = "A2A file URL part content is too large."
BINARY_TOO_LARGE = "A2A binary file URL part content is too large."


class InvalidWorkspace(A2aFnError):
    """The folder that a message names is none that it may work in."""

    def __init__(self) -> None:
        super().__init__("Invalid A2A workspace metadata.")


class PartRefused(A2aFnError):
    """A part of a message, or the file that it names, is not taken; the text is for the caller."""


class Wish(NamedTuple):
    """What a message's ``metadata.iac_code`` says of its folder; ``create``: make it if need be."""

    cwd: str
    create: bool = False


def wish(iac_code: object) -> Wish | None:
    """The wish in the value of a message's ``metadata.iac_code``, None if it names no folder.

    It is a Struct, or a dict: ``cwd`` is a path, ``createCwd`` whether that is to be made.
    Raises InvalidWorkspace.
    """
    if iac_code is None:
        return None
    if not isinstance(iac_code, Mapping):
        raise InvalidWorkspace
    known = {key: iac_code[key] for key in ("cwd", "createCwd") if key in iac_code}
    cwd, create = known.get("cwd"), known.get("createCwd")
    if not isinstance(create, bool | None):
        raise InvalidWorkspace
    if cwd is None:
        return None
    if not isinstance(cwd, str):
        raise InvalidWorkspace
    return Wish(cwd, bool(create))


class Workspace(NamedTuple):
    """A folder to read files in. ``folder`` None: not known yet, and only the roots count.
    ``relative``: a URL's path begins at the folder, and not at the root of the machine."""

    folder: Path | None
    roots: tuple[Path, ...]
    hidden: tuple[Path, ...] = ()
    relative: bool = False

    def locate(self, url: str) -> Path:
        """The resolved path of a ``file://`` URL. Raises PartRefused."""
        try:
            if self.relative:
                resolved = ((self.folder or Path("/")) / relative_path(url)).resolve()
            else:
                resolved = local_path(url).resolve()
        except (OSError, ValueError, RuntimeError):  # too long, or links in a circle
            raise PartRefused(OUTSIDE) from None
        if self.folder is not None and not resolved.is_relative_to(self.folder):
            raise PartRefused(OUTSIDE)
        if not _among(resolved, self.roots) or _among(resolved, self.hidden):
            raise PartRefused(OUTSIDE)
        return resolved

    def read(self, url: str, limit: int, too_large: str) -> bytes:
        """The bytes of a regular file; PartRefused, saying ``too_large`` if over the limit."""
        with self._open(url, limit, too_large) as file:
            try:
                data = file.read(limit + 1)
            except OSError:
                raise PartRefused(MISSING) from None
        if len(data) > limit:  # it grew
            raise PartRefused(too_large)
        return data

    def check(self, url: str, limit: int, too_large: str) -> None:
        """As ``read``, without reading more than its size."""
        self._open(url, limit, too_large).close()

    def _open(self, url: str, limit: int, too_large: str) -> BinaryIO:
        path = self.locate(url)
        # it is resolved, so a link there came later; and a pipe must not hold us up
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            file = open(os.open(path, flags), "rb")  # noqa: SIM115 - the caller closes it
        except (OSError, ValueError):
            raise PartRefused(MISSING) from None
        about = os.fstat(file.fileno())
        if stat.S_ISREG(about.st_mode) and about.st_size <= limit:
            return file
        file.close()
        raise PartRefused(too_large if stat.S_ISREG(about.st_mode) else MISSING)


class Roots:
    """The folders of this machine that messages may name something in.

    ``allowed``: empty for the working folder and the system's folder for temporary files.
    ``hidden``: folders in them that are nobody's, such as where the server keeps its own data.
    """

    def __init__(
        self, allowed: Iterable[str | Path] = (), hidden: Iterable[str | Path] = ()
    ) -> None:
        self._working = Path.cwd()
        self._allowed = tuple(allowed)
        self._hidden = tuple(hidden)
        self._resolved: tuple[tuple[Path, ...], tuple[Path, ...]] | None = None

    def _folders(self) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """Roots and hidden folders, resolved at first use: few messages name a file."""
        if self._resolved is None:
            import tempfile

            allowed = self._allowed or (self._working, tempfile.gettempdir())
            self._resolved = (
                tuple((self._working / Path(root).expanduser()).resolve() for root in allowed),
                tuple((self._working / folder).resolve() for folder in self._hidden),
            )
        return self._resolved

    def find(self, asked: Wish) -> Path:
        """The folder of a wish, resolved; it may be missing if it is to be made.
        Raises InvalidWorkspace."""
        roots, hidden = self._folders()
        if not asked.cwd.startswith("/"):
            raise InvalidWorkspace
        try:
            folder = Path(asked.cwd).resolve()
            there, missing = folder.is_dir(), not os.path.lexists(folder)
        except (OSError, ValueError, RuntimeError):
            raise InvalidWorkspace from None
        if not _among(folder, roots) or _among(folder, hidden):
            raise InvalidWorkspace
        if not (there or (asked.create and missing)):
            raise InvalidWorkspace
        return folder

    def make(self, asked: Wish) -> Path:
        """As ``find``, and the folder is there when it returns."""
        folder = self.find(asked)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            raise InvalidWorkspace from None
        return self.find(Wish(str(folder)))  # again: what is above it may have become a link

    def workspace(self, folder: Path | None = None) -> Workspace:
        """Where files are read if a message works in this folder (None: not known yet)."""
        roots, hidden = self._folders()
        return Workspace(folder, roots, hidden)

    def default(self) -> Path:
        """The folder of a message that names none: the working folder, or else the first root."""
        roots, _ = self._folders()
        working = self._working.resolve()
        return working if _among(working, roots) else roots[0]


def local_path(url: str) -> Path:
    """The absolute path of a ``file://`` URL of this machine. Raises PartRefused."""
    try:
        parts = urlsplit(url)
        path = os.fsdecode(unquote_to_bytes(parts.path))
    except ValueError:
        raise PartRefused(NOT_LOCAL) from None
    if parts.scheme != "file" or parts.netloc.lower() not in ("", "localhost"):
        raise PartRefused(NOT_LOCAL)
    if not path.startswith("/") or "?" in url or "#" in url:  # in a name they must be escaped
        raise PartRefused(NOT_LOCAL)
    if "\0" in path:
        raise PartRefused(MISSING)
    return Path("/" + path.lstrip("/"))  # POSIX gives two leading slashes a meaning of their own


def relative_path(url: str) -> Path:
    """The path below a folder that a ``file:///name`` names. Raises PartRefused."""
    path = Path(os.path.normpath(str(local_path(url)).lstrip("/")))
    if path.parts[:1] == ("..",):
        raise PartRefused(OUTSIDE)
    return path


def _among(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
