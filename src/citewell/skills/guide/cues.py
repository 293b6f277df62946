"""By what a sentence of a paper shows its purpose: the words authors use, where they use them, in
English and Chinese. A cue says what a sentence is for, never what it says; what a report states is
the paper's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from citewell.ingest.paper.shape import Role
from citewell.skills.guide.cue_words import COMPARED, CUES, compile_any
from citewell.skills.guide.paper_name import LIMITS_HEADING, OWN_WORK, OwnWork
from citewell.skills.guide.quotable import Line
from citewell.skills.paper.reading_context import Slot

# Weights were chosen by reading the reports of five papers (evals/paper_guide.py prints them), two
# of them Chinese or a survey. What a part of this role contributes to the slot; roles that are not
# here never serve it.
ROLE_WEIGHT: Final[Mapping[Slot, Mapping[Role, float]]] = {
    "problem": {"abstract": 1.5, "introduction": 0.9, "related_work": 0.2},
    "contributions": {"abstract": 1.0, "introduction": 0.9, "discussion": 0.4},
    "method": {"abstract": 1.3, "method": 0.8, "introduction": 0.7},
    "results": {"abstract": 1.2, "results": 0.9, "discussion": 0.5, "introduction": 0.3},
    "limits": {"discussion": 0.9, "other": 0.3, "results": 0.3, "introduction": 0.0},
}
FUTURE_HEADING: Final = compile_any(
    r"\b(?:gaps?|future|open (?:problem|question|challenge)s?)\b", "展望|未来"
)
OPENING: Final = 0.2  # share of an abstract in which its first sentence stands
FEW: Final = 6  # content words: less says little
LONG: Final = 300  # characters: what is longer is read twice
_MEASURED = re.compile(
    r"(?<![A-Za-z0-9_.-])[+-]?\d+(?:\.\d+)?\s*(?:%|％|‰|percent\b|percentage points?\b|points?\b|"
    r"times\b|fold\b|×|x\b|ms\b|倍|个百分点|个点|秒|毫秒|分(?!之|为|类|成))|"
    r"(?<![A-Za-z0-9_.-])\d+\.\d+(?![A-Za-z0-9_.]*[A-Za-z0-9_])|百分之[一二三四五六七八九十\d]"
)
_STUDIED = compile_any(  # what is done to a method, not by it
    r"\b(?:robust|effectiveness|performance|performs? "
    r"(?:well|better|comparably)|findings|our goal|results)\b",
    r"\bwe (?:\w+ly )?"
    r"(?:also )?(?:evaluate|compare|study|investigate|report|measure|ask|collate|examine)\b",
    "对比方法|评价指标|我们(?:比较|评估|考察|注意到|还考察)",
)
_WISHED = compile_any(
    r"\b(?:could|should|would|may|might|future|needed|warrants?|anticipate|want to|open "
    r"challenge)\b",
    "未来|今后|有望|应(?:当|该)|有待",
)
_COUNTED = compile_any(
    r"(?:First|Second|Third|Fourth|Fifth|Finally|Last)(?:ly)?,",
    "第[一二三四五六]，|其[一二三]|首先|其次|最后|[（(]\\d",
)
DATA_HEADING: Final = compile_any(
    r"\bdata|\bset-?ups?\b|\bsettings?\b|baselines?\b", "数据|对比|设置|指标"
)
_OTHERS = compile_any(
    r"\b(?:existing|previous|prior|earlier|recent) (?:\w+ )?(?:work|works|studies|research|"
    r"methods)\b|\b(?:methods|approaches|works|studies|techniques|models) (?:such as|like)\b",
    "已有|文献",
)
# `Self-Refine (Madaan et al., 2023) introduced ...` says how others go about it
_THEIRS = re.compile(
    r"[A-Z][\w-]*(?: [\w-]+){0,3} ?[(\[（](?:[^()]{0,60}(?:19|20)\d\d|\d+[)\]])|[A-Z][\w-]+ et al\."
)
_FIGURE = re.compile(r"(?<![A-Za-z0-9_-])\d[\d.,]*")


def has_measurement(text: str) -> bool:
    """Whether it has a measured figure: share, factor, score; not year, count or label."""
    return bool(_MEASURED.search(text))


def has_comparison(text: str) -> bool:
    """Whether it says that something is more, less or best."""
    return bool(COMPARED.search(text))


def score_cues(slot: Slot, line: Line, own: OwnWork) -> float:
    """What its words and place say for its serving the slot; below 0 it does not."""
    score = ROLE_WEIGHT[slot].get(line.role, -1.0)
    if score < 0 or line.part.appendix:
        return -1.0
    score += sum(weight for pattern, weight in CUES[slot] if pattern.search(line.quote))
    score += _FITS[slot](line, own)
    return (
        score
        - 1.5 * line.dangling
        - 1.2 * line.signpost
        - 0.3 * (len(line.text) > LONG)
        - 0.6 * (len(line.words) < FEW)
    )


def _score_problem(line: Line, own: OwnWork) -> float:
    if OWN_WORK.search(line.text) or own.named(line):
        return -9.0
    opens = line.role == "abstract" and line.place < OPENING
    return 0.5 * own.is_before_own_work(line) + 0.4 * opens - 0.3 * has_measurement(line.text)


def _score_contribution(line: Line, own: OwnWork) -> float:
    if line.order in own.listed:
        return 1.5
    ours = OWN_WORK.search(line.text) or OWN_WORK.search(line.quote)
    if len(line.words) < FEW or not ours or _STUDIED.search(line.text):
        return -9.0
    novel = bool(CUES["contributions"][0][0].search(line.text))
    return 0.3 * novel + 0.3 * own.named(line) - 0.4 * has_measurement(line.text)


def _score_method(line: Line, own: OwnWork) -> float:
    if own.is_before_own_work(line) or _STUDIED.search(line.text) or _OTHERS.search(line.text):
        return -9.0
    told, compared = line.role == "method", has_comparison(line.text)
    finding = compared and (has_measurement(line.text) or not told)
    theirs = bool(_THEIRS.match(line.quote)) and not own.is_own_work(line)
    return (
        0.3 * (told and line.place < 0.35)
        + 0.4 * own.is_overview(line)
        + 0.5 * own.named(line)
        + 0.2 * own.is_own_work(line)
        - (1.5 if finding else 0.5 * compared)
        - 0.6 * (told and len(_FIGURE.findall(line.text)) > 1)
        - 0.8 * bool(CUES["problem"][0][0].search(line.text))
        - 0.8 * theirs
        - 0.8 * bool(DATA_HEADING.search(line.part.heading))
    )


def _score_result(line: Line, own: OwnWork) -> float:
    found = any(pattern.search(line.quote) for pattern, _ in CUES["results"])
    limits = LIMITS_HEADING.search(line.part.heading)
    if not found or limits or _STUDIED.match(line.text) or own.is_before_own_work(line):
        return -9.0
    measured = has_measurement(line.text)
    wished = bool(_WISHED.search(line.text)) and not measured
    figures = 0.8 * (measured and has_comparison(line.text)) + 0.4 * measured
    return figures + 0.6 * own.named(line) + 0.2 * own.is_own_work(line) - 1.2 * wished


def _score_limit(line: Line, own: OwnWork) -> float:
    named = bool(LIMITS_HEADING.search(line.part.heading))
    if not named and not any(pattern.search(line.quote) for pattern, _ in CUES["limits"]):
        return -9.0
    if named:
        place = 1.0 + 0.2 * (1 - line.place) + 0.8 * bool(_COUNTED.match(line.quote))
    else:
        ahead = bool(FUTURE_HEADING.search(line.part.heading))
        place = 0.4 * ahead - 0.7 * own.limits - 0.6 * has_comparison(line.text)
    return place + 0.2 * own.is_own_work(line)


_FITS: Final = {
    "problem": _score_problem,
    "contributions": _score_contribution,
    "method": _score_method,
    "results": _score_result,
    "limits": _score_limit,
}
