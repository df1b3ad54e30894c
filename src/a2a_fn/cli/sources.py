"""The files of the offline commands: found, read, reviewed and written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from a2a_fn.iac.findings import Report
from a2a_fn.iac.review import review

from .failures import Exit, Failure
from .writing import safe_name, write_new

FILE_LIMIT = 5 << 20  # bytes; no template may be as large, so more is not one
COUNT_LIMIT = 5000  # files in one review
_SUFFIXES = (".yml", ".yaml", ".json", ".template", ".tf", ".tofu", ".tfvars")


def review_paths(paths: Sequence[str]) -> Report:
    """Review files, directories and "-" together.

    Files that were only found (not named) and are no templates are left out of the report. A
    Failure if none of the rest is a template.
    """
    files: dict[str, str] = {}
    found: set[str] = set()
    for path in paths:
        if path == "-":
            files["<stdin>"] = read_stdin()
        elif os.path.isdir(path):
            places = list(islice(_templates_below(path), COUNT_LIMIT + 1))
            if len(places) > COUNT_LIMIT:
                raise Failure(f"{path} holds more than {COUNT_LIMIT} files: name fewer")
            for place in places:
                text = None if place in files else _text(place, strict=False)
                if text is not None:
                    files[place] = text
                    found.add(place)
            if not places:
                raise Failure(f"{path} holds no template ({', '.join(_SUFFIXES)})")
        else:
            files[os.path.normpath(path)] = _text(path) or ""
            found.discard(os.path.normpath(path))
    report = review(files)
    others = {f.name for f in report.files if f.kind == "unknown"} & found
    kept = tuple(file for file in report.files if file.name not in others)
    findings = tuple(finding for finding in report.findings if finding.file not in others)
    if not findings and all(file.kind == "unknown" for file in kept):
        why = "; ".join(f"{file.name}: {file.note}" for file in kept[:3])
        why = why or "no file found is a template"
        raise Failure(f"nothing to review: {why}", Exit.FAILED)
    return replace(report, files=kept, findings=findings)


def is_reviewed(report: Report) -> bool:
    """Whether any file of the report was looked into; a note that begins with "not reviewed"
    is the engine's word for one that was not."""
    return not all(file.note.startswith("not reviewed") for file in report.files)


def read_stdin() -> str:
    """All of stdin as text."""
    data = sys.stdin.buffer.read(FILE_LIMIT + 1)
    return _decode("stdin", data)


def write_files(out: Path, files: Mapping[str, str]) -> list[Path]:
    """Write files below a directory without overwriting any that differs."""
    return [write_new(out, safe_name(name), content.encode()) for name, content in files.items()]


def _templates_below(path: str) -> Iterator[str]:
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(_SUFFIXES) and not name.startswith("."):
                yield os.path.normpath(os.path.join(folder, name))


def _text(path: str, *, strict: bool = True) -> str | None:
    """A file's text; None instead of a Failure for one that is no text and was only found."""
    try:
        with open(path, "rb") as file:
            data = file.read(FILE_LIMIT + 1)
        return _decode(path, data)
    except OSError as e:
        raise Failure(f"{path} cannot be read: {e.strerror or e}") from e
    except Failure:
        if strict:
            raise
        return None


def _decode(name: str, data: bytes) -> str:
    if len(data) > FILE_LIMIT:
        raise Failure(f"{name} is larger than {FILE_LIMIT >> 20} MiB: no template is")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        raise Failure(f"{name} is not UTF-8 text (byte {e.start})") from e
    if "\0" in text:
        raise Failure(f"{name} is a binary file")
    return text
