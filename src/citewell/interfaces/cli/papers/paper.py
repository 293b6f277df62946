"""`citewell paper`: a paper read with a guide. Ctrl-C ends the answer in the making, never the
session.

What was left undone by a process that was killed is done first. The report is made while the
passages are embedded beside it.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from dataclasses import dataclass, field
from typing import Annotated

import typer

from citewell.agents.paper.paper_states import FIRST, PENDING_PLAN
from citewell.errors import CitewellError, NotFound
from citewell.fetch.urls import canonicalize_url
from citewell.interfaces.cli.arguments import Json, Reader, Several, argument, option
from citewell.interfaces.cli.ask.ask import EXIT
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    get_stderr,
    get_stdout,
    print_json,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.papers.paper_reading import (
    BackgroundProgress,
    Talk,
    embed_paper,
    ensure_route,
)
from citewell.interfaces.cli.papers.paper_show import UNDER_WAY, show_place
from citewell.interfaces.cli.papers.paper_talk import run_conversation
from citewell.interfaces.cli.run import DONE, guard_command
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.ask.ask import DELETED
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.reading_sessions import PaperSession
from citewell.types import Answer

LANGS = {"en", "zh"}
Source = Annotated[str | None, argument("The paper; a session has its own.", "[FILE|URL]")]
Interest = Annotated[
    str | None, option("What interests you: gives a reading route; '': through all of it.")
]
Questions = Annotated[Several, option("A question to the paper; may be repeated.", "--ask")]
Selection = Annotated[
    str | None, option("Words of the paper that the first question is about.", metavar="TEXT")
]
Lang = Annotated[str | None, option("Language of report and route: the paper's.", metavar="en|zh")]


def run_paper(
    source: Source = None,
    interest: Interest = None,
    ask: Questions = None,
    select: Selection = None,
    session: Annotated[str | None, option("Go on with this session.")] = None,
    lang: Lang = None,
    title: Annotated[str | None, option("Name of the session: the paper's title.")] = None,
    user: Reader = "local",
    json: Json = False,
) -> None:
    """Read a paper with a guide: a report, a reading route, answers; exit 3 where the last question
    has none.
    """
    if bool(source) == bool(session):
        raise typer.BadParameter(
            "name a paper (FILE or URL), or go on with one by --session ID; one of the two"
        )
    if session and title:
        raise typer.BadParameter(
            "--title is for a new session; `citewell papers rename` changes that of another"
        )
    if lang not in {None, *LANGS}:
        raise typer.BadParameter("--lang takes: en, zh")
    if select and not ask:
        raise typer.BadParameter("--select goes with --ask QUESTION")
    read_paper(
        Asked(
            source=source or "",
            session=session or "",
            interest=interest,
            questions=ask or [],
            select=select or "",
            lang=lang,
            title=title or "",
            user=user,
            json=json,
        )
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line. `interest` None: none is said; empty: the route through all of it."""

    source: str = ""
    session: str = ""
    interest: str | None = None
    questions: list[str] = field(default_factory=list)
    select: str = ""
    lang: str | None = None
    title: str = ""
    user: str = "local"
    json: bool = False

    @property
    def talks(self) -> bool:
        """Whether it goes on as a conversation."""
        return (
            self.interest is None
            and not self.questions
            and not self.json
            and sys.stdin.isatty()
            and sys.stdout.isatty()
        )


def read_paper(asked: Asked) -> None:
    """The whole command; leaves with its exit code."""
    with guard_command(json=asked.json) as settings, asyncio.Runner() as runner:
        app = App(settings)
        runner.run(app.__aenter__())
        talks: list[Talk] = []
        try:
            code = runner.run(_run_requests(app, asked, talks))
            if asked.talks:
                run_conversation(talks[0], runner)
        except (KeyboardInterrupt, CitewellError) as error:
            if talks and not _is_deleted(error):
                _format_resume_hint(talks[0])
            raise
        finally:
            runner.run(app.__aexit__(None, None, None))
    raise typer.Exit(code)


async def _run_requests(app: App, asked: Asked, talks: list[Talk]) -> int:
    """All that the command line asks for; the talk is noted as soon as there is a session."""
    talk = Talk(app, asked.user, asked.lang, asked.json, await _open_session(app, asked))
    talks.append(talk)
    before = len(talk.session.answers)
    for warning in talk.session.warnings:
        print_warning(warning)
    if asked.session:
        await _finish_interrupted(talk, asked)
    if talk.session.current_state == FIRST:
        await talk.report()
    last = await _ask_questions(talk, asked)
    if asked.json:
        shown = talk.session.model_copy(update={"answers": talk.session.answers[before:]})
        print_json(shown)
    elif last is None and not asked.talks and asked.interest is None:
        _describe_question(talk)
        _format_resume_hint(talk)
    return DONE if last is None else EXIT[last.status]


async def _open_session(app: App, asked: Asked) -> PaperSession:
    if asked.session:
        return await service.read_paper_session(app, asked.session, asked.user)
    async with show_progress() as tell:
        if get_stderr().is_terminal:
            await tell(Progress("read", 0, 1, asked.source))
        url = canonicalize_url(asked.source) if "://" in asked.source else ""
        path = "" if url else asked.source
        return await service.begin_paper_session(
            app, path=path, url=url, user_id=asked.user, title=asked.title
        )


async def _finish_interrupted(talk: Talk, asked: Asked) -> None:
    """Where the session is; then what a killed process left: its messages, its passages."""
    if not asked.json:
        show_place(get_stdout(), talk.session)
    for each in talk.session.under_way:
        write_paragraph(
            get_stderr(), f"{UNDER_WAY}: {escape_line_breaks(each.question) or 'the guide'}", "dim"
        )
    for left in talk.session.unfinished:
        write_paragraph(
            get_stderr(),
            f"it was stopped, and is done now: {escape_line_breaks(left.question) or 'the guide'}",
            "dim",
        )
        answer = await talk.resume(left.trace_id)
        if (
            answer is not None
            and talk.session.report
            and answer.data
            and answer.data.get("event") == "report"
        ):
            talk.show_report()
        elif answer is not None:
            talk.show(answer)
    if talk.session.current_state != FIRST and not talk.session.removed:
        beside = BackgroundProgress()
        async with beside.bars():
            await embed_paper(talk, beside)


async def _ask_questions(talk: Talk, asked: Asked) -> Answer | None:
    """The interest, then the questions: the last answer to one of these."""
    last: Answer | None = None
    if asked.interest is not None:
        talk.show(await talk.ask(asked.interest, "plan"))
    for n, question in enumerate(asked.questions):
        await ensure_route(talk)
        last = await talk.ask(question, "ask", asked.select if n == 0 else "")
        if len(asked.questions) > 1 and not asked.json:
            print_text(escape_line_breaks(question), "bold")
        talk.show(last)
    return last


def _describe_question(talk: Talk) -> None:
    """What the guide asks of the reader."""
    report = talk.session.report
    if talk.session.current_state == PENDING_PLAN and report is not None:
        print_text(report.question, "bold")


def _is_deleted(error: BaseException) -> bool:
    """Whether the session is gone."""
    if isinstance(error, CitewellError) and error.code == DELETED:
        return True
    return isinstance(error, NotFound) and error.code == NotFound.code


def _format_resume_hint(talk: Talk) -> None:
    whose = "" if talk.user == "local" else f" --user {shlex.quote(talk.user)}"
    command = f"citewell paper --session {talk.session.session_id}{whose}"
    more = "[--interest TEXT] " if talk.session.current_state == PENDING_PLAN else ""
    write_paragraph(get_stderr(), f"go on with it: {command} {more}[--ask QUESTION]", "dim")
