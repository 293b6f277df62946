"""The sections of a paper that may be read, and how much each has to do with an interest. Scores
are compared within one paper and one interest.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from citewell.ingest.paper.shape import Part
from citewell.models.base import Embedder
from citewell.skills.guide.cue_words import CUES
from citewell.skills.guide.cues import has_comparison, has_measurement
from citewell.skills.guide.quotable import Line, find_quotable_lines
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.reading_route.interest import Interest
from citewell.text.language import HAN
from citewell.types import Hit

# Minutes of careful reading. English: 238 words a minute is silent reading of non-fiction
# (Brysbaert 2019); reading to learn takes half as long again as plain reading (Carver 1992: 200
# against 300 words a minute), so 160. Chinese: 255 characters a minute aloud (IReST,
# Trauzettel-Klosinski and Dietz 2012), times the 238/183 of English silent against aloud (Brysbaert
# 2019), times 200/300 again, so 220.
WORDS_A_MINUTE, HAN_A_MINUTE = 160, 220
LEAST_MINUTES = 0.5
SHORTEST = 120  # characters of sentences below which a section is a heading with a line under it
LEAST = 20  # characters beside a heading, where no section has more
EMBEDDED = 6  # sentences of a section whose meaning is compared
# What the kind of part that is asked for counts, beside standard deviations of the best passage.
# Chosen on 12 interests in parts of 16 papers: of the three best sections 0.92 are of the right
# kind (0.62 by words of parts and of the interest); where 36 questions are interests, a section
# that answers is first for 0.53 and among three for 0.72 (0.47 and 0.78).
PART_WEIGHS = 4.0
UNFOUND = 1.0  # how far below the worst passage found a section is of which none was
EVEN = 0.5
_NEVER = re.compile(
    r"acknowledg|references|bibliograph|checklist|致谢|参考文献|作者简介|author "
    r"contrib|funding|基金",
    re.IGNORECASE,
)
_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(rf"[^\W_{HAN}]+(?:[-'’][^\W_{HAN}]+)*")


@dataclass(frozen=True, slots=True)
class Reading:
    """A part with its quotable sentences and what it has to do with the interest. `hit`: its best
    passage; `asked`: whether it is of the kind of part that is asked for; `core`: whether it serves
    the interest itself; `said`: the sentence that speaks most to it.
    """

    part: Part
    lines: tuple[Line, ...]
    score: float = 0.0
    hit: Hit | None = None
    asked: bool = False
    core: bool = False
    said: Line | None = None

    @property
    def opening(self) -> bool:
        return self.part.role in ("abstract", "introduction")


def compute_step_id(part: Part) -> str:
    """Stays the same while the section is in the paper."""
    key = "\n".join([*part.heading_path, str(part.start)])
    return blake2b(key.encode("utf-8", "replace"), digest_size=5).hexdigest()


def find_readable_sections(book: OpenPaper, found: Sequence[Line]) -> list[Reading]:
    """Sections worth reading, in order: no front matter, references, thanks, bare headings."""
    by_part: defaultdict[int, list[Line]] = defaultdict(list)
    for line in found:
        by_part[line.part.start].append(line)
    sections = []
    for part in book.paper.parts:
        own = tuple(by_part[part.start])
        barred = part.role in ("front", "references") or _NEVER.search(" ".join(part.heading_path))
        if not barred and sum(len(line.text) for line in own) >= SHORTEST / (
            3 if own and own[0].zh else 1
        ):
            sections.append(Reading(part, own))
    return sections


def estimate_minutes(book: OpenPaper, part: Part) -> float:
    """Of careful reading, to the half minute."""
    text = book.document.text[part.start : part.end]
    exact = len(_WORD.findall(text)) / WORDS_A_MINUTE + len(_HAN.findall(text)) / HAN_A_MINUTE
    return max(LEAST_MINUTES, round(2 * exact) / 2)


def list_nonempty_sections(book: OpenPaper) -> list[Reading]:
    """The sections with any text but their heading, for a document that has none worth a stop:
    short ones, of which perhaps no sentence can be quoted.
    """
    held = [
        part
        for part in book.paper.parts
        if part.role != "references" and part.end - part.start > len(part.heading) + LEAST
    ]
    held = [part for part in held if part.role != "front"] or held
    return [Reading(part, tuple(find_quotable_lines(book, parts=[part]))) for part in held]


def score_sections(
    sections: Sequence[Reading], hits: Sequence[Hit], asked: Interest
) -> list[Reading]:
    """The sections with what each has to do with the interest: their best passage among `hits`, in
    standard deviations, and the kind of part that they are.
    """
    best = {each.part.start: hit for each in sections if (hit := _find_best_hit(each.part, hits))}
    least = min((hit.score for hit in best.values()), default=0.0) - UNFOUND
    scores = np.array(
        [hit.score if (hit := best.get(s.part.start)) else least for s in sections], dtype=float
    )
    standard = (scores - scores.mean()) / (float(scores.std()) or 1.0)
    kinds = [asked.weigh_part(section.part) for section in sections]
    return [
        replace(
            section,
            score=float(standard[n]) + PART_WEIGHS * kinds[n],
            hit=best.get(section.part.start),
            asked=kinds[n] > EVEN,
        )
        for n, section in enumerate(sections)
    ]


def _find_best_hit(part: Part, hits: Sequence[Hit]) -> Hit | None:
    """The best hit of which most lies in the part."""
    inside = [
        hit
        for hit in hits
        if 2 * (min(part.end, hit.end) - max(part.start, hit.start)) > hit.end - hit.start
    ]
    return max(inside, key=lambda hit: hit.score, default=None)


async def add_nearest_sentences(
    book: OpenPaper, sections: Sequence[Reading], interest: str, embedder: Embedder
) -> list[Reading]:
    """The sections with the sentence of their best passage that comes nearest to the interest."""
    held = [_list_candidates(book, section) for section in sections]
    flat = [line for lines in held for line in lines]
    if not flat:
        return list(sections)
    cosines = await embedder.passages([line.text for line in flat]) @ await embedder.query(interest)
    found, at = [], 0
    for section, lines in zip(sections, held, strict=True):
        mine = cosines[at : at + len(lines)]
        at += len(lines)
        said = lines[int(np.argmax(mine))] if lines else None
        found.append(replace(section, said=said))
    return found


def _list_candidates(book: OpenPaper, section: Reading) -> list[Line]:
    """The sentences of its best passage that stand alone; else those of the section."""
    own: Sequence[Line] = section.lines
    if hit := section.hit:
        part = replace(section.part, start=hit.start, end=hit.end)
        own = find_quotable_lines(book, parts=[part]) or own
    return _filter_whole(own)[:EMBEDDED]


def _filter_whole(lines: Sequence[Line]) -> list[Line]:
    """Those that stand alone; all where none does."""
    return [line for line in lines if not line.dangling and not line.signpost] or list(lines)


def find_telling_line(section: Reading) -> Line | None:
    """The sentence of a section that says most by itself, whatever the interest: of the method one
    that says how, else one with a figure or a comparison.
    """
    whole = _filter_whole(section.lines)
    score = _score_method_cues if section.part.role == "method" else _score_figures
    return max(whole, key=lambda line: (score(line), -line.order), default=None)


def _score_figures(line: Line) -> float:
    return has_measurement(line.text) + has_comparison(line.text)


def _score_method_cues(line: Line) -> float:
    cues = sum(weight for pattern, weight in CUES["method"] if pattern.search(line.quote))
    return cues - 0.5 * has_comparison(line.text)
