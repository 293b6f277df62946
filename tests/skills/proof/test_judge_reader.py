"""The reader as judge, and which judge is at hand."""

from __future__ import annotations

import pytest
from tests.skills.evidence_units import units_of

from citewell.models.reader_base import Judgement as Figures
from citewell.models.scripted import ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader
from citewell.skills.proof.judge import Claim
from citewell.skills.proof.judge_llm import LLMJudge
from citewell.skills.proof.judge_reader import ReaderJudge, find_nearest_units
from citewell.skills.proof.judges import build_judge

UNITS = units_of(
    "Rent is due by 30 April.",
    "A late fee of 10 pounds is owed after that.",
    "Dogs are allowed.",
    "Cats are not.",
)


@pytest.mark.parametrize(
    ("figures", "verdict", "reason"),
    [
        (Figures(0.9, 0.05, 0.05), "entailed", ""),
        (Figures(0.2, 0.1, 0.7, ((12, 21),)), "contradicted", "not backed: 12 pounds"),
        (Figures(0.2, 0.7, 0.1), "not_stated", ""),
    ],
)
async def test_figures_become_a_verdict(figures: Figures, verdict: str, reason: str) -> None:
    """The claim is held against the sentences it names, under their title; words that nothing backs
    are the reason.
    """
    reader = ScriptedReader(judges=True)
    reader.judge_with(lambda *_: figures)
    (found,) = await ReaderJudge(reader).judge(
        "What fee?", [Claim("The fee is: 12 pounds", evidence=(UNITS[1],))], UNITS
    )
    assert (found.verdict, found.score, found.reason) == (verdict, figures.entailed, reason)
    assert found.evidence == (UNITS[1],)
    assert reader.pairs == [("The fee is: 12 pounds", f"Rules › Fees\n{UNITS[1].text}")]


async def test_what_names_no_sentence_is_held_against_the_nearest() -> None:
    reader = ScriptedReader(judges=True)
    (found,) = await ReaderJudge(reader).judge("", [Claim("A late fee is owed.")], UNITS)
    assert (found.verdict, UNITS[1] in found.evidence) == ("entailed", True)
    assert find_nearest_units("a late fee; dogs allowed", UNITS, most=2) == (UNITS[1], UNITS[2])


async def test_that_something_is_missing_is_beyond_it() -> None:
    """It reads what is there."""
    (found,) = await ReaderJudge(ScriptedReader()).judge(
        "", [Claim("Parking is not told.", "not_told")], UNITS
    )
    assert found.verdict == "not_stated"


def test_which_judge_is_at_hand() -> None:
    """The one that is named, a connected model, a reader that has passed its gates; a small chat
    model is none.
    """
    small, strong, named = (
        ScriptedLLM(name="small"),
        ScriptedLLM(name="strong"),
        ScriptedLLM(name="named"),
    )
    small.evidence_tokens = 500
    judges, reads = ScriptedReader(judges=True), ScriptedReader()
    one = build_judge(strong, judges, named)
    assert isinstance(one, LLMJudge)
    assert one.name == "named"
    assert getattr(build_judge(strong, judges), "name", "") == "strong"
    assert isinstance(build_judge(small, judges), ReaderJudge)
    assert build_judge(small, reads) is None
    assert build_judge(None, None) is None
