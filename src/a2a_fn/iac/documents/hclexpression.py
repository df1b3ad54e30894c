"""Parse HCL expressions: a recursive descent of bounded depth over the text itself.

The grammar is that of HashiCorp's "HCL Native Syntax Specification"; where it is strict about
line breaks, so is this.
"""

from __future__ import annotations

import re

from a2a_fn.iac.documents.hcl import (
    Access,
    Array,
    Call,
    Expr,
    For,
    Literal,
    Mapping,
    Operation,
)
from a2a_fn.iac.documents.hclcursor import NAME, Cursor

_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_BINARY = re.compile(r"==|!=|<=|>=|&&|\|\||[-+*/%<>]")
_ELLIPSIS = "..."
_LEGACY_INDEX = re.compile(r"[0-9]+")
_LONGEST_NUMBER = 300
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


class ExpressionParser(Cursor):
    """A cursor that reads expressions."""

    def expression(self) -> Expr:
        """Read an expression. Operators of any precedence make one flat `Operation`."""
        start = self.at
        operands = [self._operand()]
        while True:
            end = self.at
            self.space()
            operator = _BINARY.match(self.text, self.at)
            if operator and not self.text.startswith(("//", "/*"), self.at):
                self.at = operator.end()
                self.space()
                operands.append(self._operand())
            elif self.take("?"):
                with self.inside(self.multiline):
                    self.space()
                    operands.append(self.expression())
                self.need(":", "of the conditional")
                self.space()
                operands.append(self._operand())
            else:
                self.at = end
                break
        return Operation(operands, start, self.at) if len(operands) > 1 else operands[0]

    def _operand(self) -> Expr:
        start = self.at
        sign = ""
        while self.text.startswith(("!", "-"), self.at) and not self.text.startswith("!=", self.at):
            sign += self.text[self.at]
            self.at += 1
            self.space()
        value = self._postfix(self._term())
        if not sign:
            return value
        if sign == "-" and isinstance(value, Literal) and type(value.value) in (int, float):
            return Literal(-value.value, start, self.at)  # type: ignore[operator]
        return Operation([value], start, self.at)

    def _term(self) -> Expr:
        start = self.at
        char = self.text[start : start + 1]
        if char == '"' or self.text.startswith("<<", start):
            return self.template()
        if char == "(":
            self.at += 1
            with self.inside(True):
                self.space()
                value = self.expression()
                self.need(")", "to close the bracket")
            return value
        if char == "[":
            return self._array()
        if char == "{":
            return self._mapping()
        if number := _NUMBER.match(self.text, start):
            self.at = number.end()
            return Literal(_number(number[0]), start, self.at)
        word = self.name()
        if word is None:
            raise self.unexpected("a value")
        if word in _CONSTANTS:
            return Literal(_CONSTANTS[word], start, self.at)
        return self._named(word, start)

    def _named(self, word: str, start: int) -> Expr:
        while self.text.startswith("::", self.at):  # provider::aws::arn_parse(...)
            self.at += 2
            word += "::" + (self.name() or "")
        end = self.at
        self.space()
        if not self.take("("):
            self.at = end
            return Access(word, [], start, end)
        args: list[Expr] = []
        with self.inside(True):
            self._items(args, ")")
        return Call(word, args, start, self.at)

    def template(self) -> Expr:
        """Read a quoted text or heredoc; the template parser provides it."""
        raise self.unexpected("a value without quotes")

    def _postfix(self, value: Expr) -> Expr:
        steps: list[str | Expr] = []
        while True:
            end = self.at
            self.space()
            if self.text.startswith(".", self.at) and not self.text.startswith("..", self.at):
                self.at += 1
                steps.append(self._attribute())
            elif self.take("["):
                with self.inside(True):
                    self.space()
                    if self.take("*"):
                        steps.append("*")
                    else:
                        steps.append(self.expression())
                    self.need("]", "to close the index")
            else:
                self.at = end
                break
        if not steps:
            return value
        if isinstance(value, Access):
            value.steps += steps
            value.end = self.at
            return value
        return Access(value, steps, value.start, self.at)

    def _attribute(self) -> str | Expr:
        self.space()
        if self.take("*"):
            return "*"
        start = self.at
        if index := _LEGACY_INDEX.match(self.text, start):
            self.at = index.end()
            return Literal(_number(index[0]), start, self.at)
        name = self.name()
        if name is None:
            raise self.unexpected('a name after "."')
        return name

    def _items(self, into: list[Expr], close: str) -> None:
        """Read comma-separated values up to `close`; the last comma may be followed by nothing."""
        self.space()
        while not self.take(close):
            into.append(self.expression())
            self.space()
            self.take(_ELLIPSIS)
            self.space()
            if self.take(close):
                return
            if not self.take(","):
                raise self.unexpected(f'"," or "{close}"')
            self.space()

    def _array(self) -> Expr:
        start = self.at
        self.at += 1
        with self.inside(True):
            self.space()
            if self._at_for():
                return self._for(start, "]")
            array = Array([], start)
            self._items(array.items, "]")
        array.end = self.at
        return array

    def _mapping(self) -> Expr:
        start = self.at
        self.at += 1
        self.lines()
        if self._at_for():
            with self.inside(True):
                return self._for(start, "}")
        mapping = Mapping([], start)
        with self.inside(False):
            while not self.take("}"):
                key = self._key()
                self.space()
                if not (self.take("=") or self.take(":")):
                    raise self.unexpected('"=" or ":" after the key')
                self.space()
                mapping.items.append((key, self.expression()))
                self._separator()
        mapping.end = self.at
        return mapping

    def _key(self) -> Expr:
        start = self.at
        key = self.expression()
        if isinstance(key, Access) and isinstance(key.root, str) and not key.steps:
            return Literal(key.root, start, self.at)
        return key

    def _separator(self) -> None:
        self.space()
        if self.take(",") or self.text.startswith(("\n", "\r\n"), self.at):
            self.lines()
        elif not self.text.startswith("}", self.at):
            raise self.unexpected('a comma, a new line or "}" after the value')

    def _at_for(self) -> bool:
        word = NAME.match(self.text, self.at)
        if not word or word[0] != "for":
            return False
        # `for` may also be a key: { for = 1 }
        return NAME.match(self.text, self.past_space(word.end())) is not None

    def _for(self, start: int, close: str) -> Expr:
        self.name()
        names = []
        while True:
            self.space()
            names.append(self.name() or "")
            self.space()
            if not self.take(","):
                break
        if self.name() != "in":
            raise self.unexpected('"in" after the names of a for expression')
        self.space()
        source = self.expression()
        self.need(":", "after the collection of a for expression")
        self.space()
        parts = [self.expression()]
        self.space()
        if close == "}" and self.take("=>"):
            self.space()
            parts.append(self.expression())
            self.space()
            self.take(_ELLIPSIS)
            self.space()
        if self.name() == "if":
            self.space()
            parts.append(self.expression())
        self.need(close, "to close the for expression")
        return For(tuple(names), source, parts, start, self.at)


def _number(text: str) -> int | float | str:
    if len(text) > _LONGEST_NUMBER:
        return text
    return int(text) if text.isdigit() else float(text)
