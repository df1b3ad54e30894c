"""A text that stands inside a scalar of another file, with positions in that file."""

from __future__ import annotations

from a2a_fn.iac.documents.source import Source
from a2a_fn.iac.documents.tree import Scalar


def embedded(outer: Source, scalar: Scalar, inner: str) -> Source | None:
    """Return a scalar's text as a source of its own; None if it is no text.

    A literal YAML block (`|`) keeps its lines, so positions point into the outer file.
    Otherwise (JSON, folded text) they count within the inner text, and the source is named
    `outer:inner`.
    """
    if not isinstance(scalar.value, str):
        return None
    text = scalar.value
    if scalar.style == "literal":
        header = outer.row(scalar.start)
        for n, line in enumerate(text.split("\n")):
            if not line.strip():
                continue
            written = outer.row_text(header + 1 + n)
            if written.endswith(line):
                row = outer.line + header + 1
                return Source(outer.name, text, row, outer.column + len(written) - len(line))
            break
    return Source(f"{outer.name}:{inner}", text)
