"""Every command's name, arguments and help; the work of a command is in the module of its name.

The one rule: only typer is imported here at the top, so that help stays quick.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from citewell import __version__
from citewell.interfaces.cli.arguments import (
    Agent,
    Collection,
    Docs,
    Json,
    Langs,
    Least,
    Remember,
    Session,
    Since,
    Strategy,
    Types,
    Until,
    User,
    Web,
)
from citewell.interfaces.cli.commands_audit import audit
from citewell.interfaces.cli.commands_backup import backup, restore
from citewell.interfaces.cli.commands_check import check
from citewell.interfaces.cli.commands_data import data_app
from citewell.interfaces.cli.commands_data_ask import data_ask
from citewell.interfaces.cli.commands_jobs import jobs_app
from citewell.interfaces.cli.commands_knowledge import feedback, knowledge_app
from citewell.interfaces.cli.commands_mcp import mcp
from citewell.interfaces.cli.commands_memory import memory_app
from citewell.interfaces.cli.commands_models import models_app
from citewell.interfaces.cli.commands_papers import paper, papers_app
from citewell.interfaces.cli.commands_sites import sites_app
from citewell.interfaces.cli.commands_trace import trace_app
from citewell.interfaces.cli.commands_user import user_app

app = typer.Typer(
    help="Answers from your own documents, in Chinese and English, with every sentence proved.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # rich's help pages cost 0.3 s of start-up
    pretty_exceptions_enable=False,
)
app.add_typer(models_app, name="models")
data_app.command(name="ask")(data_ask)
app.add_typer(data_app, name="data")
app.add_typer(memory_app, name="memory")
app.add_typer(knowledge_app, name="knowledge")
app.add_typer(jobs_app, name="jobs")
app.add_typer(papers_app, name="papers")
app.add_typer(sites_app, name="sites")
app.add_typer(trace_app, name="trace")
app.add_typer(user_app, name="user")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"citewell {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def add(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH|URL...", help="Files, folders, web pages.", show_default=False
        ),
    ],
    collection: Collection = None,
    priority: Annotated[
        int | None,
        typer.Option(help="0 (ordinary) to 10: found before others as good.", show_default=False),
    ] = None,
    follow_links: Annotated[
        bool,
        typer.Option(
            "--follow-links", help="Take what links in a folder lead to outside of it, too."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Add files, folders and web pages to a collection."""
    from citewell.interfaces.cli.add import add_documents as work
    from citewell.interfaces.cli.run import run

    run(
        lambda app: work(app, paths, collection, json, priority=priority, links=follow_links),
        json=json,
    )


@app.command()
def ask(
    question: Annotated[
        str | None, typer.Argument(help="The question.", show_default=False)
    ] = None,
    agent: Agent = "qa",
    collection: Collection = None,
    session: Session = None,
    user: User = "local",
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="TRACE_ID", help="Go on with a question that was stopped.", show_default=False
        ),
    ] = None,
    web: Web = None,
    memory: Remember = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Seconds this question may take.", show_default=False)
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(help="Calls of the chat model it may cost.", show_default=False)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="Tokens of those calls.", show_default=False)
    ] = None,
    docs: Docs = None,
    types: Types = None,
    langs: Langs = None,
    since: Since = None,
    until: Until = None,
    priority: Least = None,
    strategy: Strategy = None,
    json: Json = False,
) -> None:
    """Ask one question; exit 3 where there is no answer."""
    from citewell.interfaces.cli.ask import ask_question as work
    from citewell.interfaces.cli.run import run

    if bool(question) == bool(resume):
        raise typer.BadParameter(
            "ask a question, or go on with a stopped one by --resume TRACE_ID; one of the two"
        )
    options = _narrowed(docs, types, langs, since, until, priority, strategy)
    ways = {
        "web": web,
        "memory": memory,
        "max_seconds": max_seconds,
        "max_calls": max_calls,
        "max_tokens": max_tokens,
    }
    request = {
        "question": question or "",
        "agent": agent,
        "collection": collection,
        "session_id": session,
        "user_id": user,
        "resume": resume,
        "options": options | {name: value for name, value in ways.items() if value is not None},
    }
    run(lambda app: work(app, request, json=json), json=json)


@app.command()
def site(
    urls: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[URL]...", help="Start pages; a session has its own.", show_default=False
        ),
    ] = None,
    question: Annotated[
        str | None,
        typer.Option(
            "--question", "-q", help="The question; without one, a prompt.", show_default=False
        ),
    ] = None,
    allow: Annotated[
        list[str] | None,
        typer.Option(
            help="Host whose links are followed, *.example.com, or '*'; may be repeated.",
            show_default=False,
        ),
    ] = None,
    instruction: Annotated[
        str | None,
        typer.Option(
            help="What to look for and prefer: 'official policies, FAQ pages'.", show_default=False
        ),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option(
            "--collection",
            "-c",
            help="Where the pages are kept: the first host.",
            show_default=False,
        ),
    ] = None,
    session: Session = None,
    user: User = "local",
    max_iterations: Annotated[
        int | None, typer.Option(min=0, help="Rounds of exploring; 5.", show_default=False)
    ] = None,
    max_pages: Annotated[
        int | None, typer.Option(min=1, help="Pages asked for; 100.", show_default=False)
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="Seconds this question may take.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Ask a website: it is explored from its start pages; exit 3 where there is no answer."""
    from citewell.interfaces.cli.site import ask_site as work

    limits = {"max_iterations": max_iterations, "max_pages": max_pages, "max_seconds": max_seconds}
    said = {
        "start_urls": urls or None,
        "allowed_domains": allow,
        "instruction": instruction,
    } | limits
    if not (urls or session or collection):
        raise typer.BadParameter(
            "name start pages: citewell site https://docs.example.com -q QUESTION"
        )
    options = {name: value for name, value in said.items() if value is not None}
    work(question, options, collection=collection, session=session, user=user, json=json)


app.command()(paper)
app.command()(feedback)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for.", show_default=False)],
    collections: Annotated[
        list[str] | None,
        typer.Option("--collection", "-c", help="Collection; may be repeated.", show_default=False),
    ] = None,
    docs: Docs = None,
    types: Types = None,
    langs: Langs = None,
    since: Since = None,
    until: Until = None,
    priority: Least = None,
    strategy: Strategy = None,
    k: Annotated[int, typer.Option("-k", min=1, max=100, help="Passages shown.")] = 10,
    recency: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=5,
            help="What being of today adds; 0: nothing, 1: clearly.",
            show_default=False,
        ),
    ] = None,
    diversity: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="0: the best, 1: those least alike.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Find passages, without an answer; exit 3 where there are none."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.search import search_passages as work

    options = _narrowed(docs, types, langs, since, until, priority, strategy)
    options |= {
        "k": k,
        "collections": collections or [],
        "recency": recency,
        "diversity": diversity,
    }
    run(lambda app: work(app, query, options, json), json=json)


app.command()(check)


def _narrowed(
    docs: list[str] | None,
    types: list[str] | None,
    langs: list[str] | None,
    since: str | None,
    until: str | None,
    priority: int | None,
    strategy: str | None,
) -> dict[str, Any]:
    """The options of a search that were given, by their names in the API."""
    given: dict[str, Any] = {
        "doc_ids": docs,
        "types": types,
        "langs": langs,
        "since": since,
        "until": until,
    }
    given |= {"least_priority": priority, "strategy": strategy}
    return {name: value for name, value in given.items() if value is not None}


@app.command()
def chat(
    agent: Agent = "qa",
    collection: Collection = None,
    session: Session = None,
    user: User = "local",
    json: Json = False,
) -> None:
    """Ask one question after another; Ctrl-D ends."""
    from citewell.interfaces.cli.chat import run_chat as work

    work(agent=agent, collection=collection, session=session, user=user, json=json)


@app.command(name="list")
def list_(collection: Collection = None, json: Json = False) -> None:
    """List collections and their documents."""
    from citewell.interfaces.cli.list import show_collections
    from citewell.interfaces.cli.run import run

    run(lambda app: show_collections(app, collection, json), json=json)


@app.command()
def collection(
    name: Annotated[str, typer.Argument(help="The collection.", show_default=False)],
    chunker: Annotated[
        str | None,
        typer.Option(help="structure, sentences, fixed or semantic.", show_default=False),
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Tokens of a passage at most.", show_default=False)
    ] = None,
    overlap: Annotated[
        int | None, typer.Option(help="Tokens that a passage repeats.", show_default=False)
    ] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the collection where it is not there.")
    ] = False,
    write_summaries: Annotated[
        bool,
        typer.Option(
            "--write-summaries", help="Have the chat model write the summaries of sections now."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Show how a collection's documents are cut into passages; with an option, cut them
    otherwise.
    """
    from citewell.interfaces.cli.collection import manage_collection as work
    from citewell.interfaces.cli.run import run

    changes = {"chunker": chunker, "tokens": tokens, "overlap": overlap}
    run(
        lambda app: work(app, name, changes, create=create, write_now=write_summaries, json=json),
        json=json,
    )


@app.command()
def chunks(
    file: Annotated[str, typer.Argument(help="A file.", show_default=False)],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            "-s",
            help="structure, sentences, fixed or semantic; several are compared.",
        ),
    ] = None,
    tokens: Annotated[
        int | None, typer.Option(help="Tokens of a passage at most.", show_default=False)
    ] = None,
    overlap: Annotated[
        int | None, typer.Option(help="Tokens that a passage repeats.", show_default=False)
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="A table of all strategies instead of the passages.")
    ] = False,
    summaries: Annotated[
        bool, typer.Option("--summaries", help="Show the summaries of sections too.")
    ] = False,
    json: Json = False,
) -> None:
    """Preview the passages that a file would be cut into; nothing is stored."""
    from citewell.interfaces.cli.chunks import preview_chunks as work

    work(
        file,
        strategies=strategy or [],
        tokens=tokens,
        overlap=overlap,
        compare=compare,
        summaries=summaries,
        json=json,
    )


@app.command()
def remove(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOC_ID|PATH]...", help="Documents.", show_default=False),
    ] = None,
    collection: Collection = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove the whole collection named by -c.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Remove documents, or with -c NAME --all a whole collection."""
    from citewell.interfaces.cli.remove import remove_documents as work
    from citewell.interfaces.cli.run import run

    if everything and (targets or not collection):
        raise typer.BadParameter(
            "--all removes the collection named by -c NAME, and takes no documents"
        )
    if not everything and not targets:
        raise typer.BadParameter("name a document (id or path), or a collection with -c NAME --all")
    run(
        lambda app: work(app, targets or [], collection, everything=everything, yes=yes, json=json),
        json=json,
    )


@app.command(name="eval")
def evaluate(
    questions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUESTIONS.jsonl...", help="Questions with their gold.", show_default=False
        ),
    ] = None,
    corpus: Annotated[
        str | None,
        typer.Option(help="Documents to ask on: a .jsonl file or a folder.", show_default=False),
    ] = None,
    collection: Collection = None,
    agent: Agent = "qa",
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="So many questions a file, by chance.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Which ones --limit draws.")] = 1,
    only: Annotated[
        str | None,
        typer.Option(metavar="retrieval", help="Search only, no answers.", show_default=False),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option("--strategy", "-s", help="How to search.", show_default=False)
    ] = None,
    json: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write the report; - prints it.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="OUT", help="Write the report as one page.")
    ] = None,
    ablate: Annotated[
        bool,
        typer.Option(
            "--ablate",
            help="What each loop is worth: qa, dual_loop without either loop, all of it.",
        ),
    ] = False,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Fit the confidences on these questions.")
    ] = False,
    save: Annotated[
        bool, typer.Option("--save", help="With --calibrate: use what was fitted in this library.")
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Read and cut the corpus again.")] = False,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="OLD.json NEW.json", help="Compare two reports.", show_default=False),
    ] = None,
) -> None:
    """Measure search and answers on questions whose answers are known."""
    from citewell.interfaces.cli.evaluate import Choices, run_evaluation

    if bool(questions) == bool(compare):
        raise typer.BadParameter(
            "name files of questions, or two reports with --compare OLD.json NEW.json"
        )
    if corpus and collection:
        raise typer.BadParameter("--corpus and --collection exclude each other")
    if only not in {None, "retrieval"}:
        raise typer.BadParameter("--only takes: retrieval")
    if ablate and (compare or calibrate or only or html):
        raise typer.BadParameter(
            "--ablate compares its own runs of answers; it writes --json, and takes no --html"
        )
    if save and not calibrate:
        raise typer.BadParameter("--save goes with --calibrate")
    ways = {
        "agent": agent,
        "limit": limit,
        "seed": seed,
        "only": only or "",
        "strategy": strategy,
        "fresh": fresh,
    }
    run_evaluation(
        Choices(
            questions or [],
            compare,
            corpus,
            collection,
            ways,
            json,
            html,
            calibrate=calibrate,
            keep=save,
            ablate=ablate,
        )
    )


@app.command()
def doctor(
    fast: Annotated[
        bool, typer.Option("--fast", help="Leave out the timing of the models.")
    ] = False,
    json: Json = False,
) -> None:
    """Check this installation: settings, models and their speed, database, disk."""
    from citewell.interfaces.cli.doctor import run_doctor as work

    work(fast=fast, json=json)


@app.command()
def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port; 0: any free one.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Serve the web page, the API and the chat element on this machine."""
    from citewell.interfaces.cli.serve import serve_http as work

    work(host=host, port=port, json=json)


app.command()(mcp)
app.command()(audit)
app.command()(backup)
app.command()(restore)
