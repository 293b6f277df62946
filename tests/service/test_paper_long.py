"""A PDF of 300 pages, from its bytes to an answer, without waiting for its meanings."""

from __future__ import annotations

import io
from pathlib import Path

import pypdfium2
import pytest

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.papers.reading_sessions import begin_paper_session, read_paper_session

SAMPLE = (
    Path(__file__).parents[2]
    / "samples"
    / "papers"
    / "reserve-forecasting-for-cargo-bike-fleets.pdf"
)
PAGES = 300


def long_paper() -> bytes:
    """The English sample again and again."""
    sample, made = pypdfium2.PdfDocument(SAMPLE), pypdfium2.PdfDocument.new()
    while len(made) < PAGES:
        made.import_pages(sample, list(range(min(len(sample), PAGES - len(made)))))
    kept = io.BytesIO()
    made.save(kept)
    made.close()
    sample.close()
    return kept.getvalue()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        home=tmp_path, cache=tmp_path, llm="none", embedder="scripted", reader="scripted"
    )


async def test_three_hundred_pages(settings: Settings) -> None:
    async with App(settings) as app:
        session = await begin_paper_session(app, data=long_paper(), name="long.pdf")
        assert session.paper.pages == PAGES
        said = {"agent": "paper", "session_id": session.session_id}
        report = await ask(app, AskRequest(question="", **said))
        assert report.citations
        assert report.data is not None
        assert report.data["current_state"] == "GUIDE_PENDING_PLAN"
        route = await ask(app, AskRequest(question="", options={"event": "plan"}, **said))
        assert route.data is not None
        assert 1 <= len(route.data["plan"]["steps"]) <= 8
        answer = await ask(
            app, AskRequest(question="What is the MAE of CargoCast over all test trips?", **said)
        )
        assert "3.5" in answer.answer
        assert answer.citations[0].page in range(1, PAGES + 1)
        kept = await read_paper_session(app, session.session_id)
        assert [exchange.answer for exchange in kept.answers] == [answer.answer]
