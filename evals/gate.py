"""The release gate: what the ticks and the reader were worth at the last release, and whether they
still are.

    .venv/bin/python evals/gate.py            # every figure beside its bound; exit 1: one is worse
    .venv/bin/python evals/gate.py --write    # keep today's figures as those of this release

Sets with fixed answers: drafts written by hand (`evals/drafts/`) with the judgements of a strong
model for the connected tier, and contrast pairs written by hand (`evals/reader/fresh.jsonl`) for
the reader itself. A figure is worse where it lies outside the 95 % interval of the kept one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from citewell.config import Settings, load_settings
from citewell.measure.intervals import compute_wilson
from citewell.models.providers import build_reader
from citewell.models.reader_base import Reader
from proof import RecordedJudge, read_cases, tick_all

KEPT = Path(__file__).resolve().parent / "gate.json"
PAIRS = Path(__file__).resolve().parent / "reader" / "fresh.jsonl"


@dataclass(frozen=True, slots=True)
class Figure:
    """`hits` of `n`; `wanted`: whether more is better."""

    name: str
    hits: int
    n: int
    more_is_better: bool

    @property
    def share(self) -> float:
        return self.hits / self.n

    def is_worse(self, kept: float) -> bool:
        """Whether it lies outside the interval of the kept share, on the wrong side."""
        low, high = compute_wilson(kept, self.n)
        return self.share < low if self.more_is_better else self.share > high


async def measure_ticks() -> list[Figure]:
    """The connected tier, by recorded judgements."""
    cases = read_cases(heldback=True)
    ticked = await tick_all(cases, RecordedJudge())
    right = [tick for case, tick in zip(cases, ticked, strict=True) if case.right]
    false = [tick for case, tick in zip(cases, ticked, strict=True) if not case.right]
    return [
        Figure("connected: right drafts ticked", sum(right), len(right), more_is_better=True),
        Figure("connected: false drafts ticked", sum(false), len(false), more_is_better=False),
    ]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a JSONL file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def measure_reader(reader: Reader, path: Path = PAIRS) -> list[Figure]:
    """The reader on contrast pairs: of two twins, does the true claim, and the question that has an
    answer, score higher?
    """
    rows = read_rows(path)
    claims = [(row["passage"], claim) for row in rows for claim in row["claims"]]
    pairs = [(claim[key], passage) for passage, claim in claims for key in ("true", "false")]
    judged = [each.entailed for each in await reader.judge(pairs)]
    ranked = sum(true > false for true, false in zip(judged[::2], judged[1::2], strict=True))
    figures = [
        Figure("reader: true claim above its false twin", ranked, len(claims), more_is_better=True)
    ]
    found = answerable = asked = 0
    for row in rows:
        for question in row["questions"]:
            (real,) = await reader.read(question["q"], [row["passage"]])
            (twin,) = await reader.read(question["twin"], [row["passage"]])
            start = row["passage"].find(question["sentence"])
            inside = real.start < start + len(question["sentence"]) and start < real.end
            found, answerable, asked = (
                found + inside,
                answerable + (real.answerable > twin.answerable),
                asked + 1,
            )
    return [
        *figures,
        Figure("reader: span in the right sentence", found, asked, more_is_better=True),
        Figure(
            "reader: question above its unanswerable twin", answerable, asked, more_is_better=True
        ),
    ]


async def measure_all(settings: Settings) -> list[Figure]:
    """Every figure of the gate."""
    figures = await measure_ticks()
    reader = build_reader(settings)
    if reader is not None:
        figures += await measure_reader(reader)
        await reader.close()
    return figures


def read_kept() -> dict[str, float]:
    """The shares of the last release, by name."""
    kept: dict[str, float] = json.loads(KEPT.read_text("utf-8"))
    return kept


def _main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    figures = asyncio.run(measure_all(load_settings()))
    if given.write:
        KEPT.write_text(
            json.dumps({f.name: round(f.share, 4) for f in figures}, indent=2) + "\n", "utf-8"
        )
    kept, worse = read_kept(), 0
    for figure in figures:
        bound = kept.get(figure.name)
        bad = bound is not None and figure.is_worse(bound)
        worse += bad
        print(
            f"{figure.name:46} {figure.share:.3f} of {figure.n:4}  kept {bound} "
            f" {'WORSE' if bad else 'ok'}"
        )
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(_main())
