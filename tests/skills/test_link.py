"""Words of a question held against a schema."""

from __future__ import annotations

import pytest
from tests.skills.made_schema import SHOP

from citewell.models.scripted import ScriptedEmbedder
from citewell.sql.engines.engine import Column, Kind, Schema, Table
from citewell.sql.name_likeness import to_phrase
from citewell.sql.question_words import extract_content_words
from citewell.sql.schema_link import Linked, link_question
from citewell.sql.values_in_question import find_stored_values


async def linked(question: str, terms: tuple[str, ...] = ()) -> Linked:
    return await link_question(question, SHOP, ScriptedEmbedder(), terms)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Song_release_year", "song release year"),
        ("BirthYear", "birth year"),
        ("18_Rating", "18 rating"),
        ("费用", "费用"),
    ],
)
def test_a_name_as_words(name: str, words: str) -> None:
    assert to_phrase(name) == words


def test_the_words_that_say_what_is_asked_about() -> None:
    assert extract_content_words("How many customers are there in each city?") == [
        "customers",
        "city",
    ]
    assert extract_content_words("列出每个城市的客户数量") == ["城市", "客户"]


def test_stored_values_the_longest_first_and_whole_words_only() -> None:
    assert [
        (each.column, each.value)
        for each in find_stored_values("Sales of Drover 2 that were PAID", SHOP)
    ] == [
        ("title", "Drover 2"),
        ("status", "paid"),
    ]
    assert [each.value for each in find_stored_values("上海的客户李伟", SHOP)] == ["李伟", "上海"]
    assert find_stored_values("unpaid parisians reopened", SHOP) == []


async def test_months_and_weekdays_are_what_dates_hold() -> None:
    def shop(kind: Kind) -> Schema:
        return Schema("duckdb", (Table("sales", (Column("day", "DATE", kind),)),))

    for word in ("March", "Mondays"):
        question = f"What was the total in {word}?"
        dated = await link_question(question, shop("date"), ScriptedEmbedder())
        assert dated.missing == ()
        undated = await link_question(question, shop("text"), ScriptedEmbedder())
        assert undated.missing == (word.lower(),)


async def test_names_by_their_stems_and_what_is_missing() -> None:
    found = await linked("Which customers were born in a year with many pets?")
    assert {(each.word, each.table, each.column) for each in found.links} >= {
        ("customers", "customer", "")
    }
    assert "pets" in found.missing
    assert found.tables["customer"] > found.tables.get("product", 0.0)


async def test_a_value_is_no_missing_word_and_speaks_of_its_table() -> None:
    found = await linked("Is Lark made in Lyon?")
    assert found.missing == ()
    assert found.tables["product"] == 1.0


async def test_a_term_of_the_description_is_no_missing_word() -> None:
    assert (await linked("What is the churn?")).missing == ("churn",)
    assert (await linked("What is the churn?", ("churn",))).missing == ()


async def test_an_empty_schema_and_an_empty_question() -> None:
    found = await link_question("How many customers?", Schema("sqlite", ()), ScriptedEmbedder())
    assert found.missing == ("customers",)
    assert (await linked("")).share_missing == 0.0


async def test_what_names_are_usually_shortened_to() -> None:
    staff = Table("emp", (Column("dept", "TEXT", "text"), Column("fname", "TEXT", "text")))
    found = await link_question(
        "Which department has most employees?", Schema("sqlite", (staff,)), ScriptedEmbedder()
    )
    assert {(each.word, each.column) for each in found.links} >= {
        ("department", "dept"),
        ("employees", ""),
    }


def test_a_word_in_capitals_is_a_name() -> None:
    assert extract_content_words("What did IT cost?") == ["it", "cost"]
    assert extract_content_words("WHAT DID IT COST?") == ["cost"]
    costs = Table("costs", (Column("Function", "TEXT", "text", values=("IT", "HR")),))
    assert [
        each.value for each in find_stored_values("IT cost 有哪些服务", Schema("duckdb", (costs,)))
    ] == ["IT"]
    assert find_stored_values("Is it dear?", Schema("duckdb", (costs,))) == []
