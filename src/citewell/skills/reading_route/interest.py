"""What an interest asks for: which of its words are a subject, and which only name a part that any
paper has.

The one rule: a word that any text holds is no proof that a section speaks of the interest.
"""

from __future__ import annotations

import re
from typing import Final

from citewell.ingest.paper.shape import Part
from citewell.skills.guide.cues import DATA_HEADING
from citewell.skills.guide.paper_name import LIMITS_HEADING
from citewell.text.language import HAN
from citewell.text.sentences import detect_language
from citewell.text.tokens import STOP_EN, STOP_ZH, tokenize_query

MOST_WANTED = 40
WORD = re.compile(rf"[^\W_{HAN}]+(?:[-'’][^\W_{HAN}]+)*")
_HAN_RUN = re.compile(f"[{HAN}]+")
# what any text speaks of: verbs that only carry a noun, and what a reader says of their wish
_CARRY = """
    paper papers work works method methods approach approaches author authors section interested
    interest want know understand read learn main more most all not between about does doing done
    did into over under make makes made making take takes taken took give gives given gave get gets
    got getting go goes going use uses used using see seen show shows shown find finds found say
    says said tell tells told come comes came put puts let lets keep keeps kept try tries tried need
    needs needed look looks looked working worked happen happens become becomes called based
    different various many much some such other others each every only also just very really well
    good better best new large larger small thing things way ways kind kinds part parts like than
    then they there here often always never mean means explain explains explained describe describes
    described discuss discusses discussed handle handles handled provide provides provided help
    helps helped perform performs performed am being been able
"""
_EMPTY = STOP_EN | frozenset(_CARRY.split())
EMPTY_ZH = frozenset(
    {
        "论文",
        "本文",
        "方法",
        "研究",
        "怎么",
        "如何",
        "什么",
        "时候",
        "关心",
        "感兴趣",
        "了解",
        "想要",
        "问题",
        "进行",
        "工作",
        "使用",
        "采用",
        "作者",
        "文章",
        "哪些",
        "怎样",
        "多少",
        "内容",
        "部分",
        "介绍",
    }
)
# an interest in a part that any paper has, in either language, whatever the language of the paper
_PARTS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "limits",
        re.compile(
            r"\b(?:limits?|limitations?|shortcomings?|weakness(?:es)?)\b|局限性?|不足之?处?|缺点",
            re.IGNORECASE,
        ),
    ),
    (
        "results",
        re.compile(
            r"\b(?:results?|experiments?|performance|evaluation|findings|gains?|improvements?|"
            r"ablations?)\b"
            r"|实验结果|结果|实验|效果|性能|消融|提升",
            re.IGNORECASE,
        ),
    ),
    (
        "method",
        re.compile(
            r"\b(?:methods?|methodology|approach|architecture|algorithm)\b|方法|原理|模型结构|算法",
            re.IGNORECASE,
        ),
    ),
    (
        "related_work",
        re.compile(
            r"\b(?:related|prior|previous|earlier) (?:work|research)\b|相关工作|相关研究|已有研究",
            re.IGNORECASE,
        ),
    ),
    (
        "discussion",
        re.compile(
            r"\b(?:future|conclusions?|outlook)\b|未来(?:研究|工作)?方?向?|展望|结论", re.IGNORECASE
        ),
    ),
    (
        "data",
        re.compile(
            r"\b(?:data|datasets?|data sets?|benchmarks?|corpora|corpus)\b|数据集?|语料",
            re.IGNORECASE,
        ),
    ),
    (
        "cost",
        re.compile(
            r"\b(?:costs?|speed|runtimes?|latency|efficiency|expens\w+)\b|成本|速度|效率|"
            r"耗时|代价|开销|响应时间",
            re.IGNORECASE,
        ),
    ),
    (
        "introduction",
        re.compile(r"\b(?:motivation|background|introduction)\b|动机|背景|引言", re.IGNORECASE),
    ),
)


_TRIED = re.compile(r"\bexperiments?\b|实验(?!结果)", re.IGNORECASE)
_COST = re.compile(
    r"\b(?:costs?|efficien\w+|runtimes?|complexity|speed|latency)\b|成本|效率|开销|复杂度|耗时",
    re.IGNORECASE,
)


# whose cost, limits or data are asked for: `the cost of the approach` is no interest in the
# approach
_WHOSE = re.compile(
    r"\b(?:of|for|in|by|does|do|is) (?:the|this|that|their|its|your) (?:proposed )?"
    r"(?:approach|methods?|algorithm|architecture)\b"
    r"|(?:本文)?(?:该|此|这种|这个)?(?:方法|算法)的(?=[\u4e00-\u9fff])(?!原理|结构)",
    re.IGNORECASE,
)


def _strip_owner(interest: str) -> str:
    left = _WHOSE.sub(" ", interest)
    return left if any(pattern.search(left) for _, pattern in _PARTS) else interest


def is_part_of_interest(part: Part, interest: str) -> bool:
    """Whether the interest asks for a part of this kind."""
    if part.appendix:
        return False
    limits = bool(LIMITS_HEADING.search(part.heading))
    data = bool(DATA_HEADING.search(part.heading))
    fits = {
        "limits": limits,
        "data": data or bool(_TRIED.search(part.heading)),
        "cost": bool(_COST.search(part.heading)),
        "method": part.role == "method" and not data,
    }
    interest = _strip_owner(interest)
    return any(
        pattern.search(interest) and fits.get(name, part.role == name and not limits)
        for name, pattern in _PARTS
    )


def strip_part_names(interest: str) -> str:
    """An interest without the names of parts: `method` in a section on limits does not make it one
    on the method. Cost is also what a section speaks of.
    """
    interest = _strip_owner(interest)
    for name, pattern in _PARTS:
        interest = interest if name == "cost" else pattern.sub(" ", interest)
    rest = " ".join(interest.split())
    return rest if _extract_subjects(rest) else ""


def _extract_subjects(text: str) -> list[str]:
    latin = [match[0] for match in WORD.finditer(text) if not is_empty_word(match[0])]
    han = (
        [
            token
            for token in tokenize_query(text)
            if _HAN_RUN.fullmatch(token) and not is_empty_word(token)
        ]
        if text.strip()
        else []
    )
    return latin + han


def is_empty_word(word: str) -> bool:
    """Whether a word says nothing of what an interest is about."""
    return (
        word.casefold() in _EMPTY
        or word in EMPTY_ZH
        or word in STOP_ZH
        or not any(c.isalnum() for c in word)
    )


def is_part_name(interest: str) -> bool:
    """Whether an interest is hardly more than the name of a part of a paper."""
    interest = rest = _strip_owner(interest)
    for _, pattern in _PARTS:
        rest = pattern.sub(" ", rest)
    left = len(_extract_subjects(rest))
    return rest != interest and left <= 1


def extract_interest_words(interest: str) -> list[str]:
    """The words of an interest that say what it is about, by which the sentences of a book are
    chosen.
    """
    if detect_language(interest) == "zh":
        runs = [run for run in _HAN_RUN.findall(interest) if run not in EMPTY_ZH]
        return list(dict.fromkeys(run[i : i + 2] for run in runs for i in range(len(run) - 1)))[
            :MOST_WANTED
        ]
    words = [m[0] for m in WORD.finditer(interest) if len(m[0]) > 2 and not is_empty_word(m[0])]
    return list(dict.fromkeys(words))[:MOST_WANTED]
