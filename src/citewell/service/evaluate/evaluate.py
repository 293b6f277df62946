"""Ask the questions of data sets, one after another, and measure what comes of each. Every question
gives an item, whatever goes wrong with it, and a report can be made of the items at any moment.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from citewell import __version__
from citewell.errors import CitewellError
from citewell.measure.dataset import Question
from citewell.measure.report import Item, Replied, Report, Run, Searched
from citewell.measure.summary import build_report
from citewell.retrieve.confidence import SIGNALS, load_shipped
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress, Progress, ignore_progress
from citewell.service.evaluate.corpus import Corpus, get_corpus, load_corpus
from citewell.service.evaluate.eval_answer import answer_question
from citewell.service.evaluate.eval_search import Asked, Shelf, search_question
from citewell.service.evaluate.eval_sets import Dataset, Options
from citewell.service.evaluate.journal import Journal

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Evaluation:
    """A run over `sets`. `collection`: for sets without corpus. `told`: gets what is odd."""

    app: App
    sets: Sequence[Dataset]
    options: Options
    collection: str | None = None
    journal: Journal = field(default_factory=lambda: Journal(None))
    told: Callable[[str], None] = lambda _: None
    items: list[Item] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)
    corpora: dict[str, str] = field(default_factory=dict)
    _begun: float = 0.0
    _reused: int = 0

    @property
    def of(self) -> int:
        """How many questions there are to ask."""
        return sum(len(one.questions) for one in self.sets)

    async def run(self, on_progress: OnProgress | None = None) -> None:
        """Ask all. Raises InvalidInput (agent, strategy), NotFound, and as loading a corpus."""
        self.options.check()
        self.journal.open()
        tell = on_progress or ignore_progress
        for one in self.sets:
            self._report_troubles(one.troubles)
        for path, sets in groupby(self.sets, key=lambda one: one.corpus):
            async with AsyncExitStack() as stack:
                corpus = await self._open_corpus(path, stack, tell)
                self._report_troubles(corpus.troubles)
                shelf = await Shelf.of(corpus)
                for one in sets:
                    self.corpora[one.name] = corpus.fingerprint[:12] if path else corpus.collection
                    self._report_troubles(find_missing_gold(shelf, one))
                    await self._ask_all(shelf, one, tell)
        await tell(Progress("ask", self.of, self.of))

    async def _open_corpus(
        self, path: Path | None, stack: AsyncExitStack, tell: OnProgress
    ) -> Corpus:
        if path is None:
            return await get_corpus(self.app, self.collection)
        return await stack.enter_async_context(
            load_corpus(self.app, path, fresh=self.options.fresh, on_progress=tell)
        )

    async def _ask_all(self, shelf: Shelf, one: Dataset, tell: OnProgress) -> None:
        self._begun = self._begun or time.perf_counter()
        for question in one.questions:
            await tell(
                Progress(
                    "ask",
                    len(self.items),
                    self.of,
                    question.question,
                    left=self._estimate_seconds_left(),
                )
            )
            source = self._hash_source(shelf, one, question)
            item = self.journal.get(source)
            if item is None:
                item = await measure_question(shelf, one.name, question, self.options)
                self.journal.add(source, item)
            else:
                self._reused += 1
            self.items.append(item)

    def _estimate_seconds_left(self) -> float | None:
        """Seconds to go, at the pace of the questions asked in this run."""
        asked = len(self.items) - self._reused
        return (
            (time.perf_counter() - self._begun) / asked * (self.of - len(self.items))
            if asked
            else None
        )

    def _hash_source(self, shelf: Shelf, one: Dataset, question: Question) -> str:
        """A hash of all that an item comes from."""
        ways = {
            name: value
            for name, value in asdict(self.options).items()
            if name in {"agent", "strategy", "only", "said"}
        }
        ours = [
            shelf.corpus.fingerprint,
            self._get_model_names(),
            self._dump_settings(),
            self.app.calibration.model_dump(mode="json"),
        ]
        parts = [one.name, question.model_dump(mode="json"), ways, sorted(SIGNALS), *ours]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def _report_troubles(self, troubles: Sequence[str]) -> None:
        self.troubles += troubles
        for trouble in troubles:
            self.told(trouble)

    def _get_model_names(self) -> dict[str, str]:
        settings, llm = self.app.settings, self.app.llm if not self.options.only else None
        return {
            "llm": llm.name if llm else settings.llm if self.options.only else "none",
            "embedder": self.app.embedder.name,
        }

    def _dump_settings(self) -> dict[str, Any]:
        """The groups of settings that an answer depends on."""
        settings = self.app.settings
        groups = ((name, getattr(settings, name)) for name in type(settings).model_fields)
        rerank = settings.model_dump(
            mode="json", include={"reranker", "rerank_model", "rerank_top"}
        )
        return {
            name: group.model_dump(mode="json")
            for name, group in groups
            if isinstance(group, BaseModel)
        } | rerank

    def report(self, *, calibrate: bool = False) -> Report:
        """The report of the items so far. `calibrate`: with new weights fitted on them."""
        options = self.options
        run = Run(
            citewell=__version__,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            datasets={one.name: str(one.path) for one in self.sets},
            corpora=self.corpora,
            agent=options.agent,
            strategy=options.strategy,
            only=options.only,
            seed=options.seed,
            limit=options.limit,
            said=dict(options.said),
            settings=self._dump_settings(),
            **self._get_model_names(),
        )
        model = self.app.calibration.retrieval or load_shipped().retrieval
        assert model is not None, "calibration.json holds both"
        return build_report(
            self.items,
            of=self.of,
            run=run,
            troubles=self.troubles,
            model=model,
            calibrate=calibrate,
        )


def find_missing_gold(shelf: Shelf, one: Dataset) -> list[str]:
    """Says where gold documents are not in the corpus: they count as not found."""
    absent = [(q.id, doc) for q in one.questions for doc in q.grades if doc not in shelf.means]
    if not absent:
        return []
    (first, doc), lost = absent[0], len({question for question, _ in absent})
    return [
        (
            f"{one.name}: {lost} questions name gold documents that are not in the corpus (the "
            f"first: {first}, {doc})"
        )
    ]


async def measure_question(
    shelf: Shelf, dataset: str, question: Question, options: Options
) -> Item:
    """One question searched for and, unless left out, answered."""
    asked: Asked = shelf.prepare_question(question)
    searched: Searched | None = None
    replied: Replied | None = None
    error = ""
    try:
        searched = await search_question(shelf, asked, options.strategy)
        if not options.only:
            replied = await answer_question(shelf, asked, options)
    except CitewellError as failure:
        error = failure.message
    except Exception as failure:  # whatever it is, the other questions go on
        log.exception("%s, %s", dataset, question.id)
        error = f"internal error: {type(failure).__name__}: {failure}"
    return Item(
        dataset=dataset,
        id=question.id,
        question=question.question,
        asked=asked.read.text,
        lang=question.lang,
        pair=shelf.find_language_pair(asked),
        group=min(question.grades, default=question.id),
        answerable=question.answerable,
        answers=question.answers,
        parts=question.answer_parts,
        gold=list(question.grades),
        gold_pages=question.gold_pages,
        search=searched,
        answer=replied,
        error=error,
    )
