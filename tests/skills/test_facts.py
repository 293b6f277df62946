"""Numbers, dates, negations and names come out of both languages in one comparable form."""

from __future__ import annotations

import pytest

from citewell.text.facts import count_negations, extract_facts, extract_names


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("within fourteen days", {"14"}),
        ("在十四天内", {"14"}),
        ("$1,200.50 or 12 %", {"1200.5", "12%"}),
        ("百分之三十的费用", {"30%"}),
        ("约3.5万元，一万两千人", {"35000", "12000"}),
        ("二〇二四年三百五十名", {"2024", "350"}),
        ("two hundred and five of 12 million", {"205", "12000000"}),
        ("model A-100 and v2 hold 50kg", {"50"}),
        ("一般不同，一些第三方统一处理", set()),
        ("one of them", set()),
        ("一块电池保修一年", {"1"}),
        ("a hundred years, hundreds more", {"100"}),
        ("2-3 days, the 1990s, 20th century", {"2", "3", "1990s", "20"}),
        ("in the 1950's", {"1950s"}),
        ("20世纪80年代和1980年", {"20", "80s", "1980"}),
    ],
)
def test_numbers(text: str, numbers: set[str]) -> None:
    """Digits, words, Han numerals, percent and scales; codes and idioms are no numbers."""
    assert extract_facts(text).numbers == numbers


@pytest.mark.parametrize(
    "text",
    ["2024年5月1日", "May 1, 2024", "1 May 2024", "2024-05-01", "2024/5/1", "1st of May, 2024"],
)
def test_one_date_in_many_forms(text: str) -> None:
    """All are 2024-05-01, and their figures are not numbers besides."""
    found = extract_facts(text)
    assert found.dates == {"2024-05-01"}
    assert not found.numbers


def test_a_date_without_year_keeps_its_day() -> None:
    """A day of any year is marked as such."""
    assert extract_facts("on 3 March and 十月5日").dates == {"--03-03"}
    assert extract_facts("10月5日前").dates == {"--10-05"}


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("It is not covered and can't be returned", 2),
        ("不予退款，除外", 2),
        ("不仅如此，未来无论何时", 0),
        ("all is fine", 0),
        ("没有加班", 1),
    ],
)
def test_negations(text: str, n: int) -> None:
    """Words that deny are counted; words that only look like it are not."""
    assert count_negations(text) == n


def test_names() -> None:
    """Capitals inside a sentence and codes; not the first word, not months."""
    assert extract_names(
        "The Dodge D-50 was sold in May by Mitsubishi's dealers. Later it left."
    ) == {
        "dodge",
        "d-50",
        "mitsubishi",
    }
    assert extract_names("请问型号A100的滤芯") == {"a100"}
