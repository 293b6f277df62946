"""The evidence for what is pointed to: within the budget, verbatim, the named thing first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from tests.skills.made_pointed import chinese, english, span

from citewell.skills.evidence.passages import Passage
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.references import find_paper_targets
from citewell.skills.paper.section_evidence import (
    build_section_passages,
    build_target_passages,
)
from citewell.skills.paper.selection_evidence import build_selection_passages
from citewell.text.sentences import count_tokens


def chunk(question: str, book: OpenPaper, budget: int = 200) -> list[Passage]:
    found = build_target_passages(find_paper_targets(question, book), book, question, budget)
    checked(found, book, budget)
    return found


def checked(found: Sequence[Passage], book: OpenPaper, budget: int) -> None:
    """Numbered from 1, spans exact and in order, on one page each, within the budget and never
    twice.
    """
    assert [passage.n for passage in found] == list(range(1, len(found) + 1))
    spans = [each for passage in found for each in passage.spans]
    assert sum(count_tokens(book.document.text[a:b]) for a, b in spans) <= budget
    for passage in found:
        assert passage.hit.text == book.document.text[passage.hit.start : passage.hit.end]
        assert len({book.document.find_page_at(a) for a, _ in passage.spans}) == 1
        for start, end in passage.spans:
            assert book.document.text[start:end] in passage.text
    ordered = sorted(spans)
    assert all(one[1] <= other[0] for one, other in pairwise(ordered))


def test_a_table_with_what_is_said_of_it() -> None:
    """Caption, header and rows, then the sentence that points to it."""
    first, second = chunk("What does Table 1 say about weather rules?", english())
    assert first.text.startswith("Table 1: Packets lost in a hundred, by method.")
    assert "Method | Calm | Gusty\nShortest path" in first.text
    assert second.text.startswith("Table 1 gives the losses.")
    assert first.hit.page == 2


def test_the_rows_that_the_question_names_come_first() -> None:
    """With room for one row, it is the one asked for, under its header."""
    first = chunk("Table 1: what about the weather rules?", english(), 34)[0]
    assert "Method | Calm | Gusty … Weather rules | 3.0 | 6.1" in first.text
    assert "Shortest path" not in first.text


def test_two_tables_share_the_budget() -> None:
    found = chunk("Compare Tables 1 and 3", english(), 120)
    text = "\n".join(passage.text for passage in found)
    assert "Table 1: Packets" in text
    assert "without wind gauge | 5.5" in text


def test_a_figure() -> None:
    """Its caption and the paragraph that mentions it."""
    first, second = chunk("What does Figure 1 show?", english())
    assert first.text == "Figure 1: Architecture of the router with its wind gauge."
    assert second.text.startswith("Figure 1 shows the parts.")


@pytest.mark.parametrize(
    ("book", "question", "equation", "where"),
    [
        (
            english(),
            "What is d in Eq. (1)?",
            "C = a d + b g² (1)",
            "where d is the length of the route",
        ),
        (chinese(), "式（1）中d是什么", "C = a d + b g （1）", "其中d为路线长度，g为阵风强度。"),
    ],
)
def test_an_equation_with_its_symbols(
    book: OpenPaper, question: str, equation: str, where: str
) -> None:
    """The equation, what its letters mean, and no heading."""
    first = chunk(question, book)[0]
    assert equation in first.text
    assert where in first.text
    assert "2.1" not in first.text


def test_a_section() -> None:
    """The best sentences of the section and those below it; nothing of another."""
    found = chunk("What does Section 3 say about bridges?", english(), 20)
    assert "Most losses happen near bridges." in "\n".join(passage.text for passage in found)
    for passage in found:
        assert passage.hit.heading_path[0] == "3 Experiments"


def test_a_section_of_a_page() -> None:
    """Both named: what lies in both."""
    found = chunk("What does Section 3 say on page 3?", english())
    assert {passage.hit.heading_path[-1] for passage in found} == {"3.3 Ablation"}


def test_a_reference_with_the_sentences_that_cite_it() -> None:
    """The entry whole, though it holds many full stops; who is named by author the search finds."""
    first, second = chunk("文献[2]", chinese())
    assert first.text == "[2] 王强, 赵丽. 绳索受力分析[J]. 机械, 2020, 4(2): 12-19."
    assert "王强等研究过绳索[2-3]。" in second.text
    assert chunk("What do Okafor and Diaz (2020) say?", english()) == []


def test_nothing_pointed_to_is_nothing() -> None:
    assert chunk("How many epochs?", english()) == []
    assert chunk("What does Table 9 show?", english()) == []


@pytest.mark.parametrize("budget", [0, 5, 15, 30, 60, 120])
def test_the_budget_is_kept(budget: int) -> None:
    """Whatever is named."""
    for question in (
        "Table 1",
        "Eq. (1)",
        "Section 3",
        "page 3",
        "Wei et al. (2022) and Table 2 in Section 3.2",
    ):
        chunk(question, english(), budget)
    for question in ("表1", "式（1）", "第3节", "第1页", "文献[2]"):
        chunk(question, chinese(), budget)


def test_hits_are_cut_to_the_section_of_an_agent() -> None:
    """A hit over the border of methods and experiments gives the results agent its own part
    only.
    """
    book = english()
    text = book.document.text
    start, end = text.index("We call the router"), text.index("Table 1: Packets")
    found = build_section_passages(
        [book.hit(start, end, 1.0)],
        ("results",),
        book,
        "How many packets does the router lose?",
        200,
    )
    assert found[0].text.startswith("3.1 Main results")
    assert "The router loses 2.1 packets in a hundred." in found[0].text
    assert "We call" not in found[0].text
    assert (
        build_section_passages(
            [book.hit(start, end, 1.0)], ("related_work",), book, "How many?", 200
        )
        == []
    )
    assert (
        build_section_passages(
            [replace(book.hit(start, end), doc_id="other")], ("results",), book, "How many?", 200
        )
        == []
    )


def test_the_figures_agent_has_captions_and_rows() -> None:
    """`references` stands for figures and tables too, wherever they are."""
    book = english()
    start, end = span(
        book.document.text, "Table 2: Causes of the losses.\n\nCause | Share\nBridges | 61"
    )
    found = build_section_passages(
        [book.hit(start - 40, end)],
        ("references",),
        book,
        "Which cause has the greatest share?",
        200,
    )
    assert [passage.text for passage in found] == [
        "Table 2: Causes of the losses.",
        "Cause | Share\nBridges | 61",
    ]


def test_a_selection_comes_first_then_what_explains_it() -> None:
    """The marked sentence, the rest of its paragraph, and the entry of what it cites."""
    book = english()
    found = build_selection_passages(
        span(book.document.text, "lose packets, as Wei et al. (2022)"), book, 150
    )
    checked(found, book, 150)
    assert found[0].text == "Gusts make them lose packets, as Wei et al. (2022) have shown."
    assert found[1].text.startswith("Kite couriers are cheap.")
    assert found[2].text.startswith("Jason Wei, Xin Yu")


def test_the_words_of_a_selection_are_explained() -> None:
    """An abbreviation where it is spelt out, a letter where it is named."""
    book = english()
    found = build_selection_passages(
        span(book.document.text, "We call the router LLM-R."), book, 150
    )
    assert found[0].text == "We call the router LLM-R."
    text = book.document.text.replace(
        "Nights were not tried.", "Nights were hard for any LLM, as g grows."
    )
    later = replace(book, document=replace(book.document, text=text))
    marked = span(text, "Nights were hard for any LLM, as g grows.")
    shown = "\n".join(passage.text for passage in build_selection_passages(marked, later, 200))
    assert "a large language model (LLM)" in shown
    assert "g the strength of the gusts" in shown


def test_a_selection_longer_than_the_budget_is_shown_from_its_beginning() -> None:
    book = english()
    start = book.document.text.index("Figure 1 shows")
    found = build_selection_passages((start, start + 300), book, 10)
    assert found[0].text == "Figure 1 shows the parts."
