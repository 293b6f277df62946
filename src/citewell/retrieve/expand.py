"""Hits widened by what stands around them, for a model that has room for it. What comes out is a
contiguous span of its document within one section, and its text is the document's own, so that a
quote from it can be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from citewell.store.index.protocol import Index
from citewell.store.library.catalog import Catalog
from citewell.text.language import count_tokens
from citewell.types import Hit

CHARS_A_TOKEN = 5  # at most, as `count_tokens` counts


async def expand_hits(
    index: Index, hits: Sequence[Hit], before: int, after: int, budget: int
) -> list[Hit]:
    """Each hit with up to `before` and `after` passages of its section around it, best hit first,
    as long as all of them together stay within `budget` tokens; hits that then meet are one, in the
    place of the better one. A hit that cannot be widened stays as it is.
    """
    if not hits or (before <= 0 and after <= 0):
        return list(hits)
    beside = await index.get_neighbours([hit.chunk_id for hit in hits], before, after)
    spans = [_get_span(hit, beside.get(hit.chunk_id, [])) for hit in hits]
    texts = await index.texts([(hit.doc_id, *span) for hit, span in zip(hits, spans, strict=True)])
    spent = sum(count_tokens(hit.text) for hit in hits)
    chosen: list[Hit] = []
    for hit, (start, end), text in zip(hits, spans, texts, strict=True):
        wide = (
            hit
            if text is None
            else replace(
                hit, start=start, end=end, text=text, words="", page=_get_page(hit, beside)
            )
        )
        more = count_tokens(wide.text) - count_tokens(hit.text)
        if spent + more <= budget and hit.text in wide.text:
            spent += more
            chosen.append(wide)
        else:
            chosen.append(hit)
    return await _merge_hits(index, chosen)


async def load_whole_documents(
    index: Index, catalog: Catalog, hits: Sequence[Hit], budget: int
) -> dict[str, Hit]:
    """The documents of the hits, best first, that are short enough to be read whole: one hit from
    their first to their last character each, as many as fit into `budget` tokens together, by
    doc_id.
    """
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.doc_id, hit)
    sizes = await catalog.get_text_lengths(list(best))
    whole: dict[str, Hit] = {}
    for doc_id, hit in best.items():
        if not 0 < sizes.get(doc_id, 0) <= CHARS_A_TOKEN * budget:
            continue
        (text,) = await index.texts([(doc_id, 0, sizes[doc_id])])
        cost = count_tokens(text or "")
        if text is not None and cost <= budget:
            whole[doc_id] = replace(
                hit, start=0, end=len(text), text=text, heading_path=(), page=None, words=""
            )
            budget -= cost
    return whole


def _get_span(hit: Hit, beside: Sequence[Hit]) -> tuple[int, int]:
    return min([hit.start, *(each.start for each in beside)]), max(
        [hit.end, *(each.end for each in beside)]
    )


def _get_page(hit: Hit, beside: dict[int, list[Hit]]) -> int | None:
    """That of the first passage."""
    return min([hit, *beside.get(hit.chunk_id, [])], key=lambda each: each.start).page


async def _merge_hits(index: Index, hits: Sequence[Hit]) -> list[Hit]:
    """Overlapping spans of a section become one, with the better hit's place and figures."""
    groups: list[list[Hit]] = []
    for hit in hits:
        near = [group for group in groups if any(_is_overlapping(hit, other) for other in group)]
        if near:
            near[0] += [hit, *(each for group in near[1:] for each in group)]
            groups = [group for group in groups if group not in near[1:]]
        else:
            groups.append([hit])
    wide = [_get_span(group[0], group[1:]) for group in groups]
    texts = await index.texts(
        [(group[0].doc_id, *span) for group, span in zip(groups, wide, strict=True)]
    )
    merged: list[Hit] = []
    for group, (start, end), text in zip(groups, wide, texts, strict=True):
        first = min(group, key=lambda hit: hit.start)
        joined = (
            group[0]
            if len(group) == 1 or text is None
            else replace(group[0], start=start, end=end, text=text, words="", page=first.page)
        )
        merged.append(joined)
    return merged


def _is_overlapping(one: Hit, other: Hit) -> bool:
    same = one.doc_id == other.doc_id and one.section == other.section
    return same and one.start < other.end and other.start < one.end
