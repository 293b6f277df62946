"""How well the `qa` agent finds, answers, refuses and proves, on questions that others wrote.

    .venv/bin/python evals/qa.py --answers 40 --json out.json

Adds the SQuAD 2.0 and CMRC 2018 corpora of the evaluation data (and the sample library) to a home of its own, measures
retrieval on all their questions and answers on a random sample, and prints one table. The one rule: figures are counted,
never estimated, and every item can be read in the JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import sys
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from citewell.config import load_settings
from citewell.errors import CitewellError
from citewell.knowledge.index import Filter
from citewell.knowledge.words import index_tokens
from citewell.retrieve.strategies import STRATEGIES, Query
from citewell.service.add import add, add_data, embed_pending
from citewell.service.app import App
from citewell.service.ask import AskRequest, ask
from citewell.skills.entities import entity_list
from citewell.skills.reference import depends_on_history, joined
from citewell.types import Answer, Message

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY.parent / "shared" / "data"


@dataclass(frozen=True, slots=True)
class Dataset:
    """A corpus and its questions. `corpus` is a JSONL file of the evaluation data, or a folder of files."""

    name: str
    corpus: Path
    questions: Path


SETS = (
    Dataset("squad2", DATA / "qa_refusal_en/squad2_corpus.jsonl", DATA / "qa_refusal_en/squad2_questions.jsonl"),
    Dataset("cmrc", DATA / "retrieval_zh/cmrc_corpus.jsonl", DATA / "retrieval_zh/cmrc_questions.jsonl"),
    Dataset("samples", REPOSITORY / "samples/library", REPOSITORY / "samples/questions.jsonl"),
)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


async def load(app: App, data: Dataset) -> None:
    """Add what is not there yet; a second run finds it unchanged."""
    if data.corpus.is_dir():
        await add(app, [str(data.corpus)], data.name)
        await embed_pending(app)
        return
    have = {c.name: c for c in await app.catalog.collections()}
    records = read(data.corpus)
    if data.name in have and have[data.name].documents == len(records) and have[data.name].embedded == have[data.name].chunks:
        return
    started = time.perf_counter()
    for record in records:
        name = re.sub(r"[/\\]", " ", record["title"]) + ".txt"
        report = await add_data(app, record["text"].encode(), name, record["doc_id"], data.name)
        if report.status == "failed":
            raise SystemExit(f"{record['doc_id']}: {report.reason}")
    print(f"{data.name}: {len(records)} documents read in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    await embed_pending(app)
    print(f"{data.name}: embedded after {time.perf_counter() - started:.0f} s", file=sys.stderr)


def gold(question: dict[str, Any], uri: str) -> bool:
    return any(uri == doc or uri.endswith("/" + doc) for doc in question["gold_doc_ids"])


def asked(question: dict[str, Any]) -> str:
    """What is searched: a follow-up is joined to the questions before it, as the agent does."""
    text = question["question"].strip()
    history = [Message(**m) for m in question.get("history", [])]
    return joined(text, history) if history and depends_on_history(text, history) else text


async def retrieval(app: App, name: str, questions: Sequence[dict[str, Any]]) -> dict[str, float]:
    """hit@1 and hit@5 of the whole search, over the questions that have a gold document; milliseconds, embedding included."""
    first = five = 0
    seconds: list[float] = []
    scored = [q for q in questions if q["gold_doc_ids"]]
    for question in scored:
        started = time.perf_counter()
        text = asked(question)
        entities = [e.entity for e in entity_list(question["question"]) if e.type not in {"number", "date"}]
        query = Query(text, await app.embedder.query(text), entities, Filter(collections=(name,)), 5)
        found = await STRATEGIES["direct_chunk_search"](app.index, query)
        seconds.append(time.perf_counter() - started)
        right = [gold(question, hit.uri) for hit in found.hits]
        first += bool(right) and right[0]
        five += any(right)
    total = max(1, len(scored))
    return {"n": len(scored), "hit@1": first / total, "hit@5": five / total, "ms": 1000 * statistics.median(seconds or [0.0])}


def folded(text: str) -> str:
    """Letter case, width, punctuation and white space aside."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


async def answer_one(app: App, name: str, question: dict[str, Any]) -> dict[str, Any]:
    history = [Message(**m) for m in question.get("history", [])]
    started = time.perf_counter()
    try:
        answer = await ask(app, AskRequest(question=question["question"], collection=name, history=history, keep=False))
    except CitewellError as error:
        return {"id": question["id"], "error": error.message, "seconds": time.perf_counter() - started}
    seconds = time.perf_counter() - started
    said = " ".join(s.text for s in answer.sentences)
    return {
        "id": question["id"],
        "question": question["question"],
        "answerable": question["answerable"],
        "gold": question["answers"],
        "answer": answer.answer,
        "status": answer.status,
        "confidence": answer.confidence,
        "contains": any(folded(g) in folded(said) for g in question["answers"]),
        "gold_words": gold_words(said, question["answers"]),
        "refused": answer.status == "refused",
        "cited_gold": any(gold(question, c.uri) for c in answer.citations),
        "quotes": len(answer.citations),
        "verbatim": await verbatim(app, answer),
        "verdicts": [s.verdict for s in answer.sentences],
        "warnings": answer.warnings,
        "seconds": seconds,
        "steps": answer.usage.seconds,
        "trace_id": answer.trace_id,
    } | await signals(app, answer.trace_id)


async def signals(app: App, trace_id: str) -> dict[str, Any]:
    """What the steps measured on the way: the figures that thresholds and calibration are fitted on."""
    details = {step.node: step.detail for step in (await app.traces.get(trace_id)).steps}
    found, worded = details.get("DocumentRetrievalNode", {}), details.get("AnswerGenerationNode", {})
    best = found.get("evidence", [{}])[:3]
    return {
        "retrieval_confidence": found.get("confidence"),
        "log_odds": worded.get("evidence_log_odds"),
        "draft": worded.get("draft"),
        "signals": [hit.get("signals") for hit in best],
        "problems": details.get("AnswerRefinementNode", {}).get("problems", []),
    }


def gold_words(said: str, answers: Sequence[str]) -> float:
    """Share of the words (Chinese: words and pairs of characters) of the best gold answer that the proved sentences hold."""
    there = set(index_tokens(said))
    shares = [len(wanted & there) / len(wanted) for gold_answer in answers if (wanted := set(index_tokens(gold_answer)))]
    return max(shares, default=0.0)


async def verbatim(app: App, answer: Answer) -> int:
    """How many quotes equal the characters of their document at the offsets they name."""
    texts = {c.doc_id: (await app.catalog.content(c.doc_id)).text for c in answer.citations}
    return sum(texts[c.doc_id][c.start : c.end] == c.quote for c in answer.citations)


def sample(questions: Sequence[dict[str, Any]], n: int, seed: int) -> list[dict[str, Any]]:
    """As many answerable questions as `n` says and, where there are any, as many unanswerable ones."""
    shuffled = list(questions)
    random.Random(seed).shuffle(shuffled)
    yes = [q for q in shuffled if q["answerable"]][:n]
    return yes + [q for q in shuffled if not q["answerable"]][:n]


def summary(items: Sequence[dict[str, Any]]) -> dict[str, float]:
    done = [i for i in items if "error" not in i]
    yes, no = [i for i in done if i["answerable"]], [i for i in done if not i["answerable"]]
    quotes = sum(i["quotes"] for i in done)
    seconds = sorted(i["seconds"] for i in done) or [0.0]

    def share(part: Sequence[dict[str, Any]], key: str) -> float:
        return sum(bool(i[key]) for i in part) / len(part) if part else float("nan")

    return {
        "n": len(items),
        "errors": len(items) - len(done),
        "contains": share(yes, "contains"),
        "gold_words": statistics.fmean(i["gold_words"] for i in yes) if yes else float("nan"),
        "wrongly_refused": share(yes, "refused"),
        "cited_gold": share([i for i in yes if not i["refused"]], "cited_gold"),
        "refused": share(no, "refused"),
        "verbatim": sum(i["verbatim"] for i in done) / quotes if quotes else float("nan"),
        "brier": statistics.fmean(_brier(i) for i in done) if done else float("nan"),
        "p50_s": statistics.median(seconds),
        "p95_s": seconds[int(0.95 * (len(seconds) - 1))],
    }


def _brier(item: dict[str, Any]) -> float:
    """Squared error of the confidence that the shown answer is right; a refusal shows none, so it counts against that."""
    right = bool(item["contains"]) and not item["refused"]
    return float((item["confidence"] - right) ** 2)


def show(name: str, figures: dict[str, float]) -> None:
    print(
        f"{name:8}", "  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in figures.items()), flush=True
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, help="where the evaluation's own library is kept (default: cache)")
    parser.add_argument("--sets", nargs="*", default=["squad2", "cmrc", "samples"], choices=[s.name for s in SETS])
    parser.add_argument(
        "--answers", type=int, default=20, help="answerable (and unanswerable) questions asked a set; 0: retrieval only"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--llm", default=None, help="chat model: builtin (default), none, openai")
    parser.add_argument("--skip-retrieval", action="store_true")
    parser.add_argument("--json", type=Path, help="write every item there")
    args = parser.parse_args()
    results: dict[str, Any] = {}
    home = args.home or load_settings().cache / "evals"
    async with App(load_settings(home=home, llm=args.llm)) as app:
        for data in SETS:
            if data.name not in args.sets:
                continue
            if not data.questions.exists():
                print(f"{data.name}: not here, left out")
                continue
            await load(app, data)
            results[data.name] = await evaluate(app, data, args)
    if args.json:
        args.json.write_text(json.dumps(results, ensure_ascii=False, indent=1), encoding="utf-8")


async def evaluate(app: App, data: Dataset, args: argparse.Namespace) -> dict[str, Any]:
    questions = read(data.questions)
    figures: dict[str, Any] = {}
    if not args.skip_retrieval:
        figures["retrieval"] = await retrieval(app, data.name, questions)
        show(data.name, figures["retrieval"])
    items = []
    for question in sample(questions, args.answers, args.seed):
        items.append(await answer_one(app, data.name, question))
        print(json.dumps(items[-1], ensure_ascii=False), file=sys.stderr, flush=True)
    if items:
        figures["answers"] = summary(items)
        figures["items"] = items
        show(data.name, figures["answers"])
    return figures


if __name__ == "__main__":
    asyncio.run(main())
