"""`citewell remove`: documents, or a whole collection. A collection is not removed unasked."""

from __future__ import annotations

from typing import Annotated

import typer

from citewell.interfaces.cli.arguments import Collection, Json, Yes, argument
from citewell.interfaces.cli.output.terminal import (
    ask_confirmation,
    get_stderr,
    print_json,
    print_text,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.library.collections import delete_collection
from citewell.service.library.documents import delete_document, find_documents


@command
async def remove_documents(
    app: App,
    targets: Annotated[list[str] | None, argument("Documents.", "[DOC_ID|PATH]...")] = None,
    collection: Collection = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Remove the whole collection named by -c.")
    ] = False,
    yes: Yes = False,
    json: Json = False,
) -> int:
    """Remove documents, or with -c NAME --all a whole collection."""
    if everything and (targets or not collection):
        raise typer.BadParameter(
            "--all removes the collection named by -c NAME, and takes no documents"
        )
    if not everything and not targets:
        raise typer.BadParameter("name a document (id or path), or a collection with -c NAME --all")
    targets = targets or []
    if everything and collection:
        return await _remove_collection(app, collection, yes=yes, json=json)
    meant = [info for target in targets for info in await find_documents(app, target, collection)]
    # an id and a path may mean the same document
    found = list({info.doc_id: info for info in meant}.values())
    await delete_document(app, *[info.doc_id for info in found])
    if json:
        return print_json({"removed": found})
    for info in found:
        print_text(f"removed {info.doc_id} {info.uri}")
    return DONE


async def _remove_collection(app: App, name: str, *, yes: bool, json: bool) -> int:
    info = await app.collections.get(name)
    if not yes and not ask_confirmation(
        f"Remove collection {info.name} with {info.documents} documents? [y/N] ", "removes"
    ):
        write_paragraph(get_stderr(), "nothing removed")
        return ERROR
    await delete_collection(app, name)
    if json:
        return print_json({"removed": [], "collection": info})
    print_text(f"removed collection {info.name} ({info.documents} documents)")
    return DONE
