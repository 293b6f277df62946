"""Comparisons of two rows of a table."""

from __future__ import annotations

import pytest

from citewell.skills.audit_compare import miscompared
from citewell.skills.audit_words import lines
from citewell.skills.cite import sources
from citewell.skills.evidence import Passage
from citewell.types import Hit

COST = (
    "Method: CargoCast (ours) | Training: 38 min | Forecast: 2.2 ms\n"
    "Method: Gradient boosting | Training: 4 min | Forecast: 1.9 ms"
)
ERROR = "Lower is better.\nMethod: CargoCast | Graz: 4.0\nMethod: Gradient boosting | Graz: 5.9"
ZH = "方法: HLR（本文） | 响应(ms): 31 | Recall@1: 66.8\n方法: 大模型重排 | 响应(ms): 910 | Recall@1: 64.0"


def passage(text: str) -> Passage:
    hit = Hit(1, "d", "c", "Paper", "u", ("4 Results",), 3, 0, len(text), text, "en")
    spans, at = [], 0
    for line in text.split("\n"):
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return Passage(1, hit, tuple(spans), text)


@pytest.mark.parametrize(
    ("claim", "text", "wrong"),
    [
        ("CargoCast is faster at forecasting than gradient boosting.", COST, True),
        ("Gradient boosting is faster at forecasting than CargoCast.", COST, False),
        ("Compared with gradient boosting, CargoCast is slower at forecasting.", COST, False),
        ("Compared with gradient boosting, CargoCast has a shorter training.", COST, True),
        ("Gradient boosting has a lower error in Graz than CargoCast.", ERROR, True),
        ("CargoCast is better than gradient boosting in Graz.", ERROR, False),
        ("Gradient boosting is better than CargoCast in Graz.", ERROR, True),
        ("CargoCast is not faster at forecasting than gradient boosting.", COST, False),  # a denial is left to other rules
        ("CargoCast is better than gradient boosting at forecasting.", COST, False),  # better has no direction there
        ("CargoCast takes 38 minutes to train.", COST, False),
        ("HLR的响应比大模型重排快。", ZH, False),
        ("HLR的响应比大模型重排慢。", ZH, True),
        ("HLR的Recall@1高于大模型重排。", ZH, False),
        ("HLR的Recall@1低于大模型重排。", ZH, True),
    ],
)
def test_both_rows_are_read(claim: str, text: str, wrong: bool) -> None:
    found = miscompared(claim, lines(sources([passage(text)])))
    assert bool(found) == wrong
    assert all(finding.fatal for finding in found)
