"""The rows of an answer as evidence, and the proof by them."""

from __future__ import annotations

from citewell.agents.data.data_state import DataState
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.tell_rows import QUOTED
from citewell.skills.evidence.passages import Passage
from citewell.skills.evidence.prompt_injection import has_prompt_injection
from citewell.sql.cell_text import LONGEST_QUOTED, format_rows, shorten_text
from citewell.sql.engines.engine import Rows
from citewell.sql.stored_values import list_remarks, list_tables
from citewell.types import Citation, Hit, Sentence

SHOWN = 50  # rows that a connected model reads to word the answer


def build_rows_passage(state: DataState, rows: Rows) -> Passage:
    """The rows as evidence, a line each, headed by the statement, remarks and their number."""
    assert state.source is not None
    parts = _format_rows(rows, SHOWN)
    heading = f"SQL: {' '.join(state.generated_logic.split())}"
    remarks = [
        shorten_text(each, LONGEST_QUOTED)
        for each in list_remarks(state.generated_logic, state.source.schema, rows.columns)
    ]
    count = f"{len(rows.rows)} rows in all{', and more were not read' if rows.truncated else ''}"
    text = "\n".join(parts)
    spans, at = [], 0
    for part in parts:
        spans.append((at, at + len(part)))
        at += len(part) + 1
    name = state.source.name
    hit = Hit(
        0,
        name,
        "",
        name,
        f"table:{name}",
        (heading, *remarks, count),
        None,
        0,
        len(text),
        text,
        state.lang,
    )
    return Passage(1, hit, tuple(spans), text)


def _format_rows(rows: Rows, most: int) -> list[str]:
    """The rows, one line each; one line where there is none."""
    return format_rows(rows, most) or [f"0 rows: {', '.join(rows.columns)}"]


def build_proof(state: DataState, rows: Rows, told: list[Sentence]) -> Proof:
    """All sentences rest on the same rows."""
    assert state.source is not None
    quote = "\n".join(_format_rows(rows, QUOTED))
    citation = Citation(
        n=1,
        origin="table",
        doc_id=state.source.name,
        title=state.source.name,
        uri=f"table:{state.source.name}",
        section=", ".join(list_tables(state.generated_logic, state.source.schema)),
        quote=quote,
        start=0,
        end=len(quote),
        score=1.0,
        gives_orders=has_prompt_injection(quote),
    )
    return Proof([sentence.model_copy(update={"citations": [1]}) for sentence in told], [citation])
