"""`citewell list`: collections and the documents in them."""

from __future__ import annotations

from rich.table import Table

from citewell.interfaces.cli.run import DONE
from citewell.interfaces.cli.terminal import one_line, out, print_json, styled, write
from citewell.runtime.app import App
from citewell.service.library.collections import list_collections
from citewell.service.library.documents import list_documents
from citewell.store.library.documents import CollectionInfo, DocumentInfo


async def show(app: App, collection: str | None, json: bool) -> int:
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
        write(out(), styled("nothing here yet; `citewell add PATH` adds files"))
    for each in collections:
        _show(each, [info for info in documents if info.collection == each.name])
    return DONE


def _show(collection: CollectionInfo, documents: list[DocumentInfo]) -> None:
    console = out()
    waiting = collection.chunks - collection.embedded
    sums = f" {collection.documents} documents, {collection.chunks} passages" + (
        f", {waiting} to embed" if waiting else ""
    )
    write(console, styled(collection.name, "bold") + styled(sums, "dim"))
    if not console.is_terminal:
        for info in documents:
            write(console, styled("\t".join(_cells(info))), indent=2)
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column(overflow="fold", ratio=1)
    for info in documents:
        priority = f"  priority {info.priority}" if info.priority else ""
        table.add_row(
            info.doc_id,
            styled(info.title) + styled(priority, "cyan") + styled(f"\n{info.uri}", "dim"),
        )
    console.print(table)


def _cells(info: DocumentInfo) -> list[str]:
    return [
        one_line(cell) for cell in (info.doc_id, info.title, info.lang, str(info.chunks), info.uri)
    ]
