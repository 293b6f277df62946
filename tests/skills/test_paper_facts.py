"""Questions that the structure answers, and the many more that it must leave alone: with the
built-in embedder, by whose vectors they are told.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.skills.made_pointed import chinese, english

from citewell.config import Settings
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.skills.answer.cite import Proof
from citewell.skills.paper.paper_facts import answer_from_structure
from citewell.skills.paper.reading_context import OpenPaper


async def ask(question: str, book: OpenPaper) -> Proof | None:
    return await answer_from_structure(question, book, EMBEDDER)


async def tell(question: str, book: OpenPaper) -> tuple[str, list[str]]:
    """What is said and the words that prove it, verbatim and all used."""
    proof = await ask(question, book)
    assert proof is not None, question
    (sentence,) = proof.sentences
    for citation in proof.citations:
        assert citation.quote == book.document.text[citation.start : citation.end]
        assert citation.page == book.document.find_page_at(citation.start)
    assert sentence.citations == [citation.n for citation in proof.citations]
    return sentence.text, [citation.quote for citation in proof.citations]


EMBEDDER = BuiltinEmbedder(Settings())  # in this process: there is nothing to close
NAMES = "Ada Lindqvist, Bo Castellan and Chen Mei"


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
            "Authors of the paper: Ada Lindqvist, Bo Castellan, Chen Mei.",
            [NAMES],
        ),
        (
            "who is the first author",
            "Authors of the paper: Ada Lindqvist, Bo Castellan, Chen Mei.",
            [NAMES],
        ),
        ("How many pages does the paper have?", "The paper has 4 pages.", []),
        (
            "How many tables are there in this paper?",
            "Tables of the paper: 3. Table 1 (page 2), Table 2 (page 2), Table 3 (page 3).",
            [
                "Table 1: Packets lost in a hundred, by method.",
                "Table 2: Causes of the losses.",
                "Table 3: Ablation of the router.",
            ],
        ),
        (
            "How many figures does it contain?",
            "Figures of the paper: 1. Figure 1 (page 2).",
            ["Figure 1: Architecture of the router with its wind gauge."],
        ),
        (
            "how many sections are there",
            "Sections of the paper: 7. Abstract (page 1), 1 Introduction (page 1), 2 Method",
            None,
        ),
        (
            "what are the keywords?",
            "The keywords are: kites, routing, gusts.",
            ["kites; routing; gusts"],
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
            "How many papers does the paper cite?",
            "The paper's list of references has 3 entries.",
            None,
        ),
    ],
)
async def test_english(question: str, text: str, quotes: list[str] | None) -> None:
    said, proof = await tell(question, english())
    assert said.startswith(text)
    assert quotes is None or proof == quotes


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("这篇论文的标题是什么？", "论文的标题是《风筝快递的路线规划》。"),
        ("论文有哪些作者？", "论文的作者：陆梅、顾一帆。"),
        ("全文共几页？", "论文共 1 页。"),
        ("有几张图？", "论文的图：1。图2-1（第1页）。"),
        ("论文有几个表格？", "论文的表：2。表1（第1页）、表2（第1页）。"),
        ("参考文献有多少条？", "论文的参考文献表有 3 条。"),
        ("关键词有哪些？", "关键词是：风筝、路线规划、阵风。"),
    ],
)
async def test_chinese(question: str, text: str) -> None:
    assert (await tell(question, chinese()))[0] == text


async def test_what_was_not_found_is_not_made_up() -> None:
    """No title, authors, keywords or venue: no answer. No figures: said so."""
    paper = replace(english().paper, title="", authors=(), keywords=(), floats=(), references=())
    bare = replace(english(), paper=paper)
    for question in ("What is the title of the paper?", "Who wrote it?", "What are the keywords?"):
        assert await ask(question, bare) is None
    said, quotes = await tell("How many figures are in this paper?", bare)
    assert (said, quotes) == ("I found none in the paper.", [])
    assert await ask("When was the paper published?", chinese()) is None


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
async def test_other_questions_are_left_alone(question: str) -> None:
    """They look like it, and ask for more."""
    book = english() if question.isascii() else chinese()
    assert await ask(question, book) is None
