"""Files written on someone else's word.

Names come from the other side, so they are made safe: a file lands below the chosen directory or
not at all. A file that was there before is never overwritten: the same content leaves it as it
is, other content gets the next free name (`vpc-2.yaml`).
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from .failures import Failure

_NAME_LIMIT = 200  # bytes of one path component; file systems allow 255
_DEPTH_LIMIT = 8


def check_directory(out: Path) -> None:
    """Fail if nothing can be written below `out`, which need not exist: before the work is done,
    not after."""
    place = out.absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    if not place.is_dir():
        raise Failure(f"{out}: {place} is not a directory")
    if not os.access(place, os.W_OK | os.X_OK):
        raise Failure(f"{out}: {place} is not writable")


def safe_name(name: str) -> str:
    """A relative path that stays below where it is put, whatever the name."""
    steps = []
    for step in re.split(r"[/\\]+", name):
        kept = "".join(c for c in step if c.isprintable() and c not in ':*?"<>|').strip(" .")
        if kept:  # of a long name the end is kept, as it holds the suffix
            steps.append(kept.encode()[-_NAME_LIMIT:].decode(errors="ignore"))
    return "/".join(steps[-_DEPTH_LIMIT:]) or "artifact"


def write_new(out: Path, name: str, content: bytes) -> Path:
    """Write under the first name that is free or already holds this content."""
    wanted = out / name
    try:
        for above in PurePosixPath(name).parents:
            if str(above) != "." and (out / above).is_symlink():  # it could lead out of `out`
                raise Failure(f"{out / above} is a link: {wanted} is not written through it")
        wanted.parent.mkdir(parents=True, exist_ok=True)
        for n in range(1, 1000):
            place = wanted if n == 1 else wanted.with_stem(f"{wanted.stem}-{n}")
            try:
                with place.open("xb") as file:
                    file.write(content)
                return place
            except FileExistsError:
                if place.is_file() and not place.is_symlink() and place.read_bytes() == content:
                    return place
    except OSError as e:
        raise Failure(f"{wanted} cannot be written: {e.strerror or e}") from e
    raise Failure(f"{wanted} and 998 like it exist: choose another directory")


def overwrite(place: Path, content: bytes) -> None:
    """Write a file of this run again; a link that took its place is not followed."""
    try:
        flags = os.O_WRONLY | os.O_TRUNC | os.O_CREAT | os.O_NOFOLLOW
        with os.fdopen(os.open(place, flags, 0o666), "wb") as file:
            file.write(content)
    except OSError as e:
        raise Failure(f"{place} cannot be written: {e.strerror or e}") from e
