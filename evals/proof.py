"""How well the ticks tell right answers from subtly false ones: drafts written by hand over
documents of `evals/drafts/`.

    .venv/bin/python evals/proof.py                     # the reader judges
    .venv/bin/python evals/proof.py --judge recorded    # a strong model's (drafts/judgements.jsonl)
    .venv/bin/python evals/proof.py --judge connected   # the chat model of the settings
    .venv/bin/python evals/proof.py --export FILE       # what a judge is asked, in random order

A draft is ticked where each of its sentences is. Printed: right drafts ticked, false ones ticked,
by kind and language, with 95 % intervals (Wilson). `--heldback` adds the questions that nothing was
tuned on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.config import load_settings
from citewell.measure.intervals import compute_wilson
from citewell.runtime.app import App
from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.evidence.numbered import Unit, number_sentences, show_sentences
from citewell.skills.evidence.passages import Passage
from citewell.skills.proof.judge import Claim, Judge, Judgement
from citewell.skills.proof.judge_reader import ReaderJudge
from citewell.skills.proof.judges import build_judge
from citewell.skills.proof.prove import judge_draft, show_proof
from citewell.text.sentences import detect_language, split_sentences
from citewell.types import Hit

FOLDER = Path(__file__).resolve().parent / "drafts"
SHORTEST = 8  # characters below which a sentence cannot be judged on its own


@dataclass(frozen=True, slots=True)
class Case:
    """A draft answer to a question over one document; `kind` of its error, empty for a right
    one.
    """

    id: str
    doc: str
    question: str
    shape: str
    text: str
    kind: str
    evidence: tuple[str, ...]

    @property
    def right(self) -> bool:
        return not self.kind


def read_cases(folder: Path = FOLDER, *, heldback: bool = False) -> list[Case]:
    """Every draft of the set, right and false."""
    cases = []
    for name in ("drafts.jsonl", *(["drafts-heldback.jsonl"] if heldback else [])):
        for line in (folder / name).read_text("utf-8").splitlines():
            row: dict[str, Any] = json.loads(line)
            drafts = [
                ("", row["right"]),
                *((wrong["kind"], wrong["draft"]) for wrong in row["wrong"]),
            ]
            cases += [
                Case(
                    f"{row['id']}.{n}",
                    row["doc"],
                    row["question"],
                    row["shape"],
                    text,
                    kind,
                    tuple(row["evidence"]),
                )
                for n, (kind, text) in enumerate(drafts)
            ]
    return cases


def read_units(doc: str, folder: Path = FOLDER) -> list[Unit]:
    """The whole document as numbered sentences."""
    text = (folder / "docs" / doc).read_text("utf-8")
    hit = Hit(
        0,
        doc,
        "drafts",
        doc.partition("-")[2].removesuffix(".md"),
        doc,
        (),
        None,
        0,
        len(text),
        text,
        detect_language(text),
    )
    return number_sentences([Passage(1, hit, tuple(split_sentences(text)), text)])


def draft_of(case: Case, units: Sequence[Unit]) -> Draft:
    """The draft as a model would hand it in, naming the sentences that bear the right answer."""
    bearing = [unit.id for unit in units if any(_same(unit.text, text) for text in case.evidence)]
    told = case.shape != "not told" or not case.right
    parts = split_draft(case.text)
    kind = "fact" if told else "not_told"
    made = [
        DraftSentence.model_validate({"text": part, "kind": kind, "evidence": bearing})
        for part in parts
    ]
    return Draft(status="answered" if told else "not_told", sentences=made)


def split_draft(text: str) -> list[str]:
    """Its sentences; a lone Yes or No stays with what it says so of."""
    parts: list[str] = []
    for start, end in split_sentences(text):
        part = text[start:end]
        if parts and len(parts[-1]) < SHORTEST:
            parts[-1] = f"{parts[-1]} {part}" if part.isascii() else parts[-1] + part
        else:
            parts.append(part)
    return parts


def _same(one: str, other: str) -> bool:
    plain, wanted = " ".join(one.split()), " ".join(other.split())
    return plain in wanted or wanted in plain


class RecordedJudge:
    """Judgements that were made once, by document and statement."""

    name = "recorded"

    def __init__(self, path: Path = FOLDER / "judgements.jsonl") -> None:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        self._verdicts = {(row["question"], row["statement"]): row["verdict"] for row in rows}

    async def judge(
        self,
        question: str,
        claims: Sequence[Claim],
        units: Sequence[Unit],  # noqa: ARG002
    ) -> list[Judgement]:
        """Raises KeyError for a statement that nobody judged."""
        found = [self._verdicts[question, claim.text] for claim in claims]
        return [
            Judgement(v, float(v == "entailed"), c.evidence)
            for v, c in zip(found, claims, strict=True)
        ]


async def is_ticked(case: Case, judge: Judge | None) -> bool:
    """Whether every sentence of the draft would be shown as proved."""
    units = read_units(case.doc)
    proven = await judge_draft(draft_of(case, units), case.question, units, judge)
    return bool(proven.judgements) and all(
        s.verdict == "supported" for s in show_proof(proven).sentences
    )


async def tick_all(cases: Sequence[Case], judge: Judge | None) -> list[bool]:
    """Of every case whether it is ticked, in order."""
    return [await is_ticked(case, judge) for case in cases]


def print_table(cases: Sequence[Case], ticked: Sequence[bool]) -> None:
    """Right ones ticked and false ones ticked, in all, by language and by kind."""
    groups: dict[str, list[bool]] = defaultdict(list)
    for case, tick in zip(cases, ticked, strict=True):
        truth = "right" if case.right else "false"
        groups[truth].append(tick)
        groups[f"{truth} {detect_language(case.question)}"].append(tick)
        groups[f"{truth}: {case.shape if case.right else case.kind}"].append(tick)
    for name in sorted(groups, key=lambda name: (":" in name, not name.startswith("right"), name)):
        marks = groups[name]
        low, high = compute_wilson(sum(marks) / len(marks), len(marks))
        print(
            f"{name:36} ticked {sum(marks):4} of {len(marks):4}  {sum(marks) / len(marks):.2f}  "
            f"[{low:.2f}, {high:.2f}]"
        )


def export(cases: Sequence[Case], path: Path) -> None:
    """One line a document: its numbered sentences, and all statements of its drafts by question,
    shuffled.
    """
    by_doc: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in cases:
        units = read_units(case.doc)
        for sentence in draft_of(case, units).sentences:
            row = {"question": case.question, "statement": sentence.text, "draft": case.text}
            if row not in by_doc[case.doc]:
                by_doc[case.doc].append(row)
    shuffle = random.Random(5).shuffle
    with path.open("w", encoding="utf-8") as out:
        for doc, rows in by_doc.items():
            shuffle(rows)
            line = {"doc": doc, "sentences": show_sentences(read_units(doc)), "statements": rows}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


async def _main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--judge", choices=["reader", "recorded", "connected", "none"], default="reader"
    )
    parser.add_argument("--heldback", action="store_true")
    parser.add_argument("--export", type=Path)
    given = parser.parse_args()
    cases = read_cases(heldback=given.heldback)
    if given.export:
        export(cases, given.export)
        return
    async with App(load_settings()) as app:
        judges: dict[str, Judge | None] = {"none": None}
        if given.judge == "recorded":
            judges["recorded"] = RecordedJudge()
        elif given.judge == "connected":
            judges["connected"] = build_judge(app.llm, None, app.judge_llm)
        elif app.reader is not None:
            judges["reader"] = ReaderJudge(app.reader)
        print_table(cases, await tick_all(cases, judges[given.judge]))


if __name__ == "__main__":
    asyncio.run(_main())
