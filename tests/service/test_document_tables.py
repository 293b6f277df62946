"""Spreadsheets among the documents are asked as tables: made when a question is near to them, read
again with their document, gone with it, seen by who sees it. The scripted embedder stands for the
fitted one.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.errors import Conflict, NotFound
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.access_scope import get_user_view
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.begin_run import begin_run
from citewell.service.ask.propose_place import add_proposal
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.documents import delete_document
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data
from citewell.service.tables import rate_tables as rating
from citewell.service.tables.rate_tables import rate_tables
from citewell.service.tables.sources import add_source, refresh_source
from citewell.types import Answer, Citation, Elsewhere

CSV = "city,product,amount\nLyon,Drover,5\nBern,Lark,7\nLyon,Lark,4\n"
QUESTION = "What is the total amount of each product by city?"
SQL = json.dumps({"sql": "SELECT city, sum(amount) FROM orders GROUP BY city ORDER BY city"})


@pytest.fixture
async def place(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(rating, "FITTED", "scripted")
    await _add(app, tmp_path, CSV)
    return app


async def _add(app: App, folder: Path, text: str, name: str = "orders.csv") -> str:
    (folder / name).write_text(text, "utf-8")
    report = await add_paths(app, [str(folder / name)], "default")
    await embed_pending(app)
    return report.files[0].doc_id


async def test_a_total_is_asked_of_the_whole_table(place: App) -> None:
    assert isinstance(place.llm, ScriptedLLM)
    place.llm.enqueue(SQL)
    answer = await ask(place, AskRequest(question=QUESTION, agent="auto"))
    assert (answer.agent, answer.route, answer.status) == ("data", "orders", "answered")
    assert answer.data is not None
    assert answer.data["rows"] == [["Bern", 7], ["Lyon", 9]]


async def test_the_table_is_as_its_document_is(place: App, tmp_path: Path) -> None:
    assert isinstance(place.llm, ScriptedLLM)
    await rate_tables(place, QUESTION)
    await _add(place, tmp_path, CSV + "Bern,Drover,3\n")
    place.llm.enqueue(SQL)
    answer = await ask(place, AskRequest(question=QUESTION, agent="data"))
    assert answer.data is not None
    assert answer.data["rows"] == [["Bern", 10], ["Lyon", 9]]
    with pytest.raises(Conflict, match="among the documents"):
        await refresh_source(place, "orders")


async def test_it_goes_with_its_document(place: App, tmp_path: Path) -> None:
    await rate_tables(place, QUESTION)
    doc_id = await _add(place, tmp_path, CSV)  # unchanged
    await delete_document(place, doc_id)
    with pytest.raises(NotFound):
        await ask(place, AskRequest(question=QUESTION, agent="data", options={"source": "orders"}))
    assert await place.sources.list() == []


async def test_two_files_of_one_name(place: App, tmp_path: Path) -> None:
    """Another source keeps its name, and the same bytes make no second one."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "orders.csv").write_text("price,colour\n3,red\n", "utf-8")
    await add_source(place, str(tmp_path / "own" / "orders.csv"))
    await _add(place, tmp_path, CSV, "copy.csv")
    found = await rate_tables(place, QUESTION)
    names = [source.name for source in await place.sources.list()]
    assert len(names) == 2
    assert "orders" in names
    assert found is not None
    assert found.source in set(names) - {"orders"}


async def test_a_file_that_is_no_table_is_left_alone(place: App, tmp_path: Path) -> None:
    await _add(place, tmp_path, "total amount of each product by city\n", "title.csv")
    await rate_tables(place, QUESTION)
    assert "orders" in [source.name for source in await place.sources.list()]


async def test_a_large_file_is_not_read_while_a_question_waits(
    place: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("citewell.service.tables.document_tables.MOST_BYTES", 10)
    assert await rate_tables(place, QUESTION) is None
    assert await place.sources.list() == []


async def test_names_as_long_as_a_file_system_has_them(place: App, tmp_path: Path) -> None:
    """Two that begin alike, sent from elsewhere."""
    for n in range(2):
        rows = f"city,product,amount\nLyon,Drover,{n}\n".encode()
        name = "r" * 240 + f"{n}.csv"
        await add_data(place, rows, name, f"upload:{name}", "default")
    await embed_pending(place)
    await rate_tables(place, QUESTION)
    names = [source.name for source in await place.sources.list()]
    assert len([name for name in names if name.startswith("rrr")]) == 2


async def test_another_user_does_not_see_it(place: App, tmp_path: Path) -> None:
    await place.collections.create("own", "ana")
    (tmp_path / "wages.csv").write_text("name,wage\nIda,5\n", "utf-8")
    await add_paths(place, [str(tmp_path / "wages.csv")], "own")
    await embed_pending(place)
    ana, ben = get_user_view(place, "ana", "editor"), get_user_view(place, "ben", "editor")
    await rate_tables(ana, "What is the wage by name?", "own")
    assert "wages" in [source.name for source in await ana.sources.list()]
    assert "wages" not in [source.name for source in await ben.sources.list()]


async def test_an_answer_from_a_row_proposes_the_whole_table(place: App, tmp_path: Path) -> None:
    doc_id = await _add(place, tmp_path, CSV)
    row = Citation(n=1, doc_id=doc_id, title="orders", uri="", quote="city: Lyon", start=0, end=10)
    run = await begin_run(place, AskRequest(question=QUESTION, agent="qa"))
    answer = Answer(answer="Lyon [1]", status="answered", confidence=0.9, agent="qa")
    assert (await add_proposal(run, answer)).elsewhere is None
    quoted = await add_proposal(run, answer.model_copy(update={"citations": [row]}))
    assert quoted.elsewhere == Elsewhere(agent="data", source="orders")
