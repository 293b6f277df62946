"""`citewell list`: collections and the documents in them."""

from __future__ import annotations

from rich.table import Table

from citewell.interfaces.cli.arguments import Collection, Json
from citewell.interfaces.cli.output.terminal import (
    escape_line_breaks,
    format_day,
    get_stdout,
    print_json,
    print_parts,
    print_text,
    style_text,
)
from citewell.interfaces.cli.run import DONE, command
from citewell.runtime.app import App
from citewell.service.library.collections import list_collections
from citewell.store.library.collection_rows import CollectionInfo
from citewell.store.library.documents import DocumentInfo


@command
async def show_collections(app: App, collection: Collection = None, json: Json = False) -> int:
    """List collections and their documents."""
    collections = await list_collections(app, collection)
    documents = [info for each in collections for info in await app.catalog.documents(each.name)]
    if json:
        return print_json({"collections": collections, "documents": documents})
    if not collections:
        print_text("nothing here yet; `citewell add PATH` adds files")
    for each in collections:
        _show_collection(each, [info for info in documents if info.collection == each.name])
    return DONE


def _show_collection(collection: CollectionInfo, documents: list[DocumentInfo]) -> None:
    waiting = collection.chunks - collection.embedded
    sums = f" {collection.documents} documents, {collection.chunks} passages" + (
        f", {waiting} to embed" if waiting else ""
    )
    print_parts((collection.name, "bold"), (sums, "dim"))
    if not get_stdout().is_terminal:
        for info in documents:
            print_text("\t".join(_format_cells(info)), indent=2)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold", ratio=1)
    for info in documents:
        priority = f"  priority {info.priority}" if info.priority else ""
        table.add_row(
            info.doc_id,
            style_text(info.title)
            + style_text(priority, "cyan")
            + style_text(_format_gone(info), "yellow")
            + style_text(f"\n{info.uri}", "dim"),
        )
    get_stdout().print(table)


def _format_gone(info: DocumentInfo) -> str:
    return f"  gone since {format_day(info.gone_since)}" if info.gone_since is not None else ""


def _format_cells(info: DocumentInfo) -> list[str]:
    cells = [info.doc_id, info.title, info.lang, str(info.chunks), info.uri]
    cells += [_format_gone(info).strip()] if info.gone_since is not None else []
    return [escape_line_breaks(cell) for cell in cells]
