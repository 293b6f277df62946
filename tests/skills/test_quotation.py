"""The paper's own words: when they are asked for, which they are, and the references that they lean on."""

from __future__ import annotations

import pytest
from tests.skills.made_pointed import chinese, english

from citewell.models.scripted import ScriptedEmbedder
from citewell.skills.cite import prove
from citewell.skills.paper_chunk import part_chunk
from citewell.skills.quotation import quotation, references_of, wants_quotation


@pytest.mark.parametrize(
    "question",
    [
        "Quote the sentence where they define the reserve.",
        "Give me the exact words.",
        "What is the exact wording of the claim?",
        "Please quote what they say about bridges",
        "Which sentence says that nights were not tried?",
        "show me the original sentence",
        "state it word for word",
        "How do the authors put it, verbatim?",
        "Describe it in the authors' own words",
        "给出原文",
        "原话怎么说？",
        "逐字引用作者的结论",
        "哪句话说明了局限",
        "摘录原句",
    ],
)
def test_a_quotation_is_wanted(question: str) -> None:
    assert wants_quotation(question)


@pytest.mark.parametrize(
    "question",
    [
        "What does the paper say about bridges?",
        "Does the system quote prices?",
        "How many sentences are in the data set?",
        "How does it compare to stock quotes?",
        "Which words does the router use?",
        "How does the model find sentences that support a claim?",
        "How are the original sentences perturbed?",
        "Which sentences does the retriever return?",
        "Does the paper cite Wei et al. (2022)?",
        "原文献有哪些？",
        "论文的原因分析是什么？",
        "引用了多少文献",
    ],
)
def test_no_quotation_is_wanted(question: str) -> None:
    assert not wants_quotation(question)


async def test_the_sentence_is_given_to_the_letter() -> None:
    """The one that says it, and none beside it that says less."""
    book = english()
    passages = part_chunk(("discussion", "results"), book, "bridges nights", 300)
    text = await quotation("Quote the sentence that says nights were not tried.", passages, None)
    assert text == "Nights were not tried."
    proof = await prove(text, "?", passages, None)
    assert [sentence.verdict for sentence in proof.sentences] == ["supported"]


async def test_with_an_embedder_and_in_chinese() -> None:
    """Verbatim, whatever decides; two sentences at most."""
    book = chinese()
    passages = part_chunk(("discussion",), book, "山谷 试验", 300)
    text = await quotation("关于山谷试验，原文怎么说？", passages, ScriptedEmbedder(), most=1)
    assert text == "本文只在一个山谷中做了试验。"
    assert await quotation("原话是什么？", [], None) == ""


async def test_the_references_of_cited_sentences() -> None:
    """Each entry once, with the citations that mention it; a sentence that mentions none adds none."""
    book = chinese()
    passages = part_chunk(("introduction",), book, "丢件 绳索", 300)
    proof = await prove("风筝快递成本低，但阵风会造成丢件。王强等研究过绳索。", "?", passages, None)
    found = references_of(proof.citations, book)
    assert [(each.label, each.citations) for each in found] == [("[1]", [1]), ("[2]", [2]), ("[3]", [2])]
    for each in found:
        assert book.document.text[each.start : each.end] == each.text
        assert each.page == 1
    plain = await prove("本文只在一个山谷中做了试验。", "?", part_chunk(("discussion",), book, "山谷", 300), None)
    assert references_of(plain.citations, book) == []
    other = [citation.model_copy(update={"doc_id": "another"}) for citation in proof.citations]
    assert references_of(other, book) == []


async def test_references_known_by_names() -> None:
    book = english()
    proof = await prove("Okafor and Diaz blame the string.", "?", part_chunk(("introduction",), book, "string", 200), None)
    assert [each.label for each in references_of(proof.citations, book)] == ["Okafor and Diaz, 2020"]
