"""Conversations over several table sources: what stays with those asked before, what goes
elsewhere, what was left open.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.tables.sources import add_source
from citewell.types import Answer, Message, TableData

FILES = {
    "suppliers.csv": "Supplier,Region,Spend_EUR,Rating\nAcme,Europe,100,4\nBolt,Asia,200,2\n",
    "库存.csv": "仓库,产品,数量\n成都,螺丝,5\n上海,螺母,9\n成都,螺母,2\n",
    "orders.csv": "customer,town,amount\nAda,Berlin,10\nBo,Hamburg,20\n",
}
LOWEST = "SELECT Supplier FROM suppliers ORDER BY Rating LIMIT 1"
STOCK = 'SELECT "仓库" FROM "库存" GROUP BY 1 ORDER BY sum("数量") DESC LIMIT 1'


@pytest.fixture
async def sources(app: App, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
        await add_source(app, str(tmp_path / name))


async def asked(
    app: App,
    question: str,
    sql: str = "",
    *,
    session: str = "",
    full: str = "",
    agent: str = "auto",
) -> Answer:
    """`full`: how the model words a follow-up."""
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.enqueue(*([full] if full else []), *([json.dumps({"sql": sql})] if sql else []))
    return await ask(app, AskRequest(question=question, agent=agent, session_id=session or None))


def source(answer: Answer) -> str:
    assert answer.data is not None, answer.answer
    return TableData.model_validate(answer.data).source


@pytest.mark.parametrize("agent", ["auto", "data"])
async def test_a_question_that_fits_other_tables_goes_there(
    app: App, sources: None, agent: str
) -> None:
    first = await asked(app, "Which supplier has the lowest rating?", LOWEST, agent=agent)
    assert source(first) == "suppliers"
    session = first.session_id
    second = await asked(app, "哪个仓库的库存数量总和最大？", STOCK, session=session, agent=agent)
    assert (source(second), second.agent) == ("库存", "data")
    again = await asked(
        app, "Which supplier has the lowest rating?", LOWEST, session=session, agent=agent
    )
    assert source(again) == "suppliers"


async def test_what_leans_on_the_talk_stays(app: App, sources: None) -> None:
    """So does what fits no other tables better, or names nothing."""
    first = await asked(app, "哪个仓库的库存数量总和最大？", STOCK)
    session = first.session_id
    only = 'SELECT sum("数量") FROM "库存" WHERE "仓库" = \'成都\''
    for question, full in (
        ("只看成都呢？", "成都仓库的库存数量总和是多少？"),
        ("只看成都仓库", ""),
        ("And of 上海?", "上海仓库的库存数量总和是多少？"),
        ("How many rows are there?", ""),
        ("total by region", ""),
        ("Which supplier of 成都仓库 has 螺丝?", ""),
    ):
        answer = await asked(app, question, only, session=session, full=full)
        assert answer.route == "库存", question
        assert answer.agent_reason == "this session asks the tables 库存"


async def standalone(app: App, answer: Answer) -> str:
    steps = (await app.traces.get(answer.trace_id)).steps
    return str(next(step for step in steps if step.node == "Load Context").detail.get("standalone"))


@pytest.mark.parametrize("agent", ["auto", "data"])
async def test_a_whole_question_drops_the_one_that_was_left_open(
    app: App, sources: None, agent: str
) -> None:
    first = await asked(app, "How many are there?", agent="data")
    second = await asked(app, "and in 2024?", session=first.session_id, agent=agent)
    assert (first.status, second.status) == ("clarify", "clarify")
    whole = "supplier in Europe with the highest spend"
    third = await asked(app, whole, LOWEST, session=first.session_id, agent=agent)
    assert (source(third), await standalone(app, third)) == ("suppliers", whole)


@pytest.mark.parametrize(
    ("said", "full"),
    [
        (["库存"], "How many are there?"),
        (["I mean the 库存 tables"], "How many are there?"),
        (["库存, 只看成都"], "How many are there? 库存, 只看成都"),
        (["and in 2024?", "库存"], "How many are there? and in 2024?"),
        (["of 库存 in 2024"], "How many are there? of 库存 in 2024"),
    ],
)
async def test_a_reply_is_joined_to_the_open_question(
    app: App, sources: None, said: list[str], full: str
) -> None:
    """A name settles which tables, and adds nothing to what is asked; whatever else is said is
    added.
    """
    session = (await asked(app, "How many are there?", agent="data")).session_id
    for text in said[:-1]:
        assert (await asked(app, text, session=session)).status == "clarify"
    last = await asked(app, said[-1], STOCK, session=session)
    assert (source(last), await standalone(app, last)) == ("库存", full)


@pytest.mark.parametrize("name", ["orders", "suppliers"])
async def test_a_name_settles_what_named_two(app: App, sources: None, name: str) -> None:
    whole = "How many suppliers and orders are there?"
    back = Message(role="assistant", content="Do you mean the tables orders or suppliers?")
    assert isinstance(app.llm, ScriptedLLM)
    app.llm.enqueue(json.dumps({"sql": f"SELECT count(*) FROM {name}"}))
    request = AskRequest(
        question=name, agent="data", history=[Message(role="user", content=whole), back]
    )
    reply = await ask(app, request)
    assert (reply.route, await standalone(app, reply)) == (name, whole)


async def test_the_reply_counts_though_the_talk_was_about_other_tables(
    app: App, sources: None, tmp_path: Path
) -> None:
    """A question that left the tables asked before, and fits two others alike."""
    (tmp_path / "stock2.csv").write_text(FILES["库存.csv"], "utf-8")
    await add_source(app, str(tmp_path / "stock2.csv"))
    session = (await asked(app, "Which supplier has the lowest rating?", LOWEST)).session_id
    open_ = await asked(app, "哪个仓库的产品最多？", session=session)
    assert (open_.status, set(open_.choices)) == ("clarify", {"stock2", "库存"})
    reply = await asked(app, "库存", STOCK, session=session)
    assert (source(reply), await standalone(app, reply)) == ("库存", "哪个仓库的产品最多？")


async def test_another_question_than_the_readings_offered(app: App, sources: None) -> None:
    """What was asked back about readings is no less dropped for a whole question; a choice is
    joined.
    """
    said = [
        Message(role="user", content="What does Acme cost?"),
        Message(role="assistant", content="Do you mean the spend or the rating of Acme?"),
    ]
    for question, full in (
        ("the spend", "What does Acme cost? the spend"),
        ("the average spend of Acme", "What does Acme cost? the average spend of Acme"),
        ("哪个仓库的产品最多？", "哪个仓库的产品最多？"),
    ):
        assert isinstance(app.llm, ScriptedLLM)
        app.llm.enqueue(json.dumps({"sql": LOWEST if full != question else STOCK}))
        answer = await ask(app, AskRequest(question=question, agent="data", history=said))
        assert await standalone(app, answer) == full


async def test_the_name_of_other_tables_counts(app: App, sources: None, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "depot.sqlite") as connection:
        connection.execute("CREATE TABLE boxes (code TEXT)")
    connection.close()
    await add_source(app, f"sqlite:///{tmp_path / 'depot.sqlite'}")
    session = (await asked(app, "Which supplier has the lowest rating?", LOWEST)).session_id
    there = await asked(
        app, "How many rows are there in depot?", "SELECT count(*) FROM boxes", session=session
    )
    assert there.route == "depot"
