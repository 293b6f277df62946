"""The network of the reader on onnxruntime: two texts in, the figures of its heads out.

`weights/reader-int8.onnx` is multilingual-e5-small's encoder trained further, with five heads
(`training/reader`). The word rows are the embedder's (`e5_file`), which no file holds twice. The
one rule: one pair at a time, on the thread that asks, so a figure never hangs on what was read
beside it.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from citewell.models.builtin.e5_file import E5File, Floats, Tokenizer, load_e5
from citewell.models.builtin.onnx_session import open_session

WEIGHTS = Path(__file__).with_name("weights") / "reader-int8.onnx"
FIRST_TOKENS = 96  # of a question or a claim; what is beyond is left out
HEADING_TOKENS = 32  # of the headings that a passage stands under; what is beyond is left out
WINDOW = 256  # tokens of both texts that are read at once: what it was trained with
OVERLAP = 64  # tokens that two windows share, longer than any answer
MARKS = 4  # begin and three ends
CHARS_A_TOKEN = 16  # looked at, at most
QUESTION, CLAIM = 0, 1  # what the first text is

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Of a text: ids, and the characters that each stands for."""

    ids: list[int]
    spans: list[Span]

    def part(self, start: int, end: int) -> Tokens:
        return Tokens(self.ids[start:end], self.spans[start:end])

    def __len__(self) -> int:
        return len(self.ids)


NONE = Tokens([], [])


@dataclass(frozen=True, slots=True)
class Heads:
    """What the network says of one pair: log-odds all. `starts` and `ends` have one for "no
    answer", then one for each token of the second text; `tokens` has one for each token of the
    first: not backed by the second.
    """

    starts: Floats
    ends: Floats
    answerable: float
    support: Floats  # entailed, not stated, contradicted
    tokens: Floats


class Network:
    """Safe for several threads. `constants`: calibration, from the file of the same name."""

    def __init__(self, file: E5File, tokenizer: Tokenizer, weights: Path = WEIGHTS) -> None:
        self._file, self._tokenizer = file, tokenizer
        self._session = open_session(weights.read_bytes())
        self.constants: dict[str, Any] = json.loads(
            weights.with_suffix(".json").read_text(encoding="utf-8")
        )

    def tokens(self, text: str) -> Tokens:
        """Of a clean text."""
        return Tokens(*self._tokenizer.encode_with_spans(text))

    def first(self, text: str) -> Tokens:
        """Of a question or a claim, cut to what is read of it."""
        return self.tokens(text[: FIRST_TOKENS * CHARS_A_TOKEN]).part(0, FIRST_TOKENS)

    def heading(self, text: str) -> Tokens:
        """Of a line of headings, cut to what is read of it."""
        return self.tokens(text[: HEADING_TOKENS * CHARS_A_TOKEN]).part(0, HEADING_TOKENS)

    def split_windows(self, first: Tokens, second: Tokens, heading: Tokens = NONE) -> list[Tokens]:
        """The second text in overlapping parts that fit beside the first and the heading."""
        room = WINDOW - MARKS - len(first) - len(heading)
        step = room - OVERLAP
        starts = range(0, max(1, len(second) - OVERLAP), step)
        return [second.part(start, start + room) for start in starts]

    def heads(self, first: Tokens, second: Tokens, kind: int, heading: Tokens = NONE) -> Heads:
        """The heading is read as the beginning of the second text, but no figure is of it."""
        mark = self._tokenizer
        ids = [mark.begin, *first.ids, mark.end, mark.end, *heading.ids, *second.ids, mark.end]
        at = len(first) + 3 + len(heading)
        is_second = np.zeros((1, len(ids)), np.float32)
        is_second[0, len(first) + 3 : at + len(second)] = 1
        task = np.zeros((1, 2), np.float32)
        task[0, kind] = 1
        fed = {"rows": self._file.rows(np.array([ids])), "is_second": is_second, "task": task}
        starts, ends, answerable, support, tokens = self._session.run(None, fed)
        places = [0, *range(at, at + len(second))]
        return Heads(
            starts[0, places],
            ends[0, places],
            float(answerable[0]),
            support[0],
            tokens[0, 1 : 1 + len(first)],
        )


_loading = threading.Lock()


def get_network() -> Network:
    """Loaded once a process. Raises ImportError, OSError, RuntimeError, ValueError."""
    with _loading:
        return _load_network()


@cache
def _load_network() -> Network:
    return Network(*load_e5())
