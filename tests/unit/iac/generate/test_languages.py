"""Is every language complete, and of one mind about each phrase?"""

from __future__ import annotations

import re

import pytest

from a2a_fn.iac.generate.grammar import Reader
from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.languages import languages
from a2a_fn.iac.generate.lexicon import _phrases, detect, fold, lexicon


def fields(sentence: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", sentence))


def test_english_is_the_fallback_and_comes_first() -> None:
    assert list(languages()) == ["en", "fr", "zh"]


@pytest.mark.parametrize("code", ["fr", "zh"])
def test_every_sentence_is_there_with_the_same_values(code: str) -> None:
    english, other = languages()["en"].says, languages()[code].says
    assert set(other) == set(english)
    # {kind} and {kinds} are two forms of one value.
    same = {key: {each.rstrip("s") for each in fields(text)} for key, text in english.items()}
    for key, text in other.items():
        assert {each.rstrip("s") for each in fields(text)} <= same[key], key


@pytest.mark.parametrize("code", ["en", "fr", "zh"])
def test_no_phrase_has_two_meanings(code: str) -> None:
    meanings: dict[str, set[tuple[str, str]]] = {}
    for text, type_, value in _phrases(code):
        meanings.setdefault(text, set()).add((type_, value))
    assert {text: found for text, found in meanings.items() if len(found) > 1} == {}


@pytest.mark.parametrize("code", ["en", "fr", "zh"])
def test_every_phrase_is_found_as_what_it_means(code: str) -> None:
    for text, type_, value in _phrases(code):
        found = lexicon(code).match(fold(text), 0)
        assert found is not None, text
        assert (found[0].type, found[0].value) == (type_, value), text


@pytest.mark.parametrize("code", ["en", "fr", "zh"])
def test_the_grammar_reads_every_type_of_phrase(code: str) -> None:
    # These are joined into others before the grammar, or only ever said back.
    elsewhere = {"times", "unit", "datadisk", "unsupported"}
    types = {type_ for _, type_, _ in _phrases(code)}
    assert [each for each in types - elsewhere if not hasattr(Reader, f"_on_{each}")] == []


@pytest.mark.parametrize("kind", [kind for kind in kinds().values() if kind.words])
def test_every_kind_that_can_be_asked_for_has_words_and_names_in_every_language(
    kind: object,
) -> None:
    for code in languages():
        assert kind.words[code] and kind.called[code][0]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a VPC with two subnets", "en"),
        ("VPC", "en"),
        ("", "en"),
        ("un VPC avec deux sous-réseaux", "fr"),
        ("deux vSwitchs", "fr"),
        ("créer une base de données MySQL", "fr"),
        ("VPC 和 two vSwitches", "zh"),
    ],
)
def test_the_language_is_recognised(text: str, code: str) -> None:
    assert detect(text) == code


@pytest.mark.parametrize("text", ["Straße ﬁ Ǆ ½ İ ẞ œuvre Ａ１，。", "é" * 9, "a\u0301b"])
def test_folding_keeps_every_place(text: str) -> None:
    assert len(fold(text)) == len(text)
