"""Whether a question asks for what the structure of a paper answers: title, authors, counts, lists,
places, entries.

The one rule: a pattern matches a whole question or nothing: `How many layers are there?` is no
question of structure, and neither is `How many tables of the appendix report recall?`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from citewell.skills.paper.reference_numbers import fold_text
from citewell.skills.paper.references import PaperTargets

FactKind = Literal[
    "title", "authors", "count", "list", "reference", "published", "keywords", "where", "cites"
]
Thing = Literal["page", "section", "figure", "table", "reference", "equation", "author"]


@dataclass(frozen=True, slots=True)
class StructureQuestion:
    """`thing`: what is counted or listed. `detail`: of a count nothing, of authors `first` or
    `last`, of `cites` the words that name a work.
    """

    kind: FactKind
    thing: Thing | None = None
    detail: str = ""


_A = "(?:paper|article|work|study|publication|manuscript|document|pdf)"
_P = rf"(?:(?:the|this|that|our|your) (?:research |scientific )?{_A}|it)"
_PS = rf"(?:(?:the|this|that) {_A}'s|its|the)"
_IN = rf"(?:in|of|within|by|for|throughout) {_P}(?: in total| altogether)?"
_THINGS_EN: Final[dict[str, Thing]] = {
    "page": "page", "section": "section", "chapter": "section", "heading": "section",
    "figure": "figure", "fig": "figure", "table": "table",
    "reference": "reference", "citation": "reference", "cited paper": "reference",
    "cited work": "reference", "bibliography entrie": "reference",
    "equation": "equation", "formula": "equation", "numbered equation": "equation",
    "author": "author",
}  # fmt: skip
_T = "(?P<thing>" + "|".join(sorted(_THINGS_EN, key=len, reverse=True)) + ")s"
_THINGS_ZH: Final[dict[str, Thing]] = {
    "页": "page", "章节": "section", "章": "section", "节": "section", "小节": "section",
    "图片": "figure", "插图": "figure", "图": "figure", "表格": "table", "表": "table",
    "参考文献": "reference", "文献": "reference", "引文": "reference",
    "公式": "equation", "方程": "equation", "作者": "author",
}  # fmt: skip
_TZ = "(?P<thing>" + "|".join(sorted(_THINGS_ZH, key=len, reverse=True)) + ")"
_PZ = r"(?:(?:这篇|本篇|该篇|该|此|这|那篇)?(?:论文|文章|文献|文|paper))"
_INZ = rf"(?:在?{_PZ}(?:中|里面?|内)?的?)?"
_UNITZ = r"[个张幅页条篇章节处位名]?"
_MANYZ = rf"(?:一共|总共|共|全文)?(?:有|包含|包括|列出|引用|含)?了?(?:几|多少){_UNITZ}"

_ENGLISH: Final[dict[FactKind, tuple[str, ...]]] = {
    "title": (
        (
            rf"(?:what(?:'s| is| was)|give me|tell me|state|show me) {_PS} (?:full |exact "
            rf"|complete )?title(?: {_IN})?"
        ),
        rf"title(?: {_IN})?",
        rf"(?:what|how) is {_P} (?:called|titled|entitled|named)",
        r"what is the name of (?:the|this) (?:paper|article)",
    ),
    "authors": (
        rf"(?:who|by whom) (?:wrote|has written|authored|published|(?:was|is) the author of) {_P}",
        rf"by whom (?:was|is) {_P} written",
        rf"who (?:is|are|was|were) {_PS} (?:(?P<which>first|last) )?authors?(?: {_IN})?",
        (
            rf"(?:list|name|give me|tell me|show me|what are) (?:all )?(?:of )?{_PS} (?:names of "
            r"(?:the|all) )?authors?"
            rf"(?:' names)?(?: {_IN})?"
        ),
    ),
    "count": (
        (
            rf"how many {_T} (?:are|is|were) (?:there )?"
            rf"(?:(?:shown|listed|included|contained|cited|used|present|displayed) )?{_IN}"
        ),
        rf"how many {_T} (?:(?:are|is) there|there are)(?: {_IN}| in total| altogether)?",
        (
            rf"how many {_T} (?:(?:does|do|did|has) )?{_P} "
            r"(?:have|has|contains?|includes?|cites?|lists?|shows?|got)(?: in total)?"
        ),
        rf"how many (?P<thing>page)s (?:long )?(?:is|has) {_P}(?: long)?",
        rf"how (?P<long>long) is {_P}(?: in pages)?",
        rf"how many (?P<thing>author)s(?: (?:wrote|worked on) {_P})?",
        r"how many (?P<thing>page|table|figure|reference|equation)s",
        (
            rf"how many (?:papers|works|articles|publications) (?:does|do) {_P} "
            r"(?P<cite>cite|reference)"
        ),
        rf"how many (?:papers|works|articles|publications) are (?P<cited>cited) {_IN}",
        rf"(?:what is|tell me|give me) the (?:total )?number of {_T}(?: {_IN})?",
    ),
    "list": (
        (
            r"(?:please )?(?:list|enumerate|show|show me|give me|name|tell me|what are|which "
            r"are) (?:a list of )?(?:all )?"
            rf"(?:of )?(?:the )?{_T}(?: (?:and|with) their (?:captions|titles|pages))?"
            rf"(?: {_IN}| (?:that )?{_P} (?:has|contains)| there are)?"
        ),
        rf"(?:what|which) {_T} (?:are there|does {_P} (?:have|contain|include)|are)(?: {_IN})?",
        (
            r"(?:what is|show me|show|give me|print)? ?(?:the )?(?P<outline>table of "
            rf"contents|outline)(?: {_IN})?"
        ),
        rf"how is {_P} (?P<organised>organi[sz]ed|structured)",
        (
            r"what is (?:the )?(?P<structure>structure|organi[sz]ation) of (?:the|this) "
            r"(?:paper|article)"
        ),
    ),
    "keywords": (
        (
            rf"(?:what (?:are|is)|list|give me|show me|tell me)? ?(?:{_PS} )?key ?words?"
            rf"(?: (?:of|in|for) {_P})?"
        ),
    ),
    "published": (
        (
            rf"(?:when|(?:in )?(?:which|what) year) (?:was|is|did|has) {_P} (?:been )?"
            r"(?:published|written|released|come out|appear(?:ed)?)"
        ),
        rf"where (?:was|is) {_P} published",
        (
            rf"(?:in )?(?:which|what) (?:venue|conference|journal) (?:was|is) {_P} published(?: "
            r"in| at)?"
        ),
        rf"what is {_PS} (?:publication|publishing) (?:year|date|venue)(?: of {_P})?",
        rf"what is the (?:publication )?(?:year|date) of {_P}",
    ),
    "cites": (
        (
            rf"(?:does|do|did) (?:{_P}|they|the authors) (?:also |ever )?(?:cite|reference) "
            r"(?P<work>.+)"
        ),
        (
            r"(?:is|are|was) (?P<work>.+?) (?:cited|referenced) (?:in|by) (?:the|this) "
            r"(?:paper|article|work|authors)"
        ),
    ),
}
_JOURNAL = r"哪一?[个种本份](?:期刊|会议|杂志)?上?|什么(?:期刊|会议|杂志)上?"
_CHINESE: Final[dict[FactKind, tuple[str, ...]]] = {
    "title": (
        rf"(?:{_PZ}的?)?(?:题目|标题|题名|篇名)(?:是什么|叫什么|是啥|是)?",
        rf"{_PZ}(?:的名[称字](?:是什么)?|叫什么(?:名字)?)",
    ),
    "authors": (
        (
            rf"(?:{_PZ}的?)?(?P<which>第一|最后)?作者(?:都)?(?:是谁|有谁|有哪些人?|是哪些人?|"
            r"是哪[几一]位|分别是谁|名单)"
        ),
        rf"{_PZ}(?:的作者|是(?:由)?谁(?:写|撰写|发表)的)|谁(?:写|撰写)了{_PZ}",
    ),
    "count": (
        rf"{_INZ}{_MANYZ}(?:的)?{_TZ}",
        (
            rf"{_INZ}(?P<thing2>作者|参考文献|文献|图片?|表格?|公式|章节)(?:一共|总共|"
            rf"共)?有(?:几|多少){_UNITZ}"
        ),
        rf"(?:{_INZ}|全文)(?:一共|总共|共)?(?:有|是)?(?:几|多少)(?P<page>页)",
        rf"{_PZ}有(?P<long>多长)",
        rf"{_INZ}{_TZ}的?(?:数量|数目|总数)(?:是多少)?",
    ),
    "list": (
        (
            rf"(?:列出|列举|给出|展示|显示|罗列|请?给我)(?:一下)?{_INZ}(?:所有|全部|各|"
            rf"每一?)?{_UNITZ}的?{_TZ}"
            r"(?:列表|清单|的?(?:标题|题注))?"
        ),
        rf"{_INZ}(?:都|一共|共)?(?:有|包含|包括)(?:了)?(?:哪些|什么){_TZ}",
        rf"{_INZ}(?P<thing2>作者|参考文献|文献|图片?|表格?|公式|章节)(?:都)?有哪些",
        rf"(?:{_PZ}的?|给出|列出|看看)?(?P<outline>目录|大纲|提纲)(?:是什么|是怎样的)?",
        rf"{_PZ}的?(?P<structure>章节结构|组织结构|结构)(?:是什么|是怎样的|如何|怎么样)?",
    ),
    "keywords": (rf"(?:{_PZ}的?)?关键[词字](?:都)?(?:有哪些|是什么|是哪些|包括什么)?",),
    "published": (
        rf"{_PZ}(?:是)?(?:在)?(?:哪一?年|什么时候|何时|{_JOURNAL}|哪里)(?:发表|出版|刊登)的?",
        rf"{_PZ}(?:发表|出版|刊登)(?:在|于)(?:哪里|哪儿|哪一?年|什么时候|何时|{_JOURNAL})",
        rf"{_PZ}的?(?:发表|出版)(?:年份|时间|日期)(?:是.{{1,4}})?",
    ),
    "cites": (
        (
            rf"(?:{_PZ}|文中|作者)?(?:是否|有没有|有无)(?:引用|引)(?:了|"
            r"过)?(?P<work>.+?)(?:的(?:工作|论文|文章|研究))?"
        ),
        (
            rf"(?:{_PZ}|文中|作者)引用(?:了|过)?(?P<work>.+?)(?:的(?:工作|论文|文章|"
            r"研究))?(?:吗|没有?)"
        ),
    ),
}
_PATTERNS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for table in (_ENGLISH, _CHINESE)
    for kind, patterns in table.items()
    for pattern in patterns
)
_SECTION_ZH = r"哪一?个?(?:章节|章|小?节|部分)(?:里|中)?"
# what a question says beside what it points to: `on which page is [Table 2]`
_WHERE: Final = re.compile(
    r"(?:on |at )?(?:which|what) pages? (?:is|are|does|do|can|will|has|contains?|shows?)"
    r"(?: (?:the|i find|we find|it|caption of))*"
    r"(?: (?:on|in|at|found|shown|located|start|begin|appear|stand|placed|printed|section))*"
    r"|(?:tell me |show me )?(?:where|(?:in |on )?(?:which|what) (?:sub)?section)"
    r" (?:is|are|can (?:i|we) find|does|do|appears?|contains?|shows?|has)"
    r"(?: (?:the|in|appear|stand|located|found|shown|in the paper))*"
    r"|(?:the )?pages? (?:number )?of"
    r"|的?(?:题注)?(?:在|位于|出现在|见|处于)?(?:论文|文章|文中)?的?"
    r"第?(?:几|哪一?|多少)页(?:上|中|里)?"
    rf"|的?(?:在|位于|出现在)(?:论文|文章|文中)?的?(?:哪里|哪儿|什么位置|{_SECTION_ZH})|"
    r"(?:在|从)第?几页开始",
    re.IGNORECASE,
)
_WORK_ZH = r"(?:论文|文章|文献)"
_ENTRY: Final = re.compile(
    r"(?:what|which)(?: (?:paper|work|article|publication|study|entry|reference|source))?"
    r"(?: does| is| are|'s| was)(?: the)?"
    r"(?: (?:paper|work|article|reference|entry|citation|source))?"
    r"(?: (?:cited as|numbered|of|for|refer to|stand for|about))?"
    r"|(?:show|give|tell) me(?: the)?(?: full| complete)?"
    r"(?: (?:reference|citation|entry|details|source))?(?: (?:of|for))?"
    r"|(?:what is|what's)? ?the (?:full |complete )?"
    r"(?:reference|citation|entry|bibliographic entry|title|authors?|year|details)(?: (?:of|for))?"
    r"|who (?:wrote|is|are|authored)(?: the authors? of)?(?: the)?(?: (?:paper|reference|work))?"
    r"|who is the (?:first )?author of"
    r"|(?:when|in (?:which|what) year|what year) (?:was|is|did)(?: the)?"
    r"(?: (?:paper|reference|work))?"
    r"(?: (?:published|written|from|appear))?"
    rf"|(?:这|该)?(?:篇)?{_WORK_ZH}?(?:的)?(?:作者|标题|题目|年份|出处|全称)?(?:是|指的?是|指)"
    rf"(?:什么|谁|谁写的|哪些人|哪一?[篇年个](?:{_WORK_ZH}|发表的)?|什么{_WORK_ZH})"
    r"|(?:是)?(?:哪一?年|什么时候|何时|谁)(?:发表|写)的|(?:是)?(?:哪一?篇|谁的?(?:工作|"
    r"论文))|(?:给出|列出|显示)",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    r"^(?:(?:please|hi|hello|hey|ok|so|well|(?:can|could|would) you|tell me|i(?:'d| would) like "
    r"to know|do you know|and"
    r"|请问?|你好|麻烦|告诉我|我想知道|帮我|那么?)[\s,，:]*)+"
    r"|[\s?!.。，,；;]+$|\bplease\b|(?<=[\u4e00-\u9fff])[呢呀啊]$",
    re.IGNORECASE,
)


def parse_structure_question(question: str, points: PaperTargets) -> StructureQuestion | None:
    """What of the structure is asked for; None where the question asks for anything else."""
    text = strip_courtesies(question)
    for kind, pattern in _PATTERNS:
        if match := pattern.fullmatch(text):
            groups = {name: value for name, value in match.groupdict().items() if value}
            return StructureQuestion(kind, _get_thing(kind, groups), _get_detail(kind, groups))
    rest = strip_courtesies(points.rest)
    named = {missing.kind for missing in points.missing}
    if _WHERE.fullmatch(rest) and (
        points.floats or points.equations or points.parts or points.references or named
    ):
        return StructureQuestion("where")
    only = not (points.floats or points.equations or points.parts or points.pages) and named <= {
        "reference"
    }
    if only and (points.references or named) and (_ENTRY.fullmatch(rest) or not rest):
        return StructureQuestion("reference")
    return None


def strip_courtesies(question: str) -> str:
    """Folded, without courtesies and marks at its ends."""
    text, before = " ".join(fold_text(question).split()), ""
    while text != before:
        text, before = _POLITE.sub("", text).strip(), text
    return text


def _get_thing(kind: FactKind, groups: dict[str, str]) -> Thing | None:
    if kind not in {"count", "list"}:
        return None
    if groups.keys() & {"outline", "organised", "structure"}:
        return "section"
    if groups.keys() & {"cite", "cited"}:
        return "reference"
    if groups.keys() & {"long", "page"}:
        return "page"
    word = (groups.get("thing") or groups.get("thing2") or "").lower()
    return _THINGS_EN.get(word) or _THINGS_ZH.get(word)


def _get_detail(kind: FactKind, groups: dict[str, str]) -> str:
    if kind == "authors":
        return {"第一": "first", "最后": "last"}.get(
            groups.get("which", ""), groups.get("which", "").lower()
        )
    return (groups.get("work", "")).strip() if kind == "cites" else ""
