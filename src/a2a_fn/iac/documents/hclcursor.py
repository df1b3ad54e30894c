"""A cursor over a text of HCL: blanks, names, nesting, and what to say when it is wrong."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from a2a_fn.iac.documents.source import Problem

MAX_NESTING = 60
NAME = re.compile(r"[^\W\d][\w-]*")
_COMMENT = r"\#[^\n]*|//[^\n]*|/\*(?s:.*?)\*/"
_INLINE = re.compile(rf"(?:[ \t\r]|{_COMMENT})*+")
_LINES = re.compile(rf"(?:[ \t\r\n]|{_COMMENT})*+")


class Stop(Exception):
    """Parsing cannot go on; `problem` says why."""

    def __init__(self, index: int, message: str, kind: str = "syntax", fix: str | None = None):
        self.problem = Problem(kind, index, message, fix)


class Cursor:
    """A place in a text, and the steps that every part of the grammar takes from it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.multiline = False  # inside brackets a line break is a space

    def space(self) -> None:
        """Skip blanks and comments; line breaks too where they mean nothing."""
        match = (_LINES if self.multiline else _INLINE).match(self.text, self.at)
        self.at = match.end() if match else self.at

    def lines(self) -> None:
        """Skip blanks, comments and line breaks."""
        match = _LINES.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def take(self, token: str) -> bool:
        """Step over `token` if it stands here."""
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def need(self, token: str, where: str) -> None:
        """Step over `token`, or stop."""
        self.space()
        if not self.take(token):
            raise self.unexpected(f'"{token}" {where}')

    def name(self) -> str | None:
        """Step over an identifier, if one stands here, and return it."""
        match = NAME.match(self.text, self.at)
        if not match:
            return None
        self.at = match.end()
        return match[0]

    def unexpected(self, wanted: str) -> Stop:
        """Return a `Stop` that says what was wanted and what stands here."""
        found = self.text[self.at : self.at + 1]
        if not found:
            what = "the end of the text"
        elif found == "\n" or self.text.startswith("\r\n", self.at):
            what = "the end of the line"
        else:
            what = f'"{found}"' if found.isprintable() else f"U+{ord(found):04X}"
        return Stop(self.at, f"expected {wanted}, found {what}")

    @contextmanager
    def inside(self, multiline: bool) -> Iterator[None]:
        """One level deeper, with or without meaning for line breaks."""
        if self.depth >= MAX_NESTING:
            raise Stop(self.at, f"nested deeper than {MAX_NESTING} levels", "limit")
        before, self.multiline = self.multiline, multiline
        self.depth += 1
        try:
            yield
        finally:
            self.multiline = before
            self.depth -= 1

    def past_space(self, at: int) -> int:
        """Return where the blanks, comments and line breaks at a place end."""
        match = _LINES.match(self.text, at)
        return match.end() if match else at
