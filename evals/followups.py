"""What the data agent makes of follow-ups ("And the cheapest?", "按月份呢？", "only Lyon") over the
three sample sources, both languages: conversations of `followups.jsonl`, each in a session of its
own, no source named.

    python evals/followups.py --part seen --replies replies.jsonl --log asked.jsonl

`part`: `seen` was read while follow-ups were mended, `held` was not. Right: the rows of one of the
item's statements, further columns allowed. `after right`: of follow-ups all of whose earlier turns
were right. `sure and wrong`: a confidence of 0.8 and more.

The one rule: every question goes through `service.ask`, as a user's does.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from citewell.config import load_settings
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.tables.query_tables import query_tables
from citewell.service.tables.sources import add_source
from citewell.types import Answer
from text2sql import Replies

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parent / "samples" / "data"
SOURCES = ("costs.xlsx", "orders.csv", "费用.xlsx")
SURE = 0.8


def has_rows(gold: Sequence[Sequence[Any]], got: Sequence[Sequence[Any]]) -> bool:
    """Whether some columns of `got` have the rows of `gold`, in any order."""
    if len(gold) != len(got) or not gold:
        return len(gold) == len(got)
    want = sorted([tuple(map(_format_value, row)) for row in gold])
    rows = [tuple(map(_format_value, row)) for row in got]
    return any(
        sorted(tuple(row[at] for at in order) for row in rows) == want
        for order in itertools.permutations(range(len(rows[0])), len(gold[0]))
    )


def _format_value(value: Any) -> str:
    try:
        return f"{float(value):.6g}"
    except (TypeError, ValueError):
        return str(value)


async def ask_turn(app: App, item: dict[str, Any], turn: dict[str, Any], session: str) -> Answer:
    request = AskRequest(question=turn["ask"], agent="data", session_id=session or None)
    answer = await ask(app, request)
    data = answer.data or {}
    golds = [await query_tables(app, item["source"], sql) for sql in turn["sql"]]
    turn |= {
        "right": answer.status == "answered"
        and any(has_rows(gold.data.rows, data.get("rows", [])) for gold in golds),
        "status": answer.status,
        "asked": data.get("source", ""),
        "written": data.get("sql", ""),
        "answer": answer.answer,
        "confidence": answer.confidence,
    }
    return answer


async def run_conversation(app: App, item: dict[str, Any]) -> None:
    session = ""
    for turn in item["turns"]:
        started = time.perf_counter()
        session = (await ask_turn(app, item, turn, session)).session_id or session
        turn["seconds"] = round(time.perf_counter() - started, 1)
        print("+" if turn["right"] else "-", end="", flush=True)
    print(" ", end="", flush=True)


def print_shares(items: Sequence[dict[str, Any]]) -> None:
    counts: Counter[str] = Counter()
    for item in items:
        before = True
        for at, turn in enumerate(item["turns"]):
            kind = "follow-up" if at else "first"
            counts.update([kind])
            counts[f"{kind} right"] += turn["right"]
            counts[f"{kind} sure and wrong"] += not turn["right"] and turn["confidence"] >= SURE
            if at and before:
                counts.update(["after right"])
                counts["after right right"] += turn["right"]
            before = before and turn["right"]
    for kind in ("first", "follow-up", "after right"):
        print(f"\n{kind}: {counts[f'{kind} right']} of {counts[kind]} right", end="")
        if kind != "after right":
            print(f", {counts[f'{kind} sure and wrong']} sure and wrong", end="")
    print()


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", choices=["seen", "held", "all"], default="all")
    parser.add_argument("--sources", nargs="+", help="only conversations about these")
    parser.add_argument("--log", type=Path, help="every conversation, as JSON lines")
    parser.add_argument("--replies", type=Path, help="kept replies of the model, as of text2sql.py")
    given = parser.parse_args()
    lines = (HERE / "followups.jsonl").read_text("utf-8").splitlines()
    items = [
        item
        for item in map(json.loads, lines)
        if given.part in {"all", item["part"]}
        and item["source"] in (given.sources or [item["source"]])
    ]
    with tempfile.TemporaryDirectory() as home:
        async with App(load_settings().model_copy(update={"home": Path(home)})) as app:
            for name in SOURCES:
                await add_source(app, str(SAMPLES / name))
            if given.replies and app.llm is not None:
                vars(app)["llm"] = Replies(app.llm, given.replies)
            for item in items:
                await run_conversation(app, item)
    print_shares(items)
    if given.log:
        rows = [json.dumps(item, ensure_ascii=False) + "\n" for item in items]
        given.log.write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
