"""Whether a question belongs to tables or to documents, and to which tables. Both are held against
the question in the same way, by meaning; a fitted figure decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from citewell.errors import CitewellError, NotFound
from citewell.models.base import Vector
from citewell.retrieve.cross_lingual import remove_language_mean
from citewell.runtime.app import App
from citewell.service.tables.document_tables import (
    TABLES,
    add_document_tables,
    remove_document_tables,
)
from citewell.service.tables.kept_schema import get_terms, load_described
from citewell.sql.schema_link import FITTED
from citewell.sql.source_fit import LIKE, is_figure_question, measure_fit
from citewell.sql.source_meaning import measure_likeness
from citewell.store.index.protocol import Filter
from citewell.store.source_rows import Source
from citewell.text.sentences import detect_language

# Log-odds that tables are meant: by how much nearer the tables are in meaning than the nearest
# passage (cosines, the mean of the question's language taken out); the share of the question's
# words that the tables have; whether a figure is asked for. Fitted (logistic) on the 116 questions
# of `evals/sources.py`; by halves, each measured with what the other one was fitted to, tables are
# told from the rest for 0.86.
NEARER, SHARE, FIGURE, BIAS = 23.0, 4.04, 1.95, -2.21
NEAREST = 8  # passages among which documents are that are tables themselves
NONE = 0.385  # likeness to passages where there are none: that of questions that none answers
MEANT = 0.0  # from which on `auto` asks tables
WORTH = -0.5  # from which on tables are proposed where documents do not tell it


@dataclass(frozen=True, slots=True)
class Place:
    """The likeliest tables, the log-odds that they are meant, and words of the question with what
    has them. `passages`: whether there are documents to ask in their place.
    """

    source: str
    odds: float
    found: Mapping[str, str] = field(default_factory=dict)
    passages: bool = True


async def measure_sources(app: App, question: str, sources: Sequence[Source]) -> dict[str, float]:
    """How near each source is in meaning; empty for a failing or unfitted embedder."""
    vector = await _embed_question(app, question)
    if vector is None:
        return {}
    return {
        each.name: await measure_likeness(vector, load_described(each), app.embedder)
        for each in sources
    }


async def rate_tables(app: App, question: str, collection: str = "") -> Place | None:
    """None where there are no tables, or meaning cannot be measured: passages that still wait for
    their vectors would count as none. A spreadsheet among the nearest documents counts as tables,
    and is no document then.
    """
    vector = await _embed_question(app, question)
    if vector is None:
        return None
    try:
        info = await app.collections.get(collection or app.settings.collection)
        if info.embedded < info.chunks:
            return None
        near = await app.index.search_vectors(vector, NEAREST, Filter(collections=(info.name,)))
    except NotFound:
        near = []
    hits = {hit.chunk_id: hit for hit in await app.index.hits([chunk for chunk, _ in near])}
    sheets = {hit.doc_id for hit in hits.values() if hit.media_type in TABLES}
    await remove_document_tables(app)
    await add_document_tables(app, sorted(sheets))
    sources = await app.sources.list()
    if not sources:
        return None
    passages = [
        cosine for chunk, cosine in near if chunk in hits and hits[chunk].doc_id not in sheets
    ]
    likeness = await measure_sources(app, question, sources)
    fits = {
        each.name: measure_fit(question, load_described(each), get_terms(each)) for each in sources
    }
    name = max(fits, key=lambda each: fits[each].share + LIKE * likeness[each])
    nearer = likeness[name] - (passages[0] if passages else NONE)
    odds = compute_odds(nearer, fits[name].share, figure=is_figure_question(question))
    return Place(name, odds, fits[name].found, passages=bool(passages))


async def _embed_question(app: App, question: str) -> Vector | None:
    if app.embedder.name != FITTED:
        return None
    try:
        vector = await app.embedder.query(question)
    except CitewellError:
        return None
    return remove_language_mean(vector, detect_language(question), app.embedder.name)


def compute_odds(nearer: float, share: float, *, figure: bool) -> float:
    """`nearer`: by how much tables are nearer than passages."""
    return NEARER * nearer + SHARE * share + FIGURE * figure + BIAS
