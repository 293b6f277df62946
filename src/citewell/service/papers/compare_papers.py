"""Several papers compared: a table of papers by questions, each cell a proved answer. A cell is
what the paper agent answers from that paper alone; what was said in its session and in other cells
is not seen, and nothing of the table is written into the sessions.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from pydantic import Field

from citewell.agents.paper.paper_state import PaperInfo
from citewell.errors import CitewellError, InvalidInput, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.papers.add_paper import LOCAL
from citewell.service.papers.reading_sessions import PaperSession, read_paper_session
from citewell.types import Answer, Shown

MOST_PAPERS, MOST_QUESTIONS = 20, 10


class ComparedPaper(Shown):
    """A row: the answers of one paper, in the order of the questions. A cell that could not be
    had has status `error` and says why.
    """

    session_id: str
    title: str
    paper: PaperInfo
    cells: list[Answer] = Field(default=[])


class Comparison(Shown):
    questions: list[str]
    papers: list[ComparedPaper]


async def compare_papers(
    app: App, session_ids: Sequence[str], questions: Sequence[str], user_id: str = LOCAL
) -> Comparison:
    """The whole table. Raises InvalidInput for too few or too many of either, NotFound for a
    session that is not this user's or reads no paper.
    """
    rows = [row async for row in stream_rows(app, session_ids, questions, user_id)]
    return Comparison(questions=list(questions), papers=rows)


async def stream_rows(
    app: App, session_ids: Sequence[str], questions: Sequence[str], user_id: str = LOCAL
) -> AsyncIterator[ComparedPaper]:
    """Row after row. Raises as `compare_papers` does, before the first."""
    ids = list(dict.fromkeys(session_ids))
    if not (0 < len(ids) <= MOST_PAPERS and 0 < len(questions) <= MOST_QUESTIONS):
        raise InvalidInput(
            Text(
                "a comparison has 1 to {most_papers} papers and 1 to {most_questions} questions",
                most_papers=MOST_PAPERS,
                most_questions=MOST_QUESTIONS,
            ),
            hint=Text("ask in several parts what is more"),
        )
    for session in [await read_paper_session(app, each, user_id) for each in ids]:
        cells = [await _answer_cell(app, session, question) for question in questions]
        yield ComparedPaper(
            session_id=session.session_id, title=session.title, paper=session.paper, cells=cells
        )


async def _answer_cell(app: App, session: PaperSession, question: str) -> Answer:
    """A question that cannot be asked fails as a whole; a paper that cannot be read fails alone."""
    request = AskRequest(
        question=question,
        agent="paper",
        session_id=session.session_id,
        user_id=session.user_id,
        keep=False,
        options={"event": "compare"},
    )
    try:
        return await ask(app, request)
    except InvalidInput:
        raise
    except CitewellError as error:
        missing = isinstance(error, NotFound)
        return Answer(
            answer="",
            status="error",
            confidence=0.0,
            agent="paper",
            session_id=session.session_id,
            stop_reason="removed" if missing else "failed",
            error_info={"code": error.code, "message": error.message},
        )
