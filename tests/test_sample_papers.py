"""The two sample papers are complete, and their questions can be answered from the pages named.

The one rule: texts are read with pdfium itself, as in `test_samples.py`, so that a fault of our
parser cannot hide one of the samples.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from typing import Any

import pypdfium2
import pytest
from tests.conftest import REPOSITORY

SAMPLES = REPOSITORY / "samples"
NAMES = sorted(path.name for path in (SAMPLES / "papers").glob("*.pdf"))
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line)
    for line in (SAMPLES / "paper_questions.jsonl").read_text(encoding="utf-8").splitlines()
]

# unanswerable question -> what the paper says about its subject, and a pattern that would be an
# answer
NEAR_MISSES = {
    "pen-u1": ("three-wheeled", r"threewheeled[^.]{0,60}\d"),
    "pen-u2": ("no graphics card", r"RTX|GTX|A100|NVIDIA"),
    "pen-u3": ("Rotterdam", r"Hamburg"),
    "pen-u4": ("GRU without physics", r"[Tt]ransformer"),
    "pen-u5": ("field trial", r"€|euro"),
    "pzh-u1": ("语音输入", r"语音[^。]{0,30}\d"),
    "pzh-u2": ("大模型重排", r"GPT|Qwen|通义|千问|LLaMA"),
    "pzh-u3": ("成都二号", r"上海"),
    "pzh-u4": ("显卡", r"\d+元|万元"),
    "pzh-u5": ("稀疏", r"去掉稀疏"),
}


@cache
def pages(name: str) -> tuple[str, ...]:
    """The text of each page, without white space and hyphens: those at line ends have a sign of
    their own.
    """
    with pypdfium2.PdfDocument(SAMPLES / "papers" / name) as pdf:
        return tuple(flat(page.get_textpage().get_text_bounded()) for page in pdf)


def flat(text: str) -> str:
    return re.sub(r"[\s\x02\xad\ufffe-]+", "", text)


@pytest.mark.parametrize("name", NAMES)
def test_a_paper_is_small_and_has_what_a_paper_has(name: str) -> None:
    path = SAMPLES / "papers" / name
    everything = "".join(pages(name))
    chinese = not name.isascii()
    assert path.stat().st_size < 400_000
    assert len(pages(name)) == (5 if chinese else 6)
    label = ("表{}", "图{}", "（{}）") if chinese else ("Table{}:", "Figure{}:", "({})")
    for form, count in zip(label, (4, 2, 2), strict=True):
        assert all(form.format(n) in everything for n in range(1, count + 1))
    assert all(f"[{n}]" in everything for n in range(1, 14))
    with pypdfium2.PdfDocument(path) as pdf:
        assert bool(list(pdf.get_toc())) != chinese


@pytest.mark.parametrize("name", NAMES)
def test_the_file_holds_every_paragraph_of_its_source(name: str) -> None:
    source = (SAMPLES / "source" / "papers" / f"{name.removesuffix('.pdf')}.md").read_text(
        encoding="utf-8"
    )
    body = re.sub(r"<svg.*?</svg>|<!--.*?-->", "", source.split("---\n", 2)[2], flags=re.DOTALL)
    lines = [line for line in body.splitlines() if not re.fullmatch(r"[|-]*", line)]
    parts = [
        flat(part) for line in lines for part in re.sub(r"^#+ |[*\\]|<[^>]+>", "", line).split("|")
    ]
    everything = "".join(pages(name))
    # a page's running line may stand inside a paragraph: ends of paragraphs are enough
    assert [part for part in parts if part[-12:] not in everything] == []


def test_forty_questions_half_of_them_chinese() -> None:
    kinds = Counter(re.sub(r"\d+$", "", q["id"]) for q in QUESTIONS)
    assert kinds == {"pen-": 15, "pen-u": 5, "pzh-": 15, "pzh-u": 5}
    for q in QUESTIONS:
        assert set(q) == {"id", "question", "lang", "answers", "answerable", "gold_pages", "doc"}
        assert q["doc"] in NAMES
        assert q["lang"] == q["id"][1:3]
        assert (
            q["answerable"] == bool(q["answers"]) == bool(q["gold_pages"]) == ("-u" not in q["id"])
        )


@pytest.mark.parametrize("q", [q for q in QUESTIONS if q["answerable"]], ids=lambda q: q["id"])
def test_the_pages_named_hold_the_answers(q: dict[str, Any]) -> None:
    texts = [pages(q["doc"])[number - 1] for number in q["gold_pages"]]
    assert [answer for answer in q["answers"] if flat(answer) not in "".join(texts)] == []
    assert all(any(flat(answer) in text for answer in q["answers"]) for text in texts)


@pytest.mark.parametrize("q", [q for q in QUESTIONS if not q["answerable"]], ids=lambda q: q["id"])
def test_unanswerable_questions_are_near_misses(q: dict[str, Any]) -> None:
    mentioned, answer = NEAR_MISSES[q["id"]]
    everything = "".join(pages(q["doc"]))
    assert flat(mentioned) in everything
    assert not re.search(answer, everything)


def test_figures_of_text_and_tables_agree() -> None:
    """What the texts compute from the tables is what the tables give."""
    weights = {"Rotterdam": 6500, "Toronto": 4337, "Graz": 2969}
    assert sum(weights.values()) == 13_806
    assert round(100 * (4.7 - 3.5) / 4.7) == 26
    assert round(100 * (7.3 - 4.6) / 7.3) == 37
    assert 28_940 + 19_310 + 13_230 == 61_480
    assert 14_260 + 9_880 + 14_280 == 38_420
    assert round((820 * 84.1 + 930 * 61.5 + 650 * 52.6) / 2400, 1) == 66.8
    assert round((820 * 81.3 + 930 * 50.2 + 650 * 42.4) / 2400, 1) == 58.7
