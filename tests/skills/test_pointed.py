"""What a question points to: numbers as people write them, what is not there, and what the reader
has marked.
"""

from __future__ import annotations

import pytest
from tests.skills.made_pointed import chinese, english, span

from citewell.errors import InvalidInput, NotFound
from citewell.skills.paper.page_references import find_first_printed_page
from citewell.skills.paper.reading_context import OpenPaper, Selection
from citewell.skills.paper.reference_numbers import normalize_number
from citewell.skills.paper.references import describe_missing, find_paper_targets
from citewell.skills.paper.selection import extract_selection, locate_selection


def floats(question: str, book: OpenPaper) -> list[str]:
    return [book.paper.floats[i].label for i in find_paper_targets(question, book).floats]


def headings(question: str, book: OpenPaper) -> list[str]:
    return [book.paper.parts[i].heading for i in find_paper_targets(question, book).parts]


def entries(question: str, book: OpenPaper) -> list[str]:
    return [book.paper.references[i].key for i in find_paper_targets(question, book).references]


@pytest.mark.parametrize(
    ("number", "plain"),
    [
        ("II", "2"),
        ("二", "2"),
        ("十二", "12"),
        ("二十", "20"),
        ("３", "3"),
        ("3(a)", "3a"),
        ("A.1", "A1"),
        ("2－1", "2.1"),
        ("（4）", "4"),
    ],
)
def test_numbers_are_compared_in_one_form(number: str, plain: str) -> None:
    """Roman, Chinese, full-width, bracketed and compound numbers."""
    assert normalize_number(number) == plain


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("What does Table 2 show?", ["Table 2"]),
        ("table 2's baseline", ["Table 2"]),
        ("Compare Tables 1 and 3.", ["Table 1", "Table 3"]),
        ("Compare Table 1 to Fig.1", ["Table 1", "Figure 1"]),
        ("Table II of the paper", ["Table 2"]),
        ("what is in Tab. 2?", ["Table 2"]),
        ("Tables 1-3", ["Table 1", "Table 2", "Table 3"]),
        ("Tables 1 through 3", ["Table 1", "Table 2", "Table 3"]),
        ("Does Table 1 and 2 agree?", ["Table 1", "Table 2"]),
        ("In Table 1 and 2 other figures", ["Table 1"]),
        ("In Table 2, 3 causes are named", ["Table 2"]),
        ("Figure 1(a) and Figure 1b", ["Figure 1"]),
        ("What does the first figure show?", ["Figure 1"]),
        ("the 2nd table", ["Table 2"]),
        ("the last table", ["Table 3"]),
        ("the first and the second table", ["Table 1", "Table 2"]),
        ("What does figure one show?", ["Figure 1"]),
        ("the tables", []),
        ("Which table is best?", []),
        ("In 2021 the figure 5000 was given", []),
        ("a table 2 metres long", []),
        ("figures of speech, and what I figure 3 times", []),
    ],
)
def test_english_floats(question: str, labels: list[str]) -> None:
    """Named, listed, ordered or described; what only looks so points to nothing."""
    assert floats(question, english()) == labels


@pytest.mark.parametrize(
    ("question", "labels"),
    [
        ("表2说明了什么？", ["表2"]),
        ("表２和图２－１", ["表2", "图2-1"]),
        ("表一", ["表1"]),
        ("比较表1、表2", ["表1", "表2"]),
        ("表1-2", ["表1", "表2"]),
        ("图2-1中的模块", ["图2-1"]),
        ("最后一个表", ["表2"]),
        ("第二张表", ["表2"]),
        ("作者发表2篇论文", []),
        ("代表3个类别，试图3次", []),
        ("表一致吗", []),
    ],
)
def test_chinese_floats(question: str, labels: list[str]) -> None:
    """Full-width digits, compound numbers, counters; 发表, 代表 and 试图 are no tables and
    figures.
    """
    assert floats(question, chinese()) == labels


def test_equations() -> None:
    """With and without brackets, full-width ones, by order; 形式 and 方式 are none."""
    for question in ("explain Eq. (1)", "equation 1", "the first equation"):
        assert find_paper_targets(question, english()).equations == (0,)
    for question in ("式（1）是什么意思", "公式(1)", "公式1"):
        assert find_paper_targets(question, chinese()).equations == (0,)
    assert find_paper_targets("这种方式1很好", chinese()).equations == ()


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What does Section 3.1 say?", ["3.1 Main results"]),
        ("Section 2", ["2 Method", "2.1 Gust model"]),
        ("sections 3.1 and 3.2", ["3.1 Main results", "3.2 Error analysis"]),
        ("§2.1", ["2.1 Gust model"]),
        ("What is in Appendix A?", ["A Settings", "A.1 Hardware"]),
        ("What is the conclusion of the ablation?", []),
        ("What are the main results?", []),
    ],
)
def test_english_sections(question: str, found: list[str]) -> None:
    """By number with what stands under it, by what it is for, by its heading; a word alone names no
    section.
    """
    assert headings(question, english()) == found


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("第3节讲了什么", ["3 实验"]),
        ("第三章", ["3 实验"]),
        ("2.1节", ["2.1 代价"]),
        ("第3到4节", ["3 实验", "4 结论"]),
        ("实验结果如何", []),
        ("方法是什么", []),
    ],
)
def test_chinese_sections(question: str, found: list[str]) -> None:
    assert headings(question, chinese()) == found


def test_pages_are_the_files_own_or_the_printed_ones() -> None:
    """The paper says that it fills pages 311 to 314, and it has four."""
    book = english()
    assert find_first_printed_page(book) == 311
    assert find_paper_targets("page 2", book).pages == (2,)
    assert find_paper_targets("page 312", book).pages == (2,)
    assert find_paper_targets("pages 2-4", book).pages == (2, 3, 4)
    assert find_paper_targets("p. 3", book).pages == (3,)
    assert find_paper_targets("第1页", chinese()).pages == (1,)
    assert (
        find_first_printed_page(chinese()) is None
    )  # `2020, 4(2): 12-19` is in the list of references


def test_a_figure_is_found_by_its_place_on_a_page() -> None:
    """The figure of page 2 stands at its top, Table 2 at its bottom."""
    book = english()
    assert floats("the figure at the top of page 312", book) == ["Figure 1"]
    assert floats("the table at the bottom of page 2", book) == ["Table 2"]
    assert floats("第2页的表", book) == ["Table 1", "Table 2"]
    below = find_paper_targets("the figure at the bottom of page 2", book)
    assert (below.floats, below.pages, bool(below)) == ((), (), False)
    assert "figure at the bottom of page 2" in describe_missing(below, book, "en")


@pytest.mark.parametrize(
    ("question", "keys"),
    [
        ("参考文献[3]是什么", ["3"]),
        ("[2-3]", ["2", "3"]),
        ("文献【1】", ["1"]),
        ("第2篇参考文献", ["2"]),
        ("准确率等指标", []),
    ],
)
def test_references_by_number(question: str, keys: list[str]) -> None:
    """`[1, 2]` is none where the list has no numbers."""
    assert entries(question, chinese()) == keys
    assert entries('a list like [1, 2] or ["3"]', english()) == []


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Table 9", "The paper has no Table 9; it has Table 1 to Table 3."),
        ("Table 1 and 9", "The paper has no Table 9; it has Table 1 to Table 3."),
        ("Figure 4b", "The paper has no Figure 4b; it has Figure 1."),
        ("the fifth figure", "The paper has no Figure 5; it has Figure 1."),
        ("equation 7", "The paper has no Equation (7); it has Equation (1)."),
        ("Section 8", "The paper has no Section 8; it has Section 1 to Section 5, Section A."),
        ("appendix B", "The paper has no Appendix B; it has Section 1 to Section 5, Section A."),
        ("page 9", "The paper has no page 9; it has page 1 to page 4, printed as 311 to 314."),
        (
            "reference [12]",
            "The paper has no reference [12]; it has 3 references without numbers.",
        ),
        ("Table 1, Figure 1, Section 3 and page 2", ""),
    ],
)
def test_what_is_missing_is_said(question: str, said: str) -> None:
    """Plainly, and with what there is."""
    book = english()
    assert describe_missing(find_paper_targets(question, book), book, "en") == said


def test_what_is_missing_is_said_in_chinese() -> None:
    book = chinese()
    assert (
        describe_missing(find_paper_targets("表9和图 3（b）", book), book, "zh")
        == "论文中没有表 9；它有表 1至表 2。论文中没有图 3b；它有图 2-1。"
    )
    assert (
        describe_missing(find_paper_targets("第五页", book), book, "zh")
        == "论文中没有第5页；它有第1页。"
    )
    assert (
        describe_missing(find_paper_targets("参考文献[7]", book), book, "zh")
        == "论文中没有参考文献 [7]；它有参考文献 [1]至参考文献 [3]。"
    )


def test_several_at_once_and_the_rest() -> None:
    """Kinds do not disturb one another, and the words that ask are left."""
    found = find_paper_targets(
        "Does Eq. (1) in Section 2.1 explain Table 1 on page 2?",
        english(),
    )
    assert (found.equations, found.floats, found.pages) == ((0,), (1,), (2,))
    assert "Table" not in found.rest
    assert "explain" in found.rest
    assert not find_paper_targets("How many epochs was it trained for?", english())


def test_a_selection_by_its_place() -> None:
    """Offsets are kept, white space at their ends is not."""
    book = english()
    start, end = span(book.document.text, "Kite couriers are cheap.")
    assert locate_selection(Selection(start=start, end=end), book) == (start, end)
    assert locate_selection(Selection(start=start - 2, end=end + 1), book) == (start, end)


@pytest.mark.parametrize(
    ("copied", "meant"),
    [
        (
            "Gusts make them lose\npack-\nets, as Wei et al. (2022)",
            "Gusts make them lose packets, as Wei et al. (2022)",
        ),
        ("halve the los\u00adses.", "halve the losses."),
        ("Gusts: a “survey”. Press.", 'Gusts: a "survey". Press.'),
        ("Ben Brandl", "Ben Brändl"),
        ("where  d is the length of\u00a0the route", "where d is the length of the route"),
        (
            "Routing by gusts halves the losses of all Kite couriers",
            "Routing by gusts halves the losses of Kite couriers",
        ),
    ],
)
def test_a_selection_by_its_words(copied: str, meant: str) -> None:
    """Breaks, hyphens, quotes, accents and a word too many: the span is the paper's own."""
    book = english()
    start, end = locate_selection(Selection(text=copied), book)
    assert book.document.text[start:end] == meant


def test_a_chinese_selection_and_ligatures() -> None:
    book = chinese()
    start, end = locate_selection(Selection(text="路线代价 见\n式(1)"), book)
    assert book.document.text[start:end] == "路线代价见式（1）"
    start, end = locate_selection(
        Selection(text="Most losses happen near bridges. Table 2 counts them.".replace("fi", "ﬁ")),
        english(),
    )
    assert english().document.text[start:end].startswith("Most losses")


def test_of_two_places_the_nearer_is_meant() -> None:
    """The same words stand in the abstract and in the caption; a place that is nearly right
    decides.
    """
    book = english()
    text = book.document.text
    second = text.index("loses", text.index("Without it"))
    assert locate_selection(Selection(start=second - 5, end=second, text="loses"), book) == (
        second,
        second + 5,
    )


@pytest.mark.parametrize(
    "words", ["words that nobody wrote in this paper about kites and couriers", "zebra"]
)
def test_a_selection_that_is_not_there(words: str) -> None:
    with pytest.raises(NotFound) as caught:
        locate_selection(Selection(text=words), english())
    assert caught.value.hint


@pytest.mark.parametrize(
    "selection", [Selection(text=" , "), Selection(start=9, end=4), Selection(start=5, end=99_999)]
)
def test_a_selection_that_is_no_span(selection: Selection) -> None:
    with pytest.raises(InvalidInput):
        locate_selection(selection, english())


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "explain this: “Kite couriers are cheap and lose many packets.”",
            "Kite couriers are cheap and lose many packets.",
        ),
        ("解释这段：「风筝快递成本低，但阵风会造成丢件」", "风筝快递成本低，但阵风会造成丢件"),
        (
            "Explain this sentence: Gusts make them lose packets, as has been shown",
            "Gusts make them lose packets, as has been shown",
        ),
        ("翻译下面这句：本文方法丢件率最低，且计算量很小", "本文方法丢件率最低，且计算量很小"),
        ('What is "LLM"?', None),
        ('Write a list like ["a","b"] and sort it by the order in which they "come"', None),
        ("What is the loss: 5 or 6?", None),
        ("为什么“阵风”重要？", None),
    ],
)
def test_a_passage_quoted_in_a_question(question: str, text: str | None) -> None:
    """A passage is a selection, a term is not."""
    found = extract_selection(question)
    assert (found.text if found else None) == text
