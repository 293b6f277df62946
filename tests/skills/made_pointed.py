"""Two small papers, English and Chinese, made by hand: their text, and their shape by the words it
has.

The one rule: spans are found by their words, so that a change of the text moves them too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.ingest.paper.shape import Equation, Float, Mention, Paper, Part, Reference, Role
from citewell.skills.paper.reading_context import OpenPaper
from citewell.text.sentences import detect_language
from citewell.types import Box, Document, Page, Section

ENGLISH = """\
Corridor Routing for Kite Couriers

Ada Lindqvist, Bo Castellan and Chen Mei

Proceedings of the 7th Workshop on Light Freight, pages 311-314, May 2023.

Abstract

Kite couriers lose packets in gusts. We route them with a large language model (LLM) \
and halve the losses.

Keywords: kites; routing; gusts

1 Introduction

Kite couriers are cheap. Gusts make them lose packets, as Wei et al. (2022) have shown. \
Okafor and Diaz (2020) blame the string.

\f2 Method

Figure 1 shows the parts. Our router reads the wind. It is trained for 40 epochs.

Figure 1: Architecture of the router with its wind gauge.

2.1 Gust model

The cost of a route is

C = a d + b g² (1)

where d is the length of the route and g the strength of the gusts. Eq. (1) is cheap to compute. \
We call the router LLM-R.

3 Experiments

3.1 Main results

Table 1 gives the losses. The router loses 2.1 packets in a hundred.

Table 1: Packets lost in a hundred, by method.

Method | Calm | Gusty
Shortest path | 3.4 | 9.8
Weather rules | 3.0 | 6.1
Router | 1.2 | 2.1

3.2 Error analysis

Most losses happen near bridges. Table 2 counts them.

Table 2: Causes of the losses.

Cause | Share
Bridges | 61
Knots | 39

\f3.3 Ablation

As Table 3 shows, the wind gauge matters most. Without it the router loses 5.5 packets.

Table 3: Ablation of the router.

Variant | Gusty
full | 2.1
without wind gauge | 5.5

4 Limitations

We flew in one valley only. Nights were not tried. The cost of the strings is not counted.

5 Conclusion

Routing by gusts halves the losses of Kite couriers.

References

Maria Okafor and Juan Diaz. 2020. Strings under load. Journal of Kites 4, pages 12-19.

Jason Wei, Xin Yu, and Ben Brändl. 2022. Packets in the wind. \
In Proceedings of Light Freight, pages 1-9.

Li Wei. 2023a. Gusts: a "survey". Press.

\fA Settings

Learning rate 0.002.

A.1 Hardware

One kite.
"""
CHINESE = """\
风筝快递的路线规划

陆梅 顾一帆

摘要：本文提出一种路线规划方法GRM（Gust Routing Model），把丢件率降低一半。

关键词：风筝；路线规划；阵风

1 引言

风筝快递成本低，但阵风会造成丢件[1]。王强等研究过绳索[2-3]。

2 方法

总体流程如图2-1所示。

图2-1 方法的总体架构

2.1 代价

路线代价见式（1）。

C = a d + b g （1）

其中d为路线长度，g为阵风强度。

3 实验

表1列出了主要结果。本文方法丢件率最低。

表1 各方法的丢件率（%）

方法 | 平静 | 阵风
最短路 | 3.4 | 9.8
本文方法 | 1.2 | 2.1

去掉阵风项后丢件率升高，见表2。

表2 消融实验结果

变体 | 阵风
完整 | 2.1
去掉阵风项 | 5.5

4 结论

按阵风规划路线有效。本文只在一个山谷中做了试验。

参考文献

[1] 李明. 风筝物流概论[M]. 北京, 2019.

[2] 王强, 赵丽. 绳索受力分析[J]. 机械, 2020, 4(2): 12-19.

[3] Smith J, Jones K. Knots in kites. Kite J. 2021.
"""


def span(text: str, words: str, after: int = 0) -> tuple[int, int]:
    start = text.index(words, after)
    return start, start + len(words)


def english() -> OpenPaper:
    """Four pages, printed as 311 to 314; three tables, a figure, an equation, three entries known
    by names and years.
    """
    roles: dict[str, tuple[Role, tuple[str, ...]]] = {
        "Abstract\n": ("abstract", ("Abstract",)),
        "1 Introduction": ("introduction", ("1 Introduction",)),
        "2 Method": ("method", ("2 Method",)),
        "2.1 Gust model": ("method", ("2 Method", "2.1 Gust model")),
        "3 Experiments": ("results", ("3 Experiments",)),
        "3.1 Main results": ("results", ("3 Experiments", "3.1 Main results")),
        "3.2 Error analysis": ("results", ("3 Experiments", "3.2 Error analysis")),
        "3.3 Ablation": ("results", ("3 Experiments", "3.3 Ablation")),
        "4 Limitations": ("discussion", ("4 Limitations",)),
        "5 Conclusion": ("discussion", ("5 Conclusion",)),
        "References\n": ("references", ("References",)),
        "A Settings": ("method", ("A Settings",)),
        "A.1 Hardware": ("method", ("A Settings", "A.1 Hardware")),
    }
    floats = [
        (
            "figure",
            "Figure 1",
            "1",
            "Figure 1: Architecture of the router with its wind gauge.",
            "",
        ),
        (
            "table",
            "Table 1",
            "1",
            "Table 1: Packets lost in a hundred, by method.",
            "Method | Calm",
        ),
        ("table", "Table 2", "2", "Table 2: Causes of the losses.", "Cause | Share"),
        ("table", "Table 3", "3", "Table 3: Ablation of the router.", "Variant | Gusty"),
    ]
    entries = [
        ("Okafor and Diaz, 2020", "Maria Okafor", ("Okafor", "Diaz"), "2020", "Strings under load"),
        ("Wei et al., 2022", "Jason Wei", ("Wei", "Yu", "Brändl"), "2022", "Packets in the wind"),
        ("Wei, 2023a", "Li Wei", ("Wei",), "2023", 'Gusts: a "survey"'),
    ]
    text = ENGLISH
    return _book(
        text,
        Paper(
            title="Corridor Routing for Kite Couriers",
            authors=("Ada Lindqvist", "Bo Castellan", "Chen Mei"),
            lang="en",
            parts=_parts(text, roles),
            title_span=span(text, "Corridor Routing for Kite Couriers"),
            authors_span=span(text, "Ada Lindqvist, Bo Castellan and Chen Mei"),
            keywords=("kites", "routing", "gusts"),
            floats=_floats(text, floats),
            equations=(Equation("(1)", *span(text, "C = a d + b g² (1)"), page=2),),
            references=tuple(
                Reference(key, *_paragraph(text, text.index(words)), 3, authors, year, title)
                for key, words, authors, year, title in entries
            ),
            mentions=(
                *_mentions(
                    text,
                    r"(?:Figure 1|Table [123])(?= [a-z])",
                    "float",
                    ["Figure 1", "Table 1", "Table 2", "Table 3"],
                ),
                *_mentions(text, r"Eq\. \(1\)", "equation", ["Eq. (1)"]),
                *_mentions(
                    text,
                    r"Okafor and Diaz \(2020\)|Wei et al\. \(2022\)",
                    "reference",
                    ["Okafor and Diaz (2020)", "Wei et al. (2022)"],
                ),
            ),
        ),
    )


def chinese() -> OpenPaper:
    """One page without a break; two tables, a figure numbered 2-1, an equation, three numbered
    entries.
    """
    roles: dict[str, tuple[Role, tuple[str, ...]]] = {
        "摘要": ("abstract", ("摘要",)),
        "1 引言": ("introduction", ("1 引言",)),
        "2 方法": ("method", ("2 方法",)),
        "2.1 代价": ("method", ("2 方法", "2.1 代价")),
        "3 实验": ("results", ("3 实验",)),
        "4 结论": ("discussion", ("4 结论",)),
        "参考文献\n": ("references", ("参考文献",)),
    }
    floats = [
        ("figure", "图2-1", "2-1", "图2-1 方法的总体架构", ""),
        ("table", "表1", "1", "表1 各方法的丢件率（%）", "方法 | 平静"),
        ("table", "表2", "2", "表2 消融实验结果", "变体 | 阵风"),
    ]
    entries = [
        ("1", "[1] 李明", ("李明",), "2019"),
        ("2", "[2] 王强", ("王强", "赵丽"), "2020"),
        ("3", "[3] Smith", ("Smith", "Jones"), "2021"),
    ]
    text = CHINESE
    return _book(
        text,
        Paper(
            title="风筝快递的路线规划",
            authors=("陆梅", "顾一帆"),
            lang="zh",
            parts=_parts(text, roles),
            title_span=span(text, "风筝快递的路线规划"),
            authors_span=span(text, "陆梅 顾一帆"),
            keywords=("风筝", "路线规划", "阵风"),
            floats=_floats(text, floats),
            equations=(Equation("（1）", *span(text, "C = a d + b g （1）"), page=1),),
            references=tuple(
                Reference(key, *_paragraph(text, text.index(words)), 1, authors, year)
                for key, words, authors, year in entries
            ),
            mentions=(
                *_mentions(
                    text, r"图2-1(?=所)|表1(?=列)|(?<=见)表2", "float", ["图2-1", "表1", "表2"]
                ),
                *_mentions(text, r"(?<=见)式（1）", "equation", ["式（1）"]),
                Mention("reference", *span(text, "[1]"), (0,)),
                Mention("reference", *span(text, "[2-3]"), (1, 2)),
            ),
        ),
    )


def _book(text: str, paper: Paper) -> OpenPaper:
    cuts = [0, *(match.end() for match in re.finditer("\f", text)), len(text)]
    pages = tuple(Page(n, cuts[n - 1], cuts[n]) for n in range(1, len(cuts)))
    boxes = tuple(
        Box(each.start, each.end, each.page, 0.1, y, 0.9, y + 0.02)
        for y, each in zip((0.2, 0.3, 0.8, 0.7), paper.floats, strict=False)
    )
    sections = tuple(Section(part.heading_path, part.start, part.end) for part in paper.parts)
    document = Document(
        paper.title, "application/pdf", detect_language(text), text, sections, pages, boxes=boxes
    )
    return OpenPaper("doc1", "papers", "kites.pdf", document, paper)


def _page(text: str, at: int) -> int:
    return text.count("\f", 0, at) + 1


def _parts(text: str, roles: dict[str, tuple[Role, tuple[str, ...]]]) -> tuple[Part, ...]:
    starts = [
        (text.index("\n" + heading) + 1, role, path)
        for heading, (role, path) in roles.items()
        if "\n" + heading in text
    ]
    starts += [
        (text.index("\f" + h) + 1, role, path)
        for h, (role, path) in roles.items()
        if "\f" + h in text
    ]
    starts = [(0, "front", ()), *sorted(starts)]
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    return tuple(
        Part(
            role,
            path,
            start,
            end,
            _page(text, start),
            _page(text, end - 2),
            appendix=path[:1] == ("A Settings",),
        )
        for (start, role, path), end in zip(starts, ends, strict=True)
    )


def _paragraph(text: str, start: int) -> tuple[int, int]:
    return start, text.index("\n", start)


def _floats(text: str, rows: Sequence[tuple[str, str, str, str, str]]) -> tuple[Float, ...]:
    found = []
    for kind, label, number, caption, body in rows:
        start, end = span(text, caption)
        inside = (text.index(body), text.index("\n\n", text.index(body))) if body else None
        found.append(
            Float(
                "table" if kind == "table" else "figure",
                label,
                number,
                start,
                end,
                _page(text, start),
                inside,
            )
        )
    return tuple(found)


def _mentions(text: str, pattern: str, kind: str, names: Sequence[str]) -> list[Mention]:
    found = []
    for match in re.finditer(pattern, text):
        where = "float" if kind == "float" else "equation" if kind == "equation" else "reference"
        target = names.index(match.group())
        found.append(
            Mention(
                where,  # type: ignore[arg-type]
                match.start(),
                match.end(),
                ({0: 0, 1: 1}[target] if kind == "reference" else target,),
            )
        )
    return found
