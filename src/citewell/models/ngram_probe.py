"""What a sentence is, told from its words and characters by fitted weights: a logistic regression
over n-grams, in tens of microseconds a sentence and without a network. The weights are fitted in
`training/requests/` with the same `list_grams`: whoever changes it fits them anew.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

# a word of letters, a number, one character of Chinese, or signs that stand together
_TOKEN = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[^\W\d_a-z]|[^\w\s]+|_+")
WORDS, CHARACTERS = 3, 4  # tokens of the longest n-gram that begins with a word, or in Chinese
STEM = 5  # a longer word counts by its first letters too
WINDOW, STEP = (
    80,
    40,
)  # tokens that are judged together, so that a long text cannot hide a short one
DAMPING = 40  # n-grams; keeps sentences of two or three words from extreme odds


@dataclass(frozen=True, slots=True)
class NgramProbe:
    """`weights`: by the CRC-32 of an n-gram, in units of `unit`."""

    weights: dict[int, int]
    unit: float
    bias: float


def split_windows(text: str) -> Iterator[list[str]]:
    """Its tokens in lower case, numbers as `0`, with marks at the start and the end of the text."""
    plain = text.encode("utf-8", "replace").decode().lower()  # no half of a surrogate pair
    tokens = ["0" if token[0].isdecimal() else token for token in _TOKEN.findall(plain)]
    tokens = ["^", *tokens, "$"]
    for start in range(0, max(1, len(tokens) - STEP), STEP):
        yield tokens[start : start + WINDOW]


def list_grams(tokens: list[str]) -> set[str]:
    """The n-grams of one window: tokens by spaces, and the beginnings of long words."""
    grams = set(tokens) - {"^", "$"}
    for start, token in enumerate(tokens):
        gram = token
        longest = WORDS if token.isascii() else CHARACTERS
        for other in tokens[start + 1 : start + longest]:
            gram += " " + other
            grams.add(gram)
        if len(token) > STEM and token.isalpha():
            grams.add(token[:STEM] + "*")
    return grams


@cache
def read_ngram_probe(path: Path) -> NgramProbe:
    """Of a file that `write_ngram_probe` wrote."""
    with np.load(path, allow_pickle=False) as kept:
        keys, weights = kept["keys"].tolist(), kept["weights"].tolist()
        unit, bias = kept["scale"].tolist()
    return NgramProbe(dict(zip(keys, weights, strict=True)), unit, bias)


def write_ngram_probe(path: Path, weights: dict[str, float], bias: float) -> None:
    """Keeps them as bytes; what rounds to nothing is left out."""
    unit = max(abs(each) for each in weights.values()) / 127
    rounded = {hash_gram(gram): round(each / unit) for gram, each in weights.items()}
    kept = sorted((key, each) for key, each in rounded.items() if each)
    np.savez_compressed(
        path,
        keys=np.array([key for key, _ in kept], np.uint32),
        weights=np.array([each for _, each in kept], np.int8),
        scale=np.array([unit, bias], np.float64),
    )


def hash_gram(gram: str) -> int:
    """Its key in the file of weights."""
    return zlib.crc32(gram.encode())


def compute_ngram_odds(path: Path, sentence: str) -> float:
    """Log-odds of the window of it that has the highest."""
    probe = read_ngram_probe(path)
    return max(_compute_window_odds(probe, tokens) for tokens in split_windows(sentence))


def _compute_window_odds(probe: NgramProbe, tokens: list[str]) -> float:
    grams = list_grams(tokens)
    known = probe.weights
    total = sum([known.get(zlib.crc32(gram.encode()), 0) for gram in grams])
    return float(total * probe.unit / (DAMPING + len(grams)) ** 0.5 + probe.bias)
