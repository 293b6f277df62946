"""Ways to search, side by side: ours against words alone, vectors alone, and plain rank fusion.

    .venv/bin/python evals/convert.py --out sets
    .venv/bin/python evals/compare.py sets/{cranfield,xquad-zh-on-en}.questions.jsonl

Asks the questions of each file with each strategy, on the corpus beside it, and prints one Markdown
row a strategy. The one rule: all strategies get the same corpus, the same questions and the same
vectors; the best figure of a column is bold.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from pathlib import Path

from citewell.config import load_settings
from citewell.measure.report import Group, Report
from citewell.runtime.app import App
from citewell.service.evaluate.eval_sets import Options, load_datasets
from citewell.service.evaluate.evaluate import Evaluation

STRATEGIES = ("words_only", "vectors_only", "rrf", "direct_chunk_search", "hierarchical_search")
FIGURES = ("hit@1", "hit@5", "recall@10", "mrr@10", "ndcg@10")


async def measured(app: App, path: Path, strategy: str, limit: int | None) -> Report:
    options = Options(strategy=strategy, only="retrieval", limit=limit)
    evaluation = Evaluation(
        app,
        load_datasets([path], None, None, options),
        options,
        told=lambda text: print(text, file=sys.stderr),
    )
    await evaluation.run()
    return evaluation.report()


def rows(name: str, reports: dict[str, Report], group: str) -> list[str]:
    """A Markdown row for each strategy that was measured."""
    groups: dict[str, Group] = {
        strategy: report.group(group) for strategy, report in reports.items()
    }
    best = {f: max((g.get(f) or 0.0 for g in groups.values()), default=0.0) for f in FIGURES}
    lines = []
    for strategy, found in groups.items():
        cells = []
        for figure in FIGURES:
            value = found.get(figure) or 0.0
            cells.append(
                f"**{value:.3f}**" if round(value, 3) == round(best[figure], 3) else f"{value:.3f}"
            )
        n = reports[strategy].counted.get(f"{group}.hit@1", 0)
        latency = reports[strategy].latency_s
        ms = 1000 * (latency.get("search_p50") or latency.get("p50") or 0.0)
        lines.append(f"| {name} | {n} | {strategy} | {' | '.join(cells)} | {ms:.0f} |")
    return lines


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", nargs="+", type=Path)
    parser.add_argument("--strategies", nargs="+", default=list(STRATEGIES), choices=STRATEGIES)
    parser.add_argument("--limit", type=int, help="so many questions a file, drawn by chance")
    args = parser.parse_args()
    print(
        f"| set | n | strategy | {' | '.join(FIGURES)} | ms |\n|{'---|' * (len(FIGURES) + 4)}",
        flush=True,
    )
    async with App(load_settings(llm="none")) as app:
        for path in args.questions:
            started = time.perf_counter()
            reports = {
                strategy: await measured(app, path, strategy, args.limit)
                for strategy in args.strategies
            }
            name = path.name.removesuffix(".jsonl").removesuffix(".questions")
            print("\n".join(rows(name, reports, "retrieval")), flush=True)
            if any(
                found is not None for report in reports.values() for found in report.pages.values()
            ):
                print("\n".join(rows(f"{name}, by page", reports, "pages")), flush=True)
            print(f"{name}: {time.perf_counter() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main())
