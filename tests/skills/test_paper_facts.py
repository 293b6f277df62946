"""Questions that the structure answers, and the many more that it must leave alone."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from tests.skills.made_pointed import chinese, english

from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.structure_answer_builder import StructureAnswer
from citewell.skills.paper.structure_answers import answer_from_structure

WEI = (
    "Jason Wei, Xin Yu, and Ben Brändl. 2022. Packets in the wind. In Proceedings of Light "
    "Freight, pages 1-9."
)
CAPTIONS = [
    "Table 1: Packets lost in a hundred, by method.",
    "Table 2: Causes of the losses.",
    "Table 3: Ablation of the router.",
]
OKAFOR = "Maria Okafor and Juan Diaz. 2020. Strings under load. Journal of Kites 4, pages 12-19."
SECTIONS = (
    "1 Introduction (page 1), 2 Method (page 2), 3 Experiments (page 2), 4 Limitations (page 3) "
    "and 5 Conclusion (page 3)"
)


def told(question: str, book: OpenPaper) -> StructureAnswer:
    """An answer whose citations are numbered, verbatim and used."""
    answer = answer_from_structure(question, book)
    assert answer is not None, question
    assert [citation.n for citation in answer.citations] == [
        passage.n for passage in answer.passages
    ]
    for citation, passage in zip(answer.citations, answer.passages, strict=True):
        assert citation.quote == book.document.text[citation.start : citation.end] == passage.text
        assert citation.page == book.document.find_page_at(citation.start)
    assert {n for sentence in answer.sentences for n in sentence.citations} == {
        citation.n for citation in answer.citations
    }
    return answer


@pytest.mark.parametrize(
    ("question", "text", "quotes"),
    [
        (
            "What is the title of this paper?",
            "The title of the paper is “Corridor Routing for Kite Couriers”.",
            ["Corridor Routing for Kite Couriers"],
        ),
        (
            "Who wrote this paper?",
            "The authors of the paper are Ada Lindqvist, Bo Castellan and Chen Mei.",
            ["Ada Lindqvist, Bo Castellan and Chen Mei"],
        ),
        (
            "who is the first author",
            "The first author named is Ada Lindqvist.",
            ["Ada Lindqvist, Bo Castellan and Chen Mei"],
        ),
        (
            "How many authors?",
            "The paper has 3 authors: Ada Lindqvist, Bo Castellan and Chen Mei.",
            None,
        ),
        (
            "How many pages does the paper have?",
            "The paper has 4 pages, printed as 311 to 314.",
            [],
        ),
        ("How long is it?", "The paper has 4 pages, printed as 311 to 314.", []),
        (
            "How many tables are there in this paper?",
            "The paper has 3 tables: Table 1 (page 2), Table 2 (page 2) and Table 3 (page 3).",
            [
                "Table 1: Packets lost in a hundred, by method.",
                "Table 2: Causes of the losses.",
                "Table 3: Ablation of the router.",
            ],
        ),
        ("How many figures does it contain?", "The paper has 1 figure: Figure 1 (page 2).", None),
        (
            "Could you please tell me how many equations there are?",
            "The paper has 1 numbered equation: Equation (1) (page 2).",
            None,
        ),
        (
            "How many papers does the paper cite?",
            "The paper's list of references has 3 entries.",
            None,
        ),
        (
            "how many sections are there",
            f"The paper has 5 numbered sections: {SECTIONS}.",
            ["1 Introduction", "2 Method", "3 Experiments", "4 Limitations", "5 Conclusion"],
        ),
        (
            "List the figures with their captions",
            "Figure 1 (page 2): Architecture of the router with its wind gauge.",
            ["Figure 1: Architecture of the router with its wind gauge."],
        ),
        (
            "What is Wei et al. (2022)?",
            f"Wei et al., 2022 is: {WEI}",
            None,
        ),
        (
            "what are the keywords?",
            "The keywords are: kites, routing and gusts.",
            ["Keywords: kites; routing; gusts"],
        ),
        (
            "When was the paper published?",
            (
                "The opening pages say: Proceedings of the 7th Workshop on Light Freight, pages "
                "311-314, May 2023."
            ),
            None,
        ),
        (
            "On which page is Table 2?",
            "Table 2 is on page 2 (printed as 312), in the section “3.2 Error analysis”.",
            ["Table 2: Causes of the losses."],
        ),
        (
            "Which section is Table 3 in?",
            "Table 3 is on page 3 (printed as 313), in the section “3.3 Ablation”.",
            None,
        ),
        (
            "Where is Eq. (1)?",
            "Equation (1) is on page 2 (printed as 312), in the section “2.1 Gust model”.",
            None,
        ),
        (
            "Which page is the conclusion section on?",
            "“5 Conclusion” is on page 3 (printed as 313).",
            ["5 Conclusion"],
        ),
        ("which page is Table 9 on?", "The paper has no Table 9; it has Tables 1 to 3.", []),
        (
            "Does the paper cite Okafor and Diaz (2020)?",
            f"Yes, the list of references has Okafor and Diaz, 2020: {OKAFOR}",
            [OKAFOR, "Okafor and Diaz (2020)"],
        ),
        ("Does it cite BERT?", "No entry of the paper's list of references names BERT.", []),
    ],
)
def test_english(question: str, text: str, quotes: list[str] | None) -> None:
    """What is said, and the words of the paper that prove it."""
    answer = told(question, english())
    assert answer.text == text
    if quotes is not None:
        assert [citation.quote for citation in answer.citations] == quotes


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("这篇论文的标题是什么？", "论文的标题是《风筝快递的路线规划》。"),
        ("作者是谁", "论文的作者是陆梅和顾一帆。"),
        ("论文有哪些作者？", "论文的作者是陆梅和顾一帆。"),
        ("全文共几页？", "论文共 1 页。"),
        ("有几张图？", "论文有 1 幅图：图2-1（第1页）。"),
        ("论文有几个表格？", "论文有 2 个表：表1（第1页）和表2（第1页）。"),
        ("参考文献有多少条？", "论文的参考文献表有 3 条。"),
        ("论文有多少个公式", "论文有 1 个带编号的公式：式（1）（第1页）。"),
        ("列出所有表格", "表1（第1页）：各方法的丢件率（%）。表2（第1页）：消融实验结果。"),
        ("关键词有哪些？", "关键词是：风筝、路线规划和阵风。"),
        ("参考文献［3］是什么？", "参考文献[3]是：Smith J, Jones K. Knots in kites. Kite J. 2021."),
        ("[2]是谁写的", "参考文献[2]是：王强, 赵丽. 绳索受力分析[J]. 机械, 2020, 4(2): 12-19."),
        ("表２在第几页？", "表2在第1页，“3 实验”一节。"),
        ("结论部分在第几页", "“4 结论”在第1页。"),
        ("图9在第几页", "论文中没有图 9；它有图 2-1。"),
        ("有没有引用BERT？", "论文的参考文献表中没有提到BERT的条目。"),
    ],
)
def test_chinese(question: str, text: str) -> None:
    assert told(question, chinese()).text == text


def test_a_list_of_sections_has_those_below() -> None:
    """Every heading with its page, each cited."""
    answer = told("Give me the table of contents", english())
    assert "2.1 Gust model (page 2)." in answer.text
    assert "A Settings (page 4)." in answer.text
    assert [citation.quote for citation in answer.citations][:3] == [
        "Abstract",
        "1 Introduction",
        "2 Method",
    ]
    assert told("论文的结构是怎样的", chinese()).text.startswith("摘要（第1页）。1 引言（第1页）。")


def test_a_gap_in_the_numbers_is_told() -> None:
    """Where Table 2 was not found, the count says that the numbers run further."""
    book = english()
    paper = replace(
        book.paper, floats=tuple(each for each in book.paper.floats if each.label != "Table 2")
    )
    answer = told("How many tables are there?", replace(book, paper=paper))
    assert answer.text.startswith(
        "I found 2 tables in the paper, though their numbers run to 3: Table 1"
    )


def test_what_was_not_found_is_not_made_up() -> None:
    """No title, authors, keywords or venue: no answer. No figures: said so."""
    book = english()
    bare = replace(
        book, paper=replace(book.paper, title="", authors=(), keywords=(), floats=(), references=())
    )
    for question in (
        "What is the title?",
        "Who wrote it?",
        "What are the keywords?",
        "Does it cite Wei et al. (2022)?",
    ):
        assert answer_from_structure(question, bare) is None
    assert told("How many figures are there?", bare).text == "I found no figures in the paper."
    assert (
        told("How many references are there?", bare).text
        == "I found no list of references in the paper."
    )
    assert answer_from_structure("When was the paper published?", chinese()) is None


@pytest.mark.parametrize(
    "question",
    [
        "How many layers does the model have?",
        "What are the authors' contributions?",
        "What do the authors conclude?",
        "How many tables report recall?",
        "How many tables and figures are in the paper?",
        "What does Table 2 show?",
        "What is Figure 1?",
        "Does the paper cite any work on strings?",
        "Does it cite more than three papers?",
        "Does Section 3.3 cite more papers than Section 3.1?",
        "How many prompts examples are shown in the paper's main body?",
        "How many prompt examples are given in the Appendix?",
        "What is the method of Wei et al. (2022)?",
        "How does it differ from Wei et al. (2022)?",
        "Where was the router trained?",
        "How many figures of merit are used?",
        "What title do couriers have?",
        "When was the dataset published?",
        "How many references to gusts are made?",
        "On which page do they discuss bridges?",
        "Which table has the ablation?",
        "What are the key words the router uses?",
        "How many authors annotated the data?",
        "Where is the wind gauge mounted in Figure 1?",
        "Who wrote the prompts?",
        "List the tables that mention recall",
        "How is the router structured?",
        (
            "For all the papers that are listed in Table 1 and Table 2, how many of them are "
            "proposed in 2021?"
        ),
        "Hello!",
        "",
    ],
)
def test_other_questions_are_left_alone(question: str) -> None:
    """They look like it, and ask for more."""
    assert answer_from_structure(question, english()) is None


@pytest.mark.parametrize(
    "question",
    [
        "模型有多少层？",
        "数据集有多少条？",
        "作者的主要贡献是什么？",
        "表2说明了什么？",
        "有多少页的数据被抓取？",
        "文章的方法是什么？",
        "图2-1中有几个模块？",
        "参考文献[3]的方法是什么？",
        "本文方法有哪些不足？",
        "作者认为原因是什么",
        "表1有几行",
        "论文有没有引用关于绳索的研究？",
        "共有几种方法",
    ],
)
def test_other_chinese_questions_are_left_alone(question: str) -> None:
    assert answer_from_structure(question, chinese()) is None


def test_sentences_bear_only_their_own_citations() -> None:
    """Of a list each item is proved by its own caption."""
    answer = told("List all tables", english())
    assert [sentence.citations for sentence in answer.sentences] == [[1], [2], [3]]
    for sentence in answer.sentences:
        assert sentence.verdict == "supported"
        label = re.match(r"Table \d", sentence.text)
        assert label is not None
        assert answer.citations[sentence.citations[0] - 1].quote.startswith(label[0])
