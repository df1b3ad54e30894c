"""All phrases of all languages and kinds, ready to be matched at a place in a text.

The request's own language wins where two languages share a phrase; the other languages' words are
still known, since people mix them (technical words above all). Only their little words are not:
those would hide words that were not understood.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.languages import languages

#: Meanings that only the request's own language has: articles, particles and other little words.
_OWN = frozenset(
    {"stop", "a", "the", "some", "to", "from", "in", "of", "with", "and", "or", "each"}
)
_HAN = re.compile(r"[\u4e00-\u9fff]")


#: What may not follow a phrase of a type. An engine may carry its version (MySQL8.0), a number
#: word another (twenty-four), a noun its number (vswitch1); nothing else may run on into letters,
#: digits or a hyphen.
_ENDINGS = {
    "engine": r"(?![a-z_])",
    "service": r"(?![a-z_])",
    "noun": r"(?:\d{1,2})?(?![a-z0-9_])(?![-.][a-z0-9])",
    "num": r"(?![a-z0-9_])",
    "times": r"(?![a-z0-9_])",
}


@dataclass(frozen=True)
class Phrase:
    """A phrase with its meaning. `start` is what any match begins with."""

    text: str
    type: str
    value: str
    start: str

    @property
    def length(self) -> int:
        """The length of the phrase in its singular form."""
        return len(self.text)


def fold(text: str) -> str:
    """Return the text in lower case, without accents and full-width forms, of the same length."""
    return "".join(_fold(character) for character in text)


@cache
def _fold(character: str) -> str:
    if character in "’‘`´":
        return "'"
    if character == "œ":
        return "o"
    base = unicodedata.normalize("NFKD", character)[:1] or character
    lowered = base.lower()
    return lowered if len(lowered) == 1 else base


class Lexicon:
    """The phrases for requests in one language."""

    def __init__(self, language: str) -> None:
        self._by_start: dict[str, list[Phrase]] = {}
        known: set[str] = set()
        for code in dict.fromkeys((language, *languages())):
            for text, type_, value in _phrases(code):
                if text in known or (code != language and type_ in _foreign(language, code)):
                    continue
                known.add(text)
                phrase = Phrase(text, type_, value, text.split()[0])
                self._by_start.setdefault(text[0], []).append(phrase)
        for phrases in self._by_start.values():
            phrases.sort(key=lambda phrase: -phrase.length)

    def match(self, folded: str, place: int) -> tuple[Phrase, re.Match[str]] | None:
        """Return the longest phrase at this place of a folded text."""
        for phrase in self._by_start.get(folded[place], ()):
            if not folded.startswith(phrase.start, place):
                continue
            found = _pattern(phrase.text, phrase.type).match(folded, place)
            if found:
                return phrase, found
        return None


@cache
def lexicon(language: str) -> Lexicon:
    """Return the lexicon for a language."""
    return Lexicon(language)


def detect(text: str) -> str:
    """Return the language of a text: by script, else by whose words it holds most; else English."""
    for code, language in languages().items():
        if language.script and language.script.search(text):
            return code
    words = re.findall(r"[^\W\d_]+", fold(text))
    scores = {
        code: sum(word in _own_words(code) for word in words)
        for code, language in languages().items()
        if language.script is None
    }
    return max(scores, key=lambda code: scores[code])


@cache
def _own_words(code: str) -> frozenset[str]:
    """Return the single words that only this language of its script has."""
    others = {
        word
        for other, language in languages().items()
        if other != code and language.script is None
        for word in _words(other)
    }
    return frozenset(_words(code) - others)


@cache
def _words(code: str) -> frozenset[str]:
    return frozenset(
        word for text, _, _ in _phrases(code) for word in re.findall(r"[^\W\d_]+", text)
    )


def _phrases(code: str) -> Iterator[tuple[str, str, str]]:
    """Yield (phrase, type, value), longest meaning first where a language says a phrase twice."""
    for kind in kinds().values():
        for text in _split(kind.words, code):
            yield text, "noun", kind.name
    for meaning, texts in languages()[code].terms.items():
        type_, _, value = meaning.partition(":")
        for text in texts.split("|"):
            yield fold(text), type_, value


def _split(words: Mapping[str, str], code: str) -> list[str]:
    return [fold(text) for text in words.get(code, "").split("|") if text]


def _foreign(language: str, code: str) -> frozenset[str]:
    """Return the types of another language's phrases that this language does not borrow."""
    # Chinese requests are full of English; its little words are read as such.
    return frozenset() if languages()[language].script and code == "en" else _OWN


@cache
def _pattern(text: str, type_: str) -> re.Pattern[str]:
    """Return the pattern of a phrase; compiled when a text first comes near it."""
    if _HAN.search(text):
        return re.compile(r"\s*".join(re.escape(part) for part in text.split()))
    body = r"[\s\-]+".join(re.escape(part) for part in text.split())
    if not text[-1:].isalnum():
        return re.compile(body)
    plural = "(?:es|s|x)?" if text[-1:].isalpha() and len(text) > 1 else ""
    return re.compile(body + plural + _ENDINGS.get(type_, r"(?![a-z0-9_])(?![-.][a-z0-9])"))
