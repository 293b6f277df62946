"""The sections of a paper that may be read, and how much each has to do with an interest: by words
and by meaning.

The one rule: scores are compared within one paper and one interest; whether a section has anything
to do with it at all is decided by words it holds or by a cosine that unrelated text does not reach.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import anyio.to_thread
import numpy as np

from citewell.ingest.paper.shape import Part, Role
from citewell.models.base import Embedder, Vector
from citewell.retrieve.rank import compute_coverage, stretch_cosines
from citewell.skills.guide.cues import CUES, has_comparison, has_measurement
from citewell.skills.guide.quotable import Line, find_quotable_lines
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.reading_route.interest import (
    EMPTY_ZH,
    WORD,
    is_empty_word,
    is_part_name,
    is_part_of_interest,
    strip_part_names,
)
from citewell.text.language import HAN
from citewell.text.sentences import detect_language
from citewell.text.tokens import STOP_ZH, tokenize_for_index, tokenize_query

# Minutes of careful reading. English: 238 words a minute is silent reading of non-fiction
# (Brysbaert 2019); reading to learn takes half as long again as plain reading (Carver 1992: 200
# against 300 words a minute), so 160. Chinese: 255 characters a minute aloud (IReST,
# Trauzettel-Klosinski and Dietz 2012), times the 238/183 of English silent against aloud (Brysbaert
# 2019), times 200/300 again, so 220.
WORDS_A_MINUTE, HAN_A_MINUTE = 160, 220
LEAST_MINUTES = 0.5
SHORTEST = 120  # characters of sentences below which a section is a heading with a line under it
LEAST = 20  # characters beside a heading, where no section has more
# sentences a section that meaning is asked of: a 24-page paper has some 25 sections, so 100 in all
EMBEDDED = 4
# whose meaning is asked of: a book has hundreds, and the embedder some 40 sentences a second
MOST_SECTIONS = 40
_ALWAYS: tuple[Role, ...] = ("abstract", "introduction", "method", "results", "discussion")
_NEVER = re.compile(
    r"acknowledg|references|bibliograph|checklist|致谢|参考文献|作者简介|author "
    r"contrib|funding|基金",
    re.IGNORECASE,
)
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Reading:
    """A part with its quotable sentences and what it has to do with the interest. `shared`: the
    interest's words that it holds, as the reader wrote them; `said`: the sentence that speaks most
    to it.
    """

    part: Part
    lines: tuple[Line, ...]
    score: float = 0.0
    cosine: float = 0.0
    shared: tuple[str, ...] = ()
    said: Line | None = None

    @property
    def opening(self) -> bool:
        return self.part.role in ("abstract", "introduction")


def compute_step_id(part: Part) -> str:
    """Stays the same while the section is in the paper."""
    key = "\n".join([*part.heading_path, str(part.start)])
    return blake2b(key.encode("utf-8", "replace"), digest_size=5).hexdigest()


def find_readable_sections(book: OpenPaper, found: Sequence[Line]) -> list[Reading]:
    """The sections worth reading, in order: no front matter, references, acknowledgements or bare
    headings.
    """
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
    exact = len(WORD.findall(text)) / WORDS_A_MINUTE + len(_HAN.findall(text)) / HAN_A_MINUTE
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


async def score_sections(
    sections: Sequence[Reading], interest: str, embedder: Embedder
) -> list[Reading]:
    """The sections with what each has to do with the interest; of a book's many those that its
    words and parts speak for.
    """
    sifted = await anyio.to_thread.run_sync(_filter_sections, sections, interest)
    flat = [line for each in sifted for line in each.lines]
    if not flat:
        return list(sections)
    vectors = await embedder.passages([f"{_get_heading(line.part)}: {line.text}" for line in flat])
    cosines = vectors @ await embedder.query(interest)
    return await anyio.to_thread.run_sync(_score_readings, sifted, interest, cosines)


@dataclass(frozen=True, slots=True)
class _Sifted:
    """`lines`: the sentences whose meaning is asked of; `held` and `headed`: shares
    of the interest's words that the section and its heading hold.
    """

    section: Reading
    lines: list[Line]
    held: float
    headed: float
    named: float


def _filter_sections(sections: Sequence[Reading], interest: str) -> list[_Sifted]:
    sections = [section for section in sections if section.lines]
    subject = strip_part_names(interest)
    held = (
        compute_coverage(subject, [_get_section_text(section) for section in sections])
        if subject
        else [0.0] * len(sections)
    )
    headed = (
        compute_coverage(subject, [_get_heading(section.part) for section in sections])
        if subject
        else [0.0] * len(sections)
    )
    # `the cost of the approach` is not about the method
    weight = PART_WEIGHS if is_part_name(interest) else PART_WEIGHS / 2
    named = [weight * is_part_of_interest(section.part, interest) for section in sections]
    worth = [
        WORDS_WEIGH * held[n] + HEADING_WEIGHS * headed[n] + named[n] for n in range(len(sections))
    ]
    ranked = sorted(range(len(sections)), key=lambda n: (-worth[n], n))[:MOST_SECTIONS]
    first = [
        next((n for n, section in enumerate(sections) if section.part.role == role), None)
        for role in _ALWAYS
    ]
    kept = sorted({*ranked, *(n for n in first if n is not None)})
    return [
        _Sifted(sections[n], _pick_lines(sections[n], interest), held[n], headed[n], named[n])
        for n in kept
    ]


def _score_readings(sifted: Sequence[_Sifted], interest: str, cosines: Vector) -> list[Reading]:
    subject = strip_part_names(interest)
    found, at = [], 0
    for each in sifted:
        mine = cosines[at : at + len(each.lines)]
        at += len(each.lines)
        shares = np.asarray(compute_coverage(interest, [line.text for line in each.lines]))
        leaning = np.asarray([line.dangling or line.signpost for line in each.lines])
        best = int(np.argmax(mine + 0.1 * shares - 0.05 * leaning))
        top = float(np.sort(mine)[::-1][:2].mean())
        score = (
            each.named
            + WORDS_WEIGH * each.held
            + HEADING_WEIGHS * each.headed
            + float(stretch_cosines(np.asarray(top)))
        )
        of = each.section
        said = each.lines[best] if subject else find_telling_line(of)
        shared = _find_shared_words(of, subject) if subject else ()
        found.append(Reading(of.part, of.lines, score, float(mine.max()), shared, said))
    return found


# beside a meaning of 0 to 1: a heading says what all of its section is about, and who asks for
# results wants their part
WORDS_WEIGH, HEADING_WEIGHS, PART_WEIGHS = 0.6, 0.8, 0.4


def _pick_lines(section: Reading, interest: str) -> list[Line]:
    """The sentences of a section that hold most words of the interest, then its first ones, in
    their order.
    """
    own = [line for line in section.lines if not line.signpost] or list(section.lines)
    shares = compute_coverage(interest, [line.text for line in own])
    spread = [round(i * (len(own) - 1) / max(1, EMBEDDED - 1)) for i in range(EMBEDDED)]
    by_words = sorted(
        (i for i in range(len(own)) if shares[i] > 0),
        key=lambda i: (-shares[i], own[i].dangling, i),
    )
    chosen = list(dict.fromkeys([*by_words[: EMBEDDED - 1], *spread]))[:EMBEDDED]
    return [own[i] for i in sorted(chosen)]


def _find_shared_words(section: Reading, interest: str) -> tuple[str, ...]:
    """The words of the interest that a section holds, as the reader wrote them, words side by side
    in both as one.
    """
    text = _get_section_text(section)
    if detect_language(interest) == "zh":
        return _find_common_runs(interest, text)
    held, folded = set(tokenize_for_index(text)), text.casefold()
    found: list[str] = []
    end = -2
    for match in WORD.finditer(interest):
        word = match[0]
        if len(word) < 3 or is_empty_word(word) or not set(tokenize_query(word)) & held:
            continue
        phrase = f"{found[-1]} {word}" if found else ""
        if phrase and match.start() == end + 1 and phrase.casefold() in folded:
            found[-1] = phrase
        else:
            found.append(word)
        end = match.end()
    return tuple(dict.fromkeys(found))


def _find_common_runs(interest: str, text: str) -> tuple[str, ...]:
    """The longest runs of the interest, of two characters and more, that stand in the text."""
    found: list[str] = []
    at = 0
    while at < len(interest) - 1:
        end = next((e for e in range(len(interest), at + 1, -1) if interest[at:e] in text), at)
        run = interest[at:end].strip("的了和与，。、？！ ")
        if len(run) > 1 and run not in STOP_ZH and run not in EMPTY_ZH:
            found.append(run)
        at = max(end, at + 1)
    return tuple(dict.fromkeys(found))


def _get_section_text(section: Reading) -> str:
    return "\n".join([_get_heading(section.part), *(line.text for line in section.lines)])


def _get_heading(part: Part) -> str:
    return part.heading or part.role


def find_telling_line(section: Reading) -> Line | None:
    """The sentence of a section that says most by itself, whatever the interest: of the method one
    that says how, else one with a figure or a comparison.
    """
    whole = [line for line in section.lines if not line.dangling and not line.signpost] or list(
        section.lines
    )
    how = section.part.role == "method"
    return max(
        whole,
        key=lambda line: (
            _score_method_cues(line)
            if how
            else has_measurement(line.text) + has_comparison(line.text),
            -line.order,
        ),
        default=None,
    )


def _score_method_cues(line: Line) -> float:
    return sum(
        weight for pattern, weight in CUES["method"] if pattern.search(line.quote)
    ) - 0.5 * has_comparison(line.text)
