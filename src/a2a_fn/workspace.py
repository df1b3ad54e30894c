"""The folder that a message's files are in: which folders there may be, and what is read there.

A caller names folders and files of the machine that the agent runs on, so every path is resolved,
links and all, before it is looked at, and a path that leads out of the allowed roots is refused
before anything tells whether it exists. What is resolved is then opened name by name, following no
link, so a folder that becomes one in between leads nowhere.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote_to_bytes, urlsplit

from .errors import A2aFnError

LONGEST = 4096
"""Bytes of a path that is looked at: a longer one is no path of any system, and each of its
segments would cost a question to the file system."""

NO_FILES = (Path("/proc"), Path("/sys"), Path("/dev"))
"""Folders of the system that hold no files."""

# O_PATH: a folder that may be passed through need not be one that may be listed
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not hold us up

NOT_LOCAL = "A2A file URL parts must use local file:// URLs."
OUTSIDE = "A2A file URL part is outside the allowed workspace."
MISSING = "A2A file URL part must reference an existing file."
NOT_UTF8 = "A2A file URL parts must contain valid UTF-8."
TEXT_TOO_LARGE = "A2A file URL part content is too large."
BINARY_TOO_LARGE = "A2A binary file URL part content is too large."
TOGETHER_TOO_LARGE = "A2A file URL parts are too large together."


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
    ``hidden``: absolute, and resolved at each look: secrets are links that move when renewed.
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
            hidden = [path.resolve() for path in self.hidden]
        except (OSError, ValueError, RuntimeError):  # too long, or links in a circle
            raise PartRefused(OUTSIDE) from None
        if self.folder is not None and not resolved.is_relative_to(self.folder):
            raise PartRefused(OUTSIDE)
        if not _among(resolved, self.roots) or _among(resolved, hidden):
            raise PartRefused(OUTSIDE)
        return resolved

    def read(self, url: str, limit: int, too_large: str) -> bytes:
        """The bytes of a regular file; PartRefused, saying ``too_large`` if over the limit."""
        with self._open(url, limit, too_large) as file:
            try:
                data: bytes | None = file.read(limit + 1)
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
            descriptor = _descriptor(path, _identities(self.hidden))
        except (OSError, ValueError):
            raise PartRefused(MISSING) from None
        about = os.fstat(descriptor)
        if stat.S_ISREG(about.st_mode) and about.st_size <= limit:
            return open(descriptor, "rb")
        os.close(descriptor)
        raise PartRefused(too_large if stat.S_ISREG(about.st_mode) else MISSING)


class Roots:
    """The folders of this machine that messages may name something in.

    ``allowed``: empty for the working folder, unless it is ``/``, and the system's folder for
    temporary files. ``hidden``: files and folders in them that are nobody's, such as where the
    server keeps its own data; ``/proc``, ``/sys`` and ``/dev`` always are.
    """

    def __init__(
        self, allowed: Iterable[str | Path] = (), hidden: Iterable[str | Path] = ()
    ) -> None:
        self._working = Path.cwd()
        self._allowed = tuple(allowed)
        self._hidden = tuple(self._working / path for path in (*NO_FILES, *hidden))
        self._resolved: tuple[Path, ...] | None = None

    def _roots(self) -> tuple[Path, ...]:
        """The roots, resolved at first use: few messages name a file."""
        if self._resolved is None:
            allowed = self._allowed or (self._working, *_temporary())
            roots = [(self._working / Path(root).expanduser()).resolve() for root in allowed]
            self._resolved = tuple(r for r in roots if self._allowed or r != Path("/"))
        return self._resolved

    def find(self, asked: Wish) -> Path:
        """The folder of a wish, resolved; it may be missing if it is to be made.
        Raises InvalidWorkspace."""
        try:
            if not asked.cwd.startswith("/") or len(os.fsencode(asked.cwd)) > LONGEST:
                raise InvalidWorkspace
            folder = Path(asked.cwd).resolve()
            hidden = [path.resolve() for path in self._hidden]
            there, missing = folder.is_dir(), not os.path.lexists(folder)
        except (OSError, ValueError, RuntimeError):
            raise InvalidWorkspace from None
        if not _among(folder, self._roots()) or _among(folder, hidden):
            raise InvalidWorkspace
        if not (there or (asked.create and missing)):
            raise InvalidWorkspace
        return folder

    def make(self, asked: Wish) -> Path:
        """As ``find``, and the folder is there when it returns."""
        folder = self.find(asked)
        try:
            os.close(_open_folder(folder, _identities(self._hidden), make=asked.create))
        except (OSError, PartRefused):
            raise InvalidWorkspace from None
        return folder

    def workspace(self, folder: Path | None = None) -> Workspace:
        """Where files are read if a message works in this folder (None: not known yet)."""
        return Workspace(folder, self._roots(), self._hidden)

    def default(self) -> Path:
        """The folder of a message that names none: the working folder, or else the first root.
        Without any root it is the working folder, in which then nothing is read."""
        roots = self._roots()
        working = self._working.resolve()
        return working if not roots or _among(working, roots) else roots[0]


def local_path(url: str) -> Path:
    """The absolute path of a ``file://`` URL of this machine. Raises PartRefused."""
    try:
        parts = urlsplit(url)
        encoded = unquote_to_bytes(parts.path)
        path = os.fsdecode(encoded)
    except ValueError:
        raise PartRefused(NOT_LOCAL) from None
    if parts.scheme != "file" or parts.netloc.lower() not in ("", "localhost"):
        raise PartRefused(NOT_LOCAL)
    if not path.startswith("/") or "?" in url or "#" in url:  # in a name they must be escaped
        raise PartRefused(NOT_LOCAL)
    if "\0" in path:
        raise PartRefused(MISSING)
    if len(encoded) > LONGEST:
        raise PartRefused(OUTSIDE)
    return Path("/" + path.lstrip("/"))  # POSIX gives two leading slashes a meaning of their own


def relative_path(url: str) -> Path:
    """The path below a folder that a ``file:///name`` names. Raises PartRefused."""
    path = Path(os.path.normpath(str(local_path(url)).lstrip("/")))
    if path.parts[:1] == ("..",):
        raise PartRefused(OUTSIDE)
    return path


def _among(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _temporary() -> list[str]:
    import tempfile

    try:
        return [tempfile.gettempdir()]
    except FileNotFoundError:  # nothing of this machine may be written
        return []


_Identity = tuple[int, int]  # st_dev and st_ino


def _identities(paths: Iterable[Path]) -> set[_Identity]:
    """What these paths are now: by another spelling, or a hard link, it is still that."""
    found = set()
    for path in paths:
        with contextlib.suppress(OSError):  # what is not there cannot be opened either
            about = path.stat()
            found.add((about.st_dev, about.st_ino))
    return found


def _descriptor(path: Path, hidden: Collection[_Identity] = ()) -> int:
    """A descriptor of what a resolved path names: a link in it came later, and is not followed
    wherever it is. Raises OSError, ValueError, PartRefused."""
    folder = _open_folder(path.parent, hidden)
    try:
        return _visible(os.open(path.name, _FILE, dir_fd=folder), hidden)
    finally:
        os.close(folder)


def _open_folder(path: Path, hidden: Collection[_Identity], *, make: bool = False) -> int:
    """A descriptor of a resolved folder, opened name by name; ``make``: what is missing of it is
    made. Raises OSError, ValueError, PartRefused."""
    here = os.open("/", _FOLDER)
    try:
        for name in path.parts[1:]:
            try:
                below = os.open(name, _FOLDER, dir_fd=here)
            except FileNotFoundError:
                if not make:
                    raise
                with contextlib.suppress(FileExistsError):  # somebody else was faster
                    os.mkdir(name, dir_fd=here)
                below = os.open(name, _FOLDER, dir_fd=here)
            below = _visible(below, hidden)
            os.close(here)
            here = below
    except BaseException:
        os.close(here)
        raise
    return here


def _visible(descriptor: int, hidden: Collection[_Identity]) -> int:
    about = os.fstat(descriptor)
    if (about.st_dev, about.st_ino) in hidden:
        os.close(descriptor)
        raise PartRefused(OUTSIDE)
    return descriptor
