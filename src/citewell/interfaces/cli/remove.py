"""`citewell remove`: documents, or a whole collection. The one rule: a collection is not removed
unasked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Collection, Json, Yes
from citewell.interfaces.cli.run import DONE, ERROR, run
from citewell.interfaces.cli.terminal import (
    ask_confirmation,
    get_stderr,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.library.collections import delete_collection, get_collection
from citewell.service.library.documents import delete_document, find_documents


def run_remove(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DOC_ID|PATH]...", help="Documents.", show_default=False),
    ] = None,
    collection: Collection = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove the whole collection named by -c.")
    ] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Remove documents, or with -c NAME --all a whole collection."""
    if everything and (targets or not collection):
        raise typer.BadParameter(
            "--all removes the collection named by -c NAME, and takes no documents"
        )
    if not everything and not targets:
        raise typer.BadParameter("name a document (id or path), or a collection with -c NAME --all")
    run(
        lambda app: remove_documents(
            app, targets or [], collection, everything=everything, yes=yes, json=json
        ),
        json=json,
    )


async def remove_documents(
    app: App,
    targets: Sequence[str],
    collection: str | None,
    *,
    everything: bool,
    yes: bool,
    json: bool,
) -> int:
    if everything and collection:
        return await _remove_collection(app, collection, yes=yes, json=json)
    meant = [info for target in targets for info in await find_documents(app, target, collection)]
    # an id and a path may mean the same document
    found = list({info.doc_id: info for info in meant}.values())
    await delete_document(app, *[info.doc_id for info in found])
    if json:
        print_json({"removed": [info.model_dump(mode="json") for info in found]})
        return DONE
    for info in found:
        write_paragraph(get_stdout(), style_text(f"removed {info.doc_id} {info.uri}"))
    return DONE


async def _remove_collection(app: App, name: str, *, yes: bool, json: bool) -> int:
    info = await get_collection(app, name)
    if not yes and not ask_confirmation(
        f"Remove collection {info.name} with {info.documents} documents? [y/N] ", "removes"
    ):
        write_paragraph(get_stderr(), style_text("nothing removed"))
        return ERROR
    await delete_collection(app, name)
    if json:
        print_json({"removed": [], "collection": info.model_dump(mode="json")})
    else:
        write_paragraph(
            get_stdout(), style_text(f"removed collection {info.name} ({info.documents} documents)")
        )
    return DONE
