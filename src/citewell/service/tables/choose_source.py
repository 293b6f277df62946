"""Which table source a question is about, and whether it is about tables at all. Cheap: no chat
model is asked, and no source is opened.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.agents.data.data_question import should_use_history
from citewell.errors import CitewellError, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.ask.choose_agent import ADDRESS
from citewell.service.ask.run import Run
from citewell.service.tables.kept_schema import get_terms, load_described
from citewell.service.tables.rate_tables import MEANT, WORTH, Place, measure_sources, rate_tables
from citewell.skills.answer.data_wording import is_source_question
from citewell.skills.dialogue.intent import has_pattern
from citewell.skills.dialogue.overview_request import find_overview_request
from citewell.skills.dialogue.reference import is_follow_up
from citewell.skills.dialogue.route import is_web_request
from citewell.skills.memory.memory_questions import is_conversation_question
from citewell.skills.memory.remember import extract_stated_facts, is_remember_request
from citewell.sql.engines.engine import Schema
from citewell.sql.plan_types import Term
from citewell.sql.source_fit import (
    CLEAR,
    MANY,
    Fit,
    choose_next_source,
    choose_sources,
    is_figure_question,
    measure_fit,
    measure_share,
)
from citewell.store.index.protocol import Filter
from citewell.store.source_rows import Source

# Of the question's own words that tables must have; one is enough where a figure is asked for and
# it is the name of a table or a column. With a stored value beside that name the others may be any.
FEWEST = 2
PASSAGES = 8  # of the documents that are looked at
DATA = "data"  # what a session keeps its source under
NAMED = 3  # words that the reason shows


async def pick_sources(app: App, question: str) -> list[str]:
    """The source that a question is about; several if equally likely, or none."""
    sources = await app.sources.list()
    if len(sources) < 2:
        return [source.name for source in sources]
    likeness = await measure_sources(app, question, sources)
    return choose_sources(question, _load_all(sources), likeness)


async def pick_other(app: App, question: str, asked: str) -> str:
    """The next best source where the one asked does not have it; empty where there is none, or the
    question names that one.
    """
    sources = await app.sources.list()
    likeness = await measure_sources(app, question, sources)
    return choose_next_source(question, _load_all(sources), asked, likeness)


def _load_all(sources: Sequence[Source]) -> dict[str, tuple[Schema, Sequence[Term]]]:
    return {each.name: (load_described(each), get_terms(each)) for each in sources}


async def choose_table_source(run: Run, question: str, session_agent: str) -> tuple[str, str]:
    """For `auto`: the source, and why, empty where the user names it. Two empty texts where tables
    are not plainly meant, or no chat model is there to word statements: then only what people have
    confirmed is answered, which documents may do too.
    """
    app, history = run.app, run.history
    if run.options.source:
        return run.options.source, ""
    if app.llm is None:
        return "", ""
    elsewhere = (
        bool(ADDRESS.search(question))
        or is_remember_request(question)
        or bool(extract_stated_facts(question))
    )
    if (
        elsewhere
        or session_agent in {"paper", "website"}
        or is_web_request(question)
        or is_conversation_question(question)
    ):
        return "", ""
    if session_agent == "data" and not await _leaves_tables(run, question):
        asked = str(((await app.sessions.data(run.session_id)).get(DATA) or {}).get("source", ""))
        asked = asked if await should_keep_source(run, question, asked) else ""
        return asked or DATA, (
            Text("this session asks the tables {asked}", asked=asked)
            if asked
            else Text("this session asks the tables")
        )
    if history and is_follow_up(question, history):
        return "", ""
    place = await rate_tables(app, question, run.request.collection or "")
    if place is None:
        found, why = await _find_plain_source(app, question, run.request.collection or "")
    elif place.odds >= MEANT:
        found, why = place.source, _explain_place(place)
    else:
        found, why = "", ""
    if found:
        run.options = run.options.model_copy(update={"source": found})
    return found, why


async def _leaves_tables(run: Run, question: str) -> bool:
    """Whether a question of a session that asked tables is plainly one to documents: it asks what
    there is, or stands alone and has nothing of the tables.
    """
    app = run.app
    place = await rate_tables(app, question, run.request.collection or "")
    if place is None or not place.passages or place.odds >= WORTH:
        return False
    if find_overview_request(await app.embedder.query(question), app.embedder.name)[0]:
        return True
    return not (should_use_history(question, run.history) or is_follow_up(question, run.history))


def _explain_place(place: Place) -> Text:
    words = ", ".join(f"{word} ({where})" for word, where in list(place.found.items())[:NAMED])
    if words:
        return Text(
            "the tables {name} have what the question names: {words}",
            name=place.source,
            words=words,
        )
    return Text("the question is nearer to the tables {name} than to documents", name=place.source)


async def should_keep_source(run: Run, question: str, asked: str) -> bool:
    """Whether a question is put to the source that its session asked before: not where it answers
    which one is meant, nor where it stands alone and another one plainly has more of it, its name
    included. "total by region" may go on with what was asked.
    """
    if should_use_history(question, run.history):
        return not is_source_question(run.history[-1].content)
    sources = await run.app.sources.list()
    fits = {
        each.name: measure_fit(
            question, load_described(each), (*get_terms(each), Term(each.name, ""))
        )
        for each in sources
    }
    most = max(fits.values(), key=lambda found: found.share, default=Fit(0.0))
    alone = len(most.found) >= FEWEST or has_pattern(question)
    return most.share - fits.get(asked, Fit(0.0)).share < CLEAR or not (
        alone and _is_plain_match(most, question)
    )


def _is_plain_match(found: Fit, question: str) -> bool:
    """Whether tables have enough of a question to be meant by it: many of its words, or what a
    figure is of and which rows.
    """
    named = any("=" not in where for where in found.found.values()) and is_figure_question(question)
    return (found.share >= MANY and (len(found.found) >= FEWEST or named)) or (
        named and bool(found.values)
    )


async def _find_plain_source(app: App, question: str, collection: str) -> tuple[str, str]:
    """The one source that has the question's words, where no passage of the documents has as
    many: by letters, for an embedder whose likenesses nothing is fitted to.
    """
    rated = sorted(
        (
            (measure_fit(question, load_described(each), get_terms(each)), each.name)
            for each in await app.sources.list()
        ),
        key=lambda pair: -pair[0].share,
    )
    if not rated or (len(rated) > 1 and rated[0][0].share - rated[1][0].share < CLEAR):
        return "", ""
    found, name = rated[0]
    if not _is_plain_match(found, question):
        return "", ""
    if await _measure_document_share(app, question, collection) > found.share - (
        0.0 if is_figure_question(question) else CLEAR
    ):
        return "", ""
    words = ", ".join(f"{word} ({where})" for word, where in list(found.found.items())[:NAMED])
    return name, Text(
        "the tables {name} have what the question names: {words}", name=name, words=words
    )


async def _measure_document_share(app: App, question: str, collection: str) -> float:
    """The share of the question's words that the best passage has."""
    try:
        info = await app.collections.get(collection or app.settings.collection)
        found = await app.index.search_words(question, PASSAGES, Filter(collections=(info.name,)))
        hits = await app.index.hits([chunk for chunk, _ in found])
    except NotFound:
        return 0.0
    except CitewellError:
        return 1.0  # nobody knows: the documents are asked
    return max((measure_share(question, hit.text) for hit in hits), default=0.0)
