"""Summaries written by a chat model behind everything else."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator

import pytest
from tests.service.made import script

from citewell.config import IngestSettings, Settings
from citewell.errors import PermanentError, TransientError
from citewell.models.script_reply import detect_reply_kind
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.library import write_summaries as module
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data
from citewell.service.library.write_summaries import (
    write_summaries,
    write_summaries_forever,
    write_summary,
)

SECTION = (
    "The lighthouse lamp was replaced in 1931. Its light is visible for 18 miles. Two keepers "
    "look after the lamp. "
    + "Visitors may climb the tower on Sundays. The path to the tower is steep. "
    * 12
)
TEXT = (
    f"# Lighthouse\n\n{SECTION}\n\n# "
    f"Harbour\n\n{SECTION.replace('lighthouse', 'harbour').replace('1931', '1958')}\n"
)
GOOD = "The lamp was replaced in 1931 and is visible for 18 miles."
HARBOUR = "The harbour lamp was replaced in 1958."
TWO = f"{GOOD} Two keepers look after it."
ENTAILED = {"n": 1, "verdict": "entailed", "evidence": ["1.1", "1.2"]}
CONTRADICTED = {"n": 2, "verdict": "contradicted", "evidence": ["1.3"], "reason": "three keepers"}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(
        update={"ingest": IngestSettings(summaries="always", chunk_tokens=100, overlap_tokens=10)}
    )


@pytest.fixture
async def app(settings: Settings) -> AsyncIterator[App]:
    async with App(settings) as opened:
        await add_data(opened, TEXT.encode(), "a.md", "a.md", "docs")
        await embed_pending(opened)
        yield opened


async def shown(app: App) -> list[str]:
    [info] = await app.catalog.documents("docs")
    return [
        chunk.text for chunk in await app.catalog.chunks(info.doc_id) if chunk.kind == "summary"
    ]


async def test_a_faithful_summary_takes_the_extractive_ones_place(app: App) -> None:
    """It is stored, waits to be embedded, and is not asked for again."""
    script(app).enqueue(GOOD, HARBOUR)
    assert await write_summaries(app) == 2
    assert sorted(await shown(app)) == sorted([GOOD, HARBOUR])
    assert await app.pending_chunks.count_unembedded() == 2
    assert await write_summaries(app) == 0
    assert [detect_reply_kind(call.schema) for call in script(app).calls] == ["", "verdicts"] * 2
    assert "1931" in script(app).calls[0].messages[-1].content


async def test_an_invention_is_thrown_away(app: App) -> None:
    """A figure or a name that the section does not hold: the extractive summary stays, vector and
    all, and is tried no more.
    """
    before = await shown(app)
    script(app).enqueue("The lamp was replaced in 1932.", "Captain Barnaby Quill built the tower.")
    assert await write_summaries(app) == 0
    assert sorted(await shown(app)) == sorted(before)
    assert await app.pending_chunks.count_unembedded() == 0
    assert await write_summaries(app) == 0
    assert len(script(app).calls) == 4


async def test_a_failing_model_costs_nothing(app: App) -> None:
    """What was written before it failed is kept; the rest is written the next time."""
    script(app).enqueue(GOOD, json.dumps({"verdicts": [ENTAILED]}), TransientError("busy"))
    with pytest.raises(TransientError):
        await write_summaries(app)
    assert GOOD in await shown(app)
    script(app).enqueue(HARBOUR)
    assert await write_summaries(app) == 1


async def test_one_refused_section_does_not_stop_the_others(app: App) -> None:
    """A section that the model refuses keeps its summary; a model that refuses all of them is an
    error.
    """
    script(app).enqueue(PermanentError("filtered"), HARBOUR)
    assert await write_summaries(app) == 1
    assert await write_summaries(app) == 0
    await add_data(app, TEXT.replace("miles", "knots").encode(), "b.md", "b.md", "docs")
    script(app).enqueue(*[PermanentError("no such model")] * 2)
    with pytest.raises(PermanentError):
        await write_summaries(app)


async def test_only_where_it_is_wanted(app: App) -> None:
    """By default a connected model writes, and the built-in one does not; `extractive` asks
    nobody.
    """
    for choice in ("connected", "extractive"):
        app.settings = app.settings.model_copy(
            update={"ingest": app.settings.ingest.model_copy(update={"summaries": choice})}
        )
        assert await write_summaries(app) == 0
    assert script(app).calls == []


async def test_the_keeper_tells_once(
    app: App, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A model that is down is named once, asked again later, and its summaries come when it is
    back.
    """
    monkeypatch.setattr(module, "RETRY", 0.01)
    monkeypatch.setattr(module, "IDLE", 0.01)
    script(app).enqueue(*[TransientError("busy")] * 3, GOOD, HARBOUR)
    with caplog.at_level(logging.WARNING):
        task = asyncio.create_task(write_summaries_forever(app))
        async with asyncio.timeout(120):
            while sorted(await shown(app)) != sorted([GOOD, HARBOUR]):  # noqa: ASYNC110  # rows of the table
                await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert caplog.text.count("summaries wait: busy") == 1


@pytest.mark.parametrize(
    ("verdicts", "kept"),
    [([ENTAILED, ENTAILED | {"n": 2}], TWO), ([ENTAILED, CONTRADICTED], ""), ([ENTAILED], "")],
)
async def test_the_judge_has_to_find_every_sentence_entailed(
    verdicts: list[dict[str, object]], kept: str
) -> None:
    """One that it refutes, or passes over, is one too many."""
    llm = ScriptedLLM(TWO, json.dumps({"verdicts": verdicts}))
    assert await write_summary(llm, ("Lighthouse",), SECTION) == kept


async def test_a_small_model_writes_none() -> None:
    """It cannot judge what it wrote."""
    llm = ScriptedLLM(GOOD)
    llm.evidence_tokens = 500
    assert (await write_summary(llm, ("Lighthouse",), SECTION), llm.calls) == ("", [])
