"""`citewell collection`: how the documents of a collection are cut, and having them cut otherwise.
Asking changes nothing; only an option does, and then the documents that are there are cut anew at
once.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from citewell.errors import CitewellError
from citewell.interfaces.cli.arguments import Json, argument, option
from citewell.interfaces.cli.output.progress import show_progress
from citewell.interfaces.cli.output.terminal import (
    print_error,
    print_json,
    print_parts,
    print_text,
    print_warning,
)
from citewell.interfaces.cli.run import DONE, ERROR, command
from citewell.runtime.app import App
from citewell.service.library import rechunk as service
from citewell.service.library.collections import create_collection, list_collections
from citewell.service.library.embedding import embed_pending
from citewell.service.library.rechunk import RechunkReport
from citewell.service.library.write_summaries import get_summary_model, write_summaries
from citewell.store.library.collection_rows import CollectionInfo


@command
async def manage_collection(
    app: App,
    name: Annotated[str, argument("The collection.")],
    chunker: Annotated[str | None, option("structure, sentences, fixed or semantic.")] = None,
    tokens: Annotated[int | None, option("Tokens of a passage at most.")] = None,
    overlap: Annotated[int | None, option("Tokens that a passage repeats.")] = None,
    create: Annotated[
        bool, typer.Option("--create", help="Make the collection where it is not there.")
    ] = False,
    write_now: Annotated[
        bool,
        typer.Option(
            "--write-summaries", help="Have the chat model write the summaries of sections now."
        ),
    ] = False,
    json: Json = False,
) -> int:
    """Show how a collection's documents are cut into passages; with an option, cut them
    otherwise.
    """
    changes = {"chunker": chunker, "tokens": tokens, "overlap": overlap}
    wanted = {key: value for key, value in changes.items() if value is not None}
    if create and all(info.name != name for info in await list_collections(app)):
        await create_collection(app, name, wanted)
    report, problem, written = None, None, None
    async with show_progress() as tell:
        if wanted:
            await service.set_chunking(app, name, wanted)
            report = await service.rechunk_collection(app, name, on_progress=tell)
        try:
            written = await write_summaries(app, tell) if write_now else None
            if report is not None or written:
                await embed_pending(app, tell)
        except CitewellError as error:
            problem = error
    info = await app.collections.get(name)
    if json:
        print_json(await _to_json(app, info, report, written))
    else:
        await _show_collection(app, info, report, written)
    if write_now and get_summary_model(app) is None:
        print_warning(
            'no chat model writes summaries: connect one (llm = "openai"), or set '
            'ingest.summaries = "always"'
        )
    for failed in report.failed if report else ():
        print_warning(f"stays as it was: {failed}")
    if problem is not None:
        print_warning(
            "the documents can be found by their words; do the same again when this is solved:"
        )
        print_error(problem)
    return ERROR if problem is not None or (report and report.failed) else DONE


async def _to_json(
    app: App, info: CollectionInfo, report: RechunkReport | None, written: int | None
) -> dict[str, Any]:
    way = await service.get_chunking(app, info.name)
    return {
        **info.model_dump(mode="json"),
        "in_force": way.model_dump(mode="json"),
        "changed": report.changed if report else 0,
        "failed": report.failed if report else [],
        "summaries_written": written or 0,
    }


async def _show_collection(
    app: App, info: CollectionInfo, report: RechunkReport | None, written: int | None
) -> None:
    way = await service.get_chunking(app, info.name)
    print_parts(
        (info.name, "bold"), (f" {info.documents} documents, {info.chunks} passages", "dim")
    )
    for key, value in way.model_dump().items():
        source = "this collection" if key in info.chunking else "settings"
        print_parts(f"{key} = {value}", (f"  ({source})", "dim"), indent=2)
    if report is not None:
        print_text(f"cut anew: {report.changed} of {report.documents} documents")
    if written is not None:
        print_text(f"summaries written: {written}")
