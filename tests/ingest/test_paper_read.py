"""The structure of papers: the two samples, forms of headings, captions, references and mentions,
and hostile shapes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.timing import cpu_seconds, grows_within

from citewell.config import IngestSettings
from citewell.ingest import parse_here
from citewell.ingest.paper.author_names import extract_family_names, extract_people
from citewell.ingest.paper.read_paper import apply_paper_sections, read_paper
from citewell.ingest.paper.section_roles import (
    assign_roles_by_place,
    classify_heading,
    get_subsection_role,
)
from citewell.ingest.paper.shape import Paper, Role
from citewell.types import Document, Section

SAMPLES = Path(__file__).resolve().parent.parent.parent / "samples" / "papers"
ENGLISH, CHINESE = (
    "reserve-forecasting-for-cargo-bike-fleets.pdf",
    "基于货位层次的仓库备件检索方法.pdf",
)


def sample(name: str) -> tuple[Document, Paper]:
    document = parse_here((SAMPLES / name).read_bytes(), name, IngestSettings())
    return document, read_paper(document)


def plain(text: str, name: str = "paper.txt") -> tuple[Document, Paper]:
    document = parse_here(text.encode(), name, IngestSettings())
    return document, read_paper(document)


def said(document: Document, span: tuple[int, int] | None) -> str:
    assert span is not None
    return document.text[slice(*span)]


def roles(paper: Paper) -> list[tuple[str, Role]]:
    return [(part.heading, part.role) for part in paper.parts]


def pointed(document: Document, paper: Paper, words: str) -> list[str]:
    """The labels or keys that the mention with these words points to."""
    one = next(one for one in paper.mentions if document.text[one.start : one.end] == words)
    if one.kind == "float":
        return [paper.floats[n].label for n in one.targets]
    if one.kind == "equation":
        return [paper.equations[n].label for n in one.targets]
    return [paper.references[n].key for n in one.targets]


def test_front_of_the_english_sample() -> None:
    document, paper = sample(ENGLISH)
    assert paper.authors == ("Ilse Verhaar", "Tomas Brandl", "Mei-Lin Zhou", "Owen Pritchard")
    assert paper.title.startswith("CargoCast: Forecasting")
    assert " ".join(said(document, paper.title_span).split()) == paper.title
    assert said(document, paper.authors_span).startswith("Ilse Verhaar")
    assert said(document, paper.abstract).startswith("A courier who runs out")
    assert said(document, paper.abstract).endswith("more than any other input.")
    assert paper.keywords[:2] == ("cargo bikes", "battery forecasting")


def test_front_of_the_chinese_sample_without_outline() -> None:
    document, paper = sample(CHINESE)
    assert paper.lang == "zh"
    assert paper.title == "基于货位层次的仓库备件检索方法"
    assert paper.authors == ("沈知远", "陆梅", "顾一帆", "何书宁")
    assert said(document, paper.abstract).startswith("维修工领取备件时")
    assert said(document, paper.abstract).endswith("货位层次的贡献最大。")
    assert paper.keywords == ("备件检索", "货位层次", "稠密检索", "难负例", "仓储管理")


@pytest.mark.parametrize("name", [ENGLISH, CHINESE])
def test_parts_cover_the_text_in_order(name: str) -> None:
    document, paper = sample(name)
    assert (paper.parts[0].start, paper.parts[-1].end) == (0, len(document.text))
    assert all(a.end == b.start for a, b in zip(paper.parts, paper.parts[1:], strict=False))
    assert all(
        1 <= part.first_page <= part.last_page <= len(document.pages) for part in paper.parts
    )
    assert all(document.text.startswith(part.heading, part.start) for part in paper.parts)


@pytest.mark.parametrize(
    ("name", "label", "row"),
    [
        (ENGLISH, "Table 2", "CargoCast (ours) | Rotterdam: 3.1"),
        (ENGLISH, "Table A1", "Trips of history"),
        (CHINESE, "表2", "大模型重排 | Recall@1: 64.0"),
        (CHINESE, "表5", "左右件混淆"),
    ],
)
def test_a_table_has_its_rows_and_no_text(name: str, label: str, row: str) -> None:
    document, paper = sample(name)
    table = next(one for one in paper.floats if one.label == label)
    body = said(document, table.body)
    assert row in body
    assert all(" | " in line for line in body.splitlines())
    assert document.find_page_at(table.start) == table.page


def test_figures_keep_their_lettering_and_equations_their_number() -> None:
    document, paper = sample(ENGLISH)
    figure = next(one for one in paper.floats if one.label == "Figure 2")
    assert "outside temperature" in said(document, figure.body)
    assert "Below −10" not in said(document, figure.body)  # that is a sentence of the text above
    assert [one.label for one in paper.equations] == ["(1)", "(2)"]
    assert document.text[paper.equations[1].start : paper.equations[1].end].startswith("ŝ = s₀")


def test_references_of_the_samples() -> None:
    _, paper = sample(CHINESE)
    first, latin = paper.references[0], paper.references[10]
    assert (first.key, first.authors, first.year) == ("1", ("郑开平", "李望舒"), "2020")
    assert first.title == "中小型维修仓库领料过程的时间研究"
    assert (latin.authors, latin.year, latin.title) == (
        ("Varga", "Feng"),
        "2022",
        "Hard negatives for short texts",
    )
    _, paper = sample(ENGLISH)
    assert [one.key for one in paper.references] == [str(n) for n in range(1, 15)]
    assert paper.references[1].authors == ("Nwosu", "Haldane", "Ito")


def test_every_mention_of_the_samples_points_to_something() -> None:
    for name in (ENGLISH, CHINESE):
        document, paper = sample(name)
        assert [
            document.text[one.start : one.end] for one in paper.mentions if not one.targets
        ] == []
    assert pointed(document, paper, "式（2）") == ["（2）"]
    assert pointed(document, paper, "[2-3]") == ["2", "3"]
    assert pointed(document, paper, "表4") == ["表4"]


def test_a_text_without_any_layout() -> None:
    """Lines are paragraphs; headings stand alone, some nested by colons; references to a list that
    is not there stay open.
    """
    long = (
        "This sentence is here to be long enough for a paragraph of its own, as it stands in "
        "such a text. " * 3
    )
    text = "\n".join(
        f"{heading}\n{long}As BIBREF3 says."
        for heading in (
            *(
                "Introduction",
                "Related Work ::: Trees",
                "Pruned Forests",
                "Results",
                "Robustness to Noise",
            ),
            *("Understanding the Model", "Conclusion", "Acknowledgements"),
        )
    )
    document, paper = plain(text)
    assert [role for _, role in roles(paper)] == [
        *(
            "introduction",
            "related_work",
            "method",
            "results",
            "results",
            "results",
            "discussion",
            "other",
        )
    ]
    assert paper.parts[1].heading_path == ("Related Work", "Trees")
    assert pointed(document, paper, "BIBREF3") == []
    assert (paper.abstract, paper.authors, paper.title_span) == (None, (), None)


def test_numbered_headings_of_a_wrapped_text() -> None:
    text = (
        "A Study of Things\n\nAda Lovelace, Alan Turing\n\nAbstract\nWe study things.\n\n1. "
        "Introduction\n"
        "Things are many. There are\n1. Red ones;\n2. blue ones.\n\n2. Materials and Methods\nWe "
        "looked.\n\n"
        "2.1 Participants\nForty people.\n\n3. Results\nMany things.\n\n4. "
        "Discussion\nMuch.\n\nReferences\n"
        "1. Smith J, Wu B. On things. J Things. 2019;3:1-9.\n2. Lee A. More things. J Things. "
        "2020;4:2-8."
    )
    _, paper = plain(text)
    assert roles(paper) == [
        ("", "front"),
        ("Abstract", "abstract"),
        ("1. Introduction", "introduction"),
        ("2. Materials and Methods", "method"),
        ("2.1 Participants", "method"),
        ("3. Results", "results"),
        ("4. Discussion", "discussion"),
        ("References", "references"),
    ]
    assert paper.authors == ("Ada Lovelace", "Alan Turing")
    assert [(one.key, one.authors, one.year) for one in paper.references] == [
        ("1", ("Smith", "Wu"), "2019"),
        ("2", ("Lee",), "2020"),
    ]
    assert paper.references[0].title == "On things"


def test_a_chinese_thesis() -> None:
    lines = [
        "第一章 绪论",
        "研究很重要。",
        "1.2 国内外研究现状",
        "已有很多研究。",
        "第二章 相关理论基础",
        "理论。",
    ]
    lines += [
        "第三章 基于图的检索方法",
        "方法。",
        "3.3 实验结果",
        "很好。",
        "3.4 本章小结",
        "小结。",
        "第四章 系统测试与分析",
        "测试。",
    ]
    lines += [
        "第五章 总结与展望",
        "总结。",
        "参考文献",
        "[1] 张三, 李四. 题名[J]. 学报, 2019.",
        "[2] 王五. 书名[M]. 2020.",
    ]
    lines += ["致谢", "谢谢。", "附录A 问卷", "问题。"]
    _, paper = plain("\n\n".join(lines))
    found = dict(roles(paper))
    assert found["第一章 绪论"] == "introduction"
    assert found["1.2 国内外研究现状"] == "related_work"
    assert found["第二章 相关理论基础"] == "related_work"
    assert found["第三章 基于图的检索方法"] == found["3.4 本章小结"] == "method"
    assert found["3.3 实验结果"] == found["第四章 系统测试与分析"] == "results"
    assert found["第五章 总结与展望"] == "discussion"
    assert found["参考文献"] == "references"
    assert found["致谢"] == "other"
    assert paper.parts[-1].appendix
    assert len(paper.references) == 2


@pytest.mark.parametrize(
    ("heading", "role"),
    [
        ("II. RELATED WORK", "related_work"),
        ("Results and Discussion", "results"),
        ("Evaluation Method", "method"),
        ("Conclusions and Future Work", "discussion"),
        ("Threats to Validity", "discussion"),
        ("三、研究方法", "method"),
        ("（二）实验结果", "results"),
        ("结论与建议", "discussion"),
        ("结果与讨论", "results"),
        ("主要参考文献", "references"),
        ("Data Availability Statement", "other"),
        ("Literature Review", "related_work"),
        ("文献综述", "related_work"),
        ("A Survey of the Land", None),
        ("PROGRAMFC", None),
        ("资料与方法", "method"),
        ("前 言", "introduction"),
    ],
)  # fmt: skip
def test_what_headings_say(heading: str, role: Role | None) -> None:
    assert classify_heading(heading)[0] == role


@pytest.mark.parametrize(
    ("parent", "heading", "role"),
    [
        ("results", "4.1 Datasets", "method"),
        ("results", "实验设置", "method"),
        ("results", "4.2 Problem Model", "results"),
        ("method", "3.4 Result Interpreter", "method"),
        ("method", "Results", "results"),
        ("method", "Data analysis", "method"),
        ("introduction", "Background", "introduction"),
        ("results", "Limitations of the approach", "discussion"),
        ("discussion", "5.2 Benchmarking Models", "discussion"),
        ("discussion", "Prior Research on Trees", "related_work"),
    ],
)  # fmt: skip
def test_a_subsection_is_what_its_section_is_unless_it_says_so(
    parent: Role, heading: str, role: Role
) -> None:
    assert get_subsection_role(parent, heading) == role


def test_place_decides_where_words_do_not() -> None:
    tops = [
        classify_heading(name)
        for name in (
            "1 Introduction",
            "2 Zebra",
            "3 Method",
            "4 Results",
            "5 Zebra Model",
            "6 Conclusion",
        )
    ]
    assert assign_roles_by_place(tops) == [
        "introduction",
        "related_work",
        "method",
        "results",
        "results",
        "discussion",
    ]
    assert assign_roles_by_place([classify_heading("Zebra"), classify_heading("Lion")]) == [
        "other",
        "other",
    ]


@pytest.mark.parametrize(
    ("line", "caption"),
    [
        ("Figure 7 shows six examples of what came out.", False),
        ("Figure 7: Six examples.", True),
        ("Fig. 3. A tree.", True),
        ("Table 2 and Table 3 list them.", False),
        ("TABLE II\nERRORS OF EACH METHOD", True),
        ("图 3-1 系统结构", True),
        ("表2给出了主要结果。", False),
        ("续表 2", True),
        ("图2所示为流程", False),
        ("Figure A1. More.", True),
        ("Table 4 | Costs by year", True),
        ("Figures are in Table 9.", False),
        ("Figure: without number", False),
    ],
)  # fmt: skip
def test_captions_and_sentences_about_figures(line: str, caption: bool) -> None:
    _, paper = plain(
        f"Introduction\n\nSome words come first.\n\n{line}\n\nAnd here the text goes on as "
        "before.\n"
    )
    assert bool(paper.floats) == caption


def test_rows_that_no_parser_saw_are_the_table() -> None:
    rows = "Method A B\n\nFirst 3.1 4.5\n\nSecond 2.0 1.8"
    text = (
        f"Introduction\n\nWe compare.\n\nTable 1: Errors.\n\n{rows}\n\nAs Table 1 shows, less "
        "is better.\n"
    )
    document, paper = plain(text)
    assert said(document, paper.floats[0].body) == rows
    assert pointed(document, paper, "Table 1") == ["Table 1"]


def test_mentions_by_name_and_year() -> None:
    text = (
        "Introduction\n\nAs Wei et al. (2022b) and De Cao and Titov (2019) say, "
        "trees grow (Kojima et al., 2022; Wei et al., 2022a). "
        "It was found in May (May 2022) and elsewhere (Nobody, 1999). See Figs. 1 and 2, Tables "
        "1-3 and Eqs. (1)-(2).\n\n"
        "x = a + b * c (1)\n\ny = c - d / e (2)\n\nFigure 1: One.\n\nFigure 2: Two.\n\n"
        "Table 1: A.\n\nTable 2: B.\n\nTable 3: C.\n\n"
        "Results\n\nGood.\n\nReferences\n\nNicola De Cao and Ivan Titov. 2019. Editing trees in "
        "gardens. In Garden.\n\n"
        "Takeshi Kojima, Shane Gu, and Machel Reid. 2022. Trees are reasoners. CoRR.\n\n"
        "Jason Wei, Yi Tay, and Rishi Bommasani. 2022a. Emergent trees. TMLR.\n\n"
        "Jason Wei, Xuezhi Wang, and Dale Schuurmans.\n\n2022b. Chains of trees. In NeurIPS.\n"
    )
    document, paper = plain(text)
    assert [one.key for one in paper.references] == [
        *("De Cao and Titov, 2019", "Kojima et al., 2022", "Wei et al., 2022a", "Wei et al., 2022b")
    ]
    assert pointed(document, paper, "Wei et al. (2022b)") == ["Wei et al., 2022b"]
    assert pointed(document, paper, "De Cao and Titov (2019)") == ["De Cao and Titov, 2019"]
    assert pointed(document, paper, "(Kojima et al., 2022; Wei et al., 2022a)") == [
        "Kojima et al., 2022",
        "Wei et al., 2022a",
    ]
    assert pointed(document, paper, "Figs. 1 and 2") == ["Figure 1", "Figure 2"]
    assert pointed(document, paper, "Tables 1-3") == ["Table 1", "Table 2", "Table 3"]
    assert pointed(document, paper, "Eqs. (1)-(2)") == ["(1)", "(2)"]
    assert all("May 2022" not in document.text[one.start : one.end] for one in paper.mentions)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ("A. Moreau and J. Tildesley", ("Moreau", "Tildesley")),
        ("Wei, J., Wang, X., & Zhou, D.", ("Wei", "Wang", "Zhou")),
        ("Haldane K, Ito R", ("Haldane", "Ito")),
        ("Lee, Ann and Wu, Bo", ("Lee", "Wu")),
        ("Leonardo de Moura", ("de Moura",)),
        ("张三, 李四, 等", ("张三", "李四")),
        ("Anna van der Berg et al.", ("van der Berg",)),
        ("", ()),
    ],
)  # fmt: skip
def test_family_names(names: str, found: tuple[str, ...]) -> None:
    assert extract_family_names(names) == found


def test_names_without_signs_between_them_are_parted_only_by_what_is_known() -> None:
    line = "Ada Byron Bo Li Chen Da Wu"
    assert extract_people(line, ["Bo Li", "Ada Byron"]) == ["Ada Byron", "Bo Li", "Chen Da Wu"]
    assert extract_people("University of Somewhere") == []
    assert extract_people("沈知远¹，陆梅²") == ["沈知远", "陆梅"]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "\n \n",
            "word",
            "Figure 1:",
            "References",
            "[1]",
            "（",
            "Table 1: x\n\n" * 400,
            "Results\n\n" * 400,
        ),
        "References\n\n[1] A. B. C. 2020.\n\n1 Introduction\n\nText.\n\n2 Method\n\nMore.\n",
        "Switch it on.\n\nSafety\n\nDo not wash it.\n\nCare\n\nWipe it.\n",
    ],
)
def test_no_shape_is_too_odd(text: str) -> None:
    document = Document(title="x", media_type="text/plain", lang="en", text=text, sections=())
    paper = read_paper(document)
    assert sum(part.end - part.start for part in paper.parts) == len(text)
    for one in paper.mentions:
        assert 0 <= one.start < one.end <= len(text)


def test_a_list_of_references_in_the_middle_ends_where_the_next_section_begins() -> None:
    sections = [("Introduction",), ("References",), ("2 Method",), ("3 Results",)]
    text = (
        "Introduction\n\nText.\n\nReferences\n\n[1] A. Lee. Trees. 2020.\n\n2 Method\n\nMore "
        "[1].\n\n3 Results\n\nGood.\n"
    )
    starts = [text.index(path[0]) for path in sections] + [len(text)]
    given = tuple(Section(path, starts[n], starts[n + 1]) for n, path in enumerate(sections))
    paper = read_paper(
        Document(title="x", media_type="text/plain", lang="en", text=text, sections=given)
    )
    assert [(part.role, part.appendix) for part in paper.parts] == [
        *(("introduction", False), ("references", False), ("method", False), ("results", False))
    ]
    assert len(paper.references) == 1


@pytest.mark.parametrize(
    "unit",
    [
        "Table 1: x\n\n",
        "a\n",
        "(2020)",
        "x = (1)\n",
        "A et al., 2020; ",
        "[1,",
        "Figure 1, ",
        "a | b\n",
        "I. A\n",
        ". 2020. A",
    ],
)
def test_time_grows_with_the_text_not_faster(unit: str) -> None:
    """Four times the text takes less than ten times as long; sixteen times would be quadratic."""

    def seconds(length: int) -> float:
        text = (
            "Introduction\n\n"
            + unit * (length // len(unit))
            + "\n\nReferences\n\nLee, A. 2020. Trees. "
            + unit * 50
        )
        document = Document(title="x", media_type="text/plain", lang="en", text=text, sections=())
        return cpu_seconds(lambda: read_paper(document), tries=1)

    assert grows_within(seconds, 20_000, 80_000, factor=10)


def test_a_title_above_all_headings_is_no_section() -> None:
    """In Markdown, HTML and Word the title is often the heading of all others."""
    text = (
        "# Small Bikes\n\nAnna Berg\n\n## Abstract\n\nWe study bikes.\n\n## 1 "
        "Introduction\n\nBikes are small.\n\n"
        "## 2 Method\n\nWe ride.\n\n## 3 Results\n\nIt takes 4 hours.\n\n## 4 Conclusion\n\nIt "
        "works.\n"
    )
    paper = read_paper(parse_here(text.encode(), "small.md", IngestSettings()))
    assert [part.role for part in paper.parts if part.heading] == [
        "abstract",
        "introduction",
        "method",
        "results",
        "discussion",
    ]
    assert paper.title == "Small Bikes"


@pytest.mark.parametrize("name", [ENGLISH, CHINESE])
def test_a_paper_in_sections_is_the_same_paper(name: str) -> None:
    """What is stored is read again each time it is asked: its parts must not move."""
    document, _ = sample(name)
    again = apply_paper_sections(document)
    assert read_paper(again).parts == read_paper(document).parts
    assert again.text == document.text
    assert read_paper(apply_paper_sections(again)) == read_paper(again)
