"""`citewell remove`: documents, or a whole collection. The one rule: a collection is not removed
unasked.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from citewell.errors import InvalidInput
from citewell.interfaces.cli.run import DONE, ERROR
from citewell.interfaces.cli.terminal import (
    get_stderr,
    get_stdout,
    print_json,
    strip_controls,
    style_text,
    write_paragraph,
)
from citewell.runtime.app import App
from citewell.service.library.collections import delete_collection, get_collection
from citewell.service.library.documents import delete_document, find_documents


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
    if not yes and not _ask_confirmation(
        f"Remove collection {info.name} with {info.documents} documents? [y/N] "
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


def _ask_confirmation(question: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("there is no terminal to ask on", hint="--yes removes without asking")
    sys.stderr.write(strip_controls(question))
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes", "是"}
