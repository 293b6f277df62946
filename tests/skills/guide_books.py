"""Two small papers made by hand, English and Chinese, as the reader of papers would open them.

The one rule: what a test expects stands in these texts, to the letter.
"""

from __future__ import annotations

from dataclasses import replace

from citewell.ingest.paper.shape import Float, Paper, Part, Role
from citewell.retrieve.query import Found
from citewell.retrieve.rank import compute_coverage
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.reading_route.plan_route import Find
from citewell.types import Document, Page, Section

Sections = list[tuple[Role, tuple[str, ...], str]]

ENGLISH: Sections = [
    (
        "front",
        (),
        (
            "TideNet: Forecasting Harbour Levels from Few Gauges\n\nAda Moor, Ben Quill, "
            "Harbour Institute\n\n"
        ),
    ),
    (
        "abstract",
        ("Abstract",),
        (
            "Abstract\n\nForecasting the water level of a small harbour remains difficult "
            "because gauges are few and costly. In this paper, we propose TideNet, a novel "
            "framework that combines a tidal model with a graph network. TideNet first predicts "
            "the tide from the moon and then corrects it with the readings of three gauges. On "
            "HarbourSet, TideNet reduces the mean absolute error (MAE) by 23.5% compared with "
            "the strongest baseline.\n\n"
        ),
    ),
    (
        "introduction",
        ("1 Introduction",),
        (
            "1 Introduction\n\nHarbour masters need levels an hour ahead, but existing forecasts "
            "fail in narrow "
            "bays (Moor, 2019). "
            "However, earlier work cannot use fewer than twenty gauges. Our contributions are:\n\n"
            "(1) We propose TideNet, which needs only three gauges;\n\n"
            "(2) We collect HarbourSet, readings of forty harbours over six years.\n\n"
        ),
    ),
    (
        "related_work",
        ("2 Related Work",),
        (
            "2 Related Work\n\nTidal models are old and precise in the open sea [3]. Unlike "
            "these models, TideNet learns from the readings of each harbour, and it is not tied "
            "to one coast.\n\n"
        ),
    ),
    (
        "method",
        ("3 TideNet",),
        (
            "3 TideNet\n\nTideNet consists of two modules, a tidal module and a graph module. "
            "The tidal module predicts the level from the positions of moon and sun. The graph "
            "module corrects the prediction by messages between neighbouring gauges.\n\n"
        ),
    ),
    (
        "method",
        ("3 TideNet", "3.1 Training of the graph module"),
        (
            "3.1 Training of the graph module\n\nThe graph module is trained with a quantile "
            "loss on the readings of earlier years. We use a batch of sixty harbour days and "
            "stop when the validation error no longer falls.\n\n"
        ),
    ),
    (
        "results",
        ("4 Experiments", "4.1 Main results"),
        (
            "4.1 Main results\n\nTable 1: Error of all methods on HarbourSet, in centimetres.\n\n"
            "As shown in Table 1, TideNet outperforms the seven baselines by 4.2 points on "
            "average. "
            "It is also faster. On stormy days TideNet improves the error of the tidal model "
            "from 31.0 to 18.4 "
            "centimetres.\n\n"
        ),
    ),
    (
        "results",
        ("4 Experiments", "4.2 Storms and surges"),
        (
            "4.2 Storms and surges\n\nWe find that storm surges cause 62% of the remaining error "
            "of TideNet. Surges come with the wind, and the wind is measured at the airport "
            "only.\n\n"
        ),
    ),
    (
        "discussion",
        ("5 Limitations",),
        (
            "5 Limitations\n\nWe see two main limitations. First, TideNet cannot forecast levels "
            "in rivers, where the tide is weak. Second, TideNet requires a costly survey of the "
            "harbour floor before it can be used.\n\n"
        ),
    ),
    (
        "other",
        ("Acknowledgements",),
        (
            "Acknowledgements\n\nWe thank the harbour masters of forty harbours for their "
            "patience.\n\n"
        ),
    ),
    (
        "references",
        ("References",),
        (
            "References\n\nMoor, A. 2019. We propose tides. Journal of Tides outperforms by "
            "99.9% here.\n"
        ),
    ),
]
CHINESE: Sections = [
    ("front", (), "基于潮汐图网络的港口水位预测\n\n莫岸，曲宁\n\n"),
    (
        "abstract",
        ("摘要",),
        (
            "摘要：小型港口的水位难以预测，因为水位站少而且昂贵。"
            "本文提出一种结合潮汐模型与图网络的预测方法TideNet。"
            "该方法只需要三个水位站。在四十个港口的数据上，"
            "TideNet的平均绝对误差（MAE）比最强的基线降低23.5%。\n\n"
        ),
    ),
    (
        "introduction",
        ("1 引言",),
        (
            "1 引言\n\n港务人员需要提前一小时知道水位，但已有的预测方法在狭窄海湾中误差较大，"
            "难以使用[1]。本文的主要贡献如下：\n\n（1）提出只需三个水位站的预测方法TideNet；"
            "\n\n（2）构建了包含四十个港口六年读数的数据集。\n\n"
        ),
    ),
    (
        "method",
        ("2 方法",),
        (
            "2 方法\n\nTideNet由潮汐模块和图模块两部分组成。首先，"
            "潮汐模块根据月球和太阳的位置预测水位。"
            "然后，图模块利用相邻水位站之间的消息修正预测结果。\n\n"
        ),
    ),
    (
        "results",
        ("3 实验", "3.1 主要结果"),
        (
            "3.1 主要结果\n\n如表1所示，TideNet的准确率（Accuracy）达到91.3%，比基线高4.2个百分点。"
            "在风暴天气下，TideNet将误差由31.0厘米降至18.4厘米。"
            "准确率是指误差小于五厘米的预测所占的比例。\n\n"
        ),
    ),
    (
        "discussion",
        ("4 局限",),
        (
            "4 局限\n\n本文的方法有以下局限。第一，TideNet无法预测潮汐很弱的内河水位。"
            "第二，使用之前需要对港口海底进行昂贵的测量。\n\n"
        ),
    ),
    ("other", ("致谢",), "致谢\n\n感谢四十个港口的港务人员在数据收集过程中给予的耐心帮助。\n\n"),
    (
        "references",
        ("参考文献",),
        "参考文献\n\n[1] 莫岸. 本文提出潮汐模型优于基线99.9%. 港口学报, 2019.\n",
    ),
]


def book(sections: Sections, lang: str = "en", *, planted: str = "") -> OpenPaper:
    """A paper of these sections, three to a page. `planted` is put at the end of the
    introduction.
    """
    text = ""
    parts: list[Part] = []
    pages: list[Page] = []
    for n, (role, path, body) in enumerate(sections):
        if role == "introduction" and planted:
            body = body.rstrip() + f"\n\n{planted}\n\n"  # noqa: PLW2901 - the text of this section
        start = len(text)
        text += body
        if n % 3 == 0:
            pages.append(Page(len(pages) + 1, start, start))
        pages[-1] = Page(pages[-1].number, pages[-1].start, len(text))
        parts.append(Part(role, path, start, len(text), pages[-1].number, pages[-1].number))
    title = sections[0][2].partition("\n")[0]
    abstract = next(part for part in parts if part.role == "abstract")
    table = text.find("Table 1:")
    floats = (
        (Float("table", "Table 1", "1", table, text.index("\n", table), 3),) if table >= 0 else ()
    )
    document = Document(
        title,
        "application/pdf",
        lang,
        text,
        tuple(Section(p.heading_path, p.start, p.end) for p in parts),
        tuple(pages),
    )
    paper = Paper(
        title,
        ("Ada Moor", "Ben Quill"),
        lang,
        tuple(parts),
        (abstract.start, abstract.end),
        floats=floats,
    )
    return OpenPaper("doc1", "papers", "file:///tide.pdf", document, paper)


def find_in(of: OpenPaper) -> Find:
    """A search of the paper by words: each paragraph is a passage."""

    async def find(text: str) -> Found:
        spans, at = [], 0
        for paragraph in of.document.text.split("\n\n"):
            spans.append((at, at + len(paragraph)))
            at += len(paragraph) + 2
        shares = compute_coverage(text, [of.document.text[a:b] for a, b in spans])
        hits = [
            replace(of.hit(a, b, 8.0 * share), signals={"cosine": 0.7 + 0.2 * share})
            for (a, b), share in zip(spans, shares, strict=True)
            if share
        ]
        best = sorted(hits, key=lambda hit: -hit.score)[:40]
        return Found(best, max(shares, default=0.0) / 2)

    return find
