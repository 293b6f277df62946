"""A program that writes to a database until it is told to stop or killed; it prints a line for each
thing acknowledged.

Not a test: `test_index_processes.py` runs it. Arguments: file, URL of a database or "", "forever"
(puts, replaces, deletes) or "told" (reads orders "put ADDRESS TEXT", "priority ADDRESS N" and
"delete ADDRESS" from its input).
"""

from __future__ import annotations

import asyncio
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from citewell.store.db import Database


def _shelf() -> ModuleType:
    """The verbs of `conftest.py` beside this file."""
    spec = importlib.util.spec_from_file_location("shelf", Path(__file__).with_name("conftest.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")
    sys.stdout.flush()


async def main(path: Path, url: str, mode: str) -> None:
    async with Database(path, url) as db:
        shelf = _shelf().Shelf(db)
        say("ready")
        if mode == "told":
            for line in iter(sys.stdin.readline, ""):
                order, uri, *text = line.split()
                if order == "put":
                    await shelf.put(uri, " ".join(text))
                    say("done")
                    continue
                info = await shelf.catalog.find("default", uri)
                if order == "priority":
                    await shelf.catalog.set_priority(info.doc_id, int(text[0]))
                else:
                    await shelf.catalog.delete(info.doc_id)
                say("done")
            return
        n = 0
        while True:
            n += 1
            uri = f"doc{n % 7}-{n % 3}"
            say("begin", uri, str(n))
            info = await shelf.put(
                uri, *[f"round {n} part {i}" for i in range(5)], summary=f"round {n} in short"
            )
            say("put", uri, str(n))
            if n % 4 == 0:
                say("begin", uri, "deleted")
                await shelf.catalog.delete(info.doc_id)
                say("deleted", uri, "deleted")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
