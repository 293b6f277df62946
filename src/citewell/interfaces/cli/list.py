"""`citewell list`: collections and the documents in them."""

from __future__ import annotations

from rich.table import Table

from citewell.interfaces.cli.arguments import Collection, Json
from citewell.interfaces.cli.run import DONE, run
from citewell.interfaces.cli.terminal import (
    escape_line_breaks,
    get_stdout,
    print_json,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.library.collections import list_collections
from citewell.service.library.documents import list_documents
from citewell.store.library.collection_rows import CollectionInfo
from citewell.store.library.documents import DocumentInfo


def run_list(collection: Collection = None, json: Json = False) -> None:
    """List collections and their documents."""
    run(lambda app: show_collections(app, collection, json), json=json)


async def show_collections(app: App, collection: str | None, json: bool) -> int:
    collections = await list_collections(app, collection)
    documents = [info for each in collections for info in await list_documents(app, each.name)]
    if json:
        print_json(
            {
                "collections": [each.model_dump(mode="json") for each in collections],
                "documents": [info.model_dump(mode="json") for info in documents],
            }
        )
        return DONE
    if not collections:
        write_paragraph(
            get_stdout(), style_text("nothing here yet; `citewell add PATH` adds files")
        )
    for each in collections:
        _show_collection(each, [info for info in documents if info.collection == each.name])
    return DONE


def _show_collection(collection: CollectionInfo, documents: list[DocumentInfo]) -> None:
    console = get_stdout()
    waiting = collection.chunks - collection.embedded
    sums = f" {collection.documents} documents, {collection.chunks} passages" + (
        f", {waiting} to embed" if waiting else ""
    )
    write_paragraph(console, style_text(collection.name, "bold") + style_text(sums, "dim"))
    if not console.is_terminal:
        for info in documents:
            write_paragraph(console, style_text("\t".join(_format_cells(info))), indent=2)
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
            + style_text(f"\n{info.uri}", "dim"),
        )
    console.print(table)


def _format_cells(info: DocumentInfo) -> list[str]:
    return [
        escape_line_breaks(cell)
        for cell in (info.doc_id, info.title, info.lang, str(info.chunks), info.uri)
    ]
