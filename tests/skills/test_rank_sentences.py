"""Sentences of all passages ranked: what the reader finds, meaning and words count; headings do
not; what is much worse than the best is left out; nothing breaks where nothing can be embedded.
"""

from __future__ import annotations

import numpy as np
import pytest

from citewell.errors import ModelUnavailable
from citewell.models.reader_base import Reading
from citewell.models.scripted_reader import ScriptedReader
from citewell.retrieve.confidence import Logistic
from citewell.skills.answer.draft import DraftSentence
from citewell.skills.answer.rank_sentences import pick_best, rank_sentences
from citewell.skills.evidence.passages import Passage
from citewell.types import Hit

WEIGH = Logistic(bias=0.0, weights={"cosine": 4.0, "coverage": 1.0, "behind": 0.5, "span": 1.0})
FIRST = "Training\nThe model trains for 40 epochs. It rains in Graz."
SECOND = "The loss is the pinball loss. The model trains for 40 epochs."


class Embedder:
    """Two directions: what speaks of a loss, and all else."""

    name = "test"
    dimensions = 2

    def __init__(self, *, works: bool = True) -> None:
        self.works = works

    async def passages(self, texts: list[str]) -> np.ndarray:
        if not self.works:
            raise ModelUnavailable("no embedder")
        return np.asarray([[1.0, 0.0] if "loss" in text else [0.0, 1.0] for text in texts])

    async def query(self, text: str) -> np.ndarray:
        return np.asarray([1.0, 0.0] if "loss" in text else [0.0, 1.0])


def build_passage(n: int, text: str, score: float) -> Passage:
    spans, at = [], 0
    for sentence in text.replace("\n", ". ").split(". "):
        start = text.index(sentence.rstrip("."), at)
        at = start + len(sentence.rstrip("."))
        end = at + (text[at : at + 1] == ".")
        spans.append((start, end))
    hit = Hit(
        chunk_id=n,
        doc_id="d",
        collection="c",
        title="T",
        uri="u",
        heading_path=("Training",),
        page=1,
        start=0,
        end=len(text),
        text=text,
        lang="en",
        score=score,
    )
    return Passage(n, hit, tuple(spans), text)


PASSAGES = [build_passage(1, FIRST, 3.0), build_passage(2, SECOND, 1.0)]


def build_reader(marked: str) -> ScriptedReader:
    reader = ScriptedReader()
    reader.read_with(lambda _, text: Reading(0, 2, 0.5, 8.0 if text == marked else -2.0))
    return reader


async def rank(question: str, embedder: Embedder, marked: str = "", most: int = 2) -> list[str]:
    reader = build_reader(marked)
    best, scores = await rank_sentences(question, PASSAGES, reader, embedder, WEIGH, most)  # type: ignore[arg-type]
    assert [each.span for each in best] == [[0, 2] if each.text == marked else [] for each in best]
    assert scores == sorted(scores, reverse=True)
    return [each.text for each in best]


async def test_meaning_goes_before_the_order_of_the_search() -> None:
    assert (await rank("Which loss?", Embedder()))[0] == "The loss is the pinball loss."


async def test_what_the_reader_finds_gains_and_is_marked() -> None:
    assert (await rank("Weather?", Embedder(), "It rains in Graz."))[0] == "It rains in Graz."


def test_as_many_as_are_about_as_good_as_the_best() -> None:
    scored = [(DraftSentence(text=str(n)), score) for n, score in enumerate((0.1, 0.5, 0.09, 0.4))]
    best, scores = pick_best(scored, 3)
    assert ([each.text for each in best], scores) == (["1", "3", "0"], [0.5, 0.4, 0.1])
    assert len(pick_best([(scored[1][0], 0.6), scored[0]], 3)[0]) == 1


async def test_each_sentence_once_and_no_heading() -> None:
    every = await rank("How many epochs?", Embedder(), most=9)
    assert len(every) == len(set(every)) == 2  # the third is much worse
    assert "Training" not in every


@pytest.mark.parametrize("works", [True, False])
async def test_without_vectors_the_other_signals_rank(works: bool) -> None:
    best = await rank("How many epochs does the model train?", Embedder(works=works), most=1)
    assert best == ["The model trains for 40 epochs."]
