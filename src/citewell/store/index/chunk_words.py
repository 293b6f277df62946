"""The words of one chunk, as the index is given them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Words(NamedTuple):
    """`tokens`: all of them in order, one space between two; `marks`: of collection, document,
    language and kind (`text/tokens.py`).
    """

    chunk: int
    tokens: str
    marks: Sequence[str]
