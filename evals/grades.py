"""How well the grades of the dual loop tell right answers from wrong ones, and what a threshold keeps and turns away.

    .venv/bin/python evals/grades.py sets/squad2.questions.jsonl sets/cmrc.questions.jsonl --limit 12 --seed 7

Asks each question once, without corrections, and reads both grades from the steps. A draft counts where the evidence's grade
let it be written and at least one of its sentences is proved; it is right where it holds a gold answer. The one rule: what the
threshold in force decided is not looked at, so another one can be judged by the same run.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from citewell.config import load_settings
from citewell.measure import wording
from citewell.measure.calibration import auc
from citewell.service.app import App
from citewell.service.ask import AskRequest, stream
from citewell.service.corpus import loaded
from citewell.service.eval_sets import Options, datasets
from citewell.types import Step

THRESHOLDS = (0.8, 1.0, 1.3, 1.7, 2.0)


@dataclass(frozen=True)
class Graded:
    evidence: float
    answer: float
    right: bool


async def graded(app: App, path: Path, options: Options) -> list[Graded]:
    """The drafts of one set that were proved and graded."""
    (one,) = datasets([path], None, None, options)
    assert one.corpus is not None, f"{path}: no corpus beside it"
    found = []
    async with loaded(app, one.corpus) as corpus:
        for question in one.questions:
            request = AskRequest(
                question=question.question,
                agent="dual_loop",
                collection=corpus.collection,
                history=list(question.history),
                keep=False,
                options={"corrections": 0, "web": False},
            )
            detail: dict[str, object] = {}
            async for event in stream(corpus.app, request):
                if isinstance(event.data, Step):
                    detail |= event.data.detail
            answer, both, draft = detail.get("answer_log_odds"), detail.get("both"), str(detail.get("draft", ""))
            if isinstance(answer, float) and isinstance(both, float):
                right = question.answerable and wording.right(draft, question.answers, question.answer_parts)
                found.append(Graded(both - answer, answer, right))
    return found


def told(drafts: list[Graded]) -> list[str]:
    right = [draft.right for draft in drafts]
    figures = {
        "evidence": [draft.evidence for draft in drafts],
        "answer": [draft.answer for draft in drafts],
        "both": [draft.evidence + draft.answer for draft in drafts],
    }
    lines = [f"{len(drafts)} drafts, {sum(right)} right"]
    for name, values in figures.items():
        area = auc(np.asarray(values), np.asarray(right, dtype=np.float64))
        lines.append(f"AUC of {name}: {'-' if area is None else f'{area:.2f}'}")
    for threshold in THRESHOLDS:
        kept = [value >= threshold for value in figures["both"]]
        lost = sum(r and not k for r, k in zip(right, kept, strict=True))
        away = sum(not r and not k for r, k in zip(right, kept, strict=True))
        lines.append(
            f"both >= {threshold}: turns away {lost} of {sum(right)} right, {away} of {len(right) - sum(right)} others"
        )
    return lines


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", nargs="+", type=Path)
    parser.add_argument("--limit", type=int, default=12, help="so many questions a file, drawn by chance")
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    drafts: list[Graded] = []
    async with App(load_settings()) as app:
        for path in args.questions:
            drafts += await graded(app, path, Options(limit=args.limit, seed=args.seed))
            print(f"{path.name}: {len(drafts)} drafts so far, load {os.getloadavg()[0]:.1f}", flush=True)
    print("\n".join(told(drafts)))


if __name__ == "__main__":
    asyncio.run(main())
