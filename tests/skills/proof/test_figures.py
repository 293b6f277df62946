"""The figure of a sentence against its own equation, and against the rows that it is told from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.skills.evidence_units import passage_of, units_of

from citewell.skills.answer.draft import Draft, DraftSentence
from citewell.skills.evidence.numbered import Unit, number_sentences
from citewell.skills.proof.figure_check import check_result, check_rows
from citewell.skills.proof.prove import judge_draft

PRICES = units_of(
    "Basic is €20 a month and Pro €480 a year.",
    "Setup takes 90 minutes.",
    "12 of 24 members came in 2024.",
)
ROOM = "2 * 120 + 480 = 720"


@pytest.mark.parametrize(
    ("text", "equation", "wrong"),
    [
        ("You pay €840.", ROOM, "2 * 120 + 480 = 720 ≠ 840"),
        ("You pay eight hundred and forty euros.", ROOM, "≠ 840"),
        ("一共要付840元。", ROOM, "≠ 840"),
        ("一共要付八百四十元。", ROOM, "≠ 840"),
        ("You pay €800.", ROOM, "≠ 800"),
        ("It is 31% less.", "(75 - 52) / 75 = 30.7%; 1 + 1 = 2", ""),
        ("It is 13% less.", "(75 - 52) / 75 = 30.7%", "≠ 13%"),
        ("It takes 50 hours.", "8 + 9 = 17 hours", "≠ 50"),
        ("It takes 11 weeks.", "30 + 12 = 42 days", "≠ 11"),
    ],
)
def test_another_figure_than_its_equation_gives(text: str, equation: str, wrong: str) -> None:
    found = check_result(text, equation, "What do I pay?", PRICES)
    assert bool(found) == bool(wrong)
    assert wrong in found


@pytest.mark.parametrize(
    ("text", "equation"),
    [
        ("You pay €720.", ROOM),
        ("You pay 720 euros: 240 for two months and 480 for the year.", ROOM),
        ("You pay €1,428.", "3 * 476 = 1428"),
        ("You pay 1 428 euros.", "3 * 476 = 1,428"),
        ("About 1,500 came.", "1040 + 450 = 1490"),
        ("It is 33 on average.", "100 / 3 = 33.33"),
        ("It is 30.7% less.", "(75 - 52) / 75 = 0.307"),
        ("A share of 30.7 percent.", "(75 - 52) / 75 * 100 = 30.67"),
        ("It was 1.2 million.", "1000000 + 200000 = 1200000"),
        ("共120万元。", "1000000 + 200000 = 1200000"),
        ("共1.2亿元。", "60000000 * 2 = 120000000"),
        ("两倍。", "480 / 240 = 2"),
        ("It takes 2 hours.", "30 + 90 = 120"),
        ("It takes two hours and fifteen minutes.", "45 + 90 = 135"),
        ("It takes 6 weeks.", "30 + 12 = 42"),
        ("It ends at 14:30.", "9 + 5.5 = 14.5"),
        ("It ends at 4 pm.", "9 + 7 = 16"),
        ("It is due on 14 March 2025.", "2 + 12 = 14"),
        ("One in 3 came.", "8 / 24 = 0.333"),
        ("2 of 3 came.", "16 / 24 = 0.667"),
        ("It fell by eight degrees.", "12 - 20 = -8"),
        ("Pro is dearer than Basic at €20.", "480 - 12 * 20 = 240"),
        ("It is cheaper.", ROOM),
        ("In 2024 half of them came.", "12 / 24 = 0.5"),
        ("You pay €840.", "the sum of both"),
        ("You pay €840.", ""),
    ],
)
def test_what_may_be_the_same_figure_is_left_to_the_judge(text: str, equation: str) -> None:
    assert check_result(text, equation, "What do I pay?", PRICES) == ""


def rows_of(*rows: str) -> list[Unit]:
    """Rows as a statement gives them."""
    passage = passage_of(*rows)
    return number_sentences([replace(passage, hit=replace(passage.hit, uri="table:sales"))])


@pytest.mark.parametrize(
    ("text", "equation", "rows", "wrong"),
    [
        ("6 orders were returned.", "", ["returned_orders: 8"], True),
        ("8 orders were returned.", "", ["returned_orders: 8"], False),
        ("退回了六个订单。", "", ["returned_orders: 8"], True),
        ("退回了8个订单。", "", ["returned_orders: 8"], False),
        ("Lyon sold for 287,314 euros.", "", ["city: Lyon; total: 287314.0"], False),
        ("Lyon sold for 29万 euros.", "", ["city: Lyon; total: 287314.0"], False),
        ("里昂卖出28.7万元。", "", ["city: Lyon; total: 287314.0"], False),
        ("A share of 24%.", "", ["share: 0.2405"], False),
        ("Two cities sold.", "", ["city: Lyon; total: 70", "city: Paris; total: 90"], False),
        (
            "Together they sold 160.",
            "70 + 90 = 160",
            ["city: Lyon; total: 70", "city: Paris; total: 90"],
            False,
        ),
        ("Together they sold 170.", "", ["city: Lyon; total: 70", "city: Paris; total: 90"], True),
        ("Ada's two orders come to 70.", "", ["total: 70"], False),
        ("Of 10 orders 6 were returned.", "", ["returned: 8; of: 10"], True),
        ("In 2024 it was 70.", "", ["day: 2024-05-01; total: 70"], False),
    ],
)
def test_a_figure_that_no_row_has(text: str, equation: str, rows: list[str], wrong: bool) -> None:
    assert bool(check_rows(text, equation, "How many of 10 orders?", rows_of(*rows))) == wrong


def test_sentences_of_documents_are_the_judges() -> None:
    """They count, convert and conclude in words that no code reads."""
    assert (
        check_rows(
            "6 orders were returned.", "", "How many?", units_of("Eight orders were returned.")
        )
        == ""
    )


async def test_no_judge_ticks_such_a_figure() -> None:
    """And it is not asked."""
    bill = DraftSentence(
        text="You pay €840.", kind="calculation", evidence=["1.1"], calculation=ROOM
    )
    proven = await judge_draft(
        Draft(status="answered", sentences=[bill]), "What do I pay?", PRICES, None
    )
    assert [(each.verdict, each.reason) for each in proven.judgements] == [
        ("contradicted", f"{ROOM} ≠ 840")
    ]
    told = Draft(
        status="answered",
        sentences=[DraftSentence(text="6 orders were returned.", evidence=["1.1"])],
    )
    proven = await judge_draft(
        told, "How many orders were returned?", rows_of("returned_orders: 8"), None
    )
    assert [each.verdict for each in proven.judgements] == ["not_stated"]
