"""What one confirmed statement is worth without any model: asked again, in other words, in the
other language, beside a neighbour; and what a wrong one does, with k = 1 and 2.

    python evals/data_loop.py --limit 12 [--data FOLDER]

Over the text2sql set (`evals/text2sql.py`): of each drawn question the English form is confirmed.
`again`: itself; `words`: another English question with the same gold statement; `other language`:
its Chinese form; `neighbour`: a question of the same database with another gold statement. No chat
model is asked (`llm = none`), so that all that is answered follows what was confirmed; the one
rule: the figures are of following alone.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
from collections import defaultdict
from pathlib import Path

from citewell.config import load_settings
from citewell.runtime.app import App
from citewell.service.knowledge.feedback_job import run_pending_jobs
from text2sql import Question, asked, confirm, gold_rows, prepared, questions

SEED = 23


def draw(limit: int) -> list[tuple[Question, dict[str, Question]]]:
    """Questions with others of the same gold statement first, each with what is asked of it."""
    english = [each for each in questions("questions.jsonl", ["en"]) if each.gold]
    chinese = {each.id: each for each in questions("questions.jsonl", ["zh"])}
    groups: dict[str, list[Question]] = defaultdict(list)
    for each in english:
        groups[f"{each.db} {' '.join(each.gold.lower().split())}"].append(each)
    several = sorted((g for g in groups.values() if len(g) > 1), key=lambda g: g[0].id)
    found = []
    for first, *others in random.Random(SEED).sample(several, min(limit, len(several))):
        near = [e for e in english if e.db == first.db and gold_rows(e) != gold_rows(first)]
        neighbour = random.Random(first.id).choice(near)
        asks = {"again": first, "words": others[0], "other language": chinese[first.id]}
        found.append((first, asks | {"neighbour": neighbour}))
    return found


async def measure(
    lender: App, limit: int, confirmations: int, *, wrong: bool
) -> dict[str, list[str]]:
    told: dict[str, list[str]] = defaultdict(list)
    settings = lender.settings
    feedback = settings.feedback.model_copy(update={"confirmations": confirmations})
    for first, asks in draw(limit):
        with tempfile.TemporaryDirectory() as home:
            update = {"home": Path(home), "feedback": feedback}
            async with App(settings.model_copy(update=update), lender=lender) as app:
                await prepared(app)
                await confirm(app, first, asks["neighbour"].gold if wrong else first.gold)
                await run_pending_jobs(app)
                for kind, question in asks.items():
                    if wrong and kind == "neighbour":
                        continue
                    outcome = await asked(app, question)
                    answered = outcome.status == "answered"
                    right = "right" if outcome.right else "wrong"
                    told[kind].append(right if answered else "left to the model")
    return told


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--limit", type=int, default=12)
    parser.add_argument("--data", type=Path, help="read by text2sql.py")
    limit = parser.parse_args().limit
    async with App(load_settings(llm="none")) as lender:
        for title, k, wrong in (
            ("one right confirmation, k = 1", 1, False),
            ("one right confirmation, k = 2", 2, False),
            ("one wrong confirmation, k = 1", 1, True),
            ("one wrong confirmation, k = 2", 2, True),
        ):
            print(title, flush=True)
            for kind, outcomes in (await measure(lender, limit, k, wrong=wrong)).items():
                counts = {each: outcomes.count(each) for each in sorted(set(outcomes))}
                print(f"  {kind}: {counts} of {len(outcomes)}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
