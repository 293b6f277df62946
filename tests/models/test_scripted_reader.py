"""The reader that follows a script."""

from __future__ import annotations

import pytest

from citewell.config import Settings
from citewell.models.providers import build_reader
from citewell.models.reader_base import Judgement, Reading
from citewell.models.scripted_reader import ScriptedReader

TEXT = "Rent is due in April. Cats need a permit."


async def test_without_a_script_shared_words_decide() -> None:
    """The nearest sentence answers, as far as it holds the question's words; a claim is entailed as
    far as its words are.
    """
    reader = ScriptedReader()
    good, poor = await reader.read("Cats need permit", [TEXT, "雨天。"])
    assert TEXT[good.start : good.end].strip() == "Cats need a permit."
    assert (good.answerable, good.span_score) == (1.0, 1.0)
    assert poor.answerable == 0.0
    entailed, other = await reader.judge([("Rent is due", TEXT), ("Dogs bark", TEXT)])
    assert (entailed.verdict, other.verdict) == ("entailed", "not_stated")
    assert reader.questions == [("Cats need permit", (TEXT, "雨天。"))]
    assert reader.pairs == [("Rent is due", TEXT), ("Dogs bark", TEXT)]


async def test_a_script_decides() -> None:
    reader = ScriptedReader()
    reading, judgement = Reading(0, 4, 0.9, 4.0), Judgement(0.1, 0.2, 0.7)
    reader.read_with(lambda *_: reading)
    reader.judge_with(lambda *_: judgement)
    assert await reader.read("q", ["a", ""]) == [reading, reading]
    assert await reader.judge([("c", "e")]) == [judgement]
    assert await reader.compare_questions([("Who?", "WHO"), ("Who?", "Why?")]) == [1.0, 0.0]
    reader.compare_with(lambda one, other: 0.7)
    assert await reader.compare_questions([("Who?", "Why?")]) == [0.7]
    await reader.close()
    assert reader.closed


@pytest.mark.parametrize("passage", ["", "\n", "..."])
async def test_a_passage_without_words(passage: str) -> None:
    (found,) = await ScriptedReader().read("Who?", [passage])
    assert 0 <= found.start <= found.end <= len(passage)
    assert found.answerable == 0.0


def test_the_reader_of_the_settings(settings: Settings) -> None:
    """Whether it may judge is said apart."""
    scripted = build_reader(settings)
    assert isinstance(scripted, ScriptedReader)
    assert not scripted.judges
    assert build_reader(settings.model_copy(update={"reader": "none"})) is None
