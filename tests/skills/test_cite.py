"""Sentences are bound to the passages that prove them, and quotes are exact spans."""

from __future__ import annotations

import pytest

from citewell.skills.answer import extract, tidy
from citewell.skills.cite import prove, renumber, split_claims
from citewell.skills.evidence import Passage, pack, prefix
from citewell.types import Hit

TEXT = (
    "The Harbour Library opened in 1962. Members may borrow up to eight books for three weeks. "
    "Reference works cannot be borrowed. The reading room seats 120 people."
)
ZH = "国内订单签收后七天内可以无理由退货。国际订单签收后三十天内可以退货，运费由买家承担。定制商品不支持退货。"


def passages(*texts: str, offset: int = 100) -> list[Passage]:
    hits = [
        Hit(i, f"doc{i}", "c", f"Title {i}", "uri", ("Rules",), 3, offset, offset + len(t), t, "en")
        for i, t in enumerate(texts)
    ]
    return pack("anything", hits, 10_000)


async def test_each_sentence_gets_the_sentence_that_proves_it() -> None:
    """Two claims, two quotes, both verbatim at their offsets."""
    evidence = passages(TEXT)
    answer = "Members may borrow eight books. The reading room seats 120 people."
    proof = await prove(answer, "?", evidence, None)
    assert [s.verdict for s in proof.sentences] == ["supported", "supported"]
    assert [s.citations for s in proof.sentences] == [[1], [2]]
    for citation in proof.citations:
        assert TEXT[citation.start - 100 : citation.end - 100] == citation.quote
    assert "eight books" in proof.citations[0].quote
    assert proof.citations[1].quote == "The reading room seats 120 people."


async def test_a_short_answer_is_bound_by_its_question() -> None:
    """`30 days` alone stands in several places; the question says which is meant."""
    evidence = passages("Domestic: refunds take 30 days. International orders may be returned within 30 days of delivery.")
    proof = await prove("30 days.", "How long may international orders be returned?", evidence, None)
    assert proof.citations[0].quote.startswith("International")


async def test_the_right_document_is_cited() -> None:
    """Of two documents that differ in one figure, the one with the answer's figure is cited."""
    evidence = passages("Full-time staff have 25 days of leave.", "Full-time staff have 28 days of leave.")
    proof = await prove("Full-time staff have 28 days of leave.", "How many days of leave?", evidence, None)
    assert [c.doc_id for c in proof.citations] == ["doc1"]


async def test_what_no_source_says_is_unsupported_and_uncited() -> None:
    """An invented sentence gets no citation; the proved one beside it keeps its own."""
    proof = await prove("Members may borrow eight books. The library has a café on the roof.", "?", passages(TEXT), None)
    assert [s.verdict for s in proof.sentences] == ["supported", "unsupported"]
    assert proof.sentences[1].citations == []
    assert len(proof.citations) == 1


async def test_a_claim_over_two_sentences_cites_both() -> None:
    """Words of two sentences need two quotes."""
    proof = await prove("The library opened in 1962 and its reading room seats 120 people.", "?", passages(TEXT), None)
    assert proof.sentences[0].verdict == "supported"
    assert len(proof.sentences[0].citations) == 2


async def test_chinese() -> None:
    """Bound and checked the same way; a wrong figure is caught."""
    answer = "国际订单签收后30天内可以退货。国际订单签收后60天内可以退货。"
    proof = await prove(answer, "国际订单多久内可以退货？", passages(ZH), None)
    assert [s.verdict for s in proof.sentences] == ["supported", "unsupported"]
    assert proof.citations[0].quote == "国际订单签收后三十天内可以退货，运费由买家承担。"


async def test_no_evidence_proves_nothing() -> None:
    """Without passages every sentence is unsupported."""
    proof = await prove("Anything at all.", "?", [], None)
    assert [s.verdict for s in proof.sentences] == ["unsupported"]


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        ("No. Batteries are sold separately.", ["No. Batteries are sold separately."]),
        ("不能。电池另售。", ["不能。电池另售。"]),
        ("One. Two follows.", ["One.", "Two follows."]),
    ],
)
def test_a_leading_yes_or_no_joins_its_reason(answer: str, parts: list[str]) -> None:
    """A lone yes or no claims nothing by itself."""
    assert split_claims(answer) == parts


async def test_renumber_leaves_no_gaps() -> None:
    """Citations of dropped sentences go, the others are numbered from 1."""
    proof = await prove("Members may borrow eight books. The reading room seats 120 people.", "?", passages(TEXT), None)
    kept = renumber(proof, proof.sentences[1:])
    assert [c.n for c in kept.citations] == [1]
    assert kept.sentences[0].citations == [1]


def test_packing_keeps_the_sentences_that_serve_the_question() -> None:
    """Within a small budget the answer's sentence stays, spans stay exact, and gaps are marked."""
    filler = " ".join(f"Paragraph {i} speaks of gardens and weather in general terms." for i in range(40))
    text = f"{filler} The warranty of the pump lasts two years. {filler}"
    hit = Hit(1, "d", "c", "T", "u", (), None, 50, 50 + len(text), text, "en")
    packed = pack("How long does the warranty of the pump last?", [hit], 80)
    assert "The warranty of the pump lasts two years." in packed[0].text
    assert len(packed[0].text) < 600
    for start, end in packed[0].spans:
        assert text[start - 50 : end - 50] in packed[0].text


def test_the_prefix_is_the_same_for_every_job() -> None:
    """System text and evidence come first, in the question's language."""
    shared, asked = prefix("会员可以借几本书？", passages(TEXT))
    assert shared == prefix("会员可以借几本书？", passages(TEXT))[0]
    assert "资料：" in asked
    assert asked.endswith("问题： 会员可以借几本书？\n\n")
    assert prefix("How many?", [])[1].startswith("Passages:")


@pytest.mark.parametrize(
    ("text", "question", "wrong", "right"),
    [
        (
            "Domestic orders may be returned within 14 days. International orders may be returned within 30 days.",
            "Within how many days may international orders be returned?",
            "International orders may be returned within 14 days.",
            "International orders may be returned within 30 days.",
        ),
        (
            "Domestic orders may be returned within 14 days. International orders may be returned within 30 days.",
            "Within how many days may international orders be returned?",
            "14 days.",
            "30 days.",
        ),
        (
            "国内订单签收后七天内可以退货。国际订单签收后三十天内可以退货。",
            "国际订单多少天内可以退货？",
            "国际订单签收后7天内可以退货。",
            "国际订单签收后30天内可以退货。",
        ),
    ],
)
async def test_a_figure_of_another_subject_proves_nothing(text: str, question: str, wrong: str, right: str) -> None:
    """The right figure for the wrong thing is caught, whole sentence or bare."""
    evidence = passages(text)
    assert (await prove(right, question, evidence, None)).sentences[0].verdict == "supported"
    assert (await prove(wrong, question, evidence, None)).sentences[0].verdict == "unsupported"


async def test_an_extract_holds_no_heading() -> None:
    """What a section is called is no answer; where there is nothing else it has to do."""
    text = "Eddystone Lighthouse\nThe lighthouse was first lit in 1698. It stands on rocks."
    hit = Hit(1, "d", "c", "Eddystone Lighthouse", "u", (), None, 0, len(text), text, "en", score=1.0)
    question = "When was the Eddystone lighthouse first lit?"
    assert await extract(question, pack(question, [hit], 500), None, most=1) == "The lighthouse was first lit in 1698."
    bare = Hit(1, "d", "c", "Eddystone Lighthouse", "u", (), None, 0, 20, text[:20], "en", score=1.0)
    assert await extract(question, pack(question, [bare], 500), None) == "Eddystone Lighthouse"


@pytest.mark.parametrize(
    ("draft", "text"),
    [
        ("It was built in 1857 [7](https://evil.example).", "It was built in 1857."),
        ("See [the lighthouse](https://evil.example/x) of 1857 [2].", "See the lighthouse of 1857."),
        ("![picture](https://evil.example/p.png) Built in 1857【1】.", "picture Built in 1857."),
        ("1. Built in 1857 [a] [1,2]", "Built in 1857 [a]"),
    ],
)
def test_a_draft_loses_marks_and_links(draft: str, text: str) -> None:
    """Which quote proves what is our code's to say, and no address of the model's own is shown."""
    assert tidy(draft) == text


NIGHTS = """城市类别: 一类 | 城市: 北京、上海、广州、深圳 | 普通员工: 520元 | 部门负责人以上: 700元
城市类别: 二类 | 城市: 省会城市、计划单列市 | 普通员工: 400元 | 部门负责人以上: 550元
城市类别: 三类 | 城市: 其他城市 | 普通员工: 300元 | 部门负责人以上: 420元"""
ASKED = "差旅时每晚酒店最多报销多少？"


@pytest.mark.parametrize(
    ("claim", "question", "verdict"),
    [
        ("普通员工每晚为520元，部门负责人以上为700元。", ASKED, "partly"),
        ("普通员工每晚为520元。", "去深圳出差，普通员工每晚最多报销多少？", "supported"),
        ("一类城市普通员工为520元。", ASKED, "supported"),
        ("普通员工为520元、400元。", ASKED, "supported"),
    ],
)
async def test_a_row_does_not_prove_what_is_said_of_every_row(claim: str, question: str, verdict: str) -> None:
    """The city class dropped, its figure stood for all as proved; named or asked about, it is."""
    proof = await prove(claim, question, passages(NIGHTS), None)
    assert [s.verdict for s in proof.sentences] == [verdict]
    told = "the row of the table holds for 一类 | 北京、上海、广州、深圳 only; other rows give other figures"
    assert (told in proof.sentences[0].problems) == (verdict == "partly")
    assert await told_of("Group: A | Limit: €210", "Group: B | Limit: €165") == "partly"
    assert await told_of("Group: A | Limit: €210", "Group: B | Limit: €210") == "supported"


async def told_of(*rows: str) -> str:
    """The verdict on the first row's limit, said of all."""
    proof = await prove("The limit is €210.", "What is the limit?", passages("\n".join(rows)), None)
    return proof.sentences[0].verdict
