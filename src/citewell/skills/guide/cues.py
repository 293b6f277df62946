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
_LABEL = compile_any(
    r"\b(?:Sections?|Sec\.|Figures?|Fig\.|Tables?|Tab\.|Eq\.|Equation|Appendix|"
    r"Algorithm)\s*\d+(?:\.\d+)*",
    r"[图表式]\s*\d+(?:[.-]\d+)*|§\s*[\d.]+",
)
_MEASURED = re.compile(
    r"(?<![A-Za-z0-9_.-])[+-]?\d+(?:\.\d+)?\s*(?:%|％|‰|percent\b|percentage "
    r"points?\b|points?\b|times\b|fold\b|×|x\b|ms\b|倍|"
    r"个百分点|个点|秒|毫秒|分(?!之|为|类|成))|"
    r"(?<![A-Za-z0-9_.-])\d+\.\d+(?![A-Za-z0-9_.]*[A-Za-z0-9_])|百分之[一二三四五六七八九十\d]"
)
_HARDSHIP = compile_any(
    r"\b(?:however|but|although|while|still|yet|despite)\b", "但|然而|虽然|尽管|却"
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
_SOFTENED = compile_any(
    r"\b(?:general applicability|can be mitigated|promising|potential "
    r"solution|facilitates|flexib)\w*",
    "可以缓解|反映良好",
)
_FORMULA = compile_any(r"\bEq(?:uation|s?\.)|\b[A-Za-z]\([a-z, ]+\)", "式（")
DATA_HEADING: Final = compile_any(
    r"\bdata|\bset-?ups?\b|\bsettings?\b|baselines?\b", "数据|对比|设置|指标"
)
_USUAL = compile_any(
    r"\b(?:often|commonly|widely|usually) \w+ed\b|\bto (?:improve|enhance|boost|increase)\b",
    "常用|通常",
)
_OTHERS = compile_any(
    r"\b(?:existing|previous|prior|earlier|recent) "
    r"(?:\w+ )?(?:work|works|studies|research|methods)\b|"
    r"\b(?:methods|approaches|works|studies|techniques|models) (?:such as|like)\b",
    "已有|文献",
)
# `Self-Refine (Madaan et al., 2023) introduced ...` says how others go about it
_THEIRS = re.compile(
    r"[A-Z][\w-]*(?: [\w-]+){0,3} ?[(\[（](?:[^()]{0,60}(?:19|20)\d\d|\d+[)\]])|[A-Z][\w-]+ et al\."
)
_FIGURE = re.compile(r"(?<![A-Za-z0-9_-])\d[\d.,]*")


def has_measurement(text: str) -> bool:
    """Whether it has a measured figure: share, factor, score; not year, count or label."""
    return bool(_MEASURED.search(_LABEL.sub(" ", text)))


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
    before = (0.5 if own.is_before_own_work(line) else 0.0) + (
        0.4 if line.role == "abstract" and line.place < OPENING else 0.0
    )
    return (
        before + (0.2 if _HARDSHIP.search(line.quote) else 0.0) - 0.3 * has_measurement(line.text)
    )


def _score_contribution(line: Line, own: OwnWork) -> float:
    if line.order in own.listed:
        return 1.5
    if (
        len(line.words) < FEW
        or not (OWN_WORK.search(line.text) or OWN_WORK.search(line.quote))
        or _STUDIED.search(line.text)
    ):
        return -9.0
    novel = bool(CUES["contributions"][0][0].search(line.text))
    return 0.3 * novel + 0.3 * own.named(line) - 0.4 * has_measurement(line.text)


def _score_method(line: Line, own: OwnWork) -> float:
    if own.is_before_own_work(line) or _STUDIED.search(line.text) or _OTHERS.search(line.text):
        return -9.0
    early = 0.3 if line.role == "method" and line.place < 0.35 else 0.0
    broad = 0.4 if own.is_overview(line) else 0.0
    finding = 1.5 * (
        has_comparison(line.text) and (has_measurement(line.text) or line.role != "method")
    ) or 0.5 * has_comparison(line.text)
    fine = 0.6 if len(_FIGURE.findall(line.text)) > 1 and line.role == "method" else 0.0
    troubled = 0.8 if CUES["problem"][0][0].search(line.text) else 0.0
    theirs = 0.8 if _THEIRS.match(line.quote) and not own.is_own_work(line) else 0.0
    formal = (
        theirs
        + 0.6 * bool(_FORMULA.search(line.quote))
        + 0.8 * bool(DATA_HEADING.search(line.part.heading))
    )
    return (
        early
        + broad
        - formal
        + 0.5 * own.named(line)
        + 0.2 * own.is_own_work(line)
        - finding
        - fine
        - troubled
    )


def _score_result(line: Line, own: OwnWork) -> float:
    found = any(pattern.search(line.quote) for pattern, _ in CUES["results"])
    if (
        not found
        or LIMITS_HEADING.search(line.part.heading)
        or _STUDIED.match(line.text)
        or own.is_before_own_work(line)
    ):
        return -9.0
    usual = 0.6 if _USUAL.search(line.text) and not has_measurement(line.text) else 0.0
    wished = usual + (1.2 if _WISHED.search(line.text) and not has_measurement(line.text) else 0.0)
    figures = 0.8 * (
        has_measurement(line.text) and has_comparison(line.text)
    ) + 0.4 * has_measurement(line.text)
    return figures + 0.6 * own.named(line) + 0.2 * own.is_own_work(line) - wished


def _score_limit(line: Line, own: OwnWork) -> float:
    named = bool(LIMITS_HEADING.search(line.part.heading))
    open_ = bool(FUTURE_HEADING.search(line.part.heading))
    if not named and not any(pattern.search(line.quote) for pattern, _ in CUES["limits"]):
        return -9.0
    ahead = 0.2 * (1 - line.place) if named else 0.0
    praised = has_comparison(line.text) and not named
    soft = 0.6 if _SOFTENED.search(line.text) else 0.0
    counted = 0.8 if named and _COUNTED.match(line.quote) else 0.0
    elsewhere = 0.7 if own.limits and not named else 0.0
    return (
        counted
        - soft
        - elsewhere
        + (1.0 if named else 0.4 if open_ else 0.0)
        + ahead
        + 0.2 * own.is_own_work(line)
        - 0.6 * praised
    )


_FITS: Final = {
    "problem": _score_problem,
    "contributions": _score_contribution,
    "method": _score_method,
    "results": _score_result,
    "limits": _score_limit,
}
