"""A search that finds nothing, for desks to say otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.models.base import Vector
from citewell.retrieve.query import Context, Found
from citewell.skills.dialogue.reference import Readings
from citewell.skills.evidence.confirmed_evidence import ConfirmedEvidence
from citewell.skills.evidence.passages import Passage
from citewell.types import Citation, Hit


class EmptySearch:
    """Implements `Search`."""

    async def find(
        self, text: str, vector: Vector | None, entities: Sequence[str], context: Context | None
    ) -> Found:
        return Found([], 0.0)

    async def find_by(self, route: str, read: Readings, entities: Sequence[str]) -> Found:
        return Found([], 0.0)

    async def find_more(
        self, question: str, search_for: str, read: Sequence[Passage]
    ) -> list[Passage]:
        return []

    async def find_confirmed(self, question: str) -> list[ConfirmedEvidence]:
        return []

    def rate(self, text: str, hits: Sequence[Hit]) -> float:
        return 0.5 if hits else 0.0

    async def widen(self, hits: Sequence[Hit], budget: int) -> list[Hit]:
        return list(hits)

    async def locate(self, citations: list[Citation]) -> list[Citation]:
        return citations
