"""Read HCL: templates (quoted texts and heredocs), bodies, files."""

from __future__ import annotations

import re

from a2a_fn.iac.documents.hcl import Attribute, Block, Body, Expr, For, Label, Literal, Template
from a2a_fn.iac.documents.hclcursor import Stop
from a2a_fn.iac.documents.hclexpression import ExpressionParser
from a2a_fn.iac.documents.source import Problem, Source

_QUOTED_STOP = re.compile(r'["\\\n]|\$\$\{|%%\{|[$%]\{')
_HEREDOC = re.compile(r"<<(-?)([^\W\d][\w-]*)[ \t]*\r?\n")
_HEREDOC_STOP = re.compile(r"\n|\$\$\{|%%\{|[$%]\{")
_INDENT = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"[ \t]*(?=\r?\n|\Z)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_UNICODE = re.compile(r"u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})")
_PLAIN_LABEL = re.compile(r'"([^"\\\n]*)"')


def read_hcl(source: Source) -> tuple[Body | None, tuple[Problem, ...]]:
    """Return the file's body, or None if it is not HCL, and what is wrong with it."""
    if (nul := source.text.find("\0")) >= 0:
        return None, (Problem("syntax", nul, "a NUL character is not allowed", "delete it"),)
    try:
        return _Parser(source.text).file(), ()
    except Stop as stop:
        return None, (stop.problem,)


class _Parser(ExpressionParser):
    def file(self) -> Body:
        body = self._body()
        if self.at < len(self.text):
            raise self.unexpected("a block or an argument")
        return body

    def _body(self) -> Body:
        """Read attributes and blocks up to a closing brace or the end of the text."""
        body = Body()
        self.lines()
        while (start := self.at) < len(self.text) and not self.text.startswith("}", start):
            name = self.name()
            if name is None:
                raise self.unexpected("the name of a block or an argument")
            self.space()
            if self.text.startswith("=", self.at) and not self.text.startswith("==", self.at):
                self.at += 1
                self.space()
                body.attributes.append(Attribute(name, self.expression(), start))
                self._end_of_line("the argument")
            else:
                body.blocks.append(self._block(name, start))
                self._end_of_line("the block")
        return body

    def _end_of_line(self, what: str) -> None:
        self.space()
        if self.at < len(self.text) and not self.text.startswith(("\n", "\r\n", "}"), self.at):
            raise self.unexpected(f"a new line after {what}")
        self.lines()

    def _block(self, kind: str, start: int) -> Block:
        labels = []
        while not self.take("{"):
            label = self.at
            if quoted := _PLAIN_LABEL.match(self.text, label):
                self.at = quoted.end()
                labels.append(Label(quoted[1], label))
            elif word := self.name():
                labels.append(Label(word, label))
            else:
                raise self.unexpected(f'"=" or "{{" after "{kind[:40]}"')
            self.space()
        with self.inside(False):
            body = self._body()
        if not self.take("}"):
            raise Stop(start, f'the block "{kind[:40]}" is not closed', fix='add the missing "}"')
        return Block(kind, labels, body, start)

    def template(self) -> Expr:
        start = self.at
        heredoc = _HEREDOC.match(self.text, start)
        if heredoc:
            self.at = heredoc.end()
            parts = self._heredoc(heredoc[2], start)
        elif self.take('"'):
            parts = self._quoted(start)
        else:
            raise self.unexpected("a heredoc's marker after <<")
        if all(isinstance(part, str) for part in parts):
            return Literal("".join(map(str, parts)), start, self.at)
        return Template(parts, start, self.at)

    def _quoted(self, start: int) -> list[str | Expr]:
        parts: list[str | Expr] = []
        while True:
            stop = _QUOTED_STOP.search(self.text, self.at)
            if not stop or stop[0] == "\n":
                raise Stop(start, "the text is not closed on its line", fix='close it with "')
            parts.append(self.text[self.at : stop.start()])
            self.at = stop.end()
            if stop[0] == '"':
                return [part for part in parts if part != ""]
            if stop[0] == "\\":
                parts.append(self._escape())
            else:
                self._sequence(stop[0], parts)

    def _escape(self) -> str:
        char = self.text[self.at : self.at + 1]
        if char in _ESCAPES and char:
            self.at += 1
            return _ESCAPES[char]
        code = _UNICODE.match(self.text, self.at)
        number = int(code[1] or code[2], 16) if code else 0x110000
        if not code or number > 0x10FFFF:
            raise Stop(self.at - 1, "invalid escape in a text", fix="write a backslash as \\\\")
        self.at = code.end()
        return chr(number)

    def _heredoc(self, marker: str, start: int) -> list[str | Expr]:
        """Read lines up to one that holds only the marker. Indentation is kept as written."""
        parts: list[str | Expr] = []
        while not self._closes(marker):
            stop = _HEREDOC_STOP.search(self.text, self.at)
            while stop and stop[0] != "\n":
                parts.append(self.text[self.at : stop.start()])
                self.at = stop.end()
                self._sequence(stop[0], parts)
                stop = _HEREDOC_STOP.search(self.text, self.at)
            if not stop:
                raise Stop(
                    start,
                    "the heredoc is not closed",
                    fix=f"add a line that holds only {marker[:40]}",
                )
            parts.append(self.text[self.at : stop.end()])
            self.at = stop.end()
        return [part for part in parts if part != ""]

    def _closes(self, marker: str) -> bool:
        """Step over the current line if it holds only the marker."""
        indent = _INDENT.match(self.text, self.at)
        begin = indent.end() if indent else self.at
        if not self.text.startswith(marker, begin):
            return False
        end = _LINE_END.match(self.text, begin + len(marker))
        if end is None:
            return False
        self.at = end.end()
        return True

    def _sequence(self, opening: str, parts: list[str | Expr]) -> None:
        """Read what `${`, `%{` and their escaped forms open."""
        if len(opening) == 3:
            parts.append(opening[1:])
            return
        with self.inside(True):
            self.take("~")
            self.space()
            if opening == "%{":
                self._directive(parts)
            else:
                parts.append(self.expression())
            self.space()
            self.take("~")
            self.need("}", "to close the interpolation")

    def _directive(self, parts: list[str | Expr]) -> None:
        start = self.at
        word = self.name()
        self.space()
        if word == "if":
            parts.append(self.expression())
        elif word == "for":
            parts.append(self._for_directive())
        elif word not in ("else", "endif", "endfor"):
            self.at = start
            raise self.unexpected("if, else, endif, for or endfor")
        else:
            parts.append(Literal("", self.at, self.at))

    def _for_directive(self) -> Expr:
        """Read the head of `%{ for x in y }`: a `For` without parts; its body follows it."""
        start = self.at
        names = []
        while word := self.name():
            names.append(word)
            self.space()
            if not self.take(","):
                break
            self.space()
        if self.name() != "in":
            raise self.unexpected('"in" after the names of a for directive')
        self.space()
        return For(tuple(names), self.expression(), [], start, self.at)
