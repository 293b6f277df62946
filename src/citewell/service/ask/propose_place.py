"""Where else a question may be answered: tables for documents, documents for tables, where it was
refused; the whole table, where a row of one was quoted. A place is proposed, never asked by itself.
"""

from __future__ import annotations

from citewell.errors import CitewellError
from citewell.service.ask.run import Run
from citewell.service.ask.search import SearchRequest, search
from citewell.service.tables.document_tables import TABLES
from citewell.service.tables.kept_schema import get_terms, load_described
from citewell.service.tables.rate_tables import WORTH, rate_tables
from citewell.sql.plan import is_answerable
from citewell.sql.schema_link import link_question
from citewell.types import Answer, Elsewhere

MOST_COLLECTIONS = 100  # that are searched at once
LIKELY = 0.5  # that the passages found hold what was asked for


async def add_proposal(run: Run, answer: Answer) -> Answer:
    """The answer, with the place where there is one; nothing is lost without it."""
    if answer.elsewhere is not None:
        return answer
    try:
        if answer.status != "refused" and not await _quotes_table(run, answer):
            return answer
        place = await _find_place(run, answer)
    except CitewellError:
        return answer
    return answer if place is None else answer.model_copy(update={"elsewhere": place})


async def _quotes_table(run: Run, answer: Answer) -> bool:
    """Whether what is quoted first is of a document that is a table."""
    first = next(iter(answer.citations), None)
    if first is None or first.origin != "document":
        return False
    return (await run.app.catalog.document(first.doc_id)).media_type in TABLES


async def _find_place(run: Run, answer: Answer) -> Elsewhere | None:
    if answer.agent in {"qa", "dual_loop"} and run.app.llm is not None:
        return await _find_tables(run)
    if answer.agent == "data" and answer.stop_reason in {"not_in_data", "no_source"}:
        return await _find_documents(run)
    return None


async def _find_tables(run: Run) -> Elsewhere | None:
    app, question = run.app, run.request.question
    place = await rate_tables(app, question, run.collection)
    if place is None or place.odds < WORTH:
        return None
    source = await app.sources.get(place.source)
    terms = [each.term for each in get_terms(source)]
    linked = await link_question(question, load_described(source), app.embedder, terms)
    return Elsewhere(agent="data", source=place.source) if is_answerable(linked) else None


async def _find_documents(run: Run) -> Elsewhere | None:
    """The collection of the best passage; of all of them where the question names none."""
    there = [run.request.collection] if run.request.collection else await _list_filled(run)
    if not there:
        return None
    found = await search(run.app, SearchRequest(query=run.request.question, collections=there))
    if not found.hits or found.confidence < LIKELY:
        return None
    return Elsewhere(agent="qa", collection=found.hits[0].collection)


async def _list_filled(run: Run) -> list[str]:
    found = await run.app.collections.list_all()
    return [each.name for each in found if each.documents][:MOST_COLLECTIONS]
