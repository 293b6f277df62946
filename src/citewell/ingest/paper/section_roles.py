"""What a section is for, by the words of its heading, in English and Chinese; by its place where
the words say nothing. A subsection is what the section above it is, unless its whole heading says
otherwise (`Dataset` below `Experiments` is method: it says how; `Model Ablation` below `Results`
stays).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, Literal

from citewell.ingest.paper.shape import Role

# nothing; a word that often means it; a word that nearly always does; the whole heading
Strength = Literal[0, 1, 2, 3]

_COUNT: Final = "[一二三四五六七八九十百零〇0-9]"
_NUMBERING = re.compile(
    rf"""^\s*(?:
      第\s*{_COUNT}{{1,4}}\s*[章节篇部]
    | (?:appendix|chapter|section|part)\b\s*(?:[A-Z]\b|[IVX]+\b|\d+)?(?:\.\d+)*
    | 附\s*录\s*(?:[A-Z]|{_COUNT}{{1,2}})?
    | [A-Z](?:\.\d+)+ | \d+(?:\.\d+)* | [IVXivx]+(?=\.) | [A-Z](?=\.?\s)
    | [一二三四五六七八九十]{{1,3}}(?=[、.．\s])
    | [（(](?:[一二三四五六七八九十]{{1,3}}|\d+|[a-z])[）)]
    )\s*[.:：、．]?\s*""",
    re.VERBOSE | re.IGNORECASE,
)
_SET_UP: Final = (
    r"experimental (?:set-?ups?|settings?|designs?|details?|data|configurations?)"
    r"|(?:training|model) details|set-?ups?|settings?"
    r"|implementation(?: details)?|datasets?|data ?sets?"
    r"|data (?:collection|processing|preparation|pre-?processing|description)"
    r"|data|corpus|corpora|hyper-? ?parameters?|(?:data )?pre-?processing"
    r"|(?:model )?training(?: procedure)?"
    r"|实验(?:设置|环境|材料|方法|设计|数据)|参数设置|实现细节"
    r"|数据(?:来源|预处理|采集|准备|处理)|数据集?|语料库?|样本选[取择]"
)
# by role: what nearly always means it, and what often does
_WORDS: Final[dict[Role, tuple[str, str]]] = {
    "references": (
        (
            r"references|bibliography|(?:literature|works) cited|reference "
            r"list|(?:主要)?参\s*考\s*文\s*献|引用文献|参考资料"
        ),
        "",
    ),
    "other": (
        (
            r"acknowledge?ments?|funding|conflicts? of interests?|competing interests?"
            r"|ethic(?:s|al)(?: statements?| considerations?"
            r"| approval)?|broader impacts?(?: statement)?|author contributions?|(?:data|code) "
            r"availability(?: statement)?"
            r"|about the authors?|supplement(?:ary)? (?:materials?|information)|"
            r"(?:\w+ )*checklist|(?:table of )?contents"
            r"|nomenclature|list of \w+|abbreviations|declarations?|disclosures?|reproducibility "
            r"statement|copyright"
            r"|致\s*谢|作者简介|作者贡献|基金项目?|利益冲突|伦理|(?:原创性|独创性)?声\s*明|"
            r"攻读.{0,12}(?:成果|论文)|目\s*录|缩略语"
        ),
        "",
    ),
    "abstract": (r"abstract|(?:中文|英文)?摘\s*要|内容提要|提要", r"summary"),
    "related_work": (
        (
            r"related (?:works?|literature|research|studies)"
            r"|(?:prior|previous|earlier) (?:works?|research|studies|approaches|literature)"
            r"|literature (?:review|survey)|review of (?:the )?literature|state[- ]of[- ]the[- ]art"
            r"|background"
            r"|相关(?:工作|研究|技术|理论)|文献(?:综述|回顾)|(?:国内外)?研究(?:现状|综述|进展)"
            r"|理论基础|背景知识"
        ),
        r"existing (?:works?|research|methods?|approaches)|背景",
    ),
    "introduction": (
        (
            r"introduction|introductory remarks|motivations?|objectives?|aims|purpose"
            r"|引\s*言|绪\s*[论言]|前\s*言|导\s*[言论]|序\s*言|问题的?提出|研究(?:背景|目的|"
            r"意义|内容)(?:[与及和]意义)?"
        ),
        "",
    ),
    "discussion": (
        (
            r"discussions?|limitations?|conclusions?|concluding remarks"
            r"|future (?:works?|directions?|research)|outlook"
            r"|threats to validity|implications"
            r"|open (?:problems|challenges|questions)|research gaps"
            r"|讨\s*论|局\s*限性?|不足|结\s*论|结\s*束?\s*语|总\s*结|展\s*望|启示"
            r"|(?:未来|今后)(?:的)?工作"
        ),
        r"建议|summary",
    ),
    "results": (
        (
            r"data analys[ei]s|results?|experiments?|experimental "
            r"(?:results?|evaluations?|analys[ei]s)|evaluations?"
            r"|findings|ablations?(?: stud(?:y|ies))?"
            r"|case stud(?:y|ies)|comparisons?|baselines?|performance|error analys[ei]s|field "
            r"(?:trial|study)|outcomes|metrics"
            r"|数据分析|实验|试验|结\s*果|评[估价]|消融|对比|案例|仿真|试用|应用实例|测试|实证|基线"
        ),
        (
            r"analys[ei]s|experimental|robustness|effectiveness|efficiency|sensitivity|"
            r"examples?|cases|statistics|分析|性能|效率|验证"
        ),
    ),
    "method": (
        r"methods?|methodolog(?:y|ies)|materials?|approach(?:es)?|study "
        r"(?:design|population)|participants|patients|subjects"
        r"|statistical analys[ei]s|problem "
        r"(?:formulation|statement|definition|set-?up)|preliminaries|notation|proposed|"
        + _SET_UP
        + r"|方\s*法|材料|资料|研究(?:对象|设计)|问题(?:定义|描述)|统计学处理",
        (
            r"model(?:s|ing|ling)?|architectures?|algorithms?|frameworks?|systems?|tasks?|"
            r"formulation|design|pipeline|prompts?|details"
            r"|模型|算法|框架|设计|系统|架构|原理|训练"
        ),
    ),
}


def _compile_whole_words(words: str) -> re.Pattern[str]:
    """As words of their own; Chinese needs no such edge."""
    return re.compile(rf"(?<![a-z])(?:{words})(?![a-z])")


_STRONG: Final = {role: _compile_whole_words(strong) for role, (strong, _) in _WORDS.items()}
_WEAK: Final = {role: _compile_whole_words(weak) for role, (_, weak) in _WORDS.items() if weak}
_SETS_UP: Final = _compile_whole_words(_SET_UP)
_ANY_STRONG: Final = _compile_whole_words("|".join(strong for strong, _ in _WORDS.values()))
_ANY: Final = _compile_whole_words(
    "|".join(
        [weak for _, weak in _WORDS.values() if weak] + [strong for strong, _ in _WORDS.values()]
    )
)
_FILLER = re.compile(
    r"[\s,;:&/()（）·、，：和与及其的等之-]+|本文|本研究|我们|主要|总体|整体|研究|问题|工作|相关"
    r"|\b(?:the|of|and|our|for|on|in|a|an|to|main|overall|general|further|detailed?|additional|"
    r"this|paper|study|used|with|features?)\b"
)
_JOINS = re.compile(
    r"\s+(?:of|for|in|on|with|about|at|from|using|by|to|and|or|&)\s+|\s*[,:/&–—]\s*"
)
_OPENS = re.compile(
    r"(?:limitations?|future (?:work|directions)|conclusions?|related work|(?:prior|previous) "
    r"(?:work|research)"
    r"|局限|展望|国内外研究)"
)
_CLOSES = re.compile(r"(?:局限性?|不足|展望)$")
_IN_SHORT = re.compile(r"本章小结|小结$|chapter summary")
_MODULE = re.compile(r"(?<![a-z])(?:checklist)(?![a-z])")
# what the whole heading of a subsection may say against the one above
_FROM_ABOVE: Final[dict[Role, frozenset[Role]]] = {
    "introduction": frozenset({"related_work"}),
    "related_work": frozenset({"discussion"}),
    "method": frozenset({"results", "discussion", "related_work"}),
    "results": frozenset({"method", "discussion"}),
    "discussion": frozenset({"related_work"}),
}


def normalize_heading(heading: str) -> str:
    """A heading in lower case, without its number."""
    text = heading.strip()
    return (
        " ".join(_NUMBERING.sub("", text, count=1).lower().split()).rstrip(".:：") or text.lower()
    )


@lru_cache(maxsize=8192)
def classify_heading(heading: str) -> tuple[Role | None, Strength]:
    """What the words of a heading say, and how surely."""
    words = normalize_heading(heading)
    if not words or len(words) > 160 or not _ANY.search(words) or _IN_SHORT.search(words):
        return None, 0
    if _MODULE.search(words):
        return "other", 3
    tail = words.rsplit("的", 1)[-1]
    found = (
        _find_head_noun_role(words)
        or _find_first_role(_STRONG, tail)
        or _find_first_role(_STRONG, words)
    )
    if _SETS_UP.match(words) and found != "method" and not _SETS_UP.sub("", words).strip():
        found = "method"
    if found:
        whole = not _FILLER.sub("", _ANY_STRONG.sub(" ", _SETS_UP.sub(" ", words))).strip()
        return found, 3 if whole else 2
    weak = _find_first_role(_WEAK, tail) or _find_first_role(_WEAK, words)
    if weak is None:
        return None, 0
    return weak, 3 if not _FILLER.sub("", _WEAK[weak].sub(" ", words)).strip() else 1


def _find_head_noun_role(words: str) -> Role | None:
    """The role of an English heading's last noun before `of`, `and` and the like: of `Result
    Interpreter Implementation` the implementation.
    """
    first = _JOINS.split(words, maxsplit=1)[0]
    found = [
        (match.end(), -match.start(), role)
        for role, table in _STRONG.items()
        for match in table.finditer(first)
    ]
    return max(found)[2] if found and first.isascii() else None


def _find_first_role(tables: dict[Role, re.Pattern[str]], words: str) -> Role | None:
    """The role whose word stands first; of two that begin together the longer."""
    found = [
        (match.start(), -match.end(), role)
        for role, table in tables.items()
        if (match := table.search(words))
    ]
    return min(found)[2] if found else None


def get_subsection_role(parent: Role, heading: str, *, sets_up: bool = False) -> Role:
    """The role of a subsection. `sets_up`: a heading above it is about an experiment's set-up."""
    role, strength = classify_heading(heading)
    words = normalize_heading(heading)
    opens = bool(_OPENS.match(words) or _CLOSES.search(words))
    if (
        role is None
        or role == parent
        or role not in _FROM_ABOVE.get(parent, ())
        or (strength < 3 and not opens)
    ):
        return parent
    if (parent, words) in {
        ("introduction", "background"),
        ("method", "data analysis"),
        ("method", "数据分析"),
    }:
        return parent
    if parent == "results" and role == "method":
        return role if is_setup_heading(heading) else parent
    return parent if sets_up and role == "results" else role


def is_setup_heading(heading: str) -> bool:
    """Whether a heading names data or settings."""
    return bool(_SETS_UP.search(normalize_heading(heading)))


def assign_roles_by_place(tops: Sequence[tuple[Role | None, Strength]]) -> list[Role]:
    """The roles of the sections of the first level, in order: those that words do not settle get
    theirs from their neighbours.

    Between introduction and results stands the method, or, where a section is called that, the
    related work before it; behind results more results. Once results have begun, a word that often
    means method (`model`) no longer tells.
    """
    sure: list[Role | None] = [role if strength >= 2 else None for role, strength in tops]
    first = next((n for n, role in enumerate(sure) if role == "results"), len(sure))
    called = next(
        (
            n
            for n, (role, strength) in enumerate(tops)
            if role == "method" and strength == 3 and n < first
        ),
        -1,
    )
    said = [role if strength == 1 else None for role, strength in tops]
    weak = [None if n > first and role == "method" else role for n, role in enumerate(said)]
    if not any(sure):
        return ["other"] * len(sure)
    found: list[Role] = []
    for n, role in enumerate(sure):
        found.append(role or weak[n] or _infer_role_between(n, sure, called, found))
    return found


def _infer_role_between(
    n: int, sure: Sequence[Role | None], called: int, found: Sequence[Role]
) -> Role:
    before = next((role for role in reversed(found) if role not in {"other", "front"}), None)
    ahead = {role for role in sure[n + 1 :] if role}
    if before in {None, "abstract"}:
        return (
            "introduction"
            if before == "abstract" and "introduction" not in ahead
            else "front"
            if ahead
            else "other"
        )
    if before in {"introduction", "related_work"}:
        return "related_work" if n < called else "method"
    if before == "method":
        return "method"
    return before if before in {"results", "discussion"} else "other"
