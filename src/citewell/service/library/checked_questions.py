"""Questions worth asking of a collection, each answered by the pipeline before anybody sees it. A
question is offered only if its answer was found in the very sentence it was made from, by the
built-in reader; no chat model is asked for it, and no upload or question waits for it.
"""

from __future__ import annotations

import asyncio
import logging

from citewell.errors import CitewellError, NotFound
from citewell.models.builtin.lanes import use_background_priority
from citewell.runtime.app import App
from citewell.service.ask.ask_qa import run_qa
from citewell.service.ask.begin_run import begin_run
from citewell.service.ask.run import AskRequest
from citewell.service.library.offered_questions import (
    MOST_DOCUMENTS,
    PROPOSED,
    get_questions,
    scale_vector,
)
from citewell.service.library.overviews import write_overview
from citewell.skills.answer.document_questions import Proposal, propose_questions
from citewell.store.library.collection_rows import CONFIRMED
from citewell.store.library.questions import CheckedQuestion, OverviewSentence
from citewell.text.sentences import detect_language
from citewell.types import Answer

log = logging.getLogger(__name__)
KEPT = 5  # of those it answers
SURE = 0.6  # the confidence from which an answer counts: half of what is less is wrong
IDLE = 3.0  # seconds between two looks for documents
RETRY = 60.0  # seconds after a fault


async def check_questions(app: App, doc_id: str) -> list[CheckedQuestion]:
    """Of the questions proposed, those the pipeline answers. Raises NotFound, ModelUnavailable."""
    info, document = await app.catalog.document(doc_id), await app.catalog.content(doc_id)
    kept: list[CheckedQuestion] = []
    for proposal in propose_questions(document, PROPOSED):
        if len(kept) == KEPT:
            break
        confidence = await _ask_reader(app, info.collection, doc_id, proposal)
        if confidence >= SURE:
            vector = scale_vector(await app.embedder.query(proposal.question))
            lang = detect_language(proposal.question)
            kept.append(
                CheckedQuestion(doc_id, info.title, proposal.question, lang, confidence, vector)
            )
    return kept


async def _ask_reader(app: App, collection: str, doc_id: str, proposal: Proposal) -> float:
    """The confidence of the answer; 0 where it is none, or from another place."""
    options = {"knowledge": False}
    request = AskRequest(
        question=proposal.question, agent="qa", collection=collection, keep=False, options=options
    )
    run = await begin_run(app, request)
    run.meter = None  # no chat model
    async for event in run_qa(run):
        if isinstance(event.data, Answer) and event.data.status == "answered":
            places = [each for each in event.data.citations if each.doc_id == doc_id]
            if any(each.start < proposal.end and each.end > proposal.start for each in places):
                return event.data.confidence
    return 0.0


async def check_questions_forever(app: App) -> None:
    """For ever, behind everything else: documents that were not looked at, the newest first."""
    while app.reader is not None:
        wait = IDLE
        try:
            with use_background_priority():
                for doc_id, sha256, collection in await get_questions(app).list_unasked(
                    1, MOST_DOCUMENTS
                ):
                    found = (
                        ([], []) if collection.startswith(CONFIRMED) else await _look(app, doc_id)
                    )
                    await get_questions(app).put(doc_id, sha256, *found)
                    wait = 0.0
        except CitewellError as error:
            wait = RETRY
            log.warning("questions wait: %s", error.message)
        except Exception:
            wait = RETRY
            log.exception("questions wait")
        await asyncio.sleep(wait)


async def _look(app: App, doc_id: str) -> tuple[list[CheckedQuestion], list[OverviewSentence]]:
    try:
        return await check_questions(app, doc_id), await write_overview(app, doc_id)
    except NotFound:  # it went meanwhile
        return [], []
