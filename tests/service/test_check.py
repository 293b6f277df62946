"""A text held against documents: what is asked of which judge, and what is told of it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest

from citewell.config import Settings
from citewell.errors import InvalidInput, NotFound, TransientError
from citewell.models.reader_base import Judgement
from citewell.models.scripted import ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader
from citewell.runtime.access_scope import get_user_view
from citewell.runtime.app import App
from citewell.service.check.check_text import UNSURE, check_pairs, check_request, check_text
from citewell.service.check.check_types import CheckRequest, Pair, PairsResult
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data

PUMP = (
    "# Pump\n\nThe A-100 pump weighs 12 kg. It runs for eight hours on one charge.\n\nThe "
    "guarantee lasts two years.\n"
)
TEXT = (
    "# Draft\n\nThe A-100 pump weighs 12 kg. It runs for **nine** hours on one charge.[1]\n\n- "
    "It is red.\n"
)


@pytest.fixture(params=["scripted"])
async def app(settings: Settings, request: pytest.FixtureRequest) -> AsyncIterator[App]:
    async with App(settings.model_copy(update={"llm": request.param})) as opened:
        await add_data(opened, PUMP.encode(), "pump.md", "pump.md", "default")
        await embed_pending(opened)
        yield opened


def judge_by_script(app: App, *verdicts: tuple[str, str, str]) -> ScriptedLLM:
    """The chat model gives these verdicts, each with the id of a sentence and a reason."""
    assert isinstance(app.llm, ScriptedLLM)
    said = [
        {"n": n, "verdict": v, "evidence": [e] if e else [], "reason": why}
        for n, (v, e, why) in enumerate(verdicts, 1)
    ]
    app.llm.enqueue(json.dumps({"verdicts": said}))
    return app.llm


async def test_a_connected_model_judges_what_is_no_quotation(app: App) -> None:
    """One call for the sentences that are not verbatim; each has its place in the text, its reason,
    its quotes.
    """
    llm = judge_by_script(
        app, ("contradicted", "1.3", "eight hours, not nine"), ("not_stated", "", "no colour")
    )
    result = await check_text(app, TEXT)
    assert [(s.text, s.verdict) for s in result.sentences] == [
        ("The A-100 pump weighs 12 kg.", "entailed"),
        ("It runs for **nine** hours on one charge.[1]", "contradicted"),
        ("It is red.", "not_stated"),
    ]
    assert [TEXT[s.start : s.end] for s in result.sentences] == [s.text for s in result.sentences]
    assert [s.score for s in result.sentences] == [1.0, 0.02, 0.1]
    assert result.sentences[1].reason == "eight hours, not nine"
    quotes = {citation.n: citation.quote for citation in result.citations}
    assert [[quotes[n] for n in s.citations] for s in result.sentences] == [
        ["The A-100 pump weighs 12 kg."],
        ["It runs for eight hours on one charge."],
        [],
    ]
    assert (result.judge, result.measured, result.warnings) == ("scripted", True, [])
    [call] = llm.calls
    assert "1. It runs for nine hours on one charge.\n2. It is red." in call.messages[-1].content


@pytest.mark.parametrize("app", ["none"], indirect=True)
async def test_a_reader_that_is_not_measured_leaves_open_what_is_not_quoted(app: App) -> None:
    """Its figure is the score; the nearest sentences are shown whatever the verdict."""
    assert isinstance(app.reader, ScriptedReader)
    app.reader.judge_with(
        lambda claim, _: Judgement(0.2, 0.1, 0.7) if "nine" in claim else Judgement(0.9, 0.1, 0.0)
    )
    result = await check_text(app, TEXT)
    assert [(s.verdict, s.score) for s in result.sentences] == [
        ("entailed", 1.0),
        ("not_stated", 0.2),
        ("not_stated", 0.9),
    ]
    assert [s.reason for s in result.sentences] == ["", UNSURE, UNSURE]
    assert all(s.citations for s in result.sentences)
    assert (result.judge, result.measured) == ("scripted", False)
    assert "guesses too often" in result.warnings[0]


async def test_without_a_judge_only_quotations_count(settings: Settings) -> None:
    bare = settings.model_copy(update={"llm": "none", "reader": "none"})
    async with App(bare) as app:
        await add_data(app, PUMP.encode(), "pump.md", "pump.md", "default")
        result = await check_text(app, TEXT)
        assert [s.verdict for s in result.sentences] == ["entailed", "not_stated", "not_stated"]
        assert result.judge == ""
        assert "only quotations can be checked" in result.warnings[0]
        found = await check_pairs(app, [Pair(id="a", claim="It is red.", evidence=["It is red."])])
        assert (found.items[0].verdict, found.items[0].score) == ("entailed", 1.0)
        assert "only quotations can be checked" in found.warnings[0]


async def test_who_signs_in_has_the_same_judge_and_only_their_collections(app: App) -> None:
    judge_by_script(app, ("entailed", "1.1", ""))
    view = get_user_view(app, "ann", "reader")
    assert (await check_text(view, "The pump has a weight of 12 kg.")).judge == "scripted"
    assert view.reader is app.reader
    with pytest.raises(NotFound):
        await check_text(view, "It is red.", ["none"])


async def test_pairs_are_judged_each_by_its_own_evidence(app: App) -> None:
    """A quotation needs no call; the question is shown with the claim; the failure of one call is
    told as it is.
    """
    llm = judge_by_script(app, ("entailed", "1.1", ""))
    pairs = [
        Pair(
            id="1",
            claim="It weighs 12 kg.",
            evidence=["It weighs a dozen kilos."],
            question="How heavy is it?",
        ),
        Pair(id="2", claim="It is red.", evidence=["It is red. It is old."]),
        Pair(id="3", claim="It is red.", evidence=[]),
    ]
    found = await check_request(app, CheckRequest(pairs=pairs))
    assert isinstance(found, PairsResult)
    assert [(item.id, item.verdict, item.score) for item in found.items] == [
        ("1", "entailed", 0.97),
        ("2", "entailed", 1.0),
        ("3", "not_stated", 0.0),
    ]
    [call] = llm.calls
    assert "How heavy is it?" in call.messages[-1].content
    llm.enqueue(TransientError("it is busy"))
    with pytest.raises(TransientError, match="it is busy"):
        await check_pairs(app, pairs)


async def test_what_cannot_be_checked(app: App) -> None:
    for request in (
        CheckRequest(),
        CheckRequest(text=" \n"),
        CheckRequest(text="It is red.", pairs=[_pair()]),
    ):
        with pytest.raises(InvalidInput, match="either a text or pairs"):
            await check_request(app, request)
    with pytest.raises(InvalidInput, match="20000 are allowed"):
        await check_text(app, "x" * 20_001)
    with pytest.raises(InvalidInput, match="is empty"):
        await check_text(app, "# Only a heading\n\n```\ncode is no sentence.\n```\n")
    assert (await check_pairs(app, [])).items == []


def _pair() -> Pair:
    return Pair(id="1", claim="It is red.", evidence=[])
