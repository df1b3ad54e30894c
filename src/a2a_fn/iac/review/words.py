"""Names in messages: shown safely, and the close name that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

_FOLD = re.compile(r"[\W_]+")
_LONGEST = 40
_SIMILAR = 0.8
_COMPARISONS = 1_000
_INDEXED = 2_000


def show(name: str) -> str:
    """Return a name in quotes for a message: one line, printable, at most 80 characters."""
    return f'"{printable(name, 80)}"'


def printable(text: str, longest: int) -> str:
    """Return a text that fits a line and a terminal: no control characters, no more than asked."""
    cut = text if len(text) <= longest else text[: longest - 1] + "…"
    return cut if cut.isprintable() else "".join(c if c.isprintable() else "�" for c in cut)


class Names:
    """The names that exist somewhere, to look up what a wrong one was meant to be.

    One slip (a letter too many, too few, wrong or swapped, another case) is found by an index,
    in time that does not depend on how many names there are. Others are compared one by one,
    within a fixed number of comparisons, so that a hostile file cannot make it slow.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._all = dict.fromkeys(names)
        self.names = [name for name in self._all if len(name) <= _LONGEST]
        self._index: dict[str, str] | None = None
        self._left = _COMPARISONS

    def __contains__(self, name: str) -> bool:
        return name in self._all

    def closest(self, name: str) -> str | None:
        """Return the existing name that `name` is probably a slip of, or None."""
        if not 2 < len(name) <= _LONGEST:
            return None
        if self._index is None:
            self._index = {v: known for known in self.names[:_INDEXED] for v in _variants(known)}
        for variant in _variants(name):
            if variant in self._index:
                return self._index[variant]
        return self._similar(_fold(name))

    def _similar(self, folded: str) -> str | None:
        best, score = None, _SIMILAR
        if self._left <= 0:
            return None
        matcher = SequenceMatcher(None, "", folded, autojunk=False)
        for known in self.names:
            if self._left <= 0:
                break
            self._left -= 1
            matcher.set_seq1(_fold(known))
            ratio = matcher.ratio() if matcher.real_quick_ratio() > score else 0.0
            if ratio > score:
                best, score = known, ratio
        return best

    def meant(self, name: str) -> str | None:
        """Return "did you mean ...?" as a fix, or None."""
        close = self.closest(name)
        return f"did you mean {show(close)}?" if close else None


def _fold(name: str) -> str:
    return _FOLD.sub("", name).casefold()


def _variants(name: str) -> list[str]:
    folded = _fold(name)
    if len(folded) < 3:
        return [folded]
    return [folded, *(folded[:n] + folded[n + 1 :] for n in range(len(folded)))]
