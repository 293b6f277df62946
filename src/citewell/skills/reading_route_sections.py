"""The sections of a paper that may be read, and how much each has to do with an interest: by words and by meaning.

The one rule: scores are compared within one paper and one interest; whether a section has anything to do with it at all is
decided by words it holds or by a cosine that unrelated text does not reach.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import numpy as np

from citewell.ingest.paper import Part
from citewell.ingest.script import HAN
from citewell.ingest.sentences import language
from citewell.knowledge.words import STOP_EN, STOP_ZH, index_tokens, query_tokens
from citewell.models.base import Embedder
from citewell.retrieve.rank import coverage, stretched
from citewell.skills.guide_cues import compared, measured
from citewell.skills.guide_lines import Line
from citewell.skills.guide_name import LIMITS_HEADING
from citewell.skills.reading import OpenPaper

# Minutes of careful reading. English: 238 words a minute is silent reading of non-fiction (Brysbaert 2019); reading to learn
# takes half as long again as plain reading (Carver 1992: 200 against 300 words a minute), so 160. Chinese: 255 characters a
# minute aloud (IReST, Trauzettel-Klosinski and Dietz 2012), times the 238/183 of English silent against aloud (Brysbaert
# 2019), times 200/300 again, so 220.
WORDS_A_MINUTE, HAN_A_MINUTE = 160, 220
LEAST_MINUTES = 0.5
SHORTEST = 120  # characters of sentences below which a section is a heading with a line under it
EMBEDDED = 4  # sentences a section that meaning is asked of: a 24-page paper has some 25 sections, so 100 in all
_NEVER = re.compile(
    r"acknowledg|references|bibliograph|checklist|致谢|参考文献|作者简介|author contrib|funding|基金", re.IGNORECASE
)
_WORD = re.compile(rf"[^\W_{HAN}]+(?:[-'’][^\W_{HAN}]+)*")
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Reading:
    """A part with its quotable sentences and what it has to do with the interest. `shared`: the interest's words that it
    holds, as the reader wrote them; `said`: the sentence that speaks most to it.
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


def step_id(part: Part) -> str:
    """Stays the same while the section is in the paper."""
    key = "\n".join([*part.heading_path, str(part.start)])
    return blake2b(key.encode("utf-8", "replace"), digest_size=5).hexdigest()


def readable(book: OpenPaper, lines: Sequence[Line]) -> list[Reading]:
    """The sections worth reading, in order: no front matter, references, acknowledgements or bare headings."""
    found = []
    for part in book.paper.parts:
        own = tuple(line for line in lines if line.part.start == part.start)
        barred = part.role in ("front", "references") or _NEVER.search(" ".join(part.heading_path))
        if not barred and sum(len(line.text) for line in own) >= SHORTEST / (3 if own and own[0].zh else 1):
            found.append(Reading(part, own))
    return found


def minutes(book: OpenPaper, part: Part) -> float:
    """Of careful reading, to the half minute."""
    text = book.document.text[part.start : part.end]
    exact = len(_WORD.findall(text)) / WORDS_A_MINUTE + len(_HAN.findall(text)) / HAN_A_MINUTE
    return max(LEAST_MINUTES, round(2 * exact) / 2)


async def weighed(sections: Sequence[Reading], interest: str, embedder: Embedder) -> list[Reading]:
    """The sections with what each has to do with the interest."""
    asked = [_asked(section, interest) for section in sections]
    flat = [line for lines in asked for line in lines]
    if not flat:
        return list(sections)
    vectors = await embedder.passages([f"{_heading(line.part)}: {line.text}" for line in flat])
    cosines = vectors @ await embedder.query(interest)
    held = coverage(interest, [_words_of(section) for section in sections])
    headed = coverage(interest, [_heading(section.part) for section in sections])
    found, at = [], 0
    for n, section in enumerate(sections):
        mine = cosines[at : at + len(asked[n])]
        at += len(asked[n])
        shares = np.asarray(coverage(interest, [line.text for line in asked[n]]))
        leaning = np.asarray([line.dangling for line in asked[n]])
        best = int(np.argmax(mine + 0.1 * shares - 0.05 * leaning))
        top = float(np.sort(mine)[::-1][:2].mean())
        named = PART_WEIGHS if of_part(section.part, interest) else 0.0
        score = named + WORDS_WEIGH * held[n] + HEADING_WEIGHS * headed[n] + float(stretched(np.asarray(top)))
        said = asked[n][best]
        found.append(Reading(section.part, section.lines, score, float(mine.max()), _shared(section, interest), said))
    return found


# beside a meaning of 0 to 1: a heading says what all of its section is about, and who asks for results wants their part
WORDS_WEIGH, HEADING_WEIGHS, PART_WEIGHS = 0.6, 0.8, 0.4
# an interest in a part that any paper has, in either language, whatever the language of the paper
_PARTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "limits",
        re.compile(r"\b(?:limits?|limitations?|shortcomings?|weakness(?:es)?)\b|局限性?|不足之?处?|缺点", re.IGNORECASE),
    ),
    (
        "results",
        re.compile(
            r"\b(?:results?|experiments?|performance|evaluation|findings)\b|实验结果|结果|实验|效果|性能", re.IGNORECASE
        ),
    ),
    (
        "method",
        re.compile(r"\b(?:methods?|methodology|approach|architecture|algorithm)\b|方法|原理|模型结构|算法", re.IGNORECASE),
    ),
    (
        "related_work",
        re.compile(r"\b(?:related|prior|previous|earlier) (?:work|research)\b|相关工作|相关研究|已有研究", re.IGNORECASE),
    ),
    ("discussion", re.compile(r"\b(?:future|conclusions?|outlook)\b|未来(?:研究|工作)?方?向?|展望|结论", re.IGNORECASE)),
    ("introduction", re.compile(r"\b(?:motivation|background|introduction)\b|动机|背景|引言", re.IGNORECASE)),
)


def of_part(part: Part, interest: str) -> bool:
    """Whether the interest asks for a part of this kind."""
    if part.appendix:
        return False
    limits = bool(LIMITS_HEADING.search(part.heading))
    return any(
        pattern.search(interest) and (limits if name == "limits" else part.role == name and not limits)
        for name, pattern in _PARTS
    )


def names_part(interest: str) -> bool:
    """Whether an interest is hardly more than the name of a part of a paper."""
    rest = interest
    for _, pattern in _PARTS:
        rest = pattern.sub(" ", rest)
    left = len([w for w in query_tokens(rest) if w not in _EMPTY and w not in _EMPTY_ZH]) if rest.strip() else 0
    return rest != interest and left <= 1


def _asked(section: Reading, interest: str) -> list[Line]:
    """The sentences of a section that hold most words of the interest, then its first ones, in their order."""
    lines = [line for line in section.lines if not line.signpost] or list(section.lines)
    shares = coverage(interest, [line.text for line in lines])
    spread = [round(i * (len(lines) - 1) / max(1, EMBEDDED - 1)) for i in range(EMBEDDED)]
    by_words = sorted((i for i in range(len(lines)) if shares[i] > 0), key=lambda i: (-shares[i], lines[i].dangling, i))
    chosen = list(dict.fromkeys([*by_words[: EMBEDDED - 1], *spread]))[:EMBEDDED]
    return [lines[i] for i in sorted(chosen)]


def _shared(section: Reading, interest: str) -> tuple[str, ...]:
    """The words of the interest that a section holds, as the reader wrote them, words side by side in both as one."""
    text = _words_of(section)
    if language(interest) == "zh":
        return _longest_common(interest, text)
    held, folded = set(index_tokens(text)), text.casefold()
    found: list[str] = []
    end = -2
    for match in _WORD.finditer(interest):
        word = match[0]
        if len(word) < 3 or word.casefold() in _EMPTY or not set(query_tokens(word)) & held:
            continue
        phrase = f"{found[-1]} {word}" if found else ""
        if phrase and match.start() == end + 1 and phrase.casefold() in folded:
            found[-1] = phrase
        else:
            found.append(word)
        end = match.end()
    return tuple(dict.fromkeys(found))


def _longest_common(interest: str, text: str) -> tuple[str, ...]:
    """The longest runs of the interest, of two characters and more, that stand in the text."""
    found: list[str] = []
    at = 0
    while at < len(interest) - 1:
        end = next((e for e in range(len(interest), at + 1, -1) if interest[at:e] in text), at)
        run = interest[at:end].strip("的了和与，。、？！ ")
        if len(run) > 1 and run not in STOP_ZH and run not in _EMPTY_ZH:
            found.append(run)
        at = max(end, at + 1)
    return tuple(dict.fromkeys(found))


_EMPTY = STOP_EN | frozenset(
    {
        "paper",
        "work",
        "works",
        "method",
        "methods",
        "approach",
        "used",
        "use",
        "using",
        "interested",
        "interest",
        "want",
        "know",
    }
    | {"understand", "read", "learn", "main", "more", "most", "all", "not", "between", "about", "does", "into", "over", "under"}
)
_EMPTY_ZH = frozenset(
    {"论文", "本文", "方法", "研究", "怎么", "如何", "什么", "时候", "关心", "感兴趣", "了解", "想要", "问题", "进行"}
)


def _words_of(section: Reading) -> str:
    return "\n".join([_heading(section.part), *(line.text for line in section.lines)])


def _heading(part: Part) -> str:
    return part.heading or part.role


def telling(section: Reading) -> Line | None:
    """The sentence of a section that says most by itself, whatever the interest."""
    whole = [line for line in section.lines if not line.dangling and not line.signpost] or list(section.lines)
    return max(whole, key=lambda line: (measured(line.text) + compared(line.text), -line.order), default=None)
