"""The audit: what the rules find wrong with a claim, and what they must let pass."""

from __future__ import annotations

import pytest

from citewell.ingest.sentences import language, sentences
from citewell.skills.audit import Audit, audit
from citewell.skills.evidence import Passage
from citewell.types import Hit

RESULTS = (
    "BERT reaches 68.4 on HOVER, while PROGRAMFC reaches 71.2. PROGRAMFC outperforms BERT on both datasets, and the gap is "
    "largest on FEVEROUS (5.5 percentage points). On SciFact the difference between the two is not significant. Planning adds "
    "180 ms per question. Removing the planner lowers accuracy from 71.2 to 63.5. Removing the cache costs 0.8 points."
)
LIMITS = (
    "A larger planner may help. In some cases the planner repeats a step. The planner is not fine-tuned. Most errors come from "
    "the planner rather than from the retriever. Smith et al. (2021) proposed Baleen, which condenses passages after each hop. "
    "Jones et al. (2022) introduced IRCoT, which interleaves retrieval with reasoning steps."
)
TABLE = (
    "Table 1: Accuracy.\nModel: BERT | HOVER: 68.4 | SciFact: 55.1\nModel: T5 | HOVER: 70.3 | SciFact: 58.9\n"
    "Model: PROGRAMFC | HOVER: 71.2 | SciFact: 60.7"
)
ZH = (
    "BERT 在 HOVER 上的准确率为 68.4%，PlanFC 达到 71.2%。PlanFC 在两个数据集上均优于 BERT，在 FEVEROUS 上提升最大，"
    "为 5.5 个百分点。二者在 SciFact 上的差异并不显著。规划使每个问题增加 180 毫秒。去掉规划器后，准确率从 71.2% 下降到 63.5%。"
    "去掉缓存后，准确率下降 0.8 个百分点。更大的规划器可能带来提升。部分问题需要两次检索。"
)
ZH_TABLE = "模型: BERT | HOVER: 68.4 | SciFact: 55.1\n模型: 直接提示 | HOVER: 60.3 | SciFact: 52.9"


def passages(*texts: str) -> list[Passage]:
    found = []
    for n, text in enumerate(texts, 1):
        start = 1_000 * n
        hit = Hit(n, "paper", "c", "A Paper", "uri", (), n, start, start + len(text), text, language(text))
        found.append(Passage(n, hit, tuple((start + a, start + b) for a, b in sentences(text)), text))
    return found


EN_PAPER, ZH_PAPER = passages(RESULTS, LIMITS, TABLE), passages(ZH, ZH_TABLE)


async def judge(claim: str) -> Audit:
    return await audit("", claim, EN_PAPER if language(claim) == "en" else ZH_PAPER, llm=None, embedder=None)


@pytest.mark.parametrize(
    ("claim", "problem"),
    [
        ("PROGRAMFC reaches 72.1 on HOVER.", "number 72.1"),
        ("BERT reaches 71.2 on HOVER, while PROGRAMFC reaches 68.4.", "another"),
        ("BERT reaches 71.2 on HOVER.", "another"),
        ("BERT outperforms PROGRAMFC on both datasets.", "other way round"),
        ("PROGRAMFC is outperformed by BERT on both datasets.", "other way round"),
        ("PROGRAMFC underperforms BERT on both datasets.", "other way round"),
        ("PROGRAMFC is worse than BERT on both datasets.", "other way round"),
        ("The gap is smallest on FEVEROUS (5.5 percentage points).", "turns round"),
        ("The gap is largest on FEVEROUS (5.5%).", "5.5"),
        ("On SciFact the difference between the two is significant.", "denies"),
        ("Planning adds 180 seconds per question.", "180 ms, not s"),
        ("Removing the planner raises accuracy from 63.5 to 71.2.", "turns round"),
        ("Removing the cache lowers accuracy from 71.2 to 63.5.", "another"),
        ("The planner always repeats a step.", "not say this of all"),
        ("The planner is fine-tuned.", "den"),
        ("Most errors come from the retriever rather than from the planner.", "other way round"),
        ("Baleen, introduced by Jones et al. (2022), interleaves retrieval with reasoning steps.", "ircot, not of baleen"),
        ("Jones et al. proposed Baleen, which condenses passages after each hop.", "not of jones"),
        ("According to Table 1, T5 reaches 60.7 on SciFact.", "row or column"),
        ("T5 reaches 58.9 on HOVER.", "row or column"),
        ("PlanFC 在 HOVER 上的准确率达到 72.1%。", "number 72.1%"),
        ("BERT 在 HOVER 上的准确率为 71.2%，PlanFC 为 68.4%。", "another"),
        ("BERT 在两个数据集上均优于 PlanFC。", "other way round"),
        ("PlanFC 在两个数据集上都不如 BERT。", "other way round"),
        ("二者在 SciFact 上的差异显著。", "denies"),
        ("规划使每个问题增加 180 秒。", "180 ms, not s"),
        ("去掉规划器后，准确率从 63.5% 上升到 71.2%。", "turns round"),
        ("去掉缓存后，准确率从 71.2% 下降到 63.5%。", "another"),
        ("所有问题都需要两次检索。", "not say this of all"),
        ("在 FEVEROUS 上提升最小，为 5.5 个百分点。", "turns round"),
        ("在 FEVEROUS 上提升最大，为 5.5%。", "5.5"),
        ("BERT 在 SciFact 上的准确率为 52.9。", "row or column"),
    ],
)  # fmt: skip
async def test_what_the_source_says_otherwise_is_unsupported(claim: str, problem: str) -> None:
    """Changed figures, sides, names, denials, units, directions, cells: each is named, uncited and to be worded anew."""
    found = await judge(claim)
    (sentence,) = found.proof.sentences
    assert sentence.verdict == "unsupported", sentence
    assert problem in " ".join(sentence.problems), sentence
    assert (sentence.citations, found.proof.citations) == ([], [])
    assert found.failed == [sentence]
    assert not found.passed


@pytest.mark.parametrize(
    "claim",
    ["A larger planner helps.", "更大的规划器会带来提升。", "Only planning adds 180 ms per question."],
)  # fmt: skip
async def test_a_dropped_reservation_is_proved_in_part(claim: str) -> None:
    """`May help` is not `helps`, and `only` is more than was said: cited as weak, and to be worded anew."""
    found = await judge(claim)
    (sentence,) = found.proof.sentences
    assert sentence.verdict == "partly", sentence
    assert found.amiss == {0}
    assert found.failed == []
    assert {citation.status for citation in found.proof.citations} == {"weak"}


@pytest.mark.parametrize(
    "claim",
    [
        "PROGRAMFC reaches 71.2 on HOVER, compared with 68.4 for BERT.",
        "On HOVER, BERT reaches 68.4.",
        "BERT is outperformed by PROGRAMFC on both datasets.",
        "BERT performs worse than PROGRAMFC on both datasets.",
        "On FEVEROUS the gap is largest, with 5.5 percentage points.",
        "Without the planner, accuracy drops from 71.2 to 63.5.",
        "With the planner, accuracy rises from 63.5 to 71.2.",
        "Removing the cache only costs 0.8 points.",
        "The difference on SciFact is not significant.",
        "A larger planner might help.",
        "Most errors come from the planner, not from the retriever.",
        "IRCoT, introduced by Jones et al. (2022), interleaves retrieval with reasoning steps.",
        "In Table 1, T5 reaches 70.3 on HOVER and 58.9 on SciFact.",
        "As shown in Table 1, PROGRAMFC reaches 60.7 on SciFact.",
        "The authors report that planning adds 180 ms per question.",
        "PlanFC 在 HOVER 上达到 71.2%，高于 BERT 的 68.4%。",
        "BERT 在两个数据集上都不如 PlanFC。",
        "在 SciFact 上，二者的差异不显著。",
        "去掉规划器，准确率会由 71.2% 降到 63.5%。",
        "论文指出，规划使每个问题增加 180 毫秒。",
        "更大的规划器也许会带来提升。",
        "根据表 1，直接提示在 SciFact 上的准确率为 52.9。",
    ],
)  # fmt: skip
async def test_a_true_paraphrase_passes(claim: str) -> None:
    """Other words and another order for the same: cited, nothing found against it, and nothing to word anew."""
    found = await judge(claim)
    (sentence,) = found.proof.sentences
    assert sentence.verdict != "unsupported", sentence
    assert set(sentence.problems) <= {"only part of its words stand in the sources"}
    assert sentence.text == claim
    assert found.passed
    assert sentence.citations


@pytest.mark.parametrize(
    ("source", "true", "false"),
    [
        (
            "X outperforms Y by 7.1%, 5.0%, and 12.7% on depth-0, depth-1, and depth-2 problems, respectively.",
            "X outperforms Y by 5.0% on depth-1 problems.",
            "X outperforms Y by 12.7%, 5.0%, and 7.1% on depth-0, depth-1, and depth-2 problems, respectively.",
        ),
        ("甲法和乙法的召回率分别为 66.1% 和 61.9%。", "乙法的召回率为 61.9%。", "甲法和乙法的召回率分别为 61.9% 和 66.1%。"),
        ("The model has 7B parameters.", "A model of 7B parameters.", "The model has 7M parameters."),
        (
            "We split 12,600 queries: 9,000 for training and 2,400 for testing.",
            "Of 12,600 queries, 2,400 were split for testing.",
            "We split 12,600 queries: 2,400 for training and 9,000 for testing.",
        ),
    ],
)  # fmt: skip
async def test_lists_and_letters(source: str, true: str, false: str) -> None:
    """`Respectively`, units written to the figure, and figures that change places."""
    evidence = passages(source)
    right = await audit("", true, evidence, llm=None, embedder=None)
    wrong = await audit("", false, evidence, llm=None, embedder=None)
    assert right.passed, right.proof.sentences
    assert wrong.failed, wrong.proof.sentences


async def test_each_claim_of_a_draft_has_its_own_verdict_and_quotes() -> None:
    """Citations are numbered in the order of their first use, verbatim at their place; a failed claim has none."""
    draft = "PROGRAMFC reaches 71.2. BERT outperforms PROGRAMFC on both datasets. A larger planner may help [4]."
    found = await audit("What was found?", draft, EN_PAPER, llm=None, embedder=None)
    assert [s.verdict for s in found.proof.sentences] == ["supported", "unsupported", "supported"]
    assert [s.citations for s in found.proof.sentences] == [[1], [], [2]]
    for citation in found.proof.citations:
        passage = next(p for p in EN_PAPER if p.hit.start <= citation.start < p.hit.end)
        assert passage.hit.text[citation.start - passage.hit.start : citation.end - passage.hit.start] == citation.quote


async def test_a_question_about_a_table_does_not_fail_its_answer() -> None:
    """The number of a table is no figure to prove, nor is 是不是 a denial."""
    for question in ("What does Table 7 say of BERT?", "BERT 是不是不如 PROGRAMFC？"):
        found = await audit(question, "BERT reaches 68.4 on HOVER.", EN_PAPER, llm=None, embedder=None)
        assert found.passed, found.proof.sentences


async def test_nothing_to_judge() -> None:
    """An empty draft has no claims; without passages every claim fails."""
    assert (await audit("?", "", EN_PAPER, llm=None, embedder=None)).proof.sentences == []
    found = await audit("?", "BERT reaches 68.4.", [], llm=None, embedder=None)
    assert [s.verdict for s in found.proof.sentences] == ["unsupported"]


@pytest.mark.parametrize(
    ("source", "true", "false"),
    [
        ("GPT-4 outperforms GPT-3.5 by 48.5%.", "GPT3.5 is outperformed by GPT4.", "GPT-3.5 outperforms GPT-4 by 48.5%."),
        (
            "The PlanFC model outperforms the baseline of checking claims with T5.",
            "PlanFC outperforms checking claims with T5.",
            "The T5 baseline outperforms PlanFC.",
        ),
        (
            "A beats B by 10.4% and 14.8% on two-hop and four-hop claims, respectively.",
            "A beats B by 14.8% on four-hop claims.",
            "A beats B by 14.8% on two-hop claims.",
        ),
        ("错误大多来自摘要而不是检索器。", "错误大多来自摘要，而不是检索器。", "错误大多来自检索器，而不是摘要。"),
    ],
)  # fmt: skip
async def test_names_with_figures_far_sides_and_one_of_a_list(source: str, true: str, false: str) -> None:
    """What a second set of claims, on real papers, showed to be missed."""
    evidence = passages(source)
    right = await audit("", true, evidence, llm=None, embedder=None)
    wrong = await audit("", false, evidence, llm=None, embedder=None)
    assert right.failed == [], right.proof.sentences
    assert wrong.failed, wrong.proof.sentences


BIKES = passages(
    "Existing planners assume a fixed range. We propose RESCAST for fleets.",
    "RESCAST predicts the reserve with a gated recurrent network. The network has three layers of 64 units. "
    "The encoder is frozen and the decoder is trained. "
    "The history model is a gated recurrent unit with 32 hidden units. RESCAST has 24,310 parameters.",
    "RESCAST reaches an error of 4.1 percent, and the linear baseline reaches 7.9 percent. "
    "On hilly routes the error of RESCAST rises to 6.3 percent. "
    "The Transformer with LayerDrop is slower than the GRU on long trips. The error decreased from 7.9 to 4.1 percent. "
    "Method A outperforms Method B on precision but Method B outperforms Method A on recall. "
    "Smith et al. proposed the filter; we adopt it unchanged. The p-value was 0.20, which is not significant.",
    "We tested one city only. Winter data are not included.",
)
BIKES_ZH = passages(
    "现有规划器假设里程固定。RESCAST 用门控循环网络预测剩余电量。网络有三层，每层 64 个单元。"
    "编码器保持冻结，解码器参与训练。门控循环单元有 32 个隐藏单元。",
    "RESCAST 的误差为 4.1%，线性基线的误差为 7.9%。在丘陵路线上，RESCAST 的误差升至 6.3%。"
    "带 LayerDrop 的 Transformer 在长途行程上比 GRU 慢。误差从 7.9% 下降到 4.1%。"
    "冬季数据未纳入实验。Smith 等人提出了该滤波器，我们沿用了它。",
)


@pytest.mark.parametrize(
    ("claim", "verdict", "problem"),
    [
        ("RESCAST reaches an error of 7.9 percent.", "unsupported", "7.9 to another"),
        ("The linear baseline reaches an error of 4.1 percent and RESCAST 7.9 percent.", "unsupported", "to another"),
        ("On flat routes the error of RESCAST rises to 6.3 percent.", "unsupported", "hilly, not flat"),
        ("Method A outperforms Method B on recall but Method B outperforms Method A on precision.", "unsupported", "of the o"),
        ("We proposed the filter and Smith et al. adopted it unchanged.", "unsupported", "of the other"),
        ("The p-value was 0.20, which is significant.", "unsupported", "denies"),
        ("The decoder is frozen and the encoder is trained.", "unsupported", "of the other"),
        ("The network has 64 layers of three units.", "unsupported", "64 units"),
        ("RESCAST predicts the reserve with a convolutional network.", "unsupported", "gated recurrent, not convolutional"),
        ("The Transformer with LayerDrop is slower than the GRU on short trips.", "unsupported", "long, not short"),
        ("Winter data are not needed.", "partly", "included, not needed"),
        ("The error of RESCAST would be lower in winter.", "partly", "supposes no such thing"),
        ("RESCAST assumes a fixed range.", "partly", "Existing planners, not RESCAST"),
        ("The recurrent network has 32 parameters.", "partly", "32 units, not parameters"),
        ("RESCAST 的误差为 7.9%。", "unsupported", "another"),
        ("在平坦路线上，RESCAST 的误差升至 6.3%。", "unsupported", "丘陵, not 平坦"),
        ("带 LayerDrop 的 Transformer 在短途行程上比 GRU 慢。", "unsupported", "长途, not 短途"),
        ("解码器保持冻结，编码器参与训练。", "unsupported", "of the other"),
        ("我们提出了该滤波器，Smith 等人沿用了它。", "unsupported", "of the other"),
        ("网络有 64 层，每层三个单元。", "unsupported", "64 单元"),
        ("RESCAST 用卷积网络预测剩余电量。", "unsupported", "not 卷积"),
        ("RESCAST 假设里程固定。", "partly", "not RESCAST"),
        ("冬季数据不需要。", "partly", "not 需要"),
        ("门控循环单元有 32 个参数。", "partly", "not 参数"),
    ],
)  # fmt: skip
async def test_a_word_a_subject_or_a_count_in_the_place_of_another(claim: str, verdict: str, problem: str) -> None:
    """What stood beside the quote that refutes it: planted by a reviewer, and the same in Chinese."""
    found = await audit("", claim, BIKES if language(claim) == "en" else BIKES_ZH, llm=None, embedder=None)
    (sentence,) = found.proof.sentences
    assert sentence.verdict == verdict, sentence
    assert problem in " ".join(sentence.problems), sentence
    assert found.amiss == {0}


@pytest.mark.parametrize(
    "claim",
    [
        "The linear baseline has an error of 7.9 percent, RESCAST one of 4.1 percent.",
        "A gated recurrent network predicts the reserve.",
        "The model has three layers of 64 units.",
        "On long trips, the GRU is faster than the Transformer with LayerDrop.",
        "The error of RESCAST increases to 6.3 percent on hilly routes.",
        "The decoder is trained and the encoder is frozen.",
        "Smith et al. proposed the filter, and the authors adopt it unchanged.",
        "Method B outperforms Method A on recall but Method A outperforms Method B on precision.",
        "The p-value of 0.20 is not significant.",
        "The data do not include winter.",
        "Current planners assume a fixed range.",
        "网络共三层，每层有 64 个单元。",
        "门控循环单元含有 32 个隐藏单元。",
        "解码器参与训练，编码器保持冻结。",
        "我们沿用了 Smith 等人提出的滤波器。",
        "在丘陵路线上，RESCAST 的误差上升到 6.3%。",
        "现有的规划器都假定里程固定。",
    ],
)  # fmt: skip
async def test_another_word_for_the_same_and_another_order_pass(claim: str) -> None:
    """The true ones beside them: clauses exchanged whole, a synonym, a passive."""
    found = await audit("", claim, BIKES if language(claim) == "en" else BIKES_ZH, llm=None, embedder=None)
    assert [s.verdict for s in found.proof.sentences] == ["supported"], found.proof.sentences
    assert found.passed
