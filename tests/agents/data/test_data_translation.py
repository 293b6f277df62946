"""A question is put to tables in the language of their names, by a small model alone, and only
where nothing of it is lost.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.agents.data.conftest import SHOP, Desk

from citewell.errors import TransientError
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.plan import analyze_question
from citewell.sql.plan_types import Asked

QUESTION = "2024年哪些客户下了订单？"
ENGLISH = "Which customers placed orders in 2024?"
SQL = "SELECT name FROM customers"


class SmallLLM(ScriptedLLM):
    evidence_tokens = 500


async def ask(desk: Desk, question: str, *replies: Any, llm: type[ScriptedLLM] = SmallLLM) -> Asked:
    desk.llm, desk.writes = llm(*replies), [SQL]
    await desk.run(question)
    return desk.asked[0]


async def test_put_in_english_and_answered_in_chinese(desk: Desk) -> None:
    desk.llm, desk.writes = SmallLLM(ENGLISH), [SQL]
    state = await desk.run(QUESTION)
    asked = desk.asked[0]
    assert (asked.question, asked.lang) == (QUESTION, "zh")
    assert (asked.wording, asked.wording_lang) == (ENGLISH, "en")
    sent = desk.llm.calls[0].messages[-1].content
    assert "customers (customer_id, name, city, note); orders (" in sent
    assert QUESTION in sent
    assert state.lang == "zh"
    assert "个" in state.final_answer


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        (QUESTION, "Which customers placed orders?"),  # a figure is lost
        ("上海市有哪些客户？", "Which customers are in Shanghai?"),  # the mark of a value is
        ("“小明”下了几个订单？", "How many orders did Xiao Ming place?"),  # a quoted name is
        (QUESTION, ""),
        (QUESTION, TransientError("busy")),
    ],
)
async def test_what_is_lost_on_the_way_is_asked_as_it_stands(
    desk: Desk, question: str, reply: Any
) -> None:
    asked = await ask(desk, question, reply)
    assert (asked.wording, asked.wording_lang, asked.translation) == (question, "zh", "")


async def test_stored_values_and_quoted_names_stay_as_they_are(desk: Desk) -> None:
    desk.llm = llm = SmallLLM("How many orders did “小明” place in N1?")
    desk.writes = [SQL]
    await desk.run("“小明”在上海市下了几单？")
    assert llm.calls[0].messages[-1].content.endswith("Question: “小明”在N1下了几单？")
    assert desk.asked[0].wording == "How many orders did “小明” place in 上海市?"
    desk.asked = []
    asked = await ask(desk, "ada下了几单？", "How many orders did N1 place?")
    assert asked.wording == "How many orders did Ada place?"


async def test_no_translation_where_it_is_no_help(desk: Desk) -> None:
    """An English question, a connected model, tables that somebody has described in Chinese."""
    assert not (await ask(desk, "Which customers are there?")).translation
    assert not (await ask(desk, QUESTION, ENGLISH, llm=ScriptedLLM)).translation
    first, *others = SHOP.schema.tables
    named: Schema = replace(SHOP.schema, tables=(replace(first, comment="客户"), *others))
    desk.loaded, desk.asked = replace(SHOP, schema=named), []
    assert not (await ask(desk, QUESTION, ENGLISH)).translation


async def test_chinese_tables_are_asked_in_chinese(desk: Desk) -> None:
    """Where every column has a Chinese name; one English name is enough to ask as it stands."""
    columns = (Column("城市", "TEXT", "text"), Column("人口", "INTEGER", "number"))
    desk.loaded = replace(SHOP, schema=Schema("sqlite", (Table("cities", columns),)))
    asked = await ask(desk, "Which city has the most people?", "哪个城市的人口最多？")
    assert (asked.wording, asked.wording_lang) == ("哪个城市的人口最多？", "zh")
    mixed = (*columns, Column("area", "REAL", "number"))
    desk.loaded, desk.asked = replace(SHOP, schema=Schema("sqlite", (Table("t", mixed),))), []
    assert not (await ask(desk, "Which city has the most people?", "哪个城市？")).translation


async def test_what_is_missing_is_told_in_the_words_of_the_question(desk: Desk) -> None:
    said = Asked("宠物的平均体重是多少？", "zh", SHOP.schema)
    put = replace(said, translation="What is the average weight of the pets?")
    for asked in (said, put):
        analysis = await analyze_question(asked, SmallLLM(), ScriptedEmbedder())
        assert "宠物" in "".join(analysis.missing), analysis
