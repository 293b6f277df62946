"""`citewell paper`: a paper read with a guide. The one rule: Ctrl-C ends the answer in the making,
never the session.

What was left undone by a process that was killed is done first. The report is made while the
passages are embedded beside it.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from dataclasses import dataclass, field

import typer

from citewell.agents.paper_states import FIRST, PENDING_PLAN
from citewell.errors import CitewellError, NotFound
from citewell.fetch.fetcher import canonical
from citewell.interfaces.cli.ask import EXIT
from citewell.interfaces.cli.paper_reading import Beside, Talk, embed, with_route
from citewell.interfaces.cli.paper_show import UNDER_WAY, show_place
from citewell.interfaces.cli.paper_talk import converse
from citewell.interfaces.cli.progress import watching
from citewell.interfaces.cli.run import DONE, boundary
from citewell.interfaces.cli.terminal import err, one_line, out, print_json, styled, warn, write
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.ask.ask import DELETED
from citewell.service.papers import reading_sessions as service
from citewell.service.papers.reading_sessions import PaperSession
from citewell.types import Answer


@dataclass(frozen=True, slots=True)
class Asked:
    """The command line. `interest` None: none is said; empty: the route through all of the
    paper.
    """

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


def paper(asked: Asked) -> None:
    """The whole command; leaves with its exit code."""
    with boundary(json=asked.json) as settings, asyncio.Runner() as runner:
        app = App(settings)
        runner.run(app.__aenter__())
        talks: list[Talk] = []
        try:
            code = runner.run(_work(app, asked, talks))
            if asked.talks:
                converse(talks[0], runner)
        except (KeyboardInterrupt, CitewellError) as error:
            if talks and not _deleted(error):
                _how_to_go_on(talks[0])
            raise
        finally:
            runner.run(app.__aexit__(None, None, None))
    raise typer.Exit(code)


async def _work(app: App, asked: Asked, talks: list[Talk]) -> int:
    """Everything that the command line asks for; the talk is noted as soon as there is a
    session.
    """
    talk = Talk(app, asked.user, asked.lang, asked.json, await _opened(app, asked))
    talks.append(talk)
    before = len(talk.session.answers)
    for warning in talk.session.warnings:
        warn(warning)
    if asked.session:
        await _caught_up(talk, asked)
    if talk.session.current_state == FIRST:
        await talk.report()
    last = await _asked(talk, asked)
    if asked.json:
        shown = talk.session.model_copy(update={"answers": talk.session.answers[before:]})
        print_json(shown.model_dump(mode="json"))
    elif last is None and not asked.talks and asked.interest is None:
        _tell_question(talk)
        _how_to_go_on(talk)
    return DONE if last is None else EXIT[last.status]


async def _opened(app: App, asked: Asked) -> PaperSession:
    if asked.session:
        return await service.read(app, asked.session, asked.user)
    async with watching() as tell:
        if err().is_terminal:
            await tell(Progress("read", 0, 1, asked.source))
        url = canonical(asked.source) if "://" in asked.source else ""
        path = "" if url else asked.source
        return await service.begin(app, path=path, url=url, user_id=asked.user, title=asked.title)


async def _caught_up(talk: Talk, asked: Asked) -> None:
    """Where the session is; then what a killed process left: its messages, its passages."""
    if not asked.json:
        show_place(out(), talk.session)
    for each in talk.session.under_way:
        write(err(), styled(f"{UNDER_WAY}: {one_line(each.question) or 'the guide'}", "dim"))
    for left in talk.session.unfinished:
        write(
            err(),
            styled(
                f"it was stopped, and is done now: {one_line(left.question) or 'the guide'}", "dim"
            ),
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
        beside = Beside()
        async with beside.bars():
            await embed(talk, beside)


async def _asked(talk: Talk, asked: Asked) -> Answer | None:
    """The interest, then the questions: the last answer to one of these."""
    last: Answer | None = None
    if asked.interest is not None:
        talk.show(await talk.ask(asked.interest, "plan"))
    for n, question in enumerate(asked.questions):
        await with_route(talk)
        last = await talk.ask(question, "ask", asked.select if n == 0 else "")
        if len(asked.questions) > 1 and not asked.json:
            write(out(), styled(one_line(question), "bold"))
        talk.show(last)
    return last


def _tell_question(talk: Talk) -> None:
    """What the guide asks of the reader."""
    report = talk.session.report
    if talk.session.current_state == PENDING_PLAN and report is not None:
        write(out(), styled(report.question, "bold"))


def _deleted(error: BaseException) -> bool:
    """Whether the session is gone."""
    if isinstance(error, CitewellError) and error.code == DELETED:
        return True
    return isinstance(error, NotFound) and error.code == NotFound.code


def _how_to_go_on(talk: Talk) -> None:
    whose = "" if talk.user == "local" else f" --user {shlex.quote(talk.user)}"
    command = f"citewell paper --session {talk.session.session_id}{whose}"
    more = "[--interest TEXT] " if talk.session.current_state == PENDING_PLAN else ""
    write(err(), styled(f"go on with it: {command} {more}[--ask QUESTION]", "dim"))
