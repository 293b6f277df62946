"""What the audit of the paper agent catches, and what true claims it wrongly doubts: planted claims and those written by hand.

    .venv/bin/python evals/paper_audit.py samples/papers/*.pdf --limit 40
    .venv/bin/python evals/paper_audit.py --llm builtin --limit 20

Prints, per kind, how many false claims are caught (and how many of these in part), and how many true ones are doubted; by
the proof alone (skills.cite and skills.verify) and by the whole audit. The one rule: both see the same claims and passages.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from citewell.config import IngestSettings, load_settings
from citewell.ingest import parse_here
from citewell.ingest.sentences import language, sentences
from citewell.measure.calibration import auc
from citewell.models.base import LLM
from citewell.service.app import App
from citewell.skills.audit import asking, audit
from citewell.skills.cite import prove
from citewell.skills.evidence import Passage
from citewell.types import Hit, Verdict
from paper_audit_fresh import CLAIMS as FRESH_CLAIMS
from paper_audit_fresh import PAPERS as FRESH_PAPERS
from paper_audit_fresh import PASSAGES as FRESH_PASSAGES
from paper_audit_plant import Planted, paragraphs, planted
from paper_audit_set import CLAIMS, PAPERS, PASSAGES, Claim
from paper_audit_unseen import CHINESE, ENGLISH

ORDER: tuple[Verdict, ...] = ("unsupported", "partly", "supported")
SAMPLES = Path(__file__).parent.parent / "samples" / "papers"
QUESTIONS = {"en": "What does the paper report?", "zh": "论文报告了什么？"}  # of the model, for its prompt has one
THRESHOLDS = (-4.0, -3.0, -2.0, -1.0, 0.0, 1.0)


def by_hand(claims: Sequence[Claim] = CLAIMS) -> list[Planted]:
    """The claims of the set, each with its passage and three others of the same paper."""
    return [Planted(claim.kind, claim.text, evidence(claim.part)) for claim in claims]


def evidence(part: str) -> tuple[Passage, ...]:
    """A part of a made-up paper, the two behind it and the one before it."""
    papers = (*PAPERS.items(), *FRESH_PAPERS.items())
    lang, title, parts = next((lang, title, parts) for lang, (title, parts) in papers if part in parts)
    at = parts.index(part)
    found = []
    for n, name in enumerate((part, parts[(at + 1) % len(parts)], parts[(at + 2) % len(parts)], parts[at - 1]), 1):
        text, start = (PASSAGES | FRESH_PASSAGES)[name], 10_000 * n
        hit = Hit(n, f"made-{lang}", "eval", title, "", (name,), 1, start, start + len(text), text, lang)
        found.append(Passage(n, hit, tuple((start + a, start + b) for a, b in sentences(text)), text))
    return tuple(found)


def of_samples(folder: Path) -> list[Planted]:
    """The claims on the sample papers, each with its paragraph and the two most alike."""
    found = []
    for path in sorted(folder.glob("*.pdf")):
        document = parse_here(path.read_bytes(), path.name, IngestSettings())
        blocks = paragraphs(document)
        for anchor, kind, text in CHINESE if document.lang == "zh" else ENGLISH:
            home = next((block for block in blocks if anchor in block.text), None)
            if home is not None:
                found.append(Planted(kind, text, home.evidence(blocks)))
            else:
                print(f"no paragraph begins with {anchor!r}")
    return found


async def judged(claim: Planted, *, rules: bool) -> tuple[Verdict, list[str]]:
    """The worst verdict of the claim's sentences, without a model."""
    if rules:
        proof = (await audit("", claim.text, claim.passages, llm=None, embedder=None)).proof
    else:
        proof = await prove(claim.text, "", claim.passages, None)
    worst = min((s.verdict for s in proof.sentences), key=ORDER.index, default=ORDER[0])
    return worst, [problem for s in proof.sentences for problem in s.problems]


async def table(title: str, claims: Sequence[Planted], *, show: bool) -> None:
    """Per kind: caught before and now, true ones doubted before and now."""
    counts: dict[tuple[str, bool], dict[Verdict, int]] = defaultdict(lambda: dict.fromkeys(ORDER, 0))
    for claim in claims:
        for rules in (False, True):
            verdict, problems = await judged(claim, rules=rules)
            counts[claim.kind, rules][verdict] += 1
            if rules and show and (verdict != "supported") == claim.true:
                print(f"  {'doubted' if claim.true else 'missed'} ({claim.kind}): {claim.text}  {problems}")
    print(f"\n{title}\n{'kind':<18}{'n':>5}   proof alone: no/partly/yes   audit: no/partly/yes")
    totals: dict[tuple[bool, bool], list[int]] = defaultdict(lambda: [0, 0, 0])
    for kind in dict.fromkeys(sorted((c.kind for c in claims), key=lambda k: (not k.startswith("true"), k))):
        cells = []
        for rules in (False, True):
            figures = [counts[kind, rules][v] for v in ORDER]
            cells.append("/".join(f"{f:>4}" for f in figures))
            totals[kind.startswith("true"), rules] = [
                a + b for a, b in zip(totals[kind.startswith("true"), rules], figures, strict=True)
            ]
        print(f"{kind:<18}{sum(counts[kind, True].values()):>5}   {cells[0]:>26}   {cells[1]:>20}")
    for true, name in ((True, "true: doubted"), (False, "false: caught")):
        told = [f"{sum(totals[true, r][:2])} of {sum(totals[true, r])} ({totals[true, r][0]} outright)" for r in (False, True)]
        print(f"{name:<18}   proof alone {told[0]}   audit {told[1]}")


async def by_model(llm: LLM, claims: Sequence[Planted]) -> None:
    """The model's log-odds for claims that the rules let pass: AUC, and what each threshold would turn away."""
    right, odds = [], []
    for claim in claims:
        verdict, _ = await judged(claim, rules=True)
        if verdict == "unsupported":
            continue
        figure = (await llm.yes_no(asking(QUESTIONS[language(claim.text)], claim.passages, "claim", claim=claim.text))).log_odds
        right.append(claim.true)
        odds.append(figure)
        print(f"  {figure:+.2f} {'true ' if claim.true else claim.kind} | {claim.text[:100]}", flush=True)
    area = auc(np.asarray(odds), np.asarray(right, dtype=np.float64))
    print(f"{len(right)} claims that the rules let pass, {sum(right)} true; AUC {'-' if area is None else f'{area:.2f}'}")
    for threshold in THRESHOLDS:
        lost = sum(r and o < threshold for r, o in zip(right, odds, strict=True))
        away = sum(not r and o < threshold for r, o in zip(right, odds, strict=True))
        print(f"under {threshold:+.1f}: {lost} of {sum(right)} true, {away} of {len(right) - sum(right)} false")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("papers", nargs="*", type=Path, help="PDF files to plant claims on")
    parser.add_argument("--limit", type=int, default=40, help="sentences a paper; with --llm claims that the model is asked")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--llm", choices=("none", "builtin"), default="none")
    parser.add_argument("--show", action="store_true", help="print each claim that is judged wrongly")
    args = parser.parse_args()
    hand = by_hand()
    mechanical: list[Planted] = []
    for path in args.papers:
        document = parse_here(path.read_bytes(), path.name, IngestSettings())
        made = planted(document, args.limit, args.seed)
        mechanical += made
        await table(f"{path.name}: {len(made)} claims", made, show=args.show)
    await table(f"written by hand: {len(hand)} claims", hand, show=args.show)
    fresh = by_hand(FRESH_CLAIMS)
    await table(f"written by hand on two more papers: {len(fresh)} claims", fresh, show=args.show)
    unseen = of_samples(SAMPLES)
    await table(f"written by hand on the sample papers: {len(unseen)} claims", unseen, show=args.show)
    if args.llm == "builtin":
        hand += unseen
        random.Random(args.seed).shuffle(hand)
        async with App(load_settings()) as app:
            assert app.llm is not None, "no chat model is installed"
            await by_model(app.llm, hand[: args.limit])
            print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    asyncio.run(main())
