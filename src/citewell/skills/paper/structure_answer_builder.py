"""A structure answer while it is made: its sentences and the spans of the paper that prove them.

The one rule: the citation `n` is the passage `n`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from citewell.skills.evidence.passages import Passage
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import PaperTargets
from citewell.skills.paper.structure_questions import FactKind, StructureQuestion
from citewell.skills.paper.structure_wording import format_fact
from citewell.types import Citation, Sentence


@dataclass(frozen=True, slots=True)
class StructureAnswer:
    """`sentences` number `citations`, and the citation `n` is the passage `n`. A sentence that only
    counts what no words of the paper say cites nothing.
    """

    kind: FactKind
    lang: str
    sentences: list[Sentence] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    passages: list[Passage] = field(default_factory=list)

    @property
    def text(self) -> str:
        return ("" if self.lang == "zh" else " ").join(sentence.text for sentence in self.sentences)


@dataclass(slots=True)
class AnswerBuilder:
    """An answer while it is made."""

    book: OpenPaper
    answer: StructureAnswer
    points: PaperTargets
    asked: StructureQuestion

    def add_sentence(self, text: str, *spans: tuple[int, int] | None) -> None:
        """A sentence, proved by these spans of the paper."""
        numbers = [self._cite_span(span) for span in spans if span and span[0] < span[1]]
        self.answer.sentences.append(
            Sentence(text=text, citations=list(dict.fromkeys(numbers)), verdict="supported")
        )

    def _cite_span(self, span: tuple[int, int]) -> int:
        for citation in self.answer.citations:
            if (citation.start, citation.end) == span:
                return citation.n
        n = len(self.answer.citations) + 1
        passage = self.book.passage(n, [span])
        hit = passage.hit
        self.answer.passages.append(passage)
        self.answer.citations.append(
            Citation(
                n=n,
                doc_id=hit.doc_id,
                title=hit.title,
                uri=hit.uri,
                page=hit.page,
                section=" › ".join(hit.heading_path),
                quote=hit.text,
                start=span[0],
                end=span[1],
                score=1.0,
            )
        )
        return n

    def words(self, span: tuple[int, int]) -> str:
        """A span on one line."""
        return " ".join(self.book.document.text[span[0] : span[1]].split())

    def put(self, key: str, *spans: tuple[int, int] | None, **values: str) -> None:
        self.add_sentence(format_fact(key, self.answer.lang, **values), *spans)
