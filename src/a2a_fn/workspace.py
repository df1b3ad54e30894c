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

LONGEST = 4096
"""Characters of a path or a URL that are looked at: a longer one is no path of any system, and each
of its segments would cost a question to the file system."""

NO_FILES = (Path("/proc"), Path("/sys"), Path("/dev"))
"""Folders of the system that hold no files."""

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
        if len(url) > LONGEST:
            raise PartRefused(OUTSIDE)
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
        if data is None:  # not ready: nothing that a file is
            raise PartRefused(MISSING)
        if len(data) > limit:  # it grew
            raise PartRefused(too_large)
        return data

    def check(self, url: str, limit: int, too_large: str) -> int:
        """As ``read``, without reading more than its size, which it returns."""
        with self._open(url, limit, too_large) as file:
            return os.fstat(file.fileno()).st_size

    def _open(self, url: str, limit: int, too_large: str) -> BinaryIO:
        path = self.locate(url)
        try:
            file = open(_descriptor(path), "rb")  # noqa: SIM115 - the caller closes it
        except (OSError, ValueError):
            raise PartRefused(MISSING) from None
        about = os.fstat(file.fileno())
        if stat.S_ISREG(about.st_mode) and about.st_size <= limit:
            return file
        file.close()
        raise PartRefused(too_large if stat.S_ISREG(about.st_mode) else MISSING)


def _descriptor(path: Path) -> int:
    """Open a resolved path, each of its folders by itself: a link in it came later, and is not
    followed wherever it is. A pipe does not hold us up."""
    through = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    folder = os.open(path.anchor, through)
    try:
        for name in path.parts[1:-1]:
            inner = os.open(name, through, dir_fd=folder)
            os.close(folder)
            folder = inner
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        return os.open(path.name, flags, dir_fd=folder)
    finally:
        os.close(folder)


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
        self._resolved: tuple[Path, ...] | None = None

    def _folders(self) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        """Roots, resolved at first use since few messages name a file, and what is hidden in them,
        resolved each time: files of secrets are links that move when a secret is renewed."""
        if self._resolved is None:
            import tempfile

            working = [self._working] if self._working != Path("/") else []
            allowed = self._allowed or (*working, tempfile.gettempdir())
            self._resolved = tuple(
                (self._working / Path(root).expanduser()).resolve() for root in allowed
            )
        hidden = (*NO_FILES, *(self._working / folder for folder in self._hidden))
        return self._resolved, tuple(folder.resolve() for folder in hidden)

    def find(self, asked: Wish) -> Path:
        """The folder of a wish, resolved; it may be missing if it is to be made.
        Raises InvalidWorkspace."""
        if not asked.cwd.startswith("/") or len(asked.cwd) > LONGEST:
            raise InvalidWorkspace
        roots, hidden = self._folders()
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
