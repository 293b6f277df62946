"""How much of a paper's structure is read rightly, against what a person read in the same papers.

    .venv/bin/python evals/paper_structure.py [--misses]

Papers: two samples of this repository and, where the evaluation data is beside the checkout, the
three PDFs and five plain texts of `paper_qa`. Expected headings, roles and counts stand in
`tests/ingest/golden/paper_structure.json`: the program's first output, then read through by hand,
section by section. Rules were written while looking at these papers, so the figures say what holds
on them, not how the next paper fares.

The one rule: a section counts as right only if heading, role and whether it is an appendix are all
as expected.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from citewell.config import IngestSettings
from citewell.ingest import parse_here
from citewell.ingest.paper.read_paper import read_paper
from citewell.ingest.paper.shape import Paper
from citewell.types import Document

REPOSITORY = Path(__file__).resolve().parent.parent
GOLDEN = REPOSITORY / "tests" / "ingest" / "golden" / "paper_structure.json"
SAMPLES = REPOSITORY / "samples" / "papers"
DATA = REPOSITORY.parent / "shared" / "data" / "paper_qa"


@dataclass(frozen=True, slots=True)
class Score:
    """Found and expected, by kind; `mentions` is resolved and found. `misses`: what is wrong, in
    words.
    """

    roles: tuple[int, int]
    floats: tuple[int, int]
    references: tuple[int, int]
    mentions: tuple[int, int]
    misses: tuple[str, ...] = ()

    def __add__(self, other: Score) -> Score:
        return Score(
            roles=(self.roles[0] + other.roles[0], self.roles[1] + other.roles[1]),
            floats=(self.floats[0] + other.floats[0], self.floats[1] + other.floats[1]),
            references=(
                self.references[0] + other.references[0],
                self.references[1] + other.references[1],
            ),
            mentions=(self.mentions[0] + other.mentions[0], self.mentions[1] + other.mentions[1]),
        )


def expected() -> dict[str, Any]:
    """The golden file."""
    found: dict[str, Any] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def documents() -> Iterator[tuple[str, Document]]:
    """The papers that are here, by their names in the golden file."""
    settings = IngestSettings()
    paths = sorted((DATA / "pdf").glob("*.pdf")) if DATA.is_dir() else []
    for path in [*sorted(SAMPLES.glob("*.pdf")), *paths]:
        yield path.name, parse_here(path.read_bytes(), path.name, settings)
    texts = DATA / "qasper_leval_papers.jsonl"
    for line in texts.read_text(encoding="utf-8").splitlines() if texts.is_file() else []:
        row = json.loads(line)
        yield row["doc_id"], parse_here(row["text"].encode(), "paper.txt", settings)


def score(paper: Paper, golden: Mapping[str, Any]) -> Score:
    """Sections are held against each other in order; one that only one side has is a miss."""
    wanted = [tuple(section) for section in golden["sections"]]
    given = [
        (part.heading, part.role, *(["appendix"] if part.appendix else [])) for part in paper.parts
    ]
    right, misses = 0, []
    blocks = SequenceMatcher(
        None, [one[0] for one in wanted], [one[0] for one in given], autojunk=False
    ).get_opcodes()
    for kind, low, high, first, last in blocks:
        if kind != "equal":
            misses += [f"missing: {one[0]}" for one in wanted[low:high]] + [
                f"too many: {one[0]}" for one in given[first:last]
            ]
            continue
        for want, have in zip(wanted[low:high], given[first:last], strict=True):
            right += want == have
            misses += (
                []
                if want == have
                else [f"{want[0]}: {' '.join(have[1:])}, expected {' '.join(want[1:])}"]
            )
    kinds = [one.kind for one in paper.floats]
    floats = sum(min(kinds.count(kind), golden[f"{kind}s"]) for kind in ("figure", "table"))
    return Score(
        roles=(right, len(wanted)),
        floats=(floats, golden["figures"] + golden["tables"]),
        references=(len(paper.references), golden["references"]),
        mentions=(sum(bool(one.targets) for one in paper.mentions), len(paper.mentions)),
        misses=tuple(misses),
    )


def main(*, misses: bool) -> int:
    golden, total = expected(), Score((0, 0), (0, 0), (0, 0), (0, 0))
    sys.stdout.write(
        "| paper | roles right | floats found | references found | mentions resolved | ms "
        "|\n|---|---|---|---|---|---|\n"
    )
    for name, document in documents():
        began = time.perf_counter()
        paper = read_paper(document)
        seconds = time.perf_counter() - began
        one = score(paper, golden[name])
        total += one
        _row(name, one, f"{1000 * seconds:.0f}")
        if misses:
            sys.stdout.writelines(f"    {miss}\n" for miss in one.misses)
    _row("all", total, "")
    return 0


def _row(name: str, one: Score, ms: str) -> None:
    cells = [f"{a} / {b}" for a, b in (one.roles, one.floats, one.references, one.mentions)]
    sys.stdout.write(f"| {name} | {' | '.join(cells)} | {ms} |\n")


if __name__ == "__main__":
    sys.exit(main(misses="--misses" in sys.argv[1:]))
