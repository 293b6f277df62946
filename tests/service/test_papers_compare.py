"""A comparison of papers: each cell is one paper's own proved answer, sessions stay as they are,
nothing of the table is read as Markdown, formula or command.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from citewell.agents.paper.paper_state import PaperInfo
from citewell.errors import InvalidInput, NotFound
from citewell.runtime.app import App
from citewell.service.papers.compare_papers import ComparedPaper, Comparison, compare_papers
from citewell.service.papers.export_comparison import render_bibtex, render_csv, render_markdown
from citewell.service.papers.reading_sessions import begin_paper_session, read_paper_session
from citewell.types import Answer, Citation, Sentence

MORE = " ".join(f"Harbour {n} has a gauge of its own and keeps its readings." for n in range(20))
TIDES = f"""# Tides

## Abstract

We forecast tides for harbours.

## 1 Method

TideNet is trained with 512 sensors of the coast. It reads the wind.

{MORE}
"""
BREAD = f"""# Bread

## Abstract

We bake bread by a plan.

## 1 Method

The oven is trained with 31 sensors of heat. It reads the dough.

{MORE}
"""
QUESTION = "How many sensors is it trained with?"


async def test_each_cell_is_of_its_paper_alone(app: App) -> None:
    ids = [
        (await begin_paper_session(app, data=text.encode(), name=f"{name}.md")).session_id
        for name, text in (("tides", TIDES), ("bread", BREAD))
    ]
    made = await compare_papers(app, [*ids, ids[0]], [QUESTION])
    assert [row.title for row in made.papers] == ["Tides", "Bread"]
    for row, own, other in zip(made.papers, ("512", "31"), ("31", "512"), strict=True):
        (cell,) = row.cells
        cited = " ".join(citation.quote for citation in cell.citations)
        assert own in cited
        assert other not in cited
        assert cell.trace_id
    for each in ids:
        session = await read_paper_session(app, each)
        assert (session.current_state, session.answers) == ("GUIDE_PENDING_REPORT", [])
        assert await app.sessions.history(each) == []


async def test_a_removed_paper_costs_its_row_only(app: App) -> None:
    kept = await begin_paper_session(app, data=TIDES.encode(), name="tides.md")
    gone = await begin_paper_session(app, data=BREAD.encode(), name="bread.md")
    await app.catalog.delete(gone.paper.doc_id)
    made = await compare_papers(app, [gone.session_id, kept.session_id], [QUESTION])
    assert made.papers[0].cells[0].status == "error"
    assert made.papers[1].cells[0].citations
    assert "was removed" in render_csv(made)


async def test_what_is_refused(app: App) -> None:
    session = await begin_paper_session(app, data=TIDES.encode(), name="tides.md")
    with pytest.raises(InvalidInput):
        await compare_papers(app, [], [QUESTION])
    with pytest.raises(InvalidInput):
        await compare_papers(app, [session.session_id], [QUESTION] * 11)
    with pytest.raises(InvalidInput):
        await compare_papers(app, [session.session_id], [" "])
    with pytest.raises(NotFound):
        await compare_papers(app, [session.session_id], [QUESTION], user_id="ann")


def build_comparison(words: str, **paper: Any) -> Comparison:
    proved = Answer(
        answer=words,
        sentences=[
            Sentence(text=words, citations=[1], verdict="supported"),
            Sentence(text="It flies.", verdict="unsupported"),
        ],
        citations=[
            Citation(
                n=1,
                doc_id="d",
                title="T",
                uri="u",
                page=3,
                section="Method",
                quote=words,
                start=0,
                end=9,
            )
        ],
        status="answered",
        confidence=0.9,
        agent="paper",
    )
    refused = Answer(answer="No.", status="refused", confidence=0.1, agent="paper")
    info = PaperInfo(
        **({"doc_id": "d", "collection": "papers", "name": "a.pdf", "title": words} | paper)
    )
    row = ComparedPaper(session_id="ses_1", title=words, paper=info, cells=[proved, refused])
    return Comparison(questions=[words, "Which data?"], papers=[row])


def test_markdown_holds_only_what_is_proved() -> None:
    text = render_markdown(build_comparison("512 sensors"))
    head, rule, row, *notes = text.splitlines()
    assert head == "| Paper | 512 sensors | Which data? |"
    assert rule == "| --- | --- | --- |"
    assert row == "| **512 sensors** | 512 sensors[^1-1-1] | no answer from the paper |"
    assert notes == ["", "[^1-1-1]: p. 3, Method: “512 sensors”"]


def test_an_unsure_cell_says_so() -> None:
    made = build_comparison("512 sensors")
    cell = made.papers[0].cells[0].model_copy(update={"confidence": 0.3})
    row = made.papers[0].model_copy(update={"cells": [cell]})
    text = render_markdown(made.model_copy(update={"papers": [row]}))
    assert "| Not sure; nearest: 512 sensors[^1-1-1] |" in text


def test_a_cell_ends_no_row_and_holds_no_link() -> None:
    text = render_markdown(build_comparison("a | b\n[x](javascript:alert(1))"))
    assert len(text.splitlines()) == 5
    assert r"a \| b \[x\](javascript:alert(1))" in text


def test_csv_has_no_formulas() -> None:
    ((*_,), row) = csv.reader(io.StringIO(render_csv(build_comparison("=1+1"))))
    assert row[:2] == ["'=1+1", "'=1+1"]
    assert row[2] == "p. 3, Method: “=1+1”"


def test_bibtex_names_each_paper_once() -> None:
    made = build_comparison("On Tides & {Wind}", authors=["Ann Lee", "Bo Chen"])
    text = render_bibtex(made.model_copy(update={"papers": made.papers * 2}))
    assert text.startswith(
        "@misc{leetides,\n  title = {On Tides \\& \\{Wind\\}},\n  author = {Ann Lee and Bo Chen},\n"
    )
    assert "@misc{leetides2," in text
    assert Path("a.pdf").name in text
