"""Taking a message apart costs as much as the message is long, whatever it holds."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from a2a.types.a2a_pb2 import Message, Part

from a2a_fn.agents import iac
from a2a_fn.agents.reading import read

HOSTILE = {
    "newlines": lambda n: [Part(text="\n" * n + "x")],
    "one long fence": lambda n: [Part(text="```" + "a" * n + "\n" + "b" * n)],
    "fences without end": lambda n: [Part(text="```a\n" * (n // 5))],
    "empty blocks": lambda n: [Part(text="```\n```\n" * (n // 8))],
    "blanks": lambda n: [Part(text=" \n" * (n // 2) + "resource")],
    "spaces": lambda n: [Part(text=" " * n + "\nresource" + " " * n)],
    "words before braces": lambda n: [Part(text="data " * (n // 5))],
    "fences behind words": lambda n: [Part(text="x ```a\n" * (n // 7))],
    "backticks": lambda n: [Part(text="`" * n)],
    "resources without a name": lambda n: [
        Part(text="```x\n" + "resource  \n" * (n // 11) + "```")
    ],
    "a resource, then nothing": lambda n: [Part(raw=b"resource" + b"\n" * n)],
    "unnamed text": lambda n: [Part(raw=b"\n" * n, media_type="text/plain")],
    "files of one name": lambda n: [Part(text="", filename="a")] * (n // 20),
    "files of the same names": lambda n: (
        [Part(text="", filename=f"a-{i}.tf") for i in range(n // 60)]
        + [Part(text="", filename="a.tf")] * (n // 60)
    ),
}


def cost(work: Callable[[], object]) -> float:
    best = 9.0
    for _ in range(3):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def reading(parts: list[Part]) -> float:
    message = Message(parts=parts)
    return cost(lambda: read(message))


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_eight_times_the_message_costs_about_eight_times_as_much(name: str) -> None:
    make = HOSTILE[name]
    small, large = reading(make(20_000)), reading(make(160_000))
    assert large < 30 * max(small, 0.0005), (small, large)  # a square would be 64 times


@pytest.mark.parametrize(
    "word", ["verif", "convert ", "migrat", "what'", "create", "génè", "é", " ", "\n", "审"]
)
def test_telling_what_is_asked_costs_as_much_as_the_text_is_long(word: str) -> None:
    def asking(size: int) -> float:
        text = word * (size // len(word)) + "!"

        def ask() -> None:
            iac._REVIEW.search(text)
            iac._CONVERT.search(text)
            iac._asks_for_more(text)

        return cost(ask)

    small, large = asking(20_000), asking(160_000)
    assert large < 30 * max(small, 0.0005), (small, large)
