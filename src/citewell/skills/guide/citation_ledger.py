"""The citations of one report: every statement proved by its own quotes, and the quotes numbered
once for all of it. What is not proved gets no number and is not in the report.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.skills.answer.cite import Proof, build_citation
from citewell.skills.evidence.numbered import Unit
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import OpenPaper
from citewell.types import Citation, Sentence


class Ledger:
    """Hands out numbers in the order in which quotes are first used."""

    def __init__(self, book: OpenPaper) -> None:
        self.citations: list[Citation] = []
        self._book = book
        self._numbers: dict[tuple[int, int], int] = {}

    def state_line(self, line: Line) -> Sentence | None:
        """The line as a statement of the report: its own words, as it reads alone where those stand
        in it so; None where it has no words.
        """
        quote = " ".join(line.quote.split())
        text = line.text if line.text.casefold().rstrip(" .。") in quote.casefold() else quote
        if not text:
            return None
        return Sentence(text=text, citations=[self.cite_line(line)], verdict="supported")

    def cite_line(self, line: Line) -> int:
        """The number of a line's quote."""
        passage = self._book.passage(1, [(line.start, line.end)])
        unit = Unit("1.1", passage, line.start, line.end)
        return self._number_citation(build_citation(1, unit, 0.0, verified=True))

    def renumber_sentences(self, proof: Proof, kept: Sequence[Sentence]) -> list[Sentence]:
        """Sentences of a proof with the report's numbers; title, page, section of each quote."""
        of = {citation.n: citation for citation in proof.citations}
        new = {
            n: self._number_citation(self._locate_citation(of[n]))
            for s in kept
            for n in s.citations
        }
        return [s.model_copy(update={"citations": [new[n] for n in s.citations]}) for s in kept]

    def _locate_citation(self, citation: Citation) -> Citation:
        hit = self._book.hit(citation.start, citation.end)
        return citation.model_copy(
            update={"title": hit.title, "page": hit.page, "section": " › ".join(hit.heading_path)}
        )

    def _number_citation(self, citation: Citation) -> int:
        key = (citation.start, citation.end)
        if key not in self._numbers:
            self._numbers[key] = len(self.citations) + 1
            self.citations.append(citation.model_copy(update={"n": self._numbers[key]}))
        return self._numbers[key]
