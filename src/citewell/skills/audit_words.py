"""What the rules of the audit compare: the words, figures and clauses of a claim and of the lines of the passages.

The one rule: nothing here judges; a `Finding` says what a rule saw, and `fatal` whether the source says otherwise or only less.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import rjieba

from citewell.knowledge.words import STOP_EN, STOP_ZH, query_tokens
from citewell.skills.cite import Source
from citewell.skills.facts import facts

# What measures and what is compared in any paper: they tell no subject from another.
_GENERIC_EN = """
accuraci score perform result valu number f1 precis recal averag macro-f1 macro f1-scor point percent percentag improv remov
without drop method model system approach baselin dataset set test question reach achiev obtain attain get yield report show
give need cost take use total error loss mae mse rmse mrr bleu roug auc em respect onli also both most more less than higher
lower better wors between among per each et al ms gb mb
"""
_GENERIC_ZH = """
准确率 准确 精度 召回率 召回 得分 分数 性能 效果 结果 平均 数值 数据 数据集 数据集上 方法 模型 去掉 移除
达到 取得 获得 需要 百分点 个百分点 百分 分点 提高 提升 下降 降低 增加 减少 分别 问题 两个 次数 毫秒 用于
用来 进行 采用 使用 误差 时间 响应 只有 只需
"""
GENERIC = frozenset((_GENERIC_EN + _GENERIC_ZH).split())
_AUTHOR = re.compile(r"\b([A-Z][\w-]+)(?=\s+et\s+al\b|\s+and\s+[A-Z][\w-]+\s*[(\[])")
_METRIC = re.compile(r"\w+@\d+|(?:recall|hits?|precision|ndcg|p|r)\d+")
_BOUND = re.compile(
    r"[;；。!?！？\n]+|[.]\s*$|[:：、](?!\d)|(?<!\d)[,，]|[,，](?!\d{3}(?!\d))|\s[–—]\s|\b(?:but|however|while|whereas|although|though)\b|\b(?:rather|instead)\s+(?:than|of)\b|但是?(?!于)|然而|不过|而不是|而非|而并非",
    re.IGNORECASE,
)
# Where a claim says that it comes from: it claims nothing by itself, and its number is no figure.
_POINTER = re.compile(
    r"(?:\b(?:as\s+(?:shown|seen|reported|listed|given)\s+in|according\s+to|in|see|from)\s+)?\(?\s*"
    r"\b(?:tables?|figures?|figs?\.?|sections?|sec\.|§|appendix|eq(?:uation)?s?\.?)\s*[A-Z]?\d[\d.]*[a-z]?\b"
    r"(?:\s+(?:shows?|reports?|lists?|indicates?)\s+that\b)?\s*\)?\s*,?|"
    r"(?:根据|如|由|从|见|在)?\s*[（(]?\s*(?:表格?|图|第)\s*\d[\d.]*\s*(?:节|章|中)?\s*[）)]?\s*(?:所示|中|显示|表明|可以?看出|可知)*\s*[,，]?",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\s*(?:(?:according\s+to\s+(?:the|this)\s+(?:paper|authors?|study|article|text|passages?)|in\s+(?:the|this)\s+paper)\s*,|"
    r"the\s+(?:paper|authors?|study|results?|experiments?)\s+(?:also\s+)?(?:states?|reports?|finds?|found|notes?|shows?|says?|write)"
    r"\s+that\b|"
    r"(?:根据|依据|按照)?(?:该|这篇|本)?(?:论文|文章|文献|作者|研究|原文|资料|文中|实验)(?:们|结果)?(?:还|也)?(?:指出|表明|显示|提到|报告|写道|认为|说明|发现|称|中)?"
    r"\s*[:：,，])\s*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Finding:
    """`fatal`: the source says otherwise. If not, it says less."""

    problem: str
    fatal: bool = True


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of the passages, what stands right before it, and the source that it is."""

    text: str
    before: str
    source: Source


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a text as written, and where; `plain` is without its percent sign, as a table has it."""

    number: str
    start: int
    end: int

    @property
    def plain(self) -> str:
        return self.number.rstrip("%")


_FIGURE = re.compile(
    r"(?<![A-Za-z0-9_.@=])(?<![A-Za-z]-)(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e-?\d+)?(?![\dA-Za-z]|\.\d|-?[A-Za-z]|,\d{3})(?:\s*[%万亿])?"
)
_OPENING = re.compile(r"^((?:on|in|for|with|at|under|among)\s[^,，]{2,60}|[在对当][^,，]{1,30})[,，]\s*", re.IGNORECASE)
_INLINE = re.compile(r"(?:tables?|figures?|sections?|equations?|appendix|fig\.|sec\.|eq\.|表|图|第)\s*$", re.IGNORECASE)


def lines(quotable: Sequence[Source]) -> list[Line]:
    """All that may be quoted, each with the sentence before it in its passage."""
    found: list[Line] = []
    for source in quotable:
        same = found and found[-1].source.passage.n == source.passage.n
        found.append(Line(plain(source.text), found[-1].text if same else "", source))
    return found


def plain(text: str) -> str:
    """One form of full and half width, of spaces, of quotes."""
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text)).strip()


def bare(claim: str) -> str:
    """The claim without where it says that it comes from: `In Table 2,`, `The authors report that`, 论文指出，"""
    rest = _POINTER.sub(" ", _LEAD.sub("", plain(claim)))
    rest = _LEAD.sub("", rest.strip(" ,，"))
    rest = re.sub(r"\s+", " ", rest).strip()
    return rest[:1].upper() + rest[1:] if re.search(r"\w", rest) else claim


def unbroken(claim: str) -> str:
    """The claim without the comma behind `On HOVER`, which would make it two clauses."""
    return _OPENING.sub(r"\1 ", claim)


@lru_cache(maxsize=8192)
def tokens(text: str) -> frozenset[str]:
    """Content words: English stemmed, Chinese as a dictionary cuts it. No bare numbers."""
    latin = {t for t in query_tokens(text) if t.isascii() and len(t) > 1 and not re.fullmatch(r"[\d.,%]+", t)} - STOP_EN
    if text.isascii():
        return frozenset(latin)
    cut = {word for word in rjieba.cut_for_search(text) if len(word) > 1 and not word.isascii() and word not in STOP_ZH}
    return frozenset(latin | {word for word in cut if not word.strip().isascii()})


def telling(text: str) -> frozenset[str]:
    """The words that can tell one subject from another."""
    return frozenset(word for word in tokens(text) - GENERIC if not _METRIC.fullmatch(word))


def figures_in(text: str) -> list[Figure]:
    """The numbers in digits, in order; not those of names (2-hop) nor of pointers (Table 2)."""
    return [
        Figure(re.sub(r"[,\s]", "", m.group()), m.start(), m.end())
        for m in _FIGURE.finditer(text)
        if not _INLINE.search(text[: m.start()])
    ]


def clauses(text: str) -> list[str]:
    return [part.strip() for part in _BOUND.split(text) if part and part.strip()]


def names_of(text: str) -> frozenset[str]:
    """Names, also of the first word where it is written like one (PlanRet, BM25, Lindqvist et al.)."""
    text = plain(text)
    authors = {m[1].casefold() for m in _AUTHOR.finditer(text)}
    return frozenset(n for n in facts(text).names if not n.isdigit()) | authors


DENIALS = frozenset({"not", "no", "nor", "never", "cannot"})  # what `redenied` looks for must not keep a sentence from it
NEARLY = 0.85  # share of all words, of either in the other, at which a word more or less is a change


def nearest(wanted: frozenset[str], candidates: Iterable[tuple[str, frozenset[str]]], least: float) -> list[str]:
    """Of the candidates those that hold most of the wanted words, all that are equally near; none below `least` of them."""
    shared = [(len(wanted & words), len(words - wanted), text) for text, words in candidates]
    most = max((n for n, _, _ in shared), default=0)
    return [text for n, _, text in shared if n == most] if wanted and most >= least * len(wanted) else []


def nearly(claim: str, evidence: Sequence[Line], least: float) -> list[Line]:
    """The sentences that hold at least this share of the claim's words and figures, and of whose words the claim holds it."""
    wanted = (tokens(claim) - DENIALS) | {figure.plain for figure in figures_in(claim)}
    found = []
    for line in evidence:
        there = (tokens(line.text) - DENIALS) | {figure.plain for figure in figures_in(line.text)}
        shared = len(wanted & there)
        if " | " not in line.text and wanted and shared >= least * max(len(wanted), 3) and shared >= least * len(there):
            found.append(line)
    return found
