"""`citewell check`: name, arguments and help. The one rule: as in commands.py, the work is imported
when it is done.
"""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Json


def check(
    draft: Annotated[
        str | None,
        typer.Argument(
            metavar="DRAFT.md|-",
            help="A text, .md or .txt; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    collections: Annotated[
        list[str] | None,
        typer.Option("--collection", "-c", help="Held against this collection; may be repeated."),
    ] = None,
    pairs: Annotated[
        str | None,
        typer.Option(
            metavar="FILE.jsonl",
            help='Instead of a text: lines {"id", "claim", "evidence": [texts]}.',
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Hold a text against documents, sentence by sentence; exit 3 where a sentence of a text is not
    entailed.
    """
    from citewell.interfaces.cli.check import check_draft, check_pairs_file
    from citewell.interfaces.cli.run import run

    if bool(draft) == bool(pairs):
        raise typer.BadParameter(
            "name a text (DRAFT.md, or - for standard input), or pairs with --pairs FILE.jsonl"
        )
    if pairs and collections:
        raise typer.BadParameter("--pairs brings its own evidence, and takes no collection")
    if pairs:
        run(lambda app: check_pairs_file(app, pairs, json=json), json=json)
    else:
        run(lambda app: check_draft(app, draft or "", collections or [], json=json), json=json)
