"""A text, and where each of its characters stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

_NEWLINE = re.compile(r"\r\n|\n|\r")


@dataclass(slots=True)
class Source:
    """A named text. `line` and `column` are added to each position.

    They let a text that stands inside another file (a Terraform file in a ROS template) point
    into that file: `name` is then the outer file's name.
    """

    name: str
    text: str
    line: int = 0
    column: int = 0
    _starts: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._starts = [0, *(match.end() for match in _NEWLINE.finditer(self.text))]

    def position(self, index: int) -> tuple[int, int]:
        """Return line and column of the character at `index`, both from 1."""
        index = max(0, min(index, len(self.text)))
        if index and self.text.startswith("\r\n", index - 1):
            index -= 1  # between the two is no place of its own
        row = bisect_right(self._starts, index) - 1
        return row + 1 + self.line, index - self._starts[row] + 1 + self.column

    def row(self, index: int) -> int:
        """Return the line that holds `index`, from 0, within this text."""
        return bisect_right(self._starts, index) - 1

    def row_text(self, row: int) -> str:
        """Return the text of a line, counted from 0, without its end; empty past the last."""
        if row >= len(self._starts):
            return ""
        end = self._starts[row + 1] if row + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[row] : end].rstrip("\r\n")


@dataclass(frozen=True, slots=True)
class Problem:
    """What a parser objects to. `kind` is `syntax`, `duplicate-key` or `limit`.

    After `syntax` and `limit` there is no tree: `limit` means that the text may be right, but
    is larger or deeper than this engine reads.
    """

    kind: str
    index: int
    message: str
    fix: str | None = None
