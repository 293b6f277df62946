"""Sentences put together: rows and captions stand apart."""

from __future__ import annotations

import pytest

from citewell.ingest.sentences import sentences
from citewell.skills.answer import together


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (["One is here.", "Two is there."], "One is here. Two is there."),
        (["第一句。", "第二句。"], "第一句。第二句。"),
        (["Model: RESCAST | Error: 4.1", "It is the lowest."], "Model: RESCAST | Error: 4.1\nIt is the lowest."),
        (["模型: 甲 | 误差: 4.1", "它最低。"], "模型: 甲 | 误差: 4.1\n它最低。"),
        (["He said so (twice.)", "Then he left."], "He said so (twice.) Then he left."),
        ([], ""),
    ],
)
def test_together(parts: list[str], text: str) -> None:
    assert together(parts) == text


def test_what_stands_apart_is_read_apart() -> None:
    """A row glued to the sentence behind it was one claim that nothing could prove."""
    parts = ["方法: HLR | Recall@1: 66.8 | 响应(ms): 31", "大模型重排的Recall@1为64.0%。"]
    text = together(parts)
    assert [text[a:b] for a, b in sentences(text)] == parts
