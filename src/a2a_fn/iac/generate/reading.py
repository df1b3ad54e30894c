"""From text to marks: literals (ranges, numbers, names), phrases of the lexicon, and unknown words.

Nothing is guessed here: what no literal and no phrase matches becomes a mark of type `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from a2a_fn.iac.generate.lexicon import Lexicon, fold
from a2a_fn.iac.generate.model import Mark

_CJK = r"\u3400-\u9fff\uf900-\ufaff\u3040-\u30ff\uac00-\ud7af"
_BREAK = r"\s,;!?()\[\]{}\"“”«»„。，、；：！？（）【】「」『』《》" + _CJK
_NUMERALS = "零一二两三四五六七八九十百千万亿"
_MEASURES = "个台条块套组只份项座核种处"
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2}
_POWERS = {"十": 10, "百": 100, "千": 1000}
_HUGE = 10**12


def _number(text: str) -> int:
    return int(text) if len(text) <= 12 else _HUGE


def _chinese_number(text: str) -> int:
    """Return the value of Chinese numerals: 二十四 is 24, 一百万 is 1,000,000."""
    total = section = digit = 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _POWERS:
            section += (digit or 1) * _POWERS[character]
            digit = 0
        else:
            total = (total + section + digit or 1) * {"万": 10**4, "亿": 10**8}[character]
            section = digit = 0
    return min(total + section + digit, _HUGE)


_Literal = tuple[str, re.Pattern[str], Callable[[re.Match[str]], Any]]

#: (type, pattern over the folded text, value). Order matters: the first that matches is taken.
_LITERALS: tuple[_Literal, ...] = (
    (
        "quoted",
        re.compile(
            r"\"([^\"\n]*)\"|“([^”\n]*)”|«\s?([^»\n]*?)\s?»|「([^」\n]*)」|『([^』\n]*)』"
            r"|'([^'\n]+)'(?!\w)"
        ),
        lambda m: m.span(m.lastindex or 0),
    ),
    (
        "cidr",
        re.compile(r"(?<![a-z0-9_.])\d{1,3}(?:\.\d{1,3}){3}/\d{1,3}(?![a-z0-9_.]*\d)"),
        lambda m: m[0],
    ),
    (
        "address",
        re.compile(r"(?<![a-z0-9_.])\d{1,3}(?:\.\d{1,3}){3}(?![a-z0-9_/])"),
        lambda m: m[0],
    ),
    ("prefix", re.compile(r"/(\d{1,3})(?![a-z0-9_]|\.\d)"), lambda m: int(m[1])),
    (
        "zoneid",
        re.compile(r"(?:cn|ap|us|eu|me|na)-[a-z]+(?:-[a-z]|-\d-?[a-z])(?![a-z0-9-])"),
        lambda m: m[0],
    ),
    (
        "region",
        re.compile(r"(?:cn|ap|us|eu|me|na)-[a-z]{4,}(?:-\d)?(?![a-z0-9-])"),
        lambda m: m[0],
    ),
    ("itype", re.compile(r"ecs\.[a-z0-9]+(?:-[a-z0-9]+)*\.[a-z0-9]+"), lambda m: m[0]),
    (
        "size",
        re.compile(
            r"(\d{1,3})\s*(?:c|核|vcpu)\s*/?\s*(\d{1,4})\s*(?:gib|gb|go|g)(?![a-z0-9])(?:内存)?"
        ),
        lambda m: (int(m[1]), int(m[2])),
    ),
    (
        "range",
        re.compile(r"(?<![a-z0-9_.])(\d{1,7})\s*(?:-|–|—|~|至|到)\s*(\d{1,7})(?![a-z0-9_]|\.\d)"),
        lambda m: (int(m[1]), int(m[2])),
    ),
    ("decimal", re.compile(r"\d{1,4}\.\d{1,3}(?![a-z0-9_.]*\d)"), lambda m: m[0]),
    (
        "grouped",
        re.compile(r"\d{1,3}(?:,\d{3})+(?![\d,]*\d)"),
        lambda m: tuple(int(part) for part in m[0].split(",")),
    ),
    ("num", re.compile(r"(\d+)(?:\s*[x×*](?=\s*[^\W\d]))?"), lambda m: _number(m[1])),
    (
        "num",
        re.compile(f"([{_NUMERALS}]+)(?=\\s*[{_MEASURES}])"),
        lambda m: _chinese_number(m[1]),
    ),
    ("sentence", re.compile(r"[。；;！!？?\n]+|\.(?=\s|$)"), lambda m: None),
    ("list", re.compile(r"、"), lambda m: None),
    ("comma", re.compile(r"[,，]"), lambda m: None),
    ("and", re.compile(r"[&+]"), lambda m: None),
    ("slash", re.compile(r"/"), lambda m: None),
    ("stop", re.compile(r"[()（）\[\]{}:：*•·>|=\"“”«»【】《》「」『』'…-]+|\.+"), lambda m: None),
)
#: Words in s that are no plurals.
_SINGULAR = frozenset({"donnees", "oss", "rds", "ecs", "sous", "vps"})
_SPACE = re.compile(r"\s")
_NAME = re.compile(r"[a-z0-9\u4e00-\u9fff][^" + _BREAK + r":]*")
_HAN_NAME = re.compile(r"[\u4e00-\u9fff]+?(?=的|和|与|[\W]|$)")
_AFTER_NAMED = re.compile(r"[\s:：=]*")
_GLUE = ("stop", "with", "of", "in", "to", "named")
_PUNCTUATION = ":：=,，.。;；、()（）"
_SECRET = re.compile(r"[^\s，。；、\u4e00-\u9fff]*[^\s，。；、\u4e00-\u9fff,.;)]")
#: What is said instead of a secret.
HIDDEN = "***"
_WORD = re.compile(r"[^" + _BREAK + r"]+")


def read(text: str, words: Lexicon) -> list[Mark]:
    """Return the marks of a text, in order; spaces are skipped."""
    folded = fold(text)
    marks: list[Mark] = []
    place = 0
    while place < len(folded):
        # A line break ends a sentence; any other space only separates.
        if folded[place] != "\n" and _SPACE.match(folded[place]):
            place += 1
            continue
        mark = (
            _name_after(text, folded, place, marks, words)
            or _secret_after(text, folded, place, marks, words)
            or _literal(text, folded, place, marks)
            or _phrase(text, folded, place, words)
            or _numeral(text, folded, place, words)
            or _unknown(text, folded, place)
        )
        place = mark.end
        if mark.type == "unknown" and marks and _continues(marks[-1], mark):
            before = marks.pop()
            joined = text[before.start : mark.end]
            mark = replace(mark, text=joined, value=joined, start=before.start)
        marks.append(mark)
    return marks


def _continues(before: Mark, mark: Mark) -> bool:
    return before.type == "unknown" and before.end == mark.start


def _name_after(
    text: str, folded: str, place: int, marks: list[Mark], words: Lexicon
) -> Mark | None:
    """Return the name that follows "called": whatever word stands there, known or not."""
    if not marks or marks[-1].type != "named":
        return None
    skipped = _AFTER_NAMED.match(folded, place)
    start = skipped.end() if skipped else place
    if start >= len(folded) or _LITERALS[0][1].match(folded, start):
        return None
    again = words.match(folded, start)
    if again and again[0].type == "named":
        return None
    found = _HAN_NAME.match(folded, start) or _NAME.match(folded, start)
    if not found:
        return None
    end = found.end()
    while folded[end - 1] in "." and end - 1 > start:
        end -= 1
    return Mark("name", text[start:end], text[start:end], start, end)


def _secret_after(
    text: str, folded: str, place: int, marks: list[Mark], words: Lexicon
) -> Mark | None:
    """Return a mark that hides what follows "password" or "password is", unless it is a word."""
    said = [mark.type for mark in marks[-2:]]
    if "secret" not in said or (said[-1] != "secret" and said[-1] not in _GLUE):
        return None
    if words.match(folded, place) or folded[place] in _PUNCTUATION:
        return None
    found = _LITERALS[0][1].match(text, place) or _SECRET.match(text, place)
    return Mark("hidden", HIDDEN, HIDDEN, place, found.end()) if found else None


def _literal(text: str, folded: str, place: int, marks: list[Mark]) -> Mark | None:
    for type_, pattern, value in _LITERALS:
        found = pattern.match(folded, place)
        if not found or (
            type_ == "quoted" and folded[place] == "'" and _inside_word(folded, place)
        ):
            continue
        read_value = value(found)
        if type_ == "quoted":
            start, end = read_value
            read_value = text[start:end]
        own = text[place : found.end()]
        return Mark(type_, read_value, own, place, found.end())
    return None


def _inside_word(folded: str, place: int) -> bool:
    return place > 0 and folded[place - 1].isalnum()


def _phrase(text: str, folded: str, place: int, words: Lexicon) -> Mark | None:
    found = words.match(folded, place)
    if not found:
        return None
    phrase, match = found
    own = text[place : match.end()]
    value: Any = phrase.value
    if phrase.type in ("num", "times"):
        value = int(phrase.value)
    if phrase.type == "noun":
        value = (phrase.value, _is_plural(match[0], phrase.length))
    return Mark(phrase.type, value, own, place, match.end())


def _is_plural(matched: str, length: int) -> bool:
    """Tell a plural: a longer match than the phrase, or a phrase with a word in the plural."""
    compact = re.sub(r"\s+", " ", matched.rstrip("0123456789"))
    words = [word for word in re.split(r"[ \-]", compact) if word not in _SINGULAR]
    plural = any(word.endswith(("s", "x")) and not word.endswith("ss") for word in words)
    return len(compact) > length or (len(words) > 1 and plural)


def _numeral(text: str, folded: str, place: int, words: Lexicon) -> Mark | None:
    """Return Chinese numerals that stand right before a noun or a unit: 两交换机, 四核."""
    found = re.compile(f"[{_NUMERALS}]+").match(folded, place)
    if not found or found.end() >= len(folded):
        return None
    after = words.match(folded, found.end())
    if not after or after[0].type not in ("noun", "unit", "zone"):
        return None
    return Mark("num", _chinese_number(found[0]), found[0], place, found.end())


def _unknown(text: str, folded: str, place: int) -> Mark:
    found = _WORD.match(folded, place)
    end = found.end() if found else place + 1
    while end - 1 > place and folded[end - 1] in ".:'":
        end -= 1
    return Mark("unknown", text[place:end], text[place:end], place, end)
