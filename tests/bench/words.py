"""Text that looks like an answer and does not repeat itself, so that compression gains no more
from it than from prose."""

from __future__ import annotations

from functools import cache
from random import Random

_CONSONANTS = ("b", "c", "d", "f", "g", "h", "k", "l", "m", "n", "p", "qu", "r", "s", "t", "v")
_RHYMES = ("a", "an", "el", "er", "i", "in", "o", "on", "or", "us")
_SYLLABLES = [consonant + rhyme for consonant in _CONSONANTS for rhyme in _RHYMES]


@cache
def pieces(count: int, size: int, seed: int = 7) -> tuple[str, ...]:
    """So many pieces of exactly ``size`` characters (one byte each), the same for a seed."""
    draw = Random(seed)
    words = [
        "".join(draw.choice(_SYLLABLES) for _ in range(draw.choice((1, 1, 2, 2, 3, 4))))
        for _ in range(6000)
    ]
    weights = [1 / (rank + 3) for rank in range(len(words))]  # few words often, many seldom
    total = count * size
    drawn = draw.choices(words, weights, k=total // 3)
    text = " ".join(f"{word}." if draw.random() < 0.08 else word for word in drawn)
    assert len(text) >= total
    return tuple(text[i : i + size] for i in range(0, total, size))
