"""The guide's reports over real papers: how many statements a slot, how many proved, how many
results with a figure, how long.

    .venv/bin/python evals/paper_guide.py
    .venv/bin/python evals/paper_guide.py --llm builtin --show samples/papers/*.pdf

Reads the sample papers and, where the evaluation data is beside the checkout, its three PDFs. The
one rule: a statement counts as proved only if its judge found it so and its quotes stand in the
document at their offsets.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path

from citewell.config import Settings, load_settings
from citewell.ingest import parse_here
from citewell.ingest.paper.read_paper import read_paper
from citewell.runtime.app import App
from citewell.skills.guide.cues import has_measurement
from citewell.skills.guide.pick import SLOTS
from citewell.skills.guide.report import make_report
from citewell.skills.guide.report_markdown import render_report
from citewell.skills.paper.reading_context import OpenPaper, Report
from citewell.skills.proof.judges import build_judge
from citewell.types import Sentence

HERE = Path(__file__).resolve().parent.parent
PAPERS = [HERE / "samples" / "papers", HERE.parent / "shared" / "data" / "paper_qa" / "pdf"]


def opened(path: Path, settings: Settings) -> OpenPaper:
    document = parse_here(path.read_bytes(), path.name, settings.ingest)
    return OpenPaper("paper", "evals", path.resolve().as_uri(), document, read_paper(document))


def proved(book: OpenPaper, report: Report, sentence: Sentence) -> bool:
    """Supported by its judge, with quotes that stand at their offsets in the document's text."""
    cited = [c for c in report.citations if c.n in sentence.citations]
    exact = all(book.document.text[c.start : c.end] == c.quote for c in cited)
    return exact and bool(cited) and sentence.verdict == "supported"


def told(book: OpenPaper, report: Report, seconds: float) -> list[str]:
    lines = [
        (
            f"{book.paper.title[:70]} ({len(book.document.pages)} pages, "
            f"{book.paper.lang}): {seconds:.1f} s"
        )
    ]
    by_slot = {part.slot: part.sentences for part in report.parts}
    for slot in SLOTS:
        stated = by_slot.get(slot, [])
        good = sum(proved(book, report, sentence) for sentence in stated)
        figures = (
            f", {sum(has_measurement(s.text) for s in stated)} with a figure"
            if slot == "results"
            else ""
        )
        lines.append(f"  {slot:14}{len(stated)} statements, {good} proved{figures}")
    terms = sum(proved(book, report, term.sentence) for term in report.terms)
    lines.append(
        f"  {'terms':14}{len(report.terms)}, {terms} proved; {len(report.questions)} questions"
    )
    return [*lines, *(f"  ! {warning}" for warning in report.warnings)]


async def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("papers", nargs="*", type=Path)
    parser.add_argument(
        "--llm", default="none", help="none (default), builtin, or as in the settings"
    )
    parser.add_argument("--lang", default="", help="en or zh; the paper's own unless given")
    parser.add_argument("--show", action="store_true", help="print the reports too")
    args = parser.parse_args()
    papers = args.papers or [
        path for folder in PAPERS if folder.is_dir() for path in sorted(folder.glob("*.pdf"))
    ]
    settings = load_settings().model_copy(update={"llm": args.llm})
    async with App(settings) as app:
        await app.embedder.query("warm")
        for path in papers:
            book = opened(path, settings)
            start = time.monotonic()
            lang = args.lang or book.paper.lang
            judge = build_judge(app.llm, app.reader, app.judge_llm)
            report = await make_report(
                book, llm=app.llm, judge=judge, embedder=app.embedder, lang=lang
            )
            print("\n".join(told(book, report, time.monotonic() - start)), flush=True)
            if args.show:
                print(
                    render_report(report, title=book.paper.title, authors=book.paper.authors),
                    flush=True,
                )


if __name__ == "__main__":
    asyncio.run(main())
