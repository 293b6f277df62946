"""How the website agent explores, answers and refuses, on sites whose questions have a known page;
see docs/evaluation.md.

    .venv/bin/python evals/website.py --sets en zh --limit 40 --only order --no-toc --show-wrong

`order`: pages until the gold page is read, against breadth-first and chance (`website_order.py`).
`answers`: the shipped agent, cold (`website_answers.py`). `refusals`: the same asked what other
data sets ask. The one rule: sites are served from the loopback by this process, and nothing is
written outside `--home`, a temporary folder unless it is named, and `--json`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import website_answers as answers
import website_order as order
from citewell.config import Settings, load_settings
from convert import DATA
from website_sets import SETS, SiteSet, sample, site_set

KINDS = ("order", "answers", "refusals")
Item = TypeVar("Item")


@dataclass(frozen=True)
class Options:
    limit: int | None
    seed: int
    show_wrong: bool = False


async def measured(
    kind: str, settings: Settings, site: SiteSet, options: Options
) -> dict[str, Any]:
    """The figures of one kind on one set, printed and as data."""
    foreign = kind == "refusals"
    questions = sample(site.foreign if foreign else site.questions, options.limit, options.seed)
    title = f"{site.name}, {kind}, {len(questions)} questions"
    if kind == "order":
        ways = await _all(order.ordered(settings, site, questions), len(questions))
        _say(title, order.table(ways))
        return _done(
            order.figures(ways),
            ways,
            {item.id: order.told(item) for item in order.late(ways)},
            options,
        )
    items = await _all(answers.asked(settings, site, questions), len(questions))
    figures = answers.refusals(items) if foreign else answers.figures(items)
    _say(
        title,
        [f"{name:28}{'-' if value is None else f'{value:.2f}'}" for name, value in figures.items()],
    )
    return _done(
        figures, items, {item.id: answers.told(item) for item in items if item.wrong}, options
    )


def _done(
    figures: Mapping[str, Any],
    items: Sequence[order.Ordered | answers.Asked],
    wrong: Mapping[str, list[str]],
    options: Options,
) -> dict[str, Any]:
    """`wrong`: what is told of those that went wrong."""
    if options.show_wrong:
        for lines in wrong.values():
            print("\n".join(["", *lines]), flush=True)
    return {
        "n": len(items),
        "figures": figures,
        "wrong": list(wrong),
        "items": [asdict(item) for item in items],
    }


async def _all(items: AsyncIterator[Item], n: int) -> list[Item]:
    found = []
    async for item in items:
        found.append(item)
        print(f"\r{len(found)} of {n}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def _say(title: str, lines: Sequence[str]) -> None:
    print("\n".join(["", f"{title}, load {os.getloadavg()[0]:.1f}", *lines]), flush=True)


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sets", nargs="*", default=list(SETS), choices=SETS, metavar="NAME", help=", ".join(SETS)
    )
    parser.add_argument("--only", choices=KINDS, help="one of the three")
    parser.add_argument("--limit", type=int, help="so many questions a set, drawn by chance")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--llm",
        choices=("none", "builtin"),
        default="builtin",
        help="of answers and refusals; order needs none",
    )
    parser.add_argument(
        "--no-toc", action="store_true", help="the start page keeps its links to chapters only"
    )
    parser.add_argument(
        "--show-wrong",
        action="store_true",
        help="list those that went wrong, with how it came about",
    )
    parser.add_argument("--data", type=Path, default=DATA, help="the evaluation data")
    parser.add_argument(
        "--home", type=Path, help="keeps the vectors of the pages for the next run of order"
    )
    parser.add_argument("--json", type=Path, metavar="OUT", help="everything, as JSON")
    args = parser.parse_args()
    options, result = Options(args.limit, args.seed, args.show_wrong), dict[str, dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="citewell-eval-") as folder:
        settings = load_settings(
            home=args.home or Path(folder), llm=args.llm, allow_private_hosts=("127.0.0.1",)
        )
        for name in args.sets:
            try:
                site = site_set(name, args.data, no_toc=args.no_toc)
            except FileNotFoundError:
                print(f"{name}: its data is not here, left out", file=sys.stderr)
                continue
            for kind in [args.only] if args.only else KINDS:
                result.setdefault(kind, {})[name] = await measured(kind, settings, site, options)
                if args.json:
                    said = {
                        "seed": args.seed,
                        "no_toc": args.no_toc,
                        "llm": args.llm,
                        "pages_a_round": order.TOGETHER,
                    }
                    args.json.write_text(
                        json.dumps({"options": said, **result}, ensure_ascii=False, indent=1),
                        "utf-8",
                    )


if __name__ == "__main__":
    asyncio.run(main())
