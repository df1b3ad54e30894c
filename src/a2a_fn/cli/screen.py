"""Where a command writes: the answer on stdout, remarks on stderr, each safe to print.

Text from the other side cannot move the cursor, clear the screen or set the title: control
characters are taken out. Files saved with `--out` and `--json` are not changed.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

from rich.console import Console
from rich.text import Text

# C0 without tab and newline, DEL, C1, and the marks that reorder text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text without what a terminal would obey."""
    return _CONTROL.sub("", text)


def one_line(text: str, limit: int = 200) -> str:
    """The text on one line, cut at `limit` characters."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 3] + "..."


class Screen:
    """stdout for the answer, which may come in pieces, and stderr for remarks.

    With `machine` there are no remarks and no text: only what is given to `raw` is written.
    """

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, *, machine: bool = False
    ) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._console = Console(file=self._err, highlight=False, soft_wrap=True)
        self.machine = machine
        self._mid_line = False
        self._shared = self._out.isatty() or _same_file(self._out, self._err)

    @property
    def is_terminal(self) -> bool:
        """Whether a person sees stdout as it comes."""
        return self._out.isatty()

    def say(self, text: str) -> None:
        """Write a piece of the answer."""
        text = printable(text)
        if text and not self.machine:
            self._write(text)
            self._mid_line = not text.endswith("\n")

    def end_line(self) -> None:
        """Be at the beginning of a line."""
        if self._mid_line:
            self._write("\n")
            self._mid_line = False

    def raw(self, text: str) -> None:
        """Write a line for a machine, as it is."""
        self._write(text.rstrip("\n") + "\n")

    def note(self, text: str, style: str = "dim") -> None:
        """Remark something."""
        if self.machine:
            return
        if self._shared:  # otherwise a file that holds the answer would get a break in it
            self.end_line()
        self._console.print(Text(printable(text), style=style))

    def warn(self, text: str) -> None:
        """Remark on stderr what a user must know, even one who asked for JSON."""
        if self._shared and not self.machine:
            self.end_line()
        self._console.print(Text(printable(text), style="yellow"))

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _same_file(a: TextIO, b: TextIO) -> bool:
    try:
        return os.path.sameopenfile(a.fileno(), b.fileno())
    except (OSError, ValueError):  # not a real file, as under a test
        return False
