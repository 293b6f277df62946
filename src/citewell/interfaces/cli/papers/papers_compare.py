"""`citewell papers compare`: papers by questions, each cell a proved answer with its place. A paper
is a file, an address or a session that reads one; one that the user does not read yet gets a
session, which stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from rich.console import Console

from citewell.errors import InvalidInput
from citewell.fetch.urls import canonicalize_url
from citewell.interfaces.cli.arguments import Json, Reader, argument, option
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    print_text,
    write_paragraph,
)
from citewell.interfaces.cli.output.text_file import write_file
from citewell.interfaces.cli.papers.paper_reading import embed_documents
from citewell.interfaces.cli.run import DONE, NO_ANSWER, command
from citewell.runtime.app import App
from citewell.runtime.progress import Progress
from citewell.service.papers.compare_papers import ComparedPaper, Comparison, stream_rows
from citewell.service.papers.export_comparison import RENDERERS, describe_cell
from citewell.service.papers.export_wording import format_place, get_words
from citewell.service.papers.guide_job import submit_report
from citewell.service.papers.reading_sessions import (
    PaperSession,
    begin_paper_session,
    list_papers,
    read_paper_session,
)
from citewell.text.sentences import detect_language

SESSION = "ses_"
Papers = Annotated[list[str], argument("The papers.", "FILE|URL|SESSION...")]
Questions = Annotated[list[str], option("Asked of each; may be repeated.", "--question", "-q")]
Output = Annotated[str | None, option("Write it: .md, .csv, or .bib.", metavar="FILE")]


@command
async def compare(
    app: App,
    papers: Papers,
    questions: Questions,
    output: Output = None,
    user: Reader = "local",
    json: Json = False,
) -> int:
    """Compare papers: a table of papers by questions; exit 3 where no cell has an answer."""
    kind = _get_format(output) if output else ""
    known = {row.session_id for row in await list_papers(app, user)}
    sessions = [await _open_paper(app, paper, user) for paper in papers]
    for new in {session.session_id for session in sessions} - known:
        await submit_report(app, new)  # which a server makes, so that its page has one
    await _embed_papers(app, sessions)
    rows: list[ComparedPaper] = []
    async with show_progress() as tell:
        ids = [session.session_id for session in sessions]
        async for row in stream_rows(app, ids, questions, user):
            rows.append(row)
            await tell(Progress("ask", len(rows), len(ids), row.title))
    made = Comparison(questions=questions, papers=rows)
    written = write_file(output, RENDERERS[kind][0](made), tuple(RENDERERS)) if output else None
    if json:
        print_json(made.model_dump(mode="json") | ({"file": str(written)} if written else {}))
    else:
        _show_comparison(get_stdout(), made)
        if written:
            print_text(f"written to {written}")
    answered = any(cell.status in {"answered", "fallback"} for row in rows for cell in row.cells)
    return DONE if answered else NO_ANSWER


def _get_format(output: str) -> str:
    """Raises InvalidInput before anything is asked."""
    kind = output.rpartition(".")[2].lower()
    if kind not in RENDERERS:
        raise InvalidInput(
            f"{output}: not a name that says how", hint="name it NAME.md, NAME.csv or NAME.bib"
        )
    return kind


async def _open_paper(app: App, paper: str, user: str) -> PaperSession:
    if paper.startswith(SESSION):
        return await read_paper_session(app, paper, user)
    url = canonicalize_url(paper) if "://" in paper else ""
    return await begin_paper_session(
        app, path="" if url else paper, url=url, user_id=user, reuse=True
    )


async def _embed_papers(app: App, sessions: Sequence[PaperSession]) -> None:
    async with show_progress() as tell:
        doc_ids = [each.paper.doc_id for each in sessions]
        await embed_documents(app, doc_ids, tell, "the papers")


def _show_comparison(console: Console, made: Comparison) -> None:
    """Question by question, a line for each paper: a table of sentences fits no terminal."""
    words = get_words(detect_language(" ".join(made.questions)))
    for k, question in enumerate(made.questions):
        write_paragraph(console, escape_line_breaks(question), "bold")
        for row in made.papers:
            cell = row.cells[k]
            write_paragraph(console, escape_line_breaks(row.title), "cyan", indent=2)
            write_paragraph(console, escape_line_breaks(describe_cell(cell, words)), indent=4)
            places = dict.fromkeys(format_place(c.section, c.page, words) for c in cell.citations)
            if any(places):
                write_paragraph(console, "; ".join(places), "dim", indent=4)
        console.print()
