"""The paper's own words where a reader asks for them, and the references that cited sentences lean on.

The one rule: a quotation is given to the letter; what serves the question badly is not added to fill up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from pydantic import Field

from citewell.ingest.sentences import language
from citewell.models.base import Embedder
from citewell.retrieve.rank import coverage, stretched
from citewell.skills.cite import Source, sources
from citewell.skills.evidence import Passage
from citewell.skills.reading import OpenPaper
from citewell.types import Citation, Shown

SECOND: Final = 0.75  # share of the best one's score that another sentence needs to be quoted beside it; chosen by hand
_ASKING = r"(?:^|[.;:,!?]\s*|\b(?:please|you|to|and)\s+)"  # `give me the sentence`, not `how does it find sentences`
_WANTS = re.compile(
    rf"{_ASKING}(?:quote|cite|copy|give|show|find|get|tell|send|point)\s+(?:me\s+|us\s+)?(?:(?:to|out)\s+)?"
    r"(?:the|a|an|one|its|their)\s+(?:\w+\s+){0,2}?(?:sentences?|quotes?|quotations?|wording)\b"
    r"|\bquote\s+(?:me|it|them|directly|exactly|verbatim|what|where|from|how|the (?:paper|authors?|text|part|definition))\b"
    r"|\bquote\W*$|\bverbatim\b|\bword[\s-]for[\s-]word\b"
    r"|\bin (?:its|their|his|her|the (?:paper|authors?|text)['’]?s?['’]?) own words\b"
    r"|\b(?:exact|literal|actual|precise|very)\s+(?:words?|wording|sentences?|quotes?|quotations?|phras(?:e|ing))\b"
    r"|\boriginal\s+(?:words?|wording|quotes?|phrasing)\b|\bwhat are the words\b"
    r"|\bwhich sentences? (?:(?:of|in) the (?:paper|text) )?(?:says?|states?|shows?|proves?|mentions?|defines?|explains?)\b"
    r"|原文(?![献档件])|原话|原句|逐字|一字不[差改漏]|摘录|照抄|哪[一几]?句话?"
    r"|引用(?:一下)?(?:论文|文中|文章|作者)?的?(?:句子|语句|那句|一句)",
    re.IGNORECASE,
)
_NOT = re.compile(r"\b(?:stock|price|airfare)\s+quotes?\b|\bquotes?\s+(?:prices?|rates?)\b|原文(?:和|与|跟)译文", re.IGNORECASE)
_ORDER = re.compile(
    r"\b(?:please|quote|cite|copy|give|show|find|tell|exact(?:ly)?|original|literal|verbatim|word[\s-]for[\s-]word|sentences?|words?|"
    r"wording|passages?|quotations?|quotes?|paper|authors?|says?|states?|text|own|me|where|which)\b"
    r"|请|给出|给我|找出|引用|摘录|逐字|原文|原话|原句|句子|哪句话?|怎么说的?|如何表述|是什么|论文|作者|文中|的话",
    re.IGNORECASE,
)


class CitedReference(Shown):
    """An entry of the list of references that cited sentences mention. `label`: `[12]`, or `Wei et al., 2022`; `text` is the
    entry, `start` to `end` of the paper; `citations`: the numbers of the citations that mention it.
    """

    label: str
    text: str
    page: int | None = None
    start: int
    end: int
    citations: list[int] = Field(default=[])


def wants_quotation(question: str) -> bool:
    """Whether the paper's own words are asked for."""
    return bool(_WANTS.search(question)) and not _NOT.search(question)


async def quotation(question: str, passages: Sequence[Passage], embedder: Embedder | None, most: int = 2) -> str:
    """The sentences of the passages that serve the question best, verbatim, in reading order; empty where there is none."""
    quotable = [source for source in sources(passages) if re.search(r"\w", source.text)]
    headings = {source.context for source in quotable}
    quotable = [s for s in quotable if not any(heading.endswith(s.text.strip()) for heading in headings)] or quotable
    if not quotable:
        return ""
    asked = " ".join(_ORDER.sub(" ", question).split()) or question
    texts = [source.text for source in quotable]
    scores = np.asarray(coverage(asked, texts), dtype=np.float64)
    if embedder is not None and len(texts) > 1:
        scores = scores + stretched(await embedder.passages(texts) @ await embedder.query(asked))
    order = [int(i) for i in np.argsort(-scores, kind="stable")[:most]]
    kept = [i for i in order if scores[i] >= SECOND * scores[order[0]]]
    chosen = _distinct([quotable[i] for i in kept])
    chosen.sort(key=lambda source: (source.passage.n, source.start))
    return ("" if language(chosen[0].text) == "zh" else " ").join(source.text for source in chosen)


def _distinct(chosen: Sequence[Source]) -> list[Source]:
    found: dict[tuple[str, int, int], Source] = {}
    for source in chosen:
        found.setdefault((source.passage.hit.doc_id, source.start, source.end), source)
    return list(found.values())


def references_of(citations: Sequence[Citation], book: OpenPaper) -> list[CitedReference]:
    """The entries that the cited sentences mention, each once, in the order in which they are met."""
    paper, document = book.paper, book.document
    used: dict[int, list[int]] = {}
    for citation in citations:
        if citation.doc_id != book.doc_id or citation.origin != "document":
            continue
        for mention in paper.mentions:
            if mention.kind == "reference" and mention.start < citation.end and citation.start < mention.end:
                for target in mention.targets:
                    numbers = used.setdefault(target, [])
                    numbers += [citation.n] if citation.n not in numbers else []
    return [
        CitedReference(
            label=f"[{entry.key}]" if entry.key.isdigit() else entry.key,
            text=document.text[entry.start : entry.end],
            page=document.page_at(entry.start),
            start=entry.start,
            end=entry.end,
            citations=numbers,
        )
        for entry, numbers in ((paper.references[target], numbers) for target, numbers in used.items())
    ]
