"""What a row of a table proves: what it says of its own key, in the words and units of its columns, and no more."""

from __future__ import annotations

import pytest
from tests.skills.test_cite import passages

from citewell.skills.audit import audit
from citewell.skills.cite import prove
from citewell.skills.row_reading import as_read
from citewell.skills.verify import verify
from citewell.types import Sentence

EVENTS = """Event: Immobile bike | Basic: 2 working days | Plus: next working day | Premier: 4 hours
Event: Battery fault | Basic: 3 working days | Plus: next working day | Premier: 4 hours
Event: Question by e-mail | Basic: 2 working days | Plus: 1 working day | Premier: 4 hours"""
SUPPLIERS = """supplier: Oslo Alloy | country: Norway | rating: 3.8 | annual_spend_eur: 45000
supplier: Rhein Rubber | country: Germany | rating: 4.9 | annual_spend_eur: 88000
supplier: Shenzhen Cells | country: China | rating: 4.5 | annual_spend_eur: 310500"""
EVENTS_ZH = """事件: 车辆无法移动 | 基础: 2个工作日 | 增强: 下一个工作日 | 尊享: 4小时
事件: 电池报错 | 基础: 3个工作日 | 增强: 下一个工作日 | 尊享: 4小时
事件: 邮件咨询 | 基础: 2个工作日 | 增强: 1个工作日 | 尊享: 4小时"""
SUPPLIERS_ZH = """供应商: 奥斯陆合金 | 国家: 挪威 | 评分: 3.8 | 年度支出（元）: 45000
供应商: 莱茵橡胶 | 国家: 德国 | 评分: 4.9 | 年度支出（元）: 88000
供应商: 深圳电芯 | 国家: 中国 | 评分: 4.5 | 年度支出（元）: 310500"""
BREAKDOWN = (
    "The response time for a breakdown is 2 working days for basic events, plus 1 working day for plus events, "
    "and 4 hours for premier events."
)
LOWEST = "The supplier with the lowest rating is Shenzhen Cells, with a rating of 4.5."


async def judged(claim: str, question: str, *texts: str) -> Sentence:
    """The claim as the proof judges it."""
    (sentence,) = (await prove(claim, question, passages(*texts), None)).sentences
    return sentence


@pytest.mark.parametrize(
    ("table", "claim", "question", "key"),
    [
        (
            EVENTS,
            BREAKDOWN,
            "What is the Fleet Service Agreement's response time for a breakdown?",
            "Question by e-mail",
        ),
        (
            EVENTS_ZH,
            "故障的响应时间：基础为2个工作日，增强为1个工作日，尊享为4小时。",
            "故障的响应时间是多久？",
            "邮件咨询",
        ),
    ],
)
async def test_figures_that_other_rows_have_in_part_are_still_one_rows(table: str, claim: str, question: str, key: str) -> None:
    """4 hours stand in every row, and 1 working day in one; a breakdown is none of them."""
    said = await judged(claim, question, table)
    assert said.verdict == "partly"
    assert said.problems == [f"the row of the table holds for {key} only; other rows give other figures"]


@pytest.mark.parametrize(
    ("table", "claim", "question"),
    [
        (
            EVENTS,
            "A question by e-mail is answered within 2 working days on Basic, 1 working day on Plus and 4 hours on Premier.",
            "How soon is a question by e-mail answered?",
        ),
        (EVENTS_ZH, "邮件咨询：基础为2个工作日，增强为1个工作日，尊享为4小时。", "邮件咨询多久有回应？"),
    ],
)
async def test_a_row_proves_what_is_said_of_its_key(table: str, claim: str, question: str) -> None:
    assert (await judged(claim, question, table)).verdict == "supported"


@pytest.mark.parametrize(
    ("row", "claim", "question", "key"),
    [
        (
            "Event: Question by e-mail | Premier: 4 hours | Plus: 1 working day",
            "The event breakdown is settled in 4 hours on Premier.",
            "What about the event breakdown?",
            "Question by e-mail",
        ),
        ("事件: 邮件咨询 | 尊享: 4小时 | 增强: 1个工作日", "抛锚事件在尊享下为4小时。", "抛锚事件要多久？", "邮件咨询"),
    ],
)
async def test_a_row_alone_proves_nothing_of_another_subject(row: str, claim: str, question: str, key: str) -> None:
    """No other row contradicts; what the sentence is about stands nowhere."""
    said = await judged(claim, question, row)
    assert said.verdict == "partly"
    assert f"the row of the table is about {key}, which the sentence does not name" in said.problems


async def test_figures_of_two_rows_are_not_one_rows() -> None:
    """The second quote gives only what the claim takes beside the first, under a name of its own."""
    rows = "方法: BM25 | Recall@10: 71.5\n方法: 稠密检索 | Recall@10: 80.3\n方法: HLR（本文） | Recall@10: 90.4"
    parts = "变体: 完整方法 | Recall@10: 90.4\n变体: 去掉货位层次 | Recall@10: 85.0"
    assert (await judged("BM25 的 Recall@10 为 71.5，HLR 为 90.4。", "", parts, rows)).verdict == "supported"


@pytest.mark.parametrize(
    ("table", "claim", "word"),
    [
        (SUPPLIERS, LOWEST, "lowest"),
        (SUPPLIERS, "The only supplier from China is Shenzhen Cells, with a rating of 4.5.", "only"),
        (SUPPLIERS, "Every supplier from Norway has a rating of 3.8, as Oslo Alloy.", "every"),
        (SUPPLIERS_ZH, "评分最低的供应商是深圳电芯，评分为4.5。", "最低"),
        (SUPPLIERS_ZH, "唯一的中国供应商是深圳电芯，评分为4.5。", "唯一"),
        (SUPPLIERS_ZH, "所有挪威供应商的评分为3.8，如奥斯陆合金。", "所有"),
    ],
)
async def test_a_row_does_not_prove_what_is_said_of_the_whole_table(table: str, claim: str, word: str) -> None:
    told = f"a row of the table alone does not show what it says of all: {word}"
    said = await judged(claim, "", table)
    assert (said.verdict, told in said.problems) == ("partly", True)
    (audited,) = (await audit("", claim, passages(table), llm=None, embedder=None)).proof.sentences
    assert audited.verdict != "supported"


@pytest.mark.parametrize(
    ("claim", "quote", "context"),
    [
        (LOWEST, "supplier: Shenzhen Cells | rating: 4.5 | remark: lowest of all", ""),
        (LOWEST, "supplier: Shenzhen Cells | rating: 4.5", "Suppliers with the lowest rating"),
        ("The highest speed of the Drover is 25 km/h.", "Model: Drover | max_speed: 25 km/h | Basic: 3", ""),
        ("Employees get at most €520 a night.", "Who: employees | A night: €520", ""),
        ("The battery of the Drover takes only 4 hours, every day.", "Model: Drover | Battery: 4 hours | Day: 1", ""),
        ("普通员工每晚最多报销520元。", "人员: 普通员工 | 每晚报销: 520元", ""),
        ("评分最低的供应商是深圳电芯，评分为4.5。", "供应商: 深圳电芯 | 评分: 4.5 | 备注: 评分最低", ""),
        (LOWEST, "The supplier with a rating of 4.5, Shenzhen Cells, has the lowest.", ""),
        ("The oldest supplier is Oslo Alloy.", "The supplier Oslo Alloy was founded before the others.", ""),
    ],
)
def test_a_superlative_that_is_quoted_a_limit_and_prose(claim: str, quote: str, context: str) -> None:
    problems = verify(claim, [quote], context=context).problems
    assert not [problem for problem in problems if "of all" in problem]


ASKED = "How much do we spend with Oslo Alloy per year?"


@pytest.mark.parametrize(
    ("table", "claim", "question", "verdict"),
    [
        (SUPPLIERS, "The total annual spend with Oslo Alloy is 45,000 euros.", ASKED, "supported"),
        (SUPPLIERS, "Oslo Alloy has €45,000 annual spend.", ASKED, "supported"),
        (SUPPLIERS, "The annual spend with Oslo Alloy is 45,000 dollars.", ASKED, "unsupported"),
        (
            SUPPLIERS.replace("annual_spend_eur", "annualSpendEUR"),
            "The annual spend with Oslo Alloy is 45,000 euros.",
            "How much does Oslo Alloy get?",
            "supported",
        ),
        (SUPPLIERS_ZH, "奥斯陆合金的年度总支出为45000元。", "每年在奥斯陆合金上花多少钱？", "supported"),
        (SUPPLIERS_ZH, "奥斯陆合金的年度支出为45000美元。", "每年在奥斯陆合金上花多少钱？", "unsupported"),
        # one of several orders is no total
        (
            "supplier: Oslo Alloy | spend_eur: 45000\nsupplier: Oslo Alloy | spend_eur: 12000",
            "The total spend with Oslo Alloy is 45,000 euros.",
            "What of Oslo Alloy, and its spend?",
            "unsupported",
        ),
    ],
)
async def test_names_of_columns_are_read_as_words_and_currencies(table: str, claim: str, question: str, verdict: str) -> None:
    assert (await judged(claim, question, table)).verdict == verdict


@pytest.mark.parametrize(
    ("row", "read"),
    [
        ("a: x | annual_spend_eur: 45000", "a: x | annual_spend_eur annual spend eur: 45000 eur"),
        ("order_no: 17 | unitPriceUSD: 3.5", "order_no order number: 17 | unitPriceUSD unit Price USD: 3.5 usd"),
        ("a: x | eur_usd_rate: 1.1", "a: x | eur_usd_rate eur usd rate: 1.1"),
        ("品名: 链条 | 单价（元）: 88", "品名: 链条 | 单价（元）: 88 元"),
        ("品名: 链条 | 收入（万元）: 88", "品名: 链条 | 收入（万元）: 88"),
        ("a: x | Spend (EUR): 12 days", "a: x | Spend (EUR): 12 days"),
        ("annual_spend_eur: 45000", "annual_spend_eur: 45000"),
    ],
)
def test_a_row_as_it_is_read(row: str, read: str) -> None:
    assert as_read(row) == read
