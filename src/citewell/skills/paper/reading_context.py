"""What a reading session of a paper shows: the report, the reading route, and the paper. Every
statement has a verdict and the numbers of the citations that prove it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from pydantic import Field

from citewell.ingest.paper.shape import Paper, Role
from citewell.messages import AnyText
from citewell.skills.evidence.passages import Passage, join_spans
from citewell.types import Citation, Document, Hit, Sentence, Shown

Slot = Literal["problem", "contributions", "method", "results", "limits"]


class ReportPart(Shown):
    """`sentences` are numbered into the report's `citations`."""

    slot: Slot
    sentences: list[Sentence]


class Term(Shown):
    """A word to know. `sentence`: what the paper says it is."""

    term: str
    sentence: Sentence


class Suggestion(Shown):
    """A question worth asking. `section`: where its answer stands, proved by `citations`."""

    question: str
    section: str
    page: int | None = None
    citations: list[int] = Field(default=[])


class Report(Shown):
    """The report of a paper. `question`: asked of the reader. All parts share `citations`."""

    lang: str
    parts: list[ReportPart]
    terms: list[Term] = Field(default=[])
    questions: list[Suggestion] = Field(default=[])
    question: str
    citations: list[Citation] = Field(default=[])
    warnings: list[AnyText] = Field(default=[])


class PlanStep(Shown):
    """One thing to read. `step_id` stays the same when the route is changed, while its section is
    in it. Minutes of careful reading. `quote` is the sentence of the section that speaks most to
    the interest, `start` and `end` the section's own text. `done_at`: when it was ticked off, in
    seconds since the epoch.
    """

    step_id: str
    section: str
    role: Role
    start: int
    end: int
    first_page: int = 0
    last_page: int = 0
    minutes: float
    why: str
    quote: str = ""
    done_at: float | None = None


class Plan(Shown):
    """The reading route of an interest (empty: the paper in short). `revision` counts from 1."""

    interest: str
    lang: str
    steps: list[PlanStep]
    revision: int = 1
    made_at: float = 0.0

    @property
    def minutes(self) -> float:
        """Still to read."""
        return sum(step.minutes for step in self.steps if step.done_at is None)


class Selection(Shown):
    """What the reader marked: `text[start:end]`, or its words where only those are known."""

    start: int = Field(-1, ge=-1)
    end: int = Field(-1, ge=-1)
    text: str = Field("", max_length=4_000)


@dataclass(frozen=True, slots=True)
class OpenPaper:
    """A stored paper with its text and its shape."""

    doc_id: str
    collection: str
    uri: str
    document: Document
    paper: Paper

    def hit(self, start: int, end: int, score: float = 0.0) -> Hit:
        """A span of it as a search would give it."""
        part = self.paper.get_part_at(start)
        return Hit(
            chunk_id=0,
            doc_id=self.doc_id,
            collection=self.collection,
            title=self.paper.title or self.document.title,
            uri=self.uri,
            heading_path=part.heading_path if part else (),
            page=self.document.find_page_at(start),
            start=start,
            end=end,
            text=self.document.text[start:end],
            lang=self.document.lang,
            score=score,
        )

    def passage(self, n: int, spans: Sequence[tuple[int, int]]) -> Passage:
        """Spans of it, in order, as evidence that may be quoted one by one, gaps left out."""
        hit = self.hit(spans[0][0], spans[-1][1])
        shown = tuple(self._describe_lettering(start, end) for start, end in spans)
        text = join_spans(self.document.text, spans)
        return Passage(n, hit, tuple(spans), text, shown if any(shown) else ())

    def _describe_lettering(self, start: int, end: int) -> str:
        """Lettering of a figure, each piece with its place on the page in percent: that tells which
        value is which bar's. Empty for all else, and where nothing says where it stands.
        """
        figures = (each.body for each in self.paper.floats if each.kind == "figure" and each.body)
        if not any(a <= start and end <= b for a, b in figures):
            return ""
        boxes, text = self.document.boxes, self.document.text
        first = bisect_right(boxes, start, key=lambda box: box.end)
        pieces = takewhile(lambda box: box.start < end, boxes[first:])
        return "; ".join(
            f"{text[max(box.start, start) : min(box.end, end)].strip()} "
            f"(left {100 * box.x0:.0f} to {100 * box.x1:.0f}, top {100 * box.y0:.0f})"
            for box in pieces
        )
