"""One reading session on the command line: what is sent to it, what is shown of what comes back.
The session is looked at again after every message, so that what is shown is what is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from citewell.agents.paper.paper_states import PENDING_PLAN
from citewell.errors import CitewellError, Conflict, NotFound, StorageError
from citewell.interfaces.cli.ask.answer import show_answer
from citewell.interfaces.cli.ask.live import watch_events
from citewell.interfaces.cli.output.progress import LABELS, format_pace, show_progress
from citewell.interfaces.cli.output.terminal import get_stderr, get_stdout, print_warning
from citewell.interfaces.cli.papers.paper_show import show_head, show_plan, show_report
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.library.embedding import Embedding
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.reading_sessions import PaperSession
from citewell.store.runs import GAVE_UP
from citewell.types import Answer


class BackgroundProgress:
    """How far the embedding is: a line under the answer in the making on a terminal, a line now and
    then elsewhere.
    """

    def __init__(self) -> None:
        self.last: Progress | None = None
        self.tell: OnProgress = ignore_progress

    @asynccontextmanager
    async def lines(self) -> AsyncIterator[None]:
        """As long as the block lasts, off a terminal: there the line stands under the answer."""
        if get_stderr().is_terminal:
            yield
        else:
            async with self.bars():
                yield

    @asynccontextmanager
    async def bars(self) -> AsyncIterator[None]:
        async with show_progress() as self.tell:
            yield
        self.tell = ignore_progress

    async def note(self, progress: Progress) -> None:
        self.last = progress
        await self.tell(progress)

    def line(self) -> str:
        last = self.last
        if last is None or last.done >= last.total:
            return ""
        tail = f" ({said})" if (said := format_pace(last)) else ""
        return f"{LABELS[last.phase]}: {last.done} of {last.total}{tail}"


@dataclass(slots=True)
class Talk:
    """What is kept between two messages. `quoted`: words that the next question is about."""

    app: App
    user: str
    lang: str | None
    json: bool
    session: PaperSession
    quoted: str = ""
    over: bool = False

    async def ask(self, question: str, event: str | None = None, selection: str = "") -> Answer:
        """A message to the session; an answer that is a question's is shown. `event` None: what the
        session expects.
        """
        said: dict[str, Any] = {
            "event": event,
            "lang": self.lang,
            "selection": {"text": selection} if selection else None,
        }
        options = {name: value for name, value in said.items() if value is not None}
        session_id = self.session.session_id
        return await self._stream_answer(
            AskRequest(
                question=question,
                agent="paper",
                session_id=session_id,
                user_id=self.user,
                options=options,
            )
        )

    async def resume(self, trace_id: str) -> Answer | None:
        """What was stopped, from its beginning; None where the session has gone on without it, or
        it is given up.
        """
        try:
            return await self._stream_answer(AskRequest(resume=trace_id, user_id=self.user))
        except (Conflict, NotFound) as error:
            if error.code == "paper_removed":
                raise
            if error.code == GAVE_UP:
                print_warning(error.message)
            await service.drop_run(self.app, trace_id, self.user)
            return None

    async def _stream_answer(
        self, request: AskRequest, beside: BackgroundProgress | None = None
    ) -> Answer:
        answer = await watch_events(
            stream_answer(self.app, request), beside.line if beside else None
        )
        await self.look()
        return answer

    async def report(self) -> None:
        """Make the report, and embed beside it. Raises what `stream_answer` raises."""
        beside = BackgroundProgress()
        embedding = asyncio.create_task(embed_paper(self, beside))
        options = {"event": "report"} | ({"lang": self.lang} if self.lang else {})
        session_id = self.session.session_id
        request = AskRequest(
            question="", agent="paper", session_id=session_id, user_id=self.user, options=options
        )
        try:
            async with beside.lines():
                await self._stream_answer(request, beside)
            self.show_report()
            async with beside.bars():
                await embedding
        finally:
            embedding.cancel()
            await asyncio.gather(embedding, return_exceptions=True)

    async def look(self) -> None:
        """The session as it is now."""
        self.session = await service.read_paper_session(
            self.app, self.session.session_id, self.user
        )

    def show_report(self) -> None:
        report = self.session.report
        if report is None or self.json:
            return
        show_head(get_stdout(), self.session)
        show_report(get_stdout(), report)
        for warning in report.warnings:
            print_warning(warning)

    def show(self, answer: Answer) -> None:
        """An answer, and the route where it brought one."""
        if answer.data and answer.data.get("plan") and self.session.plan and not self.json:
            show_plan(get_stdout(), self.session.plan)
            get_stdout().print()
        if answer.data is None or answer.data.get("event") == "ask":
            show_answer(answer, None if self.json else get_stdout())
        else:
            for warning in answer.warnings:
                print_warning(warning)


async def embed_paper(talk: Talk, beside: BackgroundProgress) -> None:
    await embed_documents(talk.app, [talk.session.paper.doc_id], beside.note, "the paper")


async def embed_documents(
    app: App, doc_ids: Sequence[str], on_progress: OnProgress, name: str
) -> None:
    """Embed the passages of `doc_ids`. An error of the embedder is only a warning about `name`:
    the passages can still be found by their words.
    """
    embedding = Embedding(app, on_progress, docs=doc_ids)
    embedding.close()
    try:
        await embedding.run()
    except StorageError:
        raise
    except CitewellError as error:
        print_warning(f"{name} can be found by words only: {error.message}")


async def ensure_route(talk: Talk) -> None:
    """The route through all of the paper, where there is none: questions come after it."""
    if talk.session.current_state == PENDING_PLAN:
        talk.show(await talk.ask("", "plan"))
