"""An overview in the documents' own words, where no chat model writes one: sentences of their
sections, each quoted whole. Nothing is said that no document says, and each document that is meant
has its say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest
from operator import itemgetter

from citewell.models.base import Embedder
from citewell.models.reader_base import Reader
from citewell.skills.answer.decision import get_decision_model
from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.answer.find_answer import find_body_start
from citewell.skills.answer.rank_sentences import rank_sentences
from citewell.skills.answer.wording import format_message
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.evidence.passages import Passage
from citewell.skills.evidence.prompt_injection import has_prompt_injection
from citewell.skills.guide.plain_sentence import (
    ITEM_MARK,
    is_dependent_sentence,
)
from citewell.text.facts import extract_figures
from citewell.text.language import count_tokens
from citewell.text.table_rows import is_row
from citewell.types import Citation, Sentence

POINTS, FEWEST, MOST = 5, 2, 12  # sentences where the question names no number, and bounds of one
END = (".", "!", "。", "！")
SIDE = 2  # sentences of each document that is compared
FEWEST_TOKENS = 10  # of a sentence that says something by itself
MOST_READ = 60  # sentences of a document that are embedded for an overview: 2 s of one core


def count_points(question: str, titles: Iterable[str] = ()) -> int:
    """As many as the question asks for ("in five points"); a figure of a title is none of that."""
    titled = {figure for title in titles for figure in extract_figures(title)}
    named = [int(each) for each in extract_figures(question) - titled if each.isdigit()]
    return min((n for n in named if FEWEST <= n <= MOST), default=POINTS)


async def quote_overview(passages: Sequence[Passage], points: int, embedder: Embedder) -> Draft:
    """Of each document the sentence of each section that is nearest to the document's title, the
    nearest first, of all documents in turn. Raises ModelUnavailable.
    """
    turns = [await _rank_units(sections, embedder) for sections in _list_sections(passages)]
    mixed = [unit for turn in zip_longest(*turns) for unit in turn if unit is not None]
    once: dict[str, Unit] = {}
    for unit in mixed:
        once.setdefault(unit.text, unit)
    return _build_draft([*once.values()][: max(points, min(MOST, len(turns)))], passages)


async def quote_sides(
    question: str, passages: Sequence[Passage], reader: Reader, embedder: Embedder
) -> Draft:
    """Of each document the sentences that serve the question best. Raises ModelUnavailable."""
    sides: dict[str, list[Passage]] = {}
    for passage in passages:
        if not has_prompt_injection(passage.hit.text):
            sides.setdefault(passage.hit.doc_id, []).append(passage)
    weigh, units = get_decision_model("sentence"), number_sentences(passages)
    chosen: set[str] = set()
    for side in sides.values():
        best, _ = await rank_sentences(question, side, reader, embedder, weigh, SIDE)
        chosen |= {each for sentence in best for each in sentence.evidence}
    return _build_draft([unit for unit in units if unit.id in chosen], passages)


def format_overview(sentences: Sequence[Sentence], citations: Sequence[Citation], lang: str) -> str:
    """As a list, under the title of each document where they are of several."""
    titles = {citation.n: citation.title for citation in citations}
    several = len(set(titles.values())) > 1
    lines, before = [format_message("overview", lang)], ""
    for sentence in sentences:
        title = titles[sentence.citations[0]]
        if several and title != before:
            lines.append(f"\n**{title}**")
        before = title
        lines.append(f"- {sentence.text}" + "".join(f"[{n}]" for n in sentence.citations))
    return "\n".join(lines) if several else "\n\n".join([lines[0], "\n".join(lines[1:])])


def _list_sections(passages: Sequence[Passage]) -> list[list[list[Unit]]]:
    """Of each document the sentences of each section that can be quoted: statements ("Pull both
    brake levers." is a step of something), or whatever there is where it makes none.
    """
    by_document: dict[str, list[list[Unit]]] = {}
    for passage in passages:
        by_document.setdefault(passage.hit.doc_id, []).append(_list_quotable(passage))
    found = []
    for sections in by_document.values():
        stated = [[unit for unit in units if _is_statement(unit.text)] for units in sections]
        found.append([units for units in (stated if any(stated) else sections) if units])
    return [sections for sections in found if sections]


def _is_statement(text: str) -> bool:
    return count_tokens(text) >= FEWEST_TOKENS and not ITEM_MARK.match(text)


def _list_quotable(passage: Passage) -> list[Unit]:
    """Whole sentences of the text below its headings, that stand on their own."""
    if has_prompt_injection(passage.hit.text):
        return []
    body = passage.hit.start + find_body_start(passage)
    return [
        unit
        for unit in number_sentences([passage])
        if unit.start >= body
        and not is_row(unit.text)
        and "\n" not in unit.text.strip()
        and unit.text.rstrip().endswith(END)
        and not is_dependent_sentence(unit.text)
    ]


async def _rank_units(sections: Sequence[Sequence[Unit]], embedder: Embedder) -> list[Unit]:
    """The sentences of one document, in rows of one a section, by likeness to its title. Beyond
    `MOST_READ` sentences of the document only the first ones of each section are looked at.
    """
    each = max(1, MOST_READ // len(sections))
    heads = [list(units[:each]) for units in sections]
    title = await embedder.query(heads[0][0].passage.hit.title)
    vectors = await embedder.passages([unit.text for units in heads for unit in units])
    likeness = iter((vectors @ title).tolist())
    ranked = [
        sorted(((next(likeness), unit) for unit in units), key=itemgetter(0), reverse=True)
        for units in heads
    ]
    rows = zip_longest(*sorted(ranked, key=lambda row: row[0][0], reverse=True))
    return [found[1] for row in rows for found in row if found is not None]


def _build_draft(units: Sequence[Unit], passages: Sequence[Passage]) -> Draft:
    order = {passage.hit.doc_id: n for n, passage in reversed(list(enumerate(passages)))}
    inside = sorted(units, key=lambda unit: (order[unit.passage.hit.doc_id], unit.start))
    return Draft(
        status="answered" if inside else "not_told",
        sentences=[DraftSentence(text=unit.text, evidence=[unit.id]) for unit in inside],
    )
