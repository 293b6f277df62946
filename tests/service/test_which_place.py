"""Tables or documents: which one `auto` asks, and which one a refusal proposes. The scripted
embedder stands for the fitted one: shared words make texts near.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.skills.made_schema import SHOP

from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.begin_run import begin_run
from citewell.service.ask.propose_place import add_proposal
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.service.tables import rate_tables as rating
from citewell.service.tables.rate_tables import compute_odds, rate_tables
from citewell.service.tables.sources import add_source
from citewell.sql.source_meaning import list_texts
from citewell.types import Answer, Elsewhere

CSV = "city,product,amount\nLyon,Drover,5\nBern,Lark,7\n"
NOTE = "# Warranty\n\nThe frame warranty of the Drover lasts ten years from the date of sale.\n"


@pytest.fixture
async def place(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(rating, "FITTED", "scripted")
    (tmp_path / "orders.csv").write_text(CSV, "utf-8")
    (tmp_path / "warranty.md").write_text(NOTE, "utf-8")
    await add_source(app, str(tmp_path / "orders.csv"))
    await add_paths(app, [str(tmp_path / "warranty.md")], "default")
    await embed_pending(app)
    return app


def test_texts_of_tables() -> None:
    texts = list_texts(SHOP)
    assert texts[0] == "customer: customer id, name, city, birth year"
    assert "product title what it is sold as Drover 2, Lark" in texts


def test_what_speaks_for_tables() -> None:
    at_least = compute_odds(0.0, 0.5, figure=False)
    assert compute_odds(0.1, 0.5, figure=False) > at_least
    assert compute_odds(0.0, 0.9, figure=False) > at_least
    assert compute_odds(0.0, 0.5, figure=True) > at_least
    assert compute_odds(-0.1, 0.2, figure=False) < 0


async def test_the_nearer_place(place: App) -> None:
    tables = await rate_tables(place, "What is the total amount of each product by city?")
    documents = await rate_tables(place, "How long does the frame warranty of the Drover last?")
    assert tables is not None
    assert documents is not None
    assert tables.odds > rating.MEANT > documents.odds
    assert tables.source == "orders"


async def test_auto_asks_the_nearer_place(place: App) -> None:
    assert isinstance(place.llm, ScriptedLLM)
    place.llm.enqueue(json.dumps({"sql": "SELECT city, sum(amount) FROM orders GROUP BY city"}))
    question = "What is the total amount of each product by city?"
    answer = await ask(place, AskRequest(question=question, agent="auto"))
    assert (answer.agent, answer.route) == ("data", "orders")
    assert "the tables orders" in answer.agent_reason


async def test_another_embedder_is_not_weighed(app: App, tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text(CSV, "utf-8")
    await add_source(app, str(tmp_path / "orders.csv"))
    assert await rate_tables(app, "What is the total amount?") is None


async def test_a_refusal_of_documents_proposes_tables(place: App) -> None:
    async def propose(question: str, **changes: Any) -> Elsewhere | None:
        run = await begin_run(place, AskRequest(question=question, agent="qa"))
        refusal = Answer(answer="No.", status="refused", confidence=0.5, agent="qa")
        return (await add_proposal(run, refusal.model_copy(update=changes))).elsewhere

    question = "What is the total amount of each product by city?"
    assert await propose(question) == Elsewhere(agent="data", source="orders")
    assert await propose(question, status="answered") is None
    assert await propose(question, agent="paper") is None
    assert await propose("Who painted the ceiling?") is None


async def test_a_refusal_of_tables_proposes_documents(
    place: App, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Of whichever collection they are."""
    assert isinstance(place.llm, ScriptedLLM)
    monkeypatch.setattr("citewell.service.ask.propose_place.LIKELY", 0.0)
    (tmp_path / "leave.md").write_text("# Leave\n\nA year has thirty days of leave.\n", "utf-8")
    await add_paths(place, [str(tmp_path / "leave.md")], "handbooks")
    await embed_pending(place)
    reply = {"sql": "", "status": "not_in_tables", "reason": "no leave"}
    place.llm.enqueue(json.dumps(reply))
    question = "How many days of leave does a year have?"
    answer = await ask(place, AskRequest(question=question, agent="data"))
    assert (answer.status, answer.stop_reason) == ("refused", "not_in_data")
    assert answer.elsewhere is not None
    assert (answer.elsewhere.agent, answer.elsewhere.source) == ("qa", "")
    assert answer.elsewhere.collection == "handbooks"


async def test_a_session_of_tables_goes_on_to_documents(place: App) -> None:
    """Where a question stands alone and the tables have nothing of it; one that goes on stays."""
    assert isinstance(place.llm, ScriptedLLM)
    sql = json.dumps({"sql": "SELECT city, sum(amount) FROM orders GROUP BY city"})
    place.llm.enqueue(sql)
    first = await ask(
        place,
        AskRequest(question="What is the total amount of each product by city?", agent="auto"),
    )
    assert first.agent == "data"
    session = {"agent": "auto", "session_id": first.session_id}
    question = "How long does the frame warranty of the Drover last from the date of sale?"
    second = await ask(place, AskRequest(question=question, **session))
    assert (second.agent, second.status) == ("qa", "answered")


async def test_a_session_of_tables_stays_with_what_goes_on(place: App) -> None:
    assert isinstance(place.llm, ScriptedLLM)
    sql = json.dumps({"sql": "SELECT city, sum(amount) FROM orders GROUP BY city"})
    for _ in range(2):
        place.llm.enqueue(sql)
    question = "What is the total amount of each product by city?"
    first = await ask(place, AskRequest(question=question, agent="auto"))
    again = AskRequest(question="And in Bern?", agent="auto", session_id=first.session_id)
    assert (await ask(place, again)).agent == "data"
