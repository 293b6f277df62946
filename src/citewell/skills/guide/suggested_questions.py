"""Questions worth asking of a paper: made from its own names, comparisons, tables and headings,
each with its answer's place. A question is made from the sentence that answers it, so that none is
asked that the paper does not answer.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from citewell.ingest.paper.shape import Float
from citewell.retrieve.rank import compute_coverage
from citewell.skills.guide.cues import has_comparison, has_measurement, score_cues
from citewell.skills.guide.guide_wording import format_message
from citewell.skills.guide.paper_name import OwnWork
from citewell.skills.guide.plain_sentence import shorten_sentence
from citewell.skills.guide.question_source import (
    GENERIC,
    QuestionSource,
    SuggestedQuestion,
    strip_heading_number,
)
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import OpenPaper, Slot

MOST = 7
SECOND = 2  # of one sort
LONGEST_CAPTION = 80  # characters of it in a question
BESIDE = 2  # more sentences that answer a question: a part finds more than one thing
# of `_score_finding`, a sign of a finding, from which a sentence is cited beside the best
TELLING = 0.5
MOST_FLOATS = 60  # that are looked for in the text: the first of a book will do
LONGEST_OTHER = 48  # characters of what a method is compared with

_OVER = re.compile(
    r"\b(?:(?:outperforms?|surpass(?:es)?|beats?|exceeds?)\s+|(?:boost|gain|improvement)s? of "
    r"[\d.]+\s*%? over\s+|\d[\d.]*\s*%? (?:less|more|lower|higher|better|fewer) than\s+|(?:better|"
    r"lower|higher) than\s+|\bagainst [\d.]+ for\s+)(?:using |an? "
    r")?(?P<other>[^,.;:()]+?)(?=\s+(?:on|by|in|across|with|and|for|at|of|over|while|to)\b|"
    r"[,.;:()]|$)"
)
_OVER_ZH = re.compile(
    r"(?:优于|高于|低于|超过|比)(?P<other>[^，。；：、\d（）]{2,16}?)\s*(?=高|低|提高|提升|快|"
    r"慢|好|多|少|\d|[，。；的])"
)
_DIFFERS = re.compile(
    r"\b(?:unlike|in contrast|differs? from|different from|as opposed to|to bridge th\w+ gap|"
    r"rather than|do not \w+, but|to (?:the best of )?our knowledge|as far as we know)\b|不同于|"
    r"与.{2,20}不同|区别|相比之下|却没有|据我们所知",
    re.IGNORECASE,
)
_DATA = re.compile(
    r"\b(?:we (?:evaluate|test|use|collect|conduct|demonstrate)\b.{0,80}\b(?:datasets?|"
    r"benchmarks?|corpus|corpora|test sets?)|\bdatasets?,? as follows|(?:holds|contains|consists? "
    r"of|comprises) [\d,]+ )|数据(?:集)?(?:取自|来自|包含|共)|组成的数据集",
    re.IGNORECASE,
)
_DATA_ROLES: Final = ("results", "abstract", "introduction", "method")
_DATA_NAME = re.compile(r"\b[A-Z][A-Za-z0-9]*[A-Z][A-Za-z0-9-]*")  # HOVER, FleetLog
_COUNT = re.compile(r"\b\d[\d,]{2,}\b|\d+\s*(?:个|种|条|篇|张)")
_WITHOUT = re.compile(
    r"\b(?:Without|Removing) (?P<part>[a-z][\w -]{2,30}?)(?= (?:the|leaves|hurts|reduces|lowers|"
    r"raises|drops|rises|,)|,)|去掉(?P<zh>[^，。；、\d]{2,12}?)(?:后|，|会|使|下降)"
)
_ANNOUNCES = re.compile(  # that it will be told, and not what
    r"(?:In (?:this|our) \w+, )?[Ww]e (?:\w+ly )?(?:summari[sz]e|discuss|review|describe|cover|"
    r"focus|compare|examine|investigate)\b|To further"
)
_POINTS = re.compile(r"\d|[A-Z]\b")  # a label has a number
_FINDING = re.compile(
    r"\bwe (?:find|observe|found|see)\b|\b(?:results?|findings|analysis|this) "
    r"(?:\w+ )?(?:show|indicate|suggest|demonstrate)|"
    r"\b(?:\d+(?:\.\d+)?%|points)|占|发现|说明|表明|由.{1,12}[降升]至",
    re.IGNORECASE,
)


def suggest_questions(
    book: OpenPaper,
    lines: Sequence[Line],
    own: OwnWork,
    picks: Mapping[Slot, Sequence[Line]],
    lang: str,
    most: int = MOST,
) -> list[SuggestedQuestion]:
    """Of every sort the first, then second ones while there is room; no answer serves twice."""
    proper = [line for line in lines if not line.part.appendix and not line.signpost]
    matter = QuestionSource(book, proper, own, picks, lang)
    made = [list(maker(matter)) for maker in _MAKERS]
    kept: list[SuggestedQuestion] = []
    for place in range(SECOND):
        for each in made:
            fresh = next((q for q in each if not any(q.is_repeat_of(o) for o in kept)), None)
            if fresh is None or len(kept) == most:
                continue
            if sum(other.kind == fresh.kind for other in kept) == place:
                kept.append(fresh)
    return sorted(kept, key=lambda asked: (_ORDER.index(asked.kind), asked.line.order))


_TOLD: Final[tuple[Slot, ...]] = ("method", "contributions")


def _ask_how(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    """From the place that says most of it."""
    told = {line.order: line for slot in _TOLD for line in matter.picks[slot]}
    inside = Counter(line.part.start for line in told.values())
    ranked = sorted(
        told.values(),
        key=lambda line: (-inside[line.part.start], -score_cues("method", line, matter.own)),
    )
    for line in ranked[:1]:
        beside = [other for other in ranked[1:] if other.part.start == line.part.start]
        yield SuggestedQuestion("how", matter.format_question("how"), line, tuple(beside[:BESIDE]))


def _ask_comparison(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    """From a sentence that sets the paper's own against something else, with a figure."""
    name = matter.own.name
    near = [line for line in matter.lines if line.role in ("results", "abstract")]
    for line in [*matter.picks["results"], *near] if name else []:
        found = (_OVER_ZH if line.zh else _OVER).search(line.text)
        ours = matter.own.named(line) or line.role == "abstract"
        if not (found and ours and has_measurement(line.text)):
            continue
        other = found["other"].strip()
        fits = len(other) <= LONGEST_OTHER and not other[0].isdigit()
        if fits and name.casefold() not in other.casefold():
            asked = format_message("better", matter.lang, name=name, other=other)
            yield SuggestedQuestion("better", asked, line)


def _ask_about_floats(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    """From a sentence of the running text that says what a table or figure shows, and not only that
    it shows something.
    """
    telling = [
        line
        for line in matter.lines
        if line.role in ("results", "discussion")
        and not line.dangling
        and _POINTS.search(line.quote)
        and (has_comparison(line.text) or _FINDING.search(line.quote))
    ]
    for one in matter.book.paper.floats[:MOST_FLOATS]:
        caption = _shorten_caption(matter.book, one)
        named = re.compile(rf"{re.escape(one.label)}(?![\w.])" if one.label else "(?!)")
        line = next((line for line in telling if named.search(line.quote)), None)
        if caption and line is not None:
            asked = format_message("float", matter.lang, label=one.label, caption=caption)
            yield SuggestedQuestion("float", asked, line)


def _ask_about_headings(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    """From a heading that asks, or one of the results that names what was looked at, where its part
    states a finding.
    """
    for part in matter.book.paper.of(("results", "discussion", "method")):
        heading = strip_heading_number(part.heading)
        asks = heading.endswith(("?", "？"))
        own_heading = len(part.heading_path) > 1 and len(heading) > 2 and not GENERIC.match(heading)
        if part.appendix or not own_heading or (part.role == "method" and not asks):
            continue
        telling = [
            line
            for line in matter.lines
            if line.part.start == part.start
            and not line.dangling
            and (asks or _FINDING.search(line.quote))
            and not _ANNOUNCES.match(line.text)
        ]
        shares = compute_coverage(heading, [line.text for line in telling])
        found = [_score_finding(line) for line in telling]
        ranked = sorted(range(len(telling)), key=lambda n: -(found[n] + shares[n]))
        for best in ranked[:1]:
            rest = [n for n in range(len(telling)) if n != best and found[n] >= TELLING]
            rest.sort(key=lambda n: -found[n])
            asked = heading if asks else format_message("heading", matter.lang, heading=heading)
            more = tuple(telling[n] for n in rest[:BESIDE])
            yield SuggestedQuestion("heading", asked, telling[best], more)


def _score_finding(line: Line) -> float:
    """How much of a finding a sentence is."""
    signs = has_measurement(line.text), has_comparison(line.text), _FINDING.search(line.quote)
    return 0.5 * sum(map(bool, signs))


def _ask_ablation(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    for line in matter.lines:
        found = _WITHOUT.search(line.text)
        if found and has_measurement(line.text) and line.role == "results":
            part = (found["part"] or found["zh"]).strip()
            yield SuggestedQuestion(
                "without", format_message("without", matter.lang, part=part), line
            )


def _ask_about_data(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    """From a sentence that names the data, or says how much there is; one that only says that there
    are some is no answer.
    """
    told = [
        (_count_data_names(line, matter.own), line)
        for line in matter.lines
        if _DATA.search(line.quote) and line.role in _DATA_ROLES and not line.dangling
    ]
    for n, line in sorted(told, key=lambda x: (-x[0], x[1].role != "results", x[1].order)):
        if n:
            yield SuggestedQuestion("data", matter.format_question("data"), line)


def _count_data_names(line: Line, own: OwnWork) -> int:
    names = {name.casefold() for name in _DATA_NAME.findall(line.text)} - {own.name.casefold()}
    return len(names) + bool(_COUNT.search(line.text))


def _ask_difference(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    for line in matter.lines:
        ours = matter.own.is_own_work(line) or (line.zh and line.role == "related_work")
        if line.role in ("related_work", "introduction") and _DIFFERS.search(line.quote) and ours:
            yield SuggestedQuestion("differs", matter.format_question("differs"), line)


def _ask_about_limits(matter: QuestionSource) -> Iterator[SuggestedQuestion]:
    named = matter.picks["limits"]
    for line in named[:1]:
        yield SuggestedQuestion("limit", matter.format_question("limit"), line, tuple(named[1:]))


_Maker = Callable[[QuestionSource], Iterator[SuggestedQuestion]]
_MAKERS: Final[tuple[_Maker, ...]] = (
    _ask_how,
    _ask_comparison,
    _ask_about_limits,
    _ask_about_headings,
    _ask_ablation,
    _ask_about_floats,
    _ask_about_data,
    _ask_difference,
)
_ORDER: Final = ("how", "differs", "data", "better", "float", "heading", "without", "limit")


def _shorten_caption(book: OpenPaper, one: Float) -> str:
    """The first sentence or so of a caption, without its label."""
    text = " ".join(book.document.text[one.start : one.end].split())
    text = text.removeprefix(one.label).lstrip(" :：.．-–|")
    first = re.split(r"\. (?=[A-Z])|。|; ", text)[0].rstrip(" .。:：")
    return shorten_sentence(first, LONGEST_CAPTION)
