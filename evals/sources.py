"""Which place a question belongs to: tables (and which), documents, or neither, as `auto` chooses.

    python evals/sources.py [--show-wrong] [--documents]

`sources.jsonl`: 116 questions in both languages, written before the choice was made by meaning,
over `samples/library` and the three files of `samples/data`, with words that documents and tables
share. `--documents`: the three files are added as documents, like all others. A question that
neither answers is right where documents are asked, which refuse it. No chat model is asked. The one
rule: the choice is `choose_table_source`'s, as in every `auto` question.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from citewell.config import load_settings
from citewell.runtime.app import App
from citewell.service.ask.begin_run import begin_run
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.service.tables.rate_tables import WORTH, rate_tables
from citewell.service.tables.sources import add_source

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent / "samples"
TABLES = "tables:"


async def main() -> None:
    items = [json.loads(line) for line in (HERE / "sources.jsonl").read_text("utf-8").splitlines()]
    right: dict[str, list[bool]] = defaultdict(list)
    proposed: dict[str, list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as home:
        async with App(load_settings(home=Path(home))) as app:
            folders, files = [str(SAMPLES / "library")], sorted((SAMPLES / "data").glob("*.[xc]*"))
            if "--documents" in sys.argv:
                folders += map(str, files)
            else:
                for path in files:
                    await add_source(app, str(path))
            await add_paths(app, folders, app.settings.collection)
            await embed_pending(app)
            for item in items:
                request = AskRequest(question=item["question"], agent="auto", keep=False)
                run = await begin_run(app, request)
                told = TABLES + (run.options.source or "") if run.agent == "data" else "documents"
                wanted = item["to"] if item["to"] != "neither" else "documents"
                kind = item["to"].partition(":")[0]
                for key in ("all", item["lang"], kind):
                    right[key].append(told == wanted)
                place = await rate_tables(app, item["question"])
                proposed[kind].append(place is not None and place.odds >= WORTH)
                if told != wanted and "--show-wrong" in sys.argv:
                    print(f"{item['to']} -> {told}: {item['question']}")
    for key, found in right.items():
        print(f"{key}: {sum(found)} of {len(found)} right ({sum(found) / len(found):.2f})")
    for key, found in proposed.items():
        print(f"tables would be proposed, {key}: {sum(found)} of {len(found)}")


if __name__ == "__main__":
    asyncio.run(main())
