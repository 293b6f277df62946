"""A message to a reading session, before anything is done about it: whose it is, what it asks for,
whether it may be. All that can be refused is refused here, before anything is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import anyio.to_thread

from citewell.agents.paper.paper_state import PAPER, PLAN, REPORT, PaperInfo
from citewell.agents.paper.paper_states import (
    FIRST,
    PENDING_PLAN,
    ROUTING,
    Happening,
    get_next_state,
)
from citewell.errors import Conflict, InvalidInput, NotFound
from citewell.ingest.paper.read_paper import read_paper
from citewell.messages import Text, dump_model
from citewell.runtime.app import App
from citewell.service.ask.run import ReplayContext, Run
from citewell.service.sessions.sessions import get_own_session
from citewell.skills.answer.wording import format_message
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.dialogue.validate import find_question_error
from citewell.skills.paper.reading_context import OpenPaper, Selection
from citewell.skills.paper.selection import extract_selection
from citewell.store.runs import ALIVE
from citewell.store.session_rows import HISTORY
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language
from citewell.types import Answer

MESSAGES = "messages"  # key of `session_data`: what each message that has a name brought


@dataclass(slots=True)
class MessageContext:
    """A message on its way. `event`: what it does to the session; `then`: the state after it."""

    run: Run
    state: str
    data: dict[str, Any]
    event: str
    then: str
    book: OpenPaper
    answer: Answer | None = None

    @property
    def lang(self) -> str:
        """Of report and route: as was said, else of the message, else of the paper."""
        question = self.run.request.question.strip()
        report = self.data.get(REPORT)
        known = str(report["lang"]) if report else self.book.document.lang
        return self.run.options.lang or (detect_language(question) if question else known)


async def load_session(run: Run) -> tuple[str, dict[str, Any]]:
    """State and data of the session that is meant. Raises InvalidInput, NotFound."""
    if not run.session_id:
        hint = Text("citewell paper FILE begins a session, as does POST /api/papers; then name it")
        raise InvalidInput(Text("which paper is read?"), hint=hint, code="no_paper")
    session = await get_own_session(run.app, run.session_id, run.request.user_id)
    data = await run.app.sessions.data(run.session_id)
    if PAPER not in data:
        raise InvalidInput(
            Text("session {session_id} reads no paper", session_id=session.session_id),
            hint=Text("citewell paper FILE begins one that does"),
        )
    return (
        (session.current_state, data)
        if run.again is None
        else (run.again.state, _restore_past_data(data, run.again))
    )


def _restore_past_data(data: dict[str, Any], again: ReplayContext) -> dict[str, Any]:
    """What the session had when the message came that is replayed, as far as that is kept."""
    made: dict[str, tuple[str, ...]] = {FIRST: (REPORT, PLAN), PENDING_PLAN: (PLAN,)}
    gone = made.get(again.state, ())
    kept = {name: value for name, value in data.items() if name not in gone}
    return kept | {HISTORY: [message.model_dump() for message in again.history]}


async def open_message(run: Run, state: str, data: dict[str, Any]) -> MessageContext:
    event = run.goes_on or run.options.event or _guess_event(state, run.request.question)
    then = get_next_state(state, _get_happening(event, state))
    if event == "report":
        await _check_no_other_report(run)
    elif run.request.question.strip() or run.options.selection is None:
        _check_message(run, event)
    errand = MessageContext(
        run, state, data, event, then, await open_paper(run.app, PaperInfo(**data[PAPER]))
    )
    run.collection = errand.book.collection
    return errand


async def _check_no_other_report(run: Run) -> None:
    """A report is made once: who comes while another makes it waits. Raises Conflict."""
    for other in await run.app.runs.list(run.request.user_id):
        if other.session_id == run.session_id and other.trace_id != run.trace_id and other.alive:
            why = Text(
                "the report of session {session_id} is being made by another process",
                session_id=run.session_id,
            )
            raise Conflict(why, hint=Text("open the session again when it is there"), code=ALIVE)


def _guess_event(state: str, question: str) -> str:
    """What a message does where it does not say so."""
    if state == FIRST:
        return "ask" if question.strip() else "report"
    return "plan" if state == PENDING_PLAN else "ask"


def _get_happening(event: str, state: str) -> Happening:
    if event == "plan":
        return "plan_changed" if state == ROUTING else "plan_made"
    made: dict[str, Happening] = {"report": "report_made", "compare": "compared"}
    return made.get(event, "question_answered")


def _check_message(run: Run, event: str) -> None:
    """Raises InvalidInput for a wrong message. An empty interest means the paper in short."""
    settings = run.app.settings.qa
    text = normalize_text(extract_question(run)[0])
    if event == "plan" and not text:
        return
    if found := find_question_error(
        text, settings.question_max_chars, load_word_list(settings.sensitive_words)
    ):
        raise found[1]


def extract_question(run: Run) -> tuple[str, Selection | None]:
    """The question, and what of the paper it is about: marked, or quoted in it. A long quotation is
    not counted as question.
    """
    question, marked = run.request.question, run.options.selection
    quoted = None if marked else extract_selection(question)
    if quoted is None or len(question) <= run.app.settings.qa.question_max_chars:
        return question, marked or quoted
    rest = question.replace(quoted.text, " ").strip(" \n:：,，\"'“”「」")
    return rest or format_message("explain_this", detect_language(quoted.text)), quoted


def get_earlier_answer(run: Run, data: dict[str, Any]) -> Answer | None:
    """What a message of this name brought, whatever the session has come to since."""
    kept = data.get(MESSAGES, {}).get(run.options.message_id)
    return Answer(**kept) if kept else None


def record_answer(run: Run, data: dict[str, Any], answer: Answer) -> None:
    """Keep what a message brought under its sender's name for it. Raises Conflict if taken."""
    name = run.options.message_id
    if not name:
        return
    if name in data.setdefault(MESSAGES, {}):
        raise Conflict(
            Text("message {name} was answered meanwhile", name=name),
            hint=Text("send it again to have its answer"),
        )
    data[MESSAGES][name] = dump_model(answer)


async def open_paper(app: App, info: PaperInfo) -> OpenPaper:
    """The stored paper with its shape. Raises NotFound where it was removed."""
    try:
        document = await app.catalog.content(info.doc_id)
        kept = await app.catalog.document(info.doc_id)
    except NotFound:
        hint = Text(
            "its report and answers can still be read and exported; add the paper again to ask it"
        )
        raise NotFound(
            Text("the paper of this session was removed: {name}", name=info.name),
            hint=hint,
            code="paper_removed",
        ) from None
    shape = await anyio.to_thread.run_sync(read_paper, document)
    floats = [span for each in shape.floats for span in each.spans]
    boxes = tuple(await app.catalog.boxes(info.doc_id, floats))
    document = replace(document, boxes=boxes)
    return OpenPaper(info.doc_id, kept.collection, kept.uri, document, shape)
