"""A book is read in little more time than a paper, others are served meanwhile, and what it says of
an interest is found.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
from tests.skills.guide_books import find_in

from citewell.config import IngestSettings
from citewell.errors import NotFound
from citewell.ingest import parse_here
from citewell.ingest.paper.read_paper import read_paper
from citewell.models.scripted import ScriptedEmbedder
from citewell.skills.guide.quotable import MOST_READ, find_quotable_lines
from citewell.skills.guide.report import make_report
from citewell.skills.paper.reading_context import OpenPaper, Selection
from citewell.skills.paper.selection import locate_selection
from citewell.skills.reading_route.plan_route import make_route

STARTS = (
    "We propose ",
    "We show that ",
    "Our method improves ",
    "The results of ",
    "However, ",
    "It reaches 3.5% on ",
)
# times the CPU time for twice the sentences: 2 is linear, 4 quadratic; the rest is for a busy
# machine
TWICE = 3.2
LEAST = 0.3  # seconds below which a ratio says nothing


def book(sentences: int, *, planted: str = "", seed: int = 1) -> OpenPaper:
    """A paper of one endless introduction of made words, eight sentences a paragraph; `planted` in
    its middle.
    """
    chance = random.Random(seed)
    words = ["w" + "".join(chance.choices("abcdefghijklmnop", k=5)) for _ in range(3_000)]
    made = [
        f"{chance.choice(STARTS)}{' '.join(chance.choices(words, k=12))}." for _ in range(sentences)
    ]
    made[sentences // 2] = planted or made[sentences // 2]
    body = "\n\n".join(" ".join(made[n : n + 8]) for n in range(0, sentences, 8))
    return opened(f"# Long\n\n## 1 Introduction\n\n{body}\n")


def opened(markdown: str) -> OpenPaper:
    document = parse_here(markdown.encode(), "long.md", IngestSettings())
    return OpenPaper("doc", "papers", "file:///long.md", document, read_paper(document))


async def report(of: OpenPaper) -> None:
    await make_report(of, llm=None, judge=None, embedder=ScriptedEmbedder(), lang="en")


async def route(of: OpenPaper) -> None:
    await make_route(
        of,
        "how wabcde improves methods",
        find=find_in(of),
        embedder=ScriptedEmbedder(),
        llm=None,
        lang="en",
        now=0.0,
    )


async def selection(of: OpenPaper) -> None:
    with pytest.raises(NotFound):
        locate_selection(Selection(text="words that are nowhere, one after the other " * 80), of)


async def spent(work: Callable[[OpenPaper], Awaitable[None]], sentences: int) -> float:
    """CPU seconds of the whole process, the least of two: what others do on the machine is not
    counted.
    """
    tries = []
    for seed in (sentences, sentences + 1):  # another text each time: a folded text is kept
        of = book(sentences, seed=seed)
        start = time.process_time()
        await work(of)
        tries.append(time.process_time() - start)
    return min(tries)


@pytest.mark.parametrize("work", [report, route, selection])
async def test_twice_the_text_takes_about_twice_the_time(
    work: Callable[[OpenPaper], Awaitable[None]],
) -> None:
    for _ in range(3):  # what is quadratic is so each time
        one, two = await spent(work, 4_000), await spent(work, 8_000)
        if two < TWICE * max(one, LEAST):
            return
    assert two < TWICE * max(one, LEAST)


async def test_others_are_served_while_a_report_is_made() -> None:
    of = book(4_000)
    ticks: list[float] = [time.perf_counter()]

    async def others() -> None:
        while True:
            await asyncio.sleep(0.005)
            ticks.append(time.perf_counter())

    beside = asyncio.create_task(others())
    start = time.perf_counter()
    await report(of)
    took = time.perf_counter() - start
    beside.cancel()
    assert max(later - earlier for earlier, later in pairwise(ticks)) < max(0.3, took / 2)
    assert len(ticks) > 10


def test_of_a_book_a_share_is_weighed_from_all_of_it() -> None:
    of = book(6_000)
    found = find_quotable_lines(of)
    assert MOST_READ / 3 < len(found) <= MOST_READ
    assert found[0].place < 0.01
    assert found[-1].place > 0.99
    gaps = [later.place - earlier.place for earlier, later in pairwise(found)]
    assert max(gaps) < 0.02
    assert all(of.document.text[line.start : line.end] == line.quote for line in found)


async def test_what_a_book_says_of_an_interest_is_found() -> None:
    said = "Kingfishers dive from low branches into the shallow water."
    of = book(6_000, planted=said)
    plan = await make_route(
        of,
        "kingfishers",
        find=find_in(of),
        embedder=ScriptedEmbedder(),
        llm=None,
        lang="en",
        now=0.0,
    )
    assert said in [step.quote for step in plan.steps]


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "This is a word and more of them. " * 25_000,
        "我们提出了一个方法，提高了3.5%。" * 20_000,
    ],
    ids=["one word", "the same sentence", "chinese"],
)
async def test_hostile_texts_are_read_in_seconds(text: str) -> None:
    of = opened(f"# T\n\n## Introduction\n\n{text}\n")
    start = time.process_time()
    await report(of)
    await route(of)
    for words in ("a" * 1_000, "an ordinary word and more " * 120, "我们提出了另外一个" * 100):
        try:
            first, last = locate_selection(Selection(text=words), of)
        except NotFound:
            continue
        assert of.document.text[first:last]
    assert time.process_time() - start < 20  # it was more than 40


def test_a_passage_with_a_changed_word_is_found_far_behind_in_a_text_that_repeats_itself() -> None:
    usual = (
        "in the results of the model we find that the error of the model is lower than that of "
        "the other models. " * 600
    )
    passage = (
        "The kestrel hovers over the results of the model while the error of the model rises in "
        "the winter months of the year."
    )
    of = opened(f"# T\n\n## 1 Introduction\n\n{usual}\n\n{passage}\n\n{usual}\n")
    start, end = locate_selection(Selection(text=passage.replace("while", "although")), of)
    assert of.document.text[start:end].strip(". ") in passage
    assert "kestrel" in of.document.text[start:end]
    assert "winter" in of.document.text[start:end]
