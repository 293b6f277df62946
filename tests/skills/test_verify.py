"""What a quote proves and what it does not, by rules alone."""

from __future__ import annotations

import pytest

from citewell.skills.verify import verify

QUOTE = "Members may borrow up to eight books for three weeks from May 1, 2024. Reference works cannot be borrowed."
ZH = "会员最多可借八本书，借期三周。工具书不外借。"


@pytest.mark.parametrize(
    ("sentence", "quote", "question"),
    [
        ("Members may borrow up to eight books.", QUOTE, ""),
        ("Members may borrow 8 books for 3 weeks.", QUOTE, ""),
        ("You may borrow books from 2024-05-01.", QUOTE, "When may I borrow books?"),
        ("No, reference works cannot be borrowed.", QUOTE, "Can I borrow reference works?"),
        ("会员最多可借8本书。", ZH, "会员能借几本书？"),
        ("工具书不外借。", ZH, ""),
        ("符泳练水的时间较少。", "符泳，练水的时间较少。", ""),
        ("会员积分的有效期是24个月。", "会员积分自获得之日起24个月内有效。", "会员积分的有效期是多长？"),
        ("Eight.", QUOTE, "How many books may members borrow?"),
    ],
)
def test_supported(sentence: str, quote: str, question: str) -> None:
    """The same facts in other words and figures are proved."""
    check = verify(sentence, [quote], question=question)
    assert check.verdict == "supported", check


@pytest.mark.parametrize(
    ("sentence", "quote", "problem"),
    [
        ("Members may borrow up to nine books.", QUOTE, "number 9"),
        ("Members may borrow books from June 1, 2024.", QUOTE, "date 2024-06-01"),
        ("Reference works can be borrowed.", QUOTE, "denies"),
        ("Members may not borrow up to eight books.", QUOTE, "denies"),
        ("Members of Oxford may borrow up to eight books.", QUOTE, "name oxford"),
        ("工具书可以外借。", ZH, "denies"),
        ("会员最多可借十本书。", ZH, "number 10"),
        ("The building was painted green by volunteers.", QUOTE, "too few"),
        ("Members may borrow up to eight books for three months.", QUOTE, "3 week, not month"),
        ("The fee is 500 euros.", "The fee is 500 dollars.", "500 dollar, not euro"),
        ("保修期为24天。", "保修期为24个月。", "24 month, not day"),
        ("Returns are accepted within 12 days.", "Returns are accepted within 14 days, from 2024-12-05.", "number 12"),
        ("It was designed by Martin Mayer.", "It was designed by Anna Lindt.", "name martin"),
        ("由张伟负责设计。", "由李娜负责设计。", "name 张伟"),
        ("The shop opens in May 2024.", "The shop opens in June 2024.", "date 2024-05"),
    ],
)
def test_unsupported(sentence: str, quote: str, problem: str) -> None:
    """A wrong number, date, name, a turned denial, or other words: each is named."""
    check = verify(sentence, [quote])
    assert check.verdict == "unsupported", check
    assert problem in " ".join(check.problems)


def test_without_a_quote_nothing_is_proved() -> None:
    """No source, no proof."""
    assert verify("Anything.", []).verdict == "unsupported"


def test_the_same_input_gives_the_same_verdict() -> None:
    """Deterministic: a hundred runs agree."""
    assert len({verify("Members may borrow 8 books.", [QUOTE]) for _ in range(100)}) == 1


def test_a_bare_yes_needs_the_question_in_the_quote() -> None:
    """Yes and no claim what was asked."""
    assert verify("Yes.", [QUOTE], question="May members borrow books?").verdict != "unsupported"
    assert verify("No.", ["Members may borrow books."], question="May members borrow books?").verdict == "unsupported"
    assert verify("Yes.", [QUOTE], question="Is there a swimming pool?").verdict == "unsupported"


def test_across_languages_meaning_decides_and_figures_still_count() -> None:
    """A Chinese sentence on an English quote: near enough in meaning is supported, a wrong figure never is."""
    assert verify("会员最多可借8本书。", [QUOTE], cosine=0.9).verdict == "supported"
    assert verify("会员最多可借8本书。", [QUOTE], cosine=0.83).verdict == "partly"
    assert verify("会员最多可借9本书。", [QUOTE], cosine=0.95).verdict == "unsupported"
    assert verify("本公司由一位著名的画家创立。", ["Batteries cannot be returned."], cosine=0.7).verdict == "unsupported"


def test_a_less_exact_date_is_proved_by_a_more_exact_one() -> None:
    """Not the other way round."""
    assert verify("The shop opened in May 2024.", ["The shop opened on 3 May 2024."]).verdict == "supported"
    assert verify("The shop opened on 3 May 2024.", ["The shop opened in May 2024."]).verdict == "unsupported"


@pytest.mark.parametrize(
    ("question", "problem"),
    [
        ("What may members not borrow?", "the question denies"),
        ("How many books could members borrow in 1995?", "number 1995 of the question"),
    ],
)
def test_an_answer_beside_the_question_is_not_proved(question: str, problem: str) -> None:
    """What the question rests on must be in the source too."""
    check = verify("Members may borrow up to eight books.", ["Members may borrow up to eight books."], question=question)
    assert check.verdict == "unsupported"
    assert problem in check.problems[0]


def test_a_name_of_the_question_alone_is_proved_in_part_only() -> None:
    """The source may be about it, and may not: it does not say."""
    check = verify("Members in Oxford may borrow up to eight books.", [QUOTE], question="How many books in Oxford?")
    assert (check.verdict, check.problems) == ("partly", ("name oxford stands in the question only",))


def test_figures_of_a_title_are_no_figures_to_prove() -> None:
    """`Drover 2` is a name."""
    check = verify("The Drover 2 has a charger.", ["The bike has a charger."], context="Drover 2 Owner's Manual")
    assert check.verdict == "supported"


def test_words_that_claim_nothing_need_no_proof() -> None:
    """Beside the question and a figure: "to make" is no claim, "in Oxford" and "every second day" are."""
    quote, question = (
        "Salt the cabbage for 6 hours, then ferment for 5 days.",
        "How long must the cabbage be salted for kimchi?",
    )
    plain = verify("The cabbage must be salted for 6 hours to make kimchi.", [quote], question=question, context="Kimchi")
    assert plain.verdict != "unsupported", plain
    for more in ("to make kimchi in secret", "while stirring it"):
        check = verify(f"The cabbage must be salted for 6 hours {more}.", [quote], question=question, context="Kimchi")
        assert check.verdict == "unsupported", check
