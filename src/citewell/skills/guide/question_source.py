"""What questions of a paper are made of: its headings, names and places."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.ingest.paper.shape import Part
from citewell.skills.guide.guide_wording import format_message
from citewell.skills.guide.paper_name import OwnWork
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import OpenPaper, Slot

_NUMBER = re.compile(
    r"^(?:\d+(?:\.\d+)*\.?|[A-Z](?:\.\d+)+\.?|[A-Z]\.?(?=\s)|[IVX]+\.|"
    r"第?[一二三四五六七八九十]+[、.章节])\s*"
)
GENERIC = re.compile(
    r"^(?:(?:main |overall |experimental )?(?:results?|experiments?|evaluation|analysis|"
    r"discussion|set-?up|settings?|datasets?|data(?: and set-?up)?|baselines?|cost|implementation "
    r"details?|metrics)|methods?|methodolog\w+|introduction|related work|background|approach|"
    r"conclusions?.*|conceptual framework|limitations?|abstract|(?:主要|实验)?(?:结果|"
    r"实验)(?:与分析)?|方法|本文方法|数据集?|对比方法.*|实验设置|分析|讨论.*|引言|相关工作|结论|"
    r"总结|摘要|局限.*)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class SuggestedQuestion:
    """`kind` is what sort of question it is; of each sort there are few."""

    kind: str
    question: str
    line: Line
    more: tuple[Line, ...] = ()  # what else answers it

    @property
    def answer(self) -> list[Line]:
        """The sentences that answer it, in order."""
        held = {line.order: line for line in (self.line, *self.more)}
        return [held[order] for order in sorted(held)]

    def is_repeat_of(self, other: SuggestedQuestion) -> bool:
        """Whether it asks the same or has the same answer; of most sorts one is enough."""
        once = self.kind == other.kind and self.kind in ("how", "differs", "data", "limit")
        return once or self.question == other.question or self.line.order == other.line.order


@dataclass(frozen=True, slots=True)
class QuestionSource:
    """What questions are made from. `lines`: those of the paper proper."""

    book: OpenPaper
    lines: Sequence[Line]
    own: OwnWork
    picks: Mapping[Slot, Sequence[Line]]
    lang: str

    def format_question(self, key: str, **values: object) -> str:
        """One of our questions, with the method's name where it has one."""
        named = key if self.own.name else f"{key}_unnamed"
        return format_message(named, self.lang, name=self.own.name, **values)


def strip_heading_number(heading: str) -> str:
    """A heading without its number."""
    return _NUMBER.sub("", heading).strip()


def is_generic_heading(part: Part) -> bool:
    """Whether a part's heading could stand in any paper."""
    return not strip_heading_number(part.heading) or bool(
        GENERIC.match(strip_heading_number(part.heading))
    )
