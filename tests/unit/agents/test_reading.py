"""How a message is taken apart, whatever anybody writes: what is words, and what is a file."""

from __future__ import annotations

import re

import pytest
from a2a.types.a2a_pb2 import Message, Part
from hypothesis import given, settings
from hypothesis import strategies as st

from a2a_fn.agents.reading import read


def taken(text: str) -> tuple[str, dict[str, str]]:
    request = read(Message(parts=[Part(text=text)]))
    return request.words, dict(request.files)


@pytest.mark.parametrize(
    ("text", "words", "files"),
    [
        ("a\n```\nb\n```\nc", "a\n\nc", {"template.yml": "b\n"}),
        ("```tf\nb\n```", "", {"main.tf": "b\n"}),
        ("``` HCL title=x\nb\n``` \t\n", "\n", {"main.tf": "b\n"}),
        ("```\n```", "", {"template.yml": ""}),
        ("```yaml\n```json\n```", "", {"template.yml": "```json\n"}),
        ("```\n\n\n```\n```json\n1\n```", "\n", {"template.yml": "\n\n", "template.json": "1\n"}),
        ("```\r\nb\r\n```\r\nc", "\nc", {"template.yml": "b\r\n"}),
        ("```tf\nb", "```tf\nb", {}),
        ("```", "```", {}),
        ("a ``` b", "a ``` b", {}),
        ("Review: ```yaml\nb\n```\nc", "Review: c", {"template.yml": "b\n"}),
        ("a ```b``` c\n```\nd\n```", "a ```b``` c", {"template.yml": "d\n"}),
        ("", "", {}),
    ],
)
def test_code_is_what_stands_between_two_lines_of_backticks(
    text: str, words: str, files: dict[str, str]
) -> None:
    got = taken(text)
    assert (got[0].split(), got[1]) == (words.split(), files)


_AS_ONE = re.compile(r"^```[ \t]*([\w+-]*)[^\n]*\n(.*?)^```[ \t]*$", re.S | re.M)


@given(lines=st.lists(st.sampled_from(["```", "```tf", "``` ", "x", "", "  "]), max_size=12))
@settings(max_examples=300, deadline=None)
def test_fences_are_those_of_the_pattern_that_says_so_but_slowly(lines: list[str]) -> None:
    text = "\n".join(lines)
    words, files = taken(text)
    assert words.split() == _AS_ONE.sub("", text).split()
    assert list(files.values()) == [code for _, code in _AS_ONE.findall(text)]


def test_files_of_one_name_are_numbered_around_those_that_have_the_name() -> None:
    names = ["x.tf", "x-2.tf", "x.tf", "x.tf", "x-2.tf", "y", "y"]
    files = read(Message(parts=[Part(text=str(i), filename=n) for i, n in enumerate(names)])).files
    assert files == {
        "x.tf": "0",
        "x-2.tf": "1",
        "x-3.tf": "2",
        "x-4.tf": "3",
        "x-2-2.tf": "4",
        "y": "5",
        "y-2": "6",
    }
