"""The paper agent on questions about papers: evidence page among the cited, answer scores,
refusals, seconds.

    python evals/paper.py pdf texts samples [--llm builtin] [--limit 10] [--json OUT]

`pdf`: 25 questions of MMLongBench-Doc on three PDFs, with their evidence pages; `texts`: 34 of
QASPER on five texts without pages; `samples`: those of samples/paper_questions.jsonl on our own two
papers; `sums`: 62 about cells of tables, most of them to be computed (h01 to h20, over the three
PDFs, were written before the code was and held out). `pdf`, `texts` and part of `sums` read
../shared/data, and are passed over where it is not there.

The one rule: every question has a session of its own, asked as a reader asks: the guide is passed
over, nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from citewell.config import Settings, load_settings
from citewell.measure import wording
from citewell.measure.intervals import compute_percentile
from citewell.runtime.app import App
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.library.embedding import embed_pending
from citewell.service.papers.reading_sessions import begin_paper_session
from citewell.types import Answer, Step
from paper_losses import Trail, describe_losses, follow_answer

HERE = Path(__file__).parents[1]
DATA = HERE.parent / "shared" / "data" / "paper_qa"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its gold. `parts`: of an answer that is a list, each of which has to be
    said.
    """

    id: str
    question: str
    paper: str
    answers: list[str]
    answerable: bool
    pages: list[int] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Result:
    """What came of it. `right`: the gold answer is said (of a list, all of it); `sent`: it, or four
    fifths of its words, stand in what the section agents were sent; `f1` over words; `page`:
    whether an evidence page is among the cited, None where there is none.
    """

    id: str
    question: str
    gold: list[str]
    answerable: bool
    answer: str
    status: str
    confidence: float
    agents: str
    cited: list[int]
    right: bool
    sent: bool
    f1: float
    page: bool | None
    seconds: float
    calls: int
    warnings: list[str]
    trail: Trail | None = None


def questions(name: str, data: Path = DATA) -> tuple[list[Asked], dict[str, tuple[str, bytes]]]:
    """The questions of a set, and its papers: (file name, bytes) by name. Both empty where its data
    is not here.
    """
    return {"pdf": _pdf, "texts": _texts, "samples": _samples, "sums": _sums}[name](data)


def _lines(path: Path) -> list[dict[str, Any]]:
    return (
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if path.exists()
        else []
    )


def _pdf(data: Path) -> tuple[list[Asked], dict[str, tuple[str, bytes]]]:
    found = []
    for line in _lines(data / "questions.jsonl"):
        parts = (
            [each.strip(" '\"") for each in line["answer"].strip("[]").split(",")]
            if line["answer_format"] == "List"
            else []
        )
        answers = [line["answer"]] if line["answerable"] else []
        gold = line["evidence_pages"]
        found.append(
            Asked(
                line["id"], line["question"], line["pdf"], answers, line["answerable"], gold, parts
            )
        )
    return found, {
        name: (name, (data / "pdf" / name).read_bytes()) for name in {each.paper for each in found}
    }


def _listed(answer: str) -> list[str]:
    """The items of `['3', '2']`."""
    return [each.strip(" '\"") for each in answer.strip("[]").split(",")]


def _texts(data: Path) -> tuple[list[Asked], dict[str, tuple[str, bytes]]]:
    found = [
        Asked(line["id"], line["question"], line["doc_id"], [line["answer"]], line["answerable"])
        for line in _lines(data / "qasper_leval_questions.jsonl")
    ]
    papers = {line["doc_id"]: line["text"] for line in _lines(data / "qasper_leval_papers.jsonl")}
    return found, {
        name: (f"{name.replace(':', '-')}.txt", text.encode()) for name, text in papers.items()
    }


def _samples(data: Path) -> tuple[list[Asked], dict[str, tuple[str, bytes]]]:
    return _own(HERE / "samples" / "paper_questions.jsonl", data)


def _sums(data: Path) -> tuple[list[Asked], dict[str, tuple[str, bytes]]]:
    return _own(HERE / "evals" / "paper_sums.jsonl", data)


def _own(file: Path, data: Path) -> tuple[list[Asked], dict[str, tuple[str, bytes]]]:
    folders = (HERE / "samples" / "papers", data / "pdf")
    there = {path.name: path for folder in folders for path in folder.glob("*.pdf")}
    found = [
        Asked(
            line["id"],
            line["question"],
            line["doc"],
            line["answers"],
            line["answerable"],
            line.get("gold_pages", []),
        )
        for line in _lines(file)
        if line["doc"] in there
    ]
    return found, {
        name: (name, there[name].read_bytes()) for name in {each.paper for each in found}
    }


async def run(
    app: App, name: str, limit: int, data: Path = DATA, *, losses: bool = False
) -> list[Result]:
    """Ask a set, and print each question with its result."""
    asked, papers = questions(name, data)
    step = max(1, len(asked) // limit) if limit else 1  # spread over the papers
    results = []
    for one in asked[::step][: limit or None]:
        result = await ask(app, one, *papers[one.paper], losses=losses)
        results.append(result)
        mark = "+" if result.right or (not one.answerable and result.status == "refused") else "-"
        where = f"{result.status}; {result.agents}; pages {result.cited} of {one.pages}"
        print(f"{mark} {result.id} [{where}] {one.question[:110]}")
        print(
            f"      gold {one.answers or 'none'}; said: {' '.join(result.answer.split())[:260]}",
            flush=True,
        )
    return results


async def ask(app: App, one: Asked, file: str, data: bytes, *, losses: bool = False) -> Result:
    session = await begin_paper_session(app, data=data, name=file)
    await app.sessions.set_data(session.session_id, {}, state="CONTROL_ROUTING")
    await embed_pending(app)
    request = AskRequest(
        question=one.question,
        agent="paper",
        session_id=session.session_id,
        options={"max_seconds": 600},
    )
    started, answer, passages = time.perf_counter(), None, list[str]()
    async for event in stream_answer(app, request):
        if isinstance(event.data, Step) and event.data.node.startswith("section_"):
            received = event.data.detail["received"].get("document_chunk", [])
            passages += [passage["text"] for passage in received]
        if isinstance(event.data, Answer):
            answer = event.data
    answer = answer or Answer(answer="", status="refused", confidence=0.0, agent="paper")
    said = " ".join(
        sentence.text for sentence in answer.sentences if sentence.verdict != "unsupported"
    )
    cited = sorted({citation.page for citation in answer.citations if citation.page})
    right = (
        all(wording.contains_answer(said, part) for part in one.parts)
        if one.parts
        else wording.is_right(said, one.answers)
    )
    seconds, sent = round(time.perf_counter() - started, 2), " ".join(passages)
    trail = None
    if losses and one.answerable:
        told = "" if answer.status == "refused" else said
        trail = await follow_answer(
            app, session, one.question, one.answers, one.parts, passages, told
        )
    return Result(
        id=one.id,
        question=one.question,
        gold=one.answers,
        answerable=one.answerable,
        answer=answer.answer,
        status=answer.status,
        confidence=answer.confidence,
        agents=answer.route,
        cited=cited,
        right=one.answerable and right,
        sent=any(_held(sent, part) for part in one.answers)
        or (bool(one.parts) and all(_held(sent, p) for p in one.parts)),
        f1=max((wording.compute_f1(said, gold) for gold in one.answers), default=0.0),
        page=bool(set(cited) & set(one.pages)) if one.pages and one.answerable else None,
        seconds=seconds,
        calls=answer.usage.calls,
        warnings=answer.warnings,
        trail=trail,
    )


def _held(text: str, gold: str) -> bool:
    return (
        wording.contains_answer(text, gold) or wording.compute_recall(text, gold) >= wording.ENOUGH
    )


def table(name: str, results: Sequence[Result]) -> str:
    """One line of figures."""
    there = [result for result in results if result.answerable]
    not_there = [result for result in results if not result.answerable]
    given = [result for result in there if result.status != "refused"]
    paged = [result for result in there if result.page is not None]
    cited = [result for result in paged if result.status != "refused"]
    shares = {
        "sent": (sum(r.sent for r in there), len(there)),
        "right": (sum(r.right for r in there), len(there)),
        "right of those answered": (sum(r.right for r in given), len(given)),
        "evidence page cited": (sum(bool(r.page) for r in paged), len(paged)),
        "evidence page of those answered": (sum(bool(r.page) for r in cited), len(cited)),
        "refused, rightly": (sum(r.status == "refused" for r in not_there), len(not_there)),
        "refused, wrongly": (len(there) - len(given), len(there)),
    }
    seconds = [result.seconds for result in results]
    f1 = sum(result.f1 for result in there) / len(there) if there else 0.0
    told = ", ".join(f"{what} {n}/{of}" for what, (n, of) in shares.items() if of)
    slow = (
        f"p50 {compute_percentile(seconds, 0.5) or 0:.1f} s, "
        f"p95 {compute_percentile(seconds, 0.95) or 0:.1f} s"
    )
    return (
        f"{name}: {told}, F1 {f1:.2f}, "
        f"{slow}, {sum(r.calls for r in results) / max(1, len(results)):.1f} calls"
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else "")
    parser.add_argument("sets", nargs="*", default=["pdf", "texts", "samples"])
    parser.add_argument(
        "--llm", default="none", help="none (the default), builtin, or as the settings say: openai"
    )
    parser.add_argument(
        "--limit", type=int, default=0, help="so many questions a set, spread over its papers"
    )
    parser.add_argument(
        "--home", type=Path, help="keep the library here, for the vectors of the next run"
    )
    parser.add_argument(
        "--losses", action="store_true", help="where answers get lost, and what simple ways reach"
    )
    parser.add_argument("--json", type=Path, help="write the results")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder paper_qa")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings: Settings = load_settings(home=said.home or Path(folder), llm=said.llm)
        async with App(settings) as app:
            kept: dict[str, list[Result]] = {}
            for name in said.sets:
                kept[name] = await run(app, name, said.limit, said.data, losses=said.losses)
            for name, results in kept.items():
                print(table(name, results) if results else f"{name}: its data is not here")
                trails = [result.trail for result in results if result.trail is not None]
                print("\n".join(describe_losses(trails)) if trails else "", end="\n" * bool(trails))
    if said.json:
        shown = {name: [asdict(result) for result in results] for name, results in kept.items()}
        said.json.write_text(json.dumps(shown, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    asyncio.run(main())
