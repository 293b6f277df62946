"""Two questions in one: is each half answered, or said to be missing?

    .venv/bin/python evals/parts.py --show-wrong

`parts.jsonl`: hand-written over the pages of `reader/pages.jsonl`, each part with its gold answer,
or null where the page does not tell it; of the last ten one thing is asked, with a joint in it. The
one rule: a half that is neither answered nor said to be missing is passed over in silence, which is
what this counts.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from citewell.config import load_settings
from citewell.measure import wording
from citewell.measure.intervals import compute_wilson
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.evaluate.corpus import load_corpus
from convert import read, titled, write

HERE = Path(__file__).resolve().parent
FILE, PAGES = HERE / "parts.jsonl", HERE / "reader/pages.jsonl"
Item = dict[str, Any]


async def rate(app: App, collection: str, item: Item, agent: str) -> tuple[dict[str, bool], str]:
    """What holds of the answer, and the answer."""
    answer = await ask(
        app,
        AskRequest(question=item["question"], agent=agent, collection=collection, keep=False),
    )
    said = " ".join(
        sentence.text for sentence in answer.sentences if sentence.verdict != "unsupported"
    )
    held = [part is not None and wording.is_right(said, [part]) for part in item["parts"]]
    refused = answer.status == "refused"
    gap = refused or answer.status == "fallback"
    if len(held) == 1:
        return {"one thing asked: right": held[0], "one thing asked: gap told": gap}, answer.answer
    if None not in item["parts"]:
        return {
            "both told: both right": all(held),
            "both told: one right, the gap told": sum(held) == 1 and gap,
            "both told: refused": refused,
            "both told: a half passed over in silence": not all(held) and not gap,
        }, answer.answer
    return {
        "one told: it is right, the gap told": any(held) and gap and not refused,
        "one told: refused": refused,
        "one told: the other passed over in silence": not gap,
    }, answer.answer


async def _main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--agent", default="qa")
    parser.add_argument("--llm", choices=("none", "builtin"), default="none")
    parser.add_argument("--show-wrong", action="store_true")
    given = parser.parse_args()
    items = read(FILE)
    rated: defaultdict[str, list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="citewell-eval-") as folder:
        pages = [{"doc_id": page["id"], **titled(page)} for page in read(PAGES)]
        write(Path(folder) / "pages.jsonl", pages)
        settings = load_settings(home=Path(folder) / "home", llm=given.llm)
        async with (
            App(settings) as app,
            load_corpus(app, Path(folder) / "pages.jsonl") as corpus,
        ):
            for item in items:
                marks, said = await rate(corpus.app, corpus.collection, item, given.agent)
                for name, mark in marks.items():
                    rated[name].append(mark)
                if given.show_wrong and not next(iter(marks.values())):
                    print(f"{item['id']} {item['question']} {item['parts']}\n    {said}")
    for name, marks_of in rated.items():
        share, n = sum(marks_of) / len(marks_of), len(marks_of)
        low, high = compute_wilson(share, n)
        print(f"{name:44} {sum(marks_of):2} of {n}  {share:.2f} [{low:.2f}, {high:.2f}]")


if __name__ == "__main__":
    asyncio.run(_main())
