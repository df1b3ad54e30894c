"""Read JSON into a tree, with places. A loop with its own stack, so depth cannot overflow."""

from __future__ import annotations

import json
import re

from a2a_fn.iac.documents.source import Problem, Source
from a2a_fn.iac.documents.tree import MAX_DEPTH, MAX_NODES, Map, Node, Scalar, Sequence, Value

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
_LONGEST_NUMBER = 300  # longer ones stay text: turning them into integers takes quadratic time


class _Stop(Exception):
    def __init__(self, index: int, message: str, kind: str = "syntax", fix: str | None = None):
        self.problem = Problem(kind, index, message, fix)


def read_json(source: Source) -> tuple[Node | None, tuple[Problem, ...]]:
    """Return the tree, or None if the text is not JSON, and what is wrong with it."""
    reader = _Reader(source.text)
    try:
        root: Node | None = reader.read()
    except _Stop as stop:
        root = None
        reader.problems.append(stop.problem)
    return root, tuple(reader.problems)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.nodes = 0
        self.problems: list[Problem] = []

    def read(self) -> Node:
        self._space()
        root = self._begin()
        stack: list[Map | Sequence] = [] if isinstance(root, Scalar) else [root]
        while stack:
            self._space()
            child = self._step(stack[-1])
            if child is None:
                stack.pop().end = self.at
            elif not isinstance(child, Scalar):
                stack.append(child)
                if len(stack) > MAX_DEPTH:
                    raise _Stop(child.start, f"nested deeper than {MAX_DEPTH} levels", "limit")
        self._space()
        if self.at < len(self.text):
            raise _Stop(self.at, "the JSON value ends before this; there is more text after it")
        return root

    def _step(self, parent: Map | Sequence) -> Node | None:
        """Read the parent's next child; None at its closing bracket."""
        close, content = ("]", parent.items) if isinstance(parent, Sequence) else ("}", parent.keys)
        if self._peek() == close:
            self.at += 1
            return None
        if content:
            if self._peek() != ",":
                raise self._unexpected(f'"," or "{close}"')
            comma = self.at
            self.at += 1
            self._space()
            if self._peek() == close:
                raise _Stop(
                    comma, f'a comma stands before "{close}"', fix="delete the trailing comma"
                )
        if isinstance(parent, Sequence):
            child = self._begin()
            parent.items.append(child)
            return child
        return self._member(parent)

    def _member(self, parent: Map) -> Node:
        if self._peek() != '"':
            raise self._unexpected("a key in double quotes")
        key = self._string()
        self._space()
        if self._peek() != ":":
            raise self._unexpected('":" after the key')
        self.at += 1
        self._space()
        child = self._begin()
        name = str(key.value)
        if name in parent.keys:
            self.problems.append(Problem("duplicate-key", key.start, name))
        parent.put(key, child)
        return child

    def _begin(self) -> Node:
        """Read a scalar whole, or the opening bracket of a container."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise _Stop(self.at, f"more than {MAX_NODES} values", "limit")
        start = self.at
        char = self._peek()
        if char == "{":
            self.at += 1
            return Map(start)
        if char == "[":
            self.at += 1
            return Sequence([], start)
        if char == '"':
            return self._string()
        if match := _NUMBER.match(self.text, start):
            self.at = match.end()
            return Scalar(_number(match[0]), start, self.at)
        word = _WORD.match(self.text, start)
        if word and word[0] in _WORDS:
            self.at = word.end()
            return Scalar(_WORDS[word[0]], start, self.at)
        raise self._unexpected("a value")

    def _string(self) -> Scalar:
        start = self.at
        match = _STRING.match(self.text, start)
        if not match:
            raise _Stop(
                start,
                "the string is not closed, or holds a raw line break or control character",
                fix='close it with ", and write line breaks as \\n',
            )
        self.at = match.end()
        value = match[0][1:-1]
        if "\\" in value:
            try:
                value = json.loads(match[0])
            except json.JSONDecodeError as error:
                raise _Stop(start + error.pos, "invalid escape in a string") from None
        return Scalar(value, start, self.at, "quoted")

    def _space(self) -> None:
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at

    def _peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def _unexpected(self, wanted: str) -> _Stop:
        found = self._peek()
        what = f'"{found}"' if found.isprintable() and found else "the end of the text"
        if found in ("'", "/", "#"):
            return _Stop(
                self.at,
                f"expected {wanted}, found {what}; JSON has no comments and no single quotes",
            )
        return _Stop(self.at, f"expected {wanted}, found {what}")


def _number(text: str) -> Value:
    if len(text) > _LONGEST_NUMBER:
        return text
    return int(text) if text.lstrip("-").isdigit() else float(text)
