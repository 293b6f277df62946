"""Every command's name, arguments and help; the work of a command is in the module of its name.

The one rule: only typer is imported here at the top, so that help stays quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell import __version__

app = typer.Typer(
    help="Answers from your own documents, in Chinese and English, with every sentence proved.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # rich's help pages cost 0.3 s of start-up
    pretty_exceptions_enable=False,
)
models_app = typer.Typer(help="The models that come with Citewell.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(models_app, name="models")

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Collection = Annotated[str | None, typer.Option("--collection", "-c", help="Collection of documents.", show_default=False)]
Agent = Annotated[str, typer.Option("--agent", "-a", help="Which agent answers.")]
Session = Annotated[str | None, typer.Option("--session", help="Go on with this session.", show_default=False)]


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"citewell {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


@app.command()
def add(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Files and folders.", show_default=False)],
    collection: Collection = None,
    json: Json = False,
) -> None:
    """Add files and folders to a collection."""
    from citewell.interfaces.cli.add import add as work
    from citewell.interfaces.cli.run import run

    run(lambda app: work(app, paths, collection, json), json=json)


@app.command()
def ask(
    question: Annotated[str, typer.Argument(help="The question.", show_default=False)],
    agent: Agent = "qa",
    collection: Collection = None,
    session: Session = None,
    json: Json = False,
) -> None:
    """Ask one question; exit 3 where there is no answer."""
    from citewell.interfaces.cli.ask import ask as work
    from citewell.interfaces.cli.run import run

    run(lambda app: work(app, question, agent=agent, collection=collection, session=session, json=json), json=json)


@app.command()
def chat(
    agent: Agent = "qa",
    collection: Collection = None,
    session: Session = None,
    json: Json = False,
) -> None:
    """Ask one question after another; Ctrl-D ends."""
    from citewell.interfaces.cli.chat import chat as work

    work(agent=agent, collection=collection, session=session, json=json)


@app.command(name="list")
def list_(collection: Collection = None, json: Json = False) -> None:
    """List collections and their documents."""
    from citewell.interfaces.cli.list import show
    from citewell.interfaces.cli.run import run

    run(lambda app: show(app, collection, json), json=json)


@app.command()
def remove(
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="[DOC_ID|PATH]...", help="Documents.", show_default=False)
    ] = None,
    collection: Collection = None,
    everything: Annotated[bool, typer.Option("--all", help="Remove the whole collection named by -c.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Remove documents, or with -c NAME --all a whole collection."""
    from citewell.interfaces.cli.remove import remove as work
    from citewell.interfaces.cli.run import run

    if everything and (targets or not collection):
        raise typer.BadParameter("--all removes the collection named by -c NAME, and takes no documents")
    if not everything and not targets:
        raise typer.BadParameter("name a document (id or path), or a collection with -c NAME --all")
    run(lambda app: work(app, targets or [], collection, everything=everything, yes=yes, json=json), json=json)


@app.command()
def trace(
    trace_id: Annotated[str | None, typer.Argument(help="A trace; none: the latest ones.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """Show how an answer came about, step by step."""
    from citewell.interfaces.cli.run import run
    from citewell.interfaces.cli.trace import trace as work

    run(lambda app: work(app, trace_id, json), json=json)


@app.command()
def doctor(
    fast: Annotated[bool, typer.Option("--fast", help="Leave out the timing of the models.")] = False,
    json: Json = False,
) -> None:
    """Check this installation: settings, models and their speed, database, disk."""
    from citewell.interfaces.cli.doctor import doctor as work

    work(fast=fast, json=json)


@app.command()
def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.", show_default=False)] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0: any free one.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """Serve the HTTP interface on this machine."""
    from citewell.interfaces.cli.serve import serve as work

    work(host=host, port=port, json=json)


@models_app.command()
def pull(
    verify: Annotated[bool, typer.Option("--verify", help="Read the whole file again, even if it was found right.")] = False,
    json: Json = False,
) -> None:
    """Bring the built-in chat model into the cache folder."""
    from citewell.interfaces.cli.models import pull as work

    work(verify=verify, json=json)


@models_app.command(name="list")
def models_list(json: Json = False) -> None:
    """List the models in use and where they are."""
    from citewell.interfaces.cli.models import show

    show(json)
