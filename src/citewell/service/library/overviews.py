"""What a document is about, in a few of its own sentences: made once, behind everything else, with
the questions that it answers (checked_questions.py). No chat model is asked for it.
"""

from __future__ import annotations

from citewell.agents.qa.qa_overview import read_whole
from citewell.runtime.app import App
from citewell.service.ask.survey_documents import load_sections
from citewell.skills.answer.overview import quote_overview
from citewell.skills.evidence.numbered import number_sentences
from citewell.store.library.questions import OverviewSentence

SENTENCES = 3  # of a document


async def write_overview(app: App, doc_id: str) -> list[OverviewSentence]:
    """Raises NotFound, ModelUnavailable."""
    hits = await load_sections(app, await app.catalog.document(doc_id))
    passages = [read_whole(n, hit) for n, hit in enumerate(hits, 1)]
    draft = await quote_overview(passages, SENTENCES, app.embedder)
    chosen = {each for sentence in draft.sentences for each in sentence.evidence}
    return [
        OverviewSentence(text=unit.text, start=unit.start, end=unit.end)
        for unit in number_sentences(passages)
        if unit.id in chosen
    ]
