"""Which source a question is about: its name in running text of both languages, and meaning beside
letters.
"""

from __future__ import annotations

import pytest

from citewell.sql.engines.engine import Column, Schema, Table
from citewell.sql.plan_types import Term
from citewell.sql.source_fit import choose_next_source, choose_sources, measure_fit


def tables(name: str, **columns: tuple[str, ...]) -> tuple[Schema, tuple[()]]:
    made = tuple(Column(each, "TEXT", "text", values=values) for each, values in columns.items())
    return Schema("duckdb", (Table(name, made),)), ()


CITIES = ("成都", "上海")
SOURCES = {
    "gbk": tables("gbk", 城市=CITIES, 门店=(), 销售额=()),
    "库存": tables("表1", 城市=CITIES, 门店=(), 销售额=()),
}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("库存表里每个门店有多少？", ["库存"]),
        ("请看库存", ["库存"]),
        ("用gbk的表查销售额", ["gbk"]),
        ("what does the gbkx hold?", ["gbk", "库存"]),
        ("各门店的销售额", ["gbk", "库存"]),
    ],
)
def test_a_name_is_seen_in_running_text(question: str, names: list[str]) -> None:
    """Chinese puts no space around it; an English word that only begins with it is another word."""
    assert choose_sources(question, SOURCES) == names


def test_of_names_that_hold_each_other_the_longer() -> None:
    sources = {
        "库存": SOURCES["库存"],
        "库存明细": SOURCES["gbk"],
        "sales": SOURCES["gbk"],
        "sales-2024": SOURCES["gbk"],
    }
    assert choose_sources("库存明细表里有几行？", sources) == ["库存明细"]
    assert choose_sources("How many rows has sales-2024?", sources) == ["sales-2024"]
    assert choose_sources("How many rows has sales?", sources) == ["sales"]


def test_letters_decide_where_meaning_does_not() -> None:
    sources = {
        "a1": tables("t1", 仓库=CITIES, 产品=(), 数量=()),
        "b1": tables("t2", 城市=CITIES, 门店=(), 销售额=()),
    }
    assert choose_sources("成都仓库的产品数量", sources) == ["a1"]
    assert choose_sources("各门店的销售额", sources) == ["b1"]
    assert choose_sources("成都的数量是多少？", sources) == ["a1", "b1"]
    assert choose_sources("哪个城市的供应商评分最低？", sources) == ["b1"]


def test_that_a_chinese_name_is_near_says_nothing() -> None:
    """A Chinese question goes to the tables that have a word of it, in the terms too, though
    their names are English.
    """
    sources = {
        "sales": SOURCES["库存"],
        "costs": (tables("Costs", Function=("IT", "HR"), Cost=())[0], (Term("费用", "Cost"),)),
    }
    assert choose_sources("IT费用里哪项服务花得最多？", sources) == ["costs"]


def test_it_beside_chinese_is_a_name() -> None:
    """It is the only word in capitals there could be, and not all of the question."""
    costs, _ = tables("Costs", Function=("IT", "HR"), Cost=())
    assert measure_fit("IT费用里哪项服务花得最多？", costs).values == ("IT",)
    assert measure_fit("IS IT SO?", costs).values == ()


def test_the_next_best_source() -> None:
    sources = {
        "a1": tables("t1", 仓库=CITIES, 产品=()),
        "b1": tables("t2", 城市=CITIES, 门店=()),
        "c1": tables("t3", 供应商=()),
    }
    assert choose_next_source("各城市的供应商", sources, "c1") == "b1"
    assert choose_next_source("各城市的供应商", sources, "b1") == "c1"
    assert choose_next_source("c1的城市", sources, "c1") == "", "the question names it"
    assert choose_next_source("各城市的供应商", {"a1": sources["a1"]}, "a1") == ""


def test_meaning_decides_beside_letters() -> None:
    question = "各门店的销售额"
    assert choose_sources(question, SOURCES, {"gbk": 0.5, "库存": 0.4}) == ["gbk"]
    assert choose_sources(question, SOURCES, {"gbk": 0.5, "库存": 0.49}) == ["gbk", "库存"]
    assert choose_next_source(question, SOURCES, "", {"gbk": 0.3, "库存": 0.4}) == "库存"
