"""What the website agent answers as it is shipped, cold, and whether it refuses what its site does
not tell.

An answer holds the gold text where one of two marks is there. The key sentence: of the sentences of
the gold section the one that is nearest to the question, by the share of the question's words that
it holds and by meaning (as `skills.answer.extract` does); it is contained where 70 % of its content
words (`tokenize_query`: stems, Chinese words and pairs, no stop words) stand in the answer or its
quotes. The quote: one that the answer cites stands inside the gold section, white space, width and
case aside. Where a set asks in another language than its site's, the section counts in both.
Neither mark says that an answer is right: read the wrong ones, and some of the others.

The one rule: every question meets an empty home, so the seconds are those of a site never seen; the
models are loaded before.
"""

from __future__ import annotations

import re
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from citewell.config import Settings
from citewell.models.base import Embedder
from citewell.retrieve.rank import compute_coverage, stretch_cosines
from citewell.runtime.app import App
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.run import AskRequest
from citewell.text.sentences import split_sentences
from citewell.text.tokens import tokenize_for_index, tokenize_query
from citewell.types import Answer, Message, Step
from website_sets import Fetched, Question, Served, SiteSet, fetched, page_name

ENOUGH = 0.7  # of the key sentence's content words
FEWEST = 3  # content words of a sentence that can be the key
SHOWN = ("confidence", "probability", "draft_status", "told", "verdicts", "draft")  # of the steps


@dataclass
class Asked:
    """A question and what came of it. `told`: figures of the steps. `keys`: the key sentences.
    `requests`: all that the site was asked for, robots.txt and sitemap included.
    """

    id: str
    question: str
    gold_page: str
    answer: str
    status: str
    stop_reason: str
    confidence: float
    pages: list[Fetched]
    requests: int
    calls: int
    seconds: float
    cited: list[str]
    quotes: list[str]
    told: dict[str, object] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    contained: bool = False
    quoted: bool = False

    @property
    def given(self) -> bool:
        """An answer, with or without a caution."""
        return self.status in {"answered", "fallback"}

    @property
    def reached(self) -> bool:
        return any(page.page == self.gold_page and not page.problem for page in self.pages)

    @property
    def wrong(self) -> bool:
        """Worth reading: of a question that has gold, without it; of another one, an answer."""
        if not self.gold_page:
            return self.status != "refused"
        return not (self.given and self.gold_page in self.cited and (self.contained or self.quoted))


async def asked(
    settings: Settings, site: SiteSet, questions: Sequence[Question]
) -> AsyncIterator[Asked]:
    """Every question in turn, in a home of its own, with the same models."""
    with tempfile.TemporaryDirectory(prefix="citewell-eval-") as folder, Served(site) as served:
        async with App(settings.model_copy(update={"home": Path(folder) / "models"})) as models:
            await models.embedder.query("hello")
            if models.llm is not None:
                await models.llm.chat([Message(role="user", content="Say hello.")], max_tokens=4)
            for n, question in enumerate(questions):
                home = settings.model_copy(update={"home": Path(folder) / str(n)})
                async with App(home, lender=models) as app:
                    yield await _ask(app, served, question)


async def _ask(app: App, served: Served, question: Question) -> Asked:
    request = AskRequest(
        question=question.question, agent="website", options={"start_urls": [served.start]}
    )
    pages: list[Fetched] = []
    told: dict[str, object] = {}
    before, started, answer = served.requests, time.perf_counter(), None
    async for event in stream_answer(app, request):
        if page := fetched(event):
            pages.append(page)
        elif isinstance(event.data, Step):
            told |= {name: event.data.detail[name] for name in SHOWN if name in event.data.detail}
        elif isinstance(event.data, Answer):
            answer = event.data
    assert answer is not None, "every run ends with an answer"
    told["seconds"] = answer.usage.seconds
    one = Asked(
        question.id,
        question.question,
        question.gold_page,
        answer.answer,
        answer.status,
        answer.stop_reason,
        answer.confidence,
        pages,
        served.requests - before,
        answer.usage.calls,
        time.perf_counter() - started,
        list(dict.fromkeys(page_name(citation.uri) for citation in answer.citations)),
        [citation.quote for citation in answer.citations],
        told,
        list(answer.warnings),
    )
    one.keys = [await key_sentence(app.embedder, *gold) for gold in question.golds]
    one.contained = one.given and any(
        contained(key, " ".join([one.answer, *one.quotes])) for key in one.keys
    )
    one.quoted = one.given and any(
        _squeezed(quote) in _squeezed(text) for quote in one.quotes for _, text in question.golds
    )
    return one


async def key_sentence(embedder: Embedder, question: str, text: str) -> str:
    """The sentence of a section that is nearest to the question."""
    parts = [text[start:end] for start, end in split_sentences(text)]
    parts = [part for part in parts if len(tokenize_query(part)) >= FEWEST] or parts
    near = stretch_cosines(await embedder.passages(parts) @ await embedder.query(question))
    return parts[int(np.argmax(np.asarray(compute_coverage(question, parts)) + near))]


def contained(sentence: str, said: str) -> bool:
    """Whether enough of the content words of a sentence stand there."""
    wanted = set(tokenize_query(sentence))
    return len(wanted & set(tokenize_for_index(said))) >= ENOUGH * len(wanted)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).casefold()


Figures = dict[str, float | None]


def figures(items: Sequence[Asked]) -> Figures:
    """Of questions that the site answers. Shares of all, or of the answers given; None: of
    nothing.
    """
    given = [item for item in items if item.given]
    return {
        "gold page read": _share(items, lambda item: item.reached),
        "answered": _share(items, lambda item: item.status == "answered"),
        "fallback": _share(items, lambda item: item.status == "fallback"),
        "refused": _share(items, lambda item: item.status == "refused"),
        "of given: gold page cited": _share(given, lambda item: item.gold_page in item.cited),
        "of given: key sentence": _share(given, lambda item: item.contained),
        "of given: quote in gold": _share(given, lambda item: item.quoted),
        "of all: key sentence": _share(items, lambda item: item.contained),
        "of all: quote in gold": _share(items, lambda item: item.quoted),
        **_cost(items),
    }


def refusals(items: Sequence[Asked]) -> Figures:
    """Of questions that the site does not tell."""
    refused = [item for item in items if item.status == "refused"]
    return {
        "refused": len(refused) / len(items),
        "of those: off_site": _share(refused, lambda item: item.stop_reason == "off_site"),
        "answered": _share(items, lambda item: item.status == "answered"),
        "fallback": _share(items, lambda item: item.status == "fallback"),
        **_cost(items),
    }


def _cost(items: Sequence[Asked]) -> Figures:
    seconds = [item.seconds for item in items]
    return {
        "pages": float(np.mean([len(item.pages) for item in items])),
        "requests": float(np.mean([item.requests for item in items])),
        "model calls": float(np.mean([item.calls for item in items])),
        "seconds p50": float(np.percentile(seconds, 50)),
        "seconds p95": float(np.percentile(seconds, 95)),
    }


def _share(items: Sequence[Asked], holds: Callable[[Asked], bool]) -> float | None:
    return sum(map(holds, items)) / len(items) if items else None


def told(item: Asked) -> list[str]:
    """What was answered, and how it came about."""
    marks = ""
    if item.gold_page:
        marks = (
            f" -> {item.gold_page}; key sentence: {item.contained}, quote in gold: {item.quoted}"
        )
    return [
        f"{item.question}  [{item.id}]{marks}",
        (
            f"  {item.status} {item.stop_reason}, confidence {item.confidence:.2f}, "
            f"{item.calls} calls, {item.seconds:.1f} s"
        ),
        *(f"  {n} {page.page}: {page.problem or page.why}" for n, page in enumerate(item.pages, 1)),
        *(f"  {name}: {value}" for name, value in item.told.items()),
        *(f"  key: {key}" for key in item.keys),
        f"  answer: {item.answer}",
        *(f"  quote: {quote}" for quote in item.quotes),
        *(f"  warning: {warning}" for warning in item.warnings),
    ]
