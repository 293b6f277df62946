"""What a paper calls its own: the name of its method, system or data, and where its authors begin
to speak of their own work. A name is one that the authors give, in the title or where they say what
they propose; else there is none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.ingest.paper.shape import Part, Role
from citewell.skills.guide.plain_sentence import ITEM_MARK
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import OpenPaper

LIMITS_HEADING = re.compile(
    r"\blimit(?:ation|s\b)|weakness|shortcoming|threats to validity|局限|不足|限制", re.IGNORECASE
)
LONGEST_LIST = 2_000  # characters of a list of contributions
_LISTING = re.compile(r"\bcontributions?\b[^.\n]{0,80}:|贡献[^。\n]{0,16}[：:]", re.IGNORECASE)
LEAST_USED = 3  # times that a name stands in the paper: what is named once is an example

_NAME = r"([A-Z][A-Za-z0-9]*(?:[-+][A-Za-z0-9]+)*[A-Z][A-Za-z0-9-]*|[A-Z][A-Za-z0-9]+)"
_TITLE = re.compile(rf"^{_NAME}\s*[:：—]")
_PROPOSED = re.compile(
    r"\b(?:propos(?:e[sd]?|ing)|present(?:s|ed|ing)?|introduc(?:e[sd]?|ing)|develop(?:s|ed|ing)?|"
    r"describ(?:e[sd]?|ing))\b(?P<rest>[^.;]{0,160})|提出(?:了)?(?P<zh>[^。；]{0,60})",
    re.IGNORECASE,
)
_GIVEN = (
    re.compile(rf"[(（]{_NAME}[)）]"),
    re.compile(rf"\b(?:called|named|dubbed|termed|名为|称为|命名为|简称(?:为)?)\s*[“\"]?{_NAME}"),
    re.compile(rf"(?:方法|模型|框架|系统|算法|机制|网络|数据集)\s*[“\"]?{_NAME}"),
    re.compile(rf",\s+{_NAME}[,.:]"),
    re.compile(rf"^\s*{_NAME}\b"),
)
_COMMON = frozenset({"we", "our", "the", "this", "it", "in", "llm", "llms", "nlp", "ai", "ml"})
OWN_WORK = re.compile(
    r"\bwe (?:\w+ly )?(?:also )?(?:propose|present|introduce|develop|describe|provide|release|"
    r"contribute|design|build|construct|offer|establish|categori[sz]e|connect|outline|identify|"
    r"demonstrate|show|evaluate|investigate|explore|study|survey|review|integrate|conduct|create|"
    r"formali[sz]e|collect|report|ask)\b|\b(?:this|our) (?:paper|work|study|survey|article) "
    r"(?:\w+ly )?(?:propose|present|introduce|develop|describe|provide|aim|review|survey|stud|"
    r"investigat|explor|address|offer)\w*|\bour (?:main |key |primary )?contributions?\b|(?:本文|"
    r"本研究|本工作|我们|笔者)(?:首次)?(?:还|进一步)?(?:提出|设计|构建|实现|给出|介绍|建立|引入|"
    r"研究|发布|贡献|证明|分析|探讨|综述|采用|注意到)|提出了?一(?:种|个)|(?:主要)?贡献(?:包括|有|"
    r"在于|是)|^(?:提出|构建|设计|实现)了?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class OwnWork:
    """`name`: the paper's for its method, or empty. `turns`: first own-work line by role."""

    name: str
    turns: dict[Role, int]
    listed: frozenset[int]  # the lines of a list of contributions
    limits: bool  # whether a part is on limits by its heading
    outer: frozenset[int]  # where the parts begin that say how the method works as a whole

    def is_own_work(self, line: Line) -> bool:
        """Whether a line speaks of the authors' own: by the name, or as we."""
        ours = re.search(r"\b(?:we|our)\b|我们|本文", line.text, re.IGNORECASE)
        return self.named(line) or bool(ours)

    def named(self, line: Line) -> bool:
        return bool(self.name) and self.name.casefold() in line.text.casefold()

    def is_overview(self, line: Line) -> bool:
        """Whether it stands where the method is told as a whole."""
        return line.part.start in self.outer

    def is_before_own_work(self, line: Line) -> bool:
        """Whether it stands before the authors speak of their own work: what is wrong till then."""
        return line.role in self.turns and line.order < self.turns[line.role]


def _find_outer_parts(parts: Sequence[Part]) -> frozenset[int]:
    """Starts of the first part on the method, and of those that have parts of their own."""
    paths = {part.heading_path for part in parts}
    method = [part for part in parts if part.role == "method" and not part.appendix]
    above = [
        p for p in method if any(q[: len(p.heading_path)] == p.heading_path != q for q in paths)
    ]
    return frozenset(part.start for part in [*method[:1], *above])


def find_own_work(book: OpenPaper, lines: Sequence[Line]) -> OwnWork:
    """What can be told of it from the title and the sentences of abstract and introduction."""
    opening = [line for line in lines if line.role in ("abstract", "introduction")]
    turns: dict[Role, int] = {}
    for line in opening:
        if line.role not in turns and OWN_WORK.search(line.text):
            turns[line.role] = line.order
    limits = any(LIMITS_HEADING.search(part.heading) for part in book.paper.parts)
    name, listed = _find_method_name(book, opening), _find_listed_contributions(book, lines)
    return OwnWork(name, turns, listed, limits, _find_outer_parts(book.paper.parts))


def _find_listed_contributions(book: OpenPaper, lines: Sequence[Line]) -> frozenset[int]:
    """The lines that stand as items behind "our contributions are:"."""
    found: set[int] = set()
    for part in book.paper.of(("abstract", "introduction")):
        head = _LISTING.search(book.document.text, part.start, part.end)
        start, end = (head.end(), min(part.end, head.end() + LONGEST_LIST)) if head else (0, 0)
        near = [line for line in lines if start <= line.start < end]
        found |= {line.order for line in near if ITEM_MARK.match(line.quote)}
    return frozenset(found)


def _find_method_name(book: OpenPaper, opening: Sequence[Line]) -> str:
    folded = book.document.text.casefold()
    titled = _TITLE.match(book.paper.title or book.document.title)
    candidates = [titled[1]] if titled else []
    for line in opening:
        for said in _PROPOSED.finditer(line.quote):
            rest = said["rest"] or said["zh"] or ""
            candidates += [found[1] for pattern in _GIVEN if (found := pattern.search(rest))]
    named = (name for name in candidates if name.casefold() not in _COMMON and _is_name(name))
    return next((name for name in named if folded.count(name.casefold()) >= LEAST_USED), "")


def _is_name(word: str) -> bool:
    """A word in plain capitals-first spelling is a name only where a title gives it; two capitals
    or a figure make one.
    """
    return sum(c.isupper() or c.isdigit() for c in word) >= 2
