"""Read YAML into a tree, with places, from the parser's events.

Composing from events, not with `yaml.compose`: that one recurses in C, follows aliases without
end and forgets duplicate keys. ROS's short tags are read as what they stand for: `!Ref x` as
`{Ref: x}`, `!GetAtt a.b` as `{Fn::GetAtt: [a, b]}`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

from a2a_fn.iac.documents.source import Problem, Source
from a2a_fn.iac.documents.tree import (
    MAX_DEPTH,
    MAX_NODES,
    Map,
    Node,
    Scalar,
    Sequence,
    Value,
    text_of,
)

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_STYLES = {"": "plain", "'": "quoted", '"': "quoted", "|": "literal", ">": "folded"}
_MERGE = "<<"
_TEXT_PER_NODE = 32  # so many characters weigh as one more value: aliases repeat text too
_NULLS = {"", "~", "null", "Null", "NULL"}
_TRUE = {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"}
_FALSE = {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}
_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,300})")
_FLOAT = re.compile(r"[-+]?[0-9]{1,300}\.[0-9]{0,300}(?:[eE][-+][0-9]{1,3})?")
_HINTS = (
    ("cannot start any token", "quote the value, and indent with spaces: YAML allows no tabs"),
    ("mapping values are not allowed", "check the indentation, or quote a value that holds ': '"),
    ("could not find expected ':'", "a key needs ': ' after it; check indentation and quotes"),
    ("did not find expected key", "check the indentation of this line and of the one before"),
    ("did not find expected '-' indicator", "align the '-' of all items of the list"),
    ("did not find expected ',' or", "close the bracket, or put a comma between the values"),
    ("found unexpected end of stream", "close the quotes or the bracket"),
)


class _Stop(Exception):
    def __init__(self, index: int, message: str, kind: str = "syntax", fix: str | None = None):
        self.problem = Problem(kind, index, message, fix)


@dataclass(slots=True)
class _Open:
    """A container whose end has not come yet; `key` waits for its value."""

    node: Map | Sequence
    tag: str | None
    anchor: str | None
    weight: int = 1
    key: Scalar | None = None
    merges: list[Node] = field(default_factory=list)


def read_yaml(source: Source) -> tuple[Node | None, tuple[Problem, ...]]:
    """Return the tree, or None if there is none to trust, and what is wrong with the text."""
    if odd := _UNPRINTABLE.search(source.text):
        what = f"the character U+{ord(odd[0]):04X} is not allowed in YAML"
        return None, (Problem("syntax", odd.start(), what, "delete it"),)
    reader = _Reader()
    loader = _Loader(source.text)
    try:
        while loader.check_event():
            reader.take(loader.get_event())
    except _Stop as stop:
        return None, (*reader.problems, stop.problem)
    except yaml.YAMLError as error:
        return None, (*reader.problems, _explain(error, len(source.text)))
    finally:
        loader.dispose()
    return reader.root, tuple(reader.problems)


def _explain(error: yaml.YAMLError, end: int) -> Problem:
    mark, problem, context = None, "this is not YAML", None
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        problem, context = error.problem or problem, error.context
    message = f"{problem} ({context})" if context else problem
    if "nesting depth" in problem:
        message = "nested too deeply for the YAML parser"
        return Problem("limit", mark.index if mark else end, message)
    fix = next((hint for needle, hint in _HINTS if needle in problem), None)
    return Problem("syntax", mark.index if mark else end, message, fix)


def _start(event: Any) -> int:
    return int(event.start_mark.index)


class _Reader:
    def __init__(self) -> None:
        self.root: Node | None = None
        self.problems: list[Problem] = []
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Node, int]] = {}
        self.documents = 0
        self.total = 0

    def take(self, event: Any) -> None:
        """Take the parser's next event."""
        match event:
            case yaml.ScalarEvent():
                weight = 1 + len(event.value) // _TEXT_PER_NODE
                self._add(_tagged(event.tag, _scalar(event)), weight, event.anchor)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._open(event)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                self._close(event)
            case yaml.AliasEvent():
                self._alias(event)
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    raise _Stop(
                        _start(event),
                        "a second document begins here; a template is one document",
                        fix="delete this line and what follows",
                    )

    def _open(self, event: Any) -> None:
        start = _start(event)
        if len(self.stack) >= MAX_DEPTH:
            raise _Stop(start, f"nested deeper than {MAX_DEPTH} levels", "limit")
        is_map = isinstance(event, yaml.MappingStartEvent)
        node: Map | Sequence = Map(start) if is_map else Sequence([], start)
        self.stack.append(_Open(node, event.tag, event.anchor))

    def _close(self, event: Any) -> None:
        done = self.stack.pop()
        done.node.end = event.start_mark.index
        if isinstance(done.node, Map):
            _merge(done.node, done.merges)
        self._add(_tagged(done.tag, done.node), done.weight, done.anchor)

    def _alias(self, event: Any) -> None:
        start = _start(event)
        if event.anchor in self.anchors:
            self._add(*self.anchors[event.anchor], None)
            return
        if any(parent.anchor == event.anchor for parent in self.stack):
            raise _Stop(start, "the alias stands inside the value that it names: it has no end")
        raise _Stop(start, "the alias names an anchor that is not defined before it")

    def _add(self, node: Node, weight: int, anchor: str | None) -> None:
        """Put a finished node where it belongs. `weight` counts aliased nodes each time."""
        self.total += 1
        if weight > MAX_NODES or self.total > MAX_NODES:
            raise _Stop(node.start, f"more than {MAX_NODES} values", "limit")
        if anchor:
            self.anchors[anchor] = (node, weight)
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.weight += weight
        if parent.weight > MAX_NODES:
            raise _Stop(node.start, f"its aliases stand for over {MAX_NODES} values", "limit")
        if isinstance(parent.node, Sequence):
            parent.node.items.append(node)
        elif parent.key is None:
            if not isinstance(node, Scalar):
                raise _Stop(node.start, "a list or a map is used as a key")
            parent.key = node
        else:
            self._entry(parent, parent.node, parent.key, node)
            parent.key = None

    def _entry(self, parent: _Open, node: Map, key: Scalar, value: Node) -> None:
        name = text_of(key)
        if name == _MERGE and key.style == "plain":
            parent.merges += value.items if isinstance(value, Sequence) else [value]
            return
        if name in node.keys:
            self.problems.append(Problem("duplicate-key", key.start, name))
        node.put(key, value)


def _merge(node: Map, merges: list[Node]) -> None:
    for other in merges:
        if isinstance(other, Map):
            for name, key, value in list(other.entries()):
                if name not in node.keys:
                    node.put(key, value)


def _scalar(event: Any) -> Scalar:
    style = _STYLES.get(event.style or "", "quoted")
    plain = style == "plain" and event.implicit[0]
    value: Value = _resolve(event.value) if plain else event.value
    return Scalar(value, event.start_mark.index, event.end_mark.index, style)


def _resolve(text: str) -> Value:
    """Give a plain scalar its type. Dates stay text, as ROS reads `2015-09-01`."""
    if text in _NULLS:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def _tagged(tag: str | None, node: Node) -> Node:
    if not tag or not tag.startswith("!") or tag == "!":
        return node
    name = tag[1:]
    if name == "GetAtt" and isinstance(node, Scalar):
        owner, dot, attribute = text_of(node).partition(".")
        parts = [owner, attribute] if dot else [owner]
        node = Sequence([Scalar(part, node.start, node.end) for part in parts], node.start)
    call = Map(node.start, node.end)
    key = name if name in ("Ref", "Condition") else f"Fn::{name.removeprefix('Fn::')}"
    call.put(Scalar(key, node.start, node.start), node)
    return call
