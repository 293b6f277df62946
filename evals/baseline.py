"""The simplest baseline beside Citewell in one run: the three nearest paragraphs in one prompt to
the same chat model.

    .venv/bin/python evals/convert.py --out .eval/sets --sets squad2 cmrc
    .venv/bin/python evals/baseline.py .eval/sets/squad2.questions.jsonl --limit 40 --seed 7

Prints for both: right (of the answerable), wrongly refused (of the answerable), refused (of the
unanswerable), model calls and seconds a question. `--without-model`: only Citewell's tier without a
chat model, against nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from citewell.config import load_settings
from citewell.measure import wording
from citewell.measure.dataset import Question
from citewell.measure.intervals import compute_wilson
from citewell.models.metered import Metered
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.run import AskRequest
from citewell.service.ask.search import find_hits
from citewell.service.evaluate.corpus import load_corpus
from citewell.service.evaluate.eval_sets import Options, load_datasets
from citewell.store.index.protocol import Filter
from citewell.text.sentences import detect_language
from citewell.types import Message

PROMPT = {
    "en": "Answer the question from these paragraphs in one short sentence. If they do not tell "
    "it, reply only: unknown.\n\n"
    "{text}\n\nQuestion: {question}",
    "zh": "请根据以下资料用一句话回答问题。如果资料没有写明，只回答：不知道。"
    "\n\n{text}\n\n问题：{question}",
}
UNKNOWN = ("unknown", "不知道")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one question."""

    answerable: bool
    right: bool
    refused: bool
    calls: int
    seconds: float


async def ask_baseline(app: App, collection: str, question: Question) -> tuple[str, bool, int]:
    """The reply, whether it refuses, and the calls it took."""
    assert app.llm is not None, "the baseline needs a chat model"
    llm, text = Metered(app.llm), question.question
    where = Filter(collections=(collection,))
    found = await find_hits(
        app, SearchOptions(), text, await app.embedder.query(text), [], where, 3
    )
    shown = "\n\n".join(hit.text for hit in found.hits)
    prompt = PROMPT[detect_language(text)].format(text=shown, question=text)
    reply = await llm.chat([Message(role="user", content=prompt)], max_tokens=100)
    return reply.text, any(word in reply.text.casefold()[:40] for word in UNKNOWN), llm.calls


async def ask_citewell(
    app: App, collection: str, question: Question, *, agent: str
) -> tuple[str, bool, int]:
    """The proved sentences, whether it refuses, and the calls it took."""
    answer = await ask(
        app, AskRequest(question=question.question, agent=agent, collection=collection, keep=False)
    )
    said = " ".join(
        sentence.text for sentence in answer.sentences if sentence.verdict != "unsupported"
    )
    return said, answer.status == "refused", answer.usage.calls


async def measure(
    questions: list[Question], run: Callable[[Question], Awaitable[tuple[str, bool, int]]]
) -> list[Outcome]:
    """Every question asked and rated."""
    outcomes = []
    for question in questions:
        started = time.perf_counter()
        said, refused, calls = await run(question)
        right = not refused and wording.is_right(said, question.answers, question.answer_parts)
        outcomes.append(
            Outcome(question.answerable, right, refused, calls, time.perf_counter() - started)
        )
    return outcomes


def print_row(name: str, outcomes: list[Outcome]) -> None:
    """One line of the table."""
    can = [each for each in outcomes if each.answerable]
    cannot = [each for each in outcomes if not each.answerable]
    parts = [
        f"{title} {_share([getattr(each, field) for each in group])}"
        for title, field, group in (
            ("right", "right", can),
            ("wrongly refused", "refused", can),
            ("refused", "refused", cannot),
        )
        if group
    ]
    calls = sum(each.calls for each in outcomes) / len(outcomes)
    seconds = sorted(each.seconds for each in outcomes)[len(outcomes) // 2]
    print(f"{name:24} {'  '.join(parts)}  calls {calls:.1f}  median {seconds:.2f} s", flush=True)


def _share(marks: list[bool]) -> str:
    low, high = compute_wilson(sum(marks) / len(marks), len(marks))
    return f"{sum(marks) / len(marks):.2f} [{low:.2f}, {high:.2f}] of {len(marks)}"


async def _main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=Path, nargs="+")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--agent", default="qa")
    parser.add_argument("--without-model", action="store_true")
    given = parser.parse_args()
    settings = load_settings()
    settings = settings.model_copy(update={"llm": "none"}) if given.without_model else settings
    async with App(settings) as app:
        for one in load_datasets(
            given.questions, None, None, Options(limit=given.limit, seed=given.seed)
        ):
            assert one.corpus is not None, "a corpus lies beside the questions"
            print(f"{one.name}: {len(one.questions)} questions, {settings.llm}")
            async with load_corpus(app, one.corpus) as corpus:
                own, name = corpus.app, corpus.collection
                if not given.without_model:
                    print_row(
                        "three paragraphs, one call",
                        await measure(one.questions, partial(ask_baseline, own, name)),
                    )
                asked = partial(ask_citewell, own, name, agent=given.agent)
                print_row(f"citewell {given.agent}", await measure(one.questions, asked))


if __name__ == "__main__":
    asyncio.run(_main())
