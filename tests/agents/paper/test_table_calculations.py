"""Arithmetic over cells: computed where both rows and the column are named and it is asked for,
proved by the rows; nothing else is.
"""

from __future__ import annotations

import pytest
from tests.agents.paper.conftest import Desk, made

from citewell.agents.paper.paper import COMPUTED
from citewell.models.scripted import ScriptedEmbedder
from citewell.models.scripted_reader import ScriptedReader
from citewell.skills.paper.table_calculations import calculate_from_tables
from citewell.skills.paper.table_rows import Row, find_number, read_rows, remove_totals

DIFFERENCE = "How much lower is the error of RESCAST than that of Linear?"


async def compute(question: str) -> str:
    found = await calculate_from_tables(question, made(), (), ScriptedEmbedder())
    return found.text if found else ""


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (DIFFERENCE, "Error, Linear - RESCAST: 7.9 - 4.1 = 3.8"),
        ("What is the sum of the error of RESCAST and Linear?", "7.9 + 4.1 = 12.0"),
        ("What is the error of RESCAST?", ""),  # one row
        ("What are the error of RESCAST and of Linear?", ""),  # nothing to compute
        ("Why is the error of RESCAST lower than that of Linear?", ""),
        ("How much lower is the weight of RESCAST than that of Linear?", ""),  # no such column
        ("How much lower is the error of RESCAST than that of Cubic?", ""),  # no such row
        ("Which model has the highest error?", "Linear has the highest Error: 7.9."),
        ("Which model has the lowest error?", "RESCAST has the lowest Error: 4.1."),
        ("Which model has the highest weight?", ""),
    ],
)
async def test_what_is_computed(question: str, text: str) -> None:
    assert (await compute(question)).endswith(text) if text else not await compute(question)


def test_a_last_row_that_sums_up_is_no_row_to_count_or_compare() -> None:
    rows = [Row("City", name, {"Bikes": n}, 0, 1) for name, n in (("A", "3"), ("B", "4"))]
    assert remove_totals([*rows, Row("City", "All", {"Bikes": "7"}, 0, 1)]) == rows
    assert remove_totals(rows) == rows


def test_a_number_of_the_question_is_no_part_of_the_column() -> None:
    assert find_number("On how many does GPT-4 exceed 80?", "GPT-4") == "80"
    assert find_number("How many exceed 80 or 90?", "GPT-4") == ""


def test_rows_of_figures_have_cells_by_column() -> None:
    book = made()
    rows = read_rows(book.paper.floats[0], book.document.text)
    assert [(row.label, row.cells) for row in rows] == [
        ("Linear", {"Error": "7.9"}),
        ("RESCAST", {"Error": "4.1"}),
    ]
    assert book.document.text[rows[0].start : rows[0].end] == "Model: Linear | Error: 7.9"


async def test_it_stands_before_the_quotes_with_its_rows(desk: Desk) -> None:
    desk.llm, desk.reader = None, ScriptedReader()
    state = await desk.ask(DIFFERENCE)
    first = state.proof.sentences[0]
    assert (first.kind, first.verdict) == ("calculation", "supported")
    assert first.calculation == "7.9 - 4.1 = 3.8"
    cited = [c.quote for c in state.proof.citations if c.n in first.citations]
    assert cited == ["Model: Linear | Error: 7.9", "Model: RESCAST | Error: 4.1"]
    assert len(state.proof.sentences) == 2  # and the best of what is quoted
    assert state.confidence >= COMPUTED
    assert state.final_answer.startswith("Error, Linear - RESCAST: 7.9 - 4.1 = 3.8[1][2]")


async def test_a_connected_model_computes_itself(desk: Desk) -> None:
    state = await desk.ask(DIFFERENCE)
    assert all(sentence.kind != "calculation" for sentence in state.proof.sentences)
