"""The references that an answer's cited sentences lean on."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from citewell.skills.paper.reading_context import OpenPaper
from citewell.types import Citation, Shown


class CitedReference(Shown):
    """An entry of the list of references that cited sentences mention. `label`: `[12]`, or `Wei et
    al., 2022`; `text` is the entry, `start` to `end` of the paper; `citations`: the numbers of the
    citations that mention it.
    """

    label: str
    text: str
    page: int | None = None
    start: int
    end: int
    citations: list[int] = Field(default=[])


def find_cited_references(citations: Sequence[Citation], book: OpenPaper) -> list[CitedReference]:
    """The entries that the cited sentences mention, each once, in the order they are met."""
    paper, document = book.paper, book.document
    used: dict[int, list[int]] = {}
    for citation in citations:
        if citation.doc_id != book.doc_id or citation.origin != "document":
            continue
        for mention in paper.mentions:
            if (
                mention.kind == "reference"
                and mention.start < citation.end
                and citation.start < mention.end
            ):
                for target in mention.targets:
                    numbers = used.setdefault(target, [])
                    numbers += [citation.n] if citation.n not in numbers else []
    return [
        CitedReference(
            label=f"[{entry.key}]" if entry.key.isdigit() else entry.key,
            text=document.text[entry.start : entry.end],
            page=document.find_page_at(entry.start),
            start=entry.start,
            end=entry.end,
            citations=numbers,
        )
        for entry, numbers in (
            (paper.references[target], numbers) for target, numbers in used.items()
        )
    ]
