"""The data agent's graph: every edge of it, and what each ending says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.agents.data.conftest import SHOP

from citewell.agents.data.data import GRAPH
from citewell.agents.data.data_state import DataState, Loaded
from citewell.config import DataSettings
from citewell.errors import (
    BudgetSpent,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    SourceUnavailable,
    StatementFailed,
    StatementRefused,
    TransientError,
)
from citewell.graph import get_node_name
from citewell.models.scripted import ScriptedLLM
from citewell.sql.engines.engine import Column, Rows, Schema, Table
from citewell.sql.model_reply import NotInTables
from citewell.sql.plan_types import Analysis, Candidate, Previous
from citewell.store.confirmed.types import Confirmation, Confirmed, Known, Rule
from citewell.text.sentences import detect_language

if TYPE_CHECKING:
    from tests.agents.data.conftest import Desk

NAMES = "SELECT name FROM customers ORDER BY name"
COUNT = "SELECT count(*) FROM customers"
PLAIN = [
    ("Load Context", "analyze"),
    ("Analyze Intent", "write"),
    ("Generate SQL", "execute"),
    ("Execute", "refine"),
    ("Refine Answer", "return_result"),
]
UNSURE = Analysis("lookup", log_odds=1.0)


def confirmed(sql: str = COUNT, **more: object) -> Known:
    values = {
        "item_id": "qa_confirmed_1",
        "trace_id": "tr_0",
        "agent": "data",
        "question": "How many customers are there?",
        "lang": "en",
        "logic": sql,
        "state": "active",
        "confirmed_by": [Confirmation(user_id="anna", trace_id="tr_0", at=1_000.0)],
    }
    return Known(Confirmed(**(values | more)), 0.97)


def rule() -> Known:
    return Known(
        Rule(
            rule_id="rule_1",
            trace_id="tr_0",
            user_id="ben",
            agent="data",
            question="Who are our customers?",
            lang="en",
            correction="Dee is a test account.",
            state="active",
            reviewed_by="carol",
        ),
        0.8,
    )


def small() -> ScriptedLLM:
    """A model that is not connected."""
    llm = ScriptedLLM()
    llm.evidence_tokens = 500
    return llm


def tried(state: DataState) -> list[str]:
    return [each["problem"] for each in state.tried]


def test_the_nodes_are_those_of_the_spec() -> None:
    assert [get_node_name(each) for each in GRAPH.table] == [
        "Load Context",
        "Analyze Intent",
        "Generate SQL",
        "Execute",
        "Refine Answer",
    ]


def test_the_docs_show_the_graph_as_it_is() -> None:
    page = Path(__file__).resolve().parents[3] / "docs" / "data.md"
    assert f"```mermaid\n{GRAPH.mermaid()}\n```" in page.read_text(encoding="utf-8")


async def test_rows_become_a_sentence_with_its_proof(desk: Desk) -> None:
    desk.writes = [
        "SELECT city, count(*) FROM customers GROUP BY city ORDER BY count(*) DESC, city"
    ]
    state = await desk.run("How many customers are there in each city?")
    assert desk.path_taken == PLAIN
    assert state.status == "answered"
    assert state.execution_status == "success"
    assert state.final_answer == "By count, highest first: Berlin (2), Hamburg (1), 上海市 (1).[1]"
    [citation], [sentence] = state.proof.citations, state.proof.sentences
    assert (citation.origin, citation.doc_id, citation.section) == ("table", "shop", "customers")
    assert (
        citation.quote == "city: Berlin; count: 2\ncity: Hamburg; count: 1\ncity: 上海市; count: 1"
    )
    assert (citation.start, citation.end) == (0, len(citation.quote))
    assert (sentence.verdict, sentence.citations) == ("supported", [1])
    assert state.chart is not None
    assert (state.chart.kind, state.chart.x, state.chart.y) == ("bar", "city", ["count"])
    assert state.trace_id.startswith("tr_")
    assert desk.temperatures == [0.0], "a sure model writes one statement"


async def test_chinese_is_answered_in_chinese(desk: Desk) -> None:
    desk.writes = [COUNT]
    state = await desk.run("有多少客户？")
    assert state.final_answer == "数量为 4。[1]"


async def test_what_cannot_be_asked_is_an_error(desk: Desk) -> None:
    state = await desk.run("x" * 501)
    assert desk.path_taken == [("Load Context", "return_error")]
    assert isinstance(state.error, InvalidInput)
    assert state.node_execution_status["Load Context"] == "failed"
    empty = await desk.run(" \x00 ")
    assert isinstance(empty.error, InvalidInput)


async def test_a_source_that_is_not_there(desk: Desk) -> None:
    desk.loaded = NotFound("no source 'shop'")
    named = await desk.run("How many?", source="shop")
    assert named.error is desk.loaded
    none = await desk.run("How many customers are there?")
    assert (none.status, none.stop_reason) == ("refused", "no_source")
    desk.loaded = SourceUnavailable("the file is gone")
    assert (await desk.run("How many customers are there?")).error is desk.loaded


async def test_several_sources_are_asked_back_and_the_reply_is_understood(desk: Desk) -> None:
    shop, desk.loaded = desk.loaded, ["shop", "costs"]
    state = await desk.run("How many customers are there?")
    assert (state.status, state.stop_reason) == ("clarify", "ambiguous")
    assert state.choices == ["shop", "costs"]
    desk.writes = [COUNT]
    desk.loaded = shop
    history = [("user", "How many customers are there?"), ("assistant", state.final_answer)]
    answer = await desk.run("shop", history)
    assert answer.standalone == "How many customers are there?"
    assert desk.named[-1] == ("", "How many customers are there? shop")
    assert answer.status == "answered"


async def test_who_asks_to_change_the_tables_is_told_that_they_are_only_read(desk: Desk) -> None:
    desk.analysis = Analysis("lookup", log_odds=4.0, changes=True)
    state = await desk.run("Delete all customers")
    assert (state.status, state.stop_reason, desk.queries) == ("refused", "read_only", [])
    zh = await desk.run("删除所有客户")
    assert [detect_language(each.final_answer) for each in (state, zh)] == ["en", "zh"]
    assert zh.confidence == pytest.approx(0.1)


async def test_what_the_tables_do_not_have_is_named(desk: Desk) -> None:
    desk.analysis = Analysis("lookup", answerable=False, log_odds=-3.0, missing=("warranty",))
    state = await desk.run("How long is the warranty of an order?")
    assert desk.path_taken[1:] == [
        ("Analyze Intent", "no_answer"),
        ("Refine Answer", "return_result"),
    ]
    assert (state.status, state.stop_reason) == ("refused", "not_in_data")
    assert state.final_answer.startswith(
        "The tables of shop cannot answer this: they hold nothing for “warranty”. They hold: "
        "orders ("
    )
    assert state.confidence == pytest.approx(0.0474, abs=0.001)
    zh = await desk.run("订单的保修期有多长？")
    assert zh.final_answer.startswith(
        "shop 的表无法回答这个问题：其中没有与“warranty”对应的内容。其中有："
    )


async def test_several_readings_are_asked_back(desk: Desk) -> None:
    desk.analysis = Analysis("lookup", choices=("the city of customers", "the note of customers"))
    state = await desk.run("What is it of customers?")
    assert (state.status, state.stop_reason) == ("clarify", "ambiguous")
    assert state.final_answer == "Do you mean the city of customers or the note of customers?"


async def test_candidates_that_disagree_are_settled_by_their_results(desk: Desk) -> None:
    desk.llm = small()
    desk.analysis = UNSURE
    desk.writes = [
        "SELECT count(*) FROM orders",
        COUNT,
        "SELECT count(customer_id) AS n FROM customers",
    ]
    desk.wrongs = {}
    state = await desk.run("How many customers are there?")
    assert state.rows is not None
    assert state.rows.rows == ((4,),)
    assert state.agreed == (3, 3), "orders have four rows too"
    desk.writes = [
        "SELECT max(order_id) + 3 FROM orders",
        COUNT,
        "SELECT count(customer_id) AS n FROM customers",
    ]
    state = await desk.run("How many customers are there?")
    assert state.generated_logic == COUNT
    assert state.agreed == (2, 3)
    assert "2 of 3 statements" in state.warnings[-1]
    assert {
        "sql": "SELECT max(order_id) + 3 FROM orders",
        "problem": "gives another result",
    } in state.tried
    assert desk.temperatures[-3:] == [0.0, 0.4, 0.7]


async def test_a_connected_model_writes_its_statement_once(desk: Desk) -> None:
    """A second one only where the first does not run."""
    desk.analysis, desk.writes = UNSURE, [COUNT, NAMES]
    state = await desk.run("How many customers are there?")
    assert (state.generated_logic, desk.temperatures, desk.problems) == (COUNT, [0.0], [])
    desk.writes, desk.mends = ["SELECT nam FROM customers"], [NAMES]
    state = await desk.run("Who are our customers?")
    assert (state.generated_logic, desk.problems) == (NAMES, ["no such column: nam"])


async def test_a_connected_model_says_that_the_tables_do_not_have_it(desk: Desk) -> None:
    """Its reason is shown with what there is, at the first statement or where one failed."""
    desk.writes = [NotInTables("There is no column for warranties.")]
    state = await desk.run("How long is the warranty of an order?")
    assert (state.status, state.stop_reason, desk.queries) == ("refused", "not_in_data", [])
    said = "The tables of shop cannot answer this. There is no column for warranties. They hold: "
    assert state.final_answer.startswith(said)
    desk.writes, desk.mends = (
        ["SELECT warranty FROM orders"],
        [NotInTables("There is no column for warranties.")],
    )
    assert (await desk.run("How long is the warranty of an order?")).final_answer.startswith(said)
    desk.writes = [NotInTables("")]
    assert (await desk.run("订单的保修期有多长？")).final_answer.startswith(
        "shop 的表无法回答这个问题。其中有："
    )


async def test_two_that_say_the_same_need_no_third(desk: Desk) -> None:
    desk.llm = small()
    desk.analysis = UNSURE
    desk.writes = [COUNT, COUNT.lower() + ";", NAMES]
    state = await desk.run("How many customers are there?")
    assert len(desk.temperatures) == 2
    assert len(desk.queries) == 1
    assert state.confidence > 0.85
    assert state.warnings == []


async def test_all_different_is_said_and_less_sure(desk: Desk) -> None:
    desk.llm = small()
    desk.analysis = UNSURE
    desk.writes = ["SELECT 1", "SELECT 2", "SELECT 3"]
    state = await desk.run("How many customers are there?")
    assert state.generated_logic == "SELECT 1"
    assert "different results" in state.warnings[-1]
    assert state.confidence < 0.5


async def test_a_statement_that_surprised_the_model_is_held_against_others(desk: Desk) -> None:
    desk.llm = small()
    desk.analysis = UNSURE
    desk.writes = [Candidate(COUNT, log_prob=-0.02)]
    sure = await desk.run("How many customers are there?")
    assert (desk.temperatures, sure.agreed) == ([0.0], (1, 1))
    desk.writes = [Candidate("SELECT 1", log_prob=-0.9), Candidate(COUNT, log_prob=-0.3), None]
    state = await desk.run("How many customers are there?")
    assert (state.generated_logic, state.agreed) == (COUNT, (1, 2))
    assert (state.confidence < 0.5, sure.confidence > 0.85) == (True, True)


async def test_one_that_people_confirmed_is_taken_as_it_stands(desk: Desk) -> None:
    desk.analysis = UNSURE
    desk.known = [confirmed(), rule()]
    desk.writes = [
        Candidate(COUNT, "qa_confirmed_1", "reused", 0.97, rules=("rule_1",)),
        "SELECT 1",
    ]
    state = await desk.run("How many customers do we have?")
    assert desk.temperatures == [0.0]
    assert [(each.item_id, each.kind, each.how) for each in state.followed] == [
        ("qa_confirmed_1", "confirmed", "reused"),
        ("rule_1", "rule", "rule"),
    ]
    assert state.followed[0].confirmed_by == ["anna"]
    assert state.followed[0].confirmed_at == 1_000.0
    assert state.followed[1].confirmed_by == ["carol"]
    assert state.confidence >= 0.95


async def test_what_was_recalled_and_not_followed_is_not_shown(desk: Desk) -> None:
    desk.known, desk.writes = [confirmed(), rule()], [NAMES]
    state = await desk.run("Who are our customers?")
    assert state.followed == []
    assert desk.asked[0].known == tuple(desk.known)


async def test_a_failed_statement_is_repaired_with_the_engines_message(desk: Desk) -> None:
    desk.writes, desk.mends = ["SELECT nam FROM customers"], [NAMES]
    state = await desk.run("Who are our customers?")
    assert desk.path_taken == [
        *PLAIN[:3],
        ("Execute", "repair"),
        *PLAIN[2:],
    ]
    assert desk.problems == ["no such column: nam"]
    assert state.final_answer == "There are 4: Ada, Bo, Chen and Dee.[1]"
    assert tried(state) == ["no such column: nam"]
    assert state.generated_logic == NAMES


async def test_it_is_repaired_twice_at_most(desk: Desk) -> None:
    desk.writes = ["SELECT a FROM customers"]
    desk.mends = ["SELECT b FROM customers", "SELECT c FROM customers", NAMES]
    state = await desk.run("Who are our customers?")
    assert (state.status, state.stop_reason, state.repairs) == ("refused", "repairs_exhausted", 2)
    assert tried(state) == ["no such column: a", "no such column: b", "no such column: c"]
    assert "no such column" not in state.final_answer
    assert state.execution_status == "no such column: c"
    assert desk.mends == [NAMES]


async def test_none_is_repaired_where_the_settings_allow_none(desk: Desk) -> None:
    desk.settings = DataSettings(repairs=0)
    desk.writes, desk.mends = ["SELECT a FROM customers"], [NAMES]
    state = await desk.run("Who are our customers?")
    assert (state.stop_reason, desk.problems) == ("repairs_exhausted", [])


async def test_a_refused_statement_is_a_failed_try_and_never_runs(desk: Desk) -> None:
    desk.writes, desk.mends = ["DROP TABLE orders"], ["DELETE FROM orders", NAMES]
    state = await desk.run("Who are our customers?")
    assert desk.path_taken[2:5] == [
        ("Generate SQL", "repair"),
        ("Generate SQL", "repair"),
        ("Generate SQL", "execute"),
    ]
    assert desk.queries == [NAMES]
    assert (state.status, state.repairs) == ("answered", 2)
    desk.writes, desk.mends = ["DROP TABLE orders"], ["DROP TABLE orders", "DROP TABLE customers"]
    refused = await desk.run("Who are our customers?")
    assert (refused.status, refused.stop_reason) == ("refused", "repairs_exhausted")


async def test_of_several_only_those_that_are_taken_run(desk: Desk) -> None:
    desk.llm = small()
    desk.analysis = UNSURE
    desk.writes = ["SELECT x FROM nowhere", COUNT, "UPDATE orders SET amount_eur = 0"]
    state = await desk.run("How many customers are there?")
    assert desk.queries == [COUNT]
    assert state.repairs == 0
    assert len(state.tried) == 2


async def test_a_repair_that_writes_the_same_again_is_not_run_again(desk: Desk) -> None:
    desk.writes, desk.mends = ["SELECT a FROM customers", NAMES], ["select a  from customers;"]
    state = await desk.run("Who are our customers?")
    assert desk.queries == ["SELECT a FROM customers", NAMES]
    assert desk.temperatures == [0.0, 0.7]
    assert state.status == "answered"


async def test_a_statement_that_takes_too_long_gets_one_hint(desk: Desk) -> None:
    desk.wrongs = {"JOIN": StatementFailed("stopped after 10 seconds", code="timeout")}
    desk.writes = ["SELECT 1 FROM orders JOIN customers"]
    desk.mends = ["SELECT 2 FROM orders JOIN customers", NAMES]
    state = await desk.run("Who are our customers?")
    assert len(desk.problems) == 1
    assert "lighter" in desk.problems[0]
    assert (
        state.final_answer == "The statement for this question took longer than a statement may "
        "(data.statement_seconds)."
    )
    assert state.stop_reason == "repairs_exhausted"


async def test_a_statement_that_took_too_long_is_run_once_more_where_the_model_writes_it_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The machine may have been busy; one that fails otherwise is not run again."""
    busy = [StatementFailed("stopped after 10 seconds", code="timeout")]
    ran = desk.query

    async def query(source: Loaded, sql: str) -> Rows:
        if busy:
            raise busy.pop()
        return await ran(source, sql)

    monkeypatch.setattr(desk, "query", query)
    desk.writes, desk.mends = [NAMES], [NAMES.lower()]
    state = await desk.run("Who are our customers?")
    assert (state.status, desk.temperatures, state.repairs) == ("answered", [0.0], 1)


async def test_why_a_statement_was_stopped_is_told_in_the_questions_language(desk: Desk) -> None:
    desk.wrongs = {"name": StatementFailed("the statement was stopped after 10 s", code="timeout")}
    desk.writes, desk.mends = [NAMES], [NAMES]
    state = await desk.run("我们有哪些客户？")
    assert (
        state.final_answer
        == "为这个问题写的语句超出了一条语句允许的时间（data.statement_seconds）。"
    )
    desk.settings = DataSettings(repairs=0)
    desk.writes = [NAMES]
    assert (await desk.run("我们有哪些客户？")).final_answer == state.final_answer


LACKING = NotInTables("There is no column for customers.")
DEPOT = Loaded("depot", Schema("sqlite", (Table("stock", (Column("part", "TEXT", "text"),)),)))


async def test_the_next_best_tables_are_asked_once(desk: Desk) -> None:
    """Where the model says that those in hand do not have it; the path is seen, and people's
    knowledge is of the new ones.
    """
    asked: list[tuple[str, str]] = []

    async def other(question: str, source: str) -> Loaded:
        asked.append((question, source))
        return SHOP

    desk.loaded, desk.writes = DEPOT, [LACKING, COUNT]
    desk.next_source = other
    state = await desk.run("How many customers are there?")
    assert asked == [("How many customers are there?", "depot")]
    assert (state.status, state.source_name, state.rows and state.rows.rows) == (
        "answered",
        "shop",
        ((4,),),
    )
    assert desk.path_taken[2:4] == [("Generate SQL", "other_source"), ("Analyze Intent", "write")]
    assert [each.schema for each in desk.asked] == [DEPOT.schema, SHOP.schema]
    desk.writes = [LACKING, NotInTables("Nothing is said of warranties."), COUNT]
    desk.next_source = other
    state = await desk.run("How many customers are there?")
    assert (state.status, state.stop_reason, state.source_name) == (
        "refused",
        "not_in_data",
        "depot",
    )
    assert state.final_answer.startswith(
        "The tables of depot cannot answer this. There is no column for customers. They hold: "
        "stock (part). The tables of shop cannot answer this. Nothing is said of warranties. "
        "They hold: "
    )


@pytest.mark.parametrize("then", [BudgetSpent("over", code="budget_calls"), TransientError("busy")])
async def test_tables_that_cannot_be_asked_any_more_leave_the_first_reason(
    desk: Desk, then: Exception
) -> None:
    async def other(question: str, source: str) -> Loaded:
        return SHOP

    async def gone(question: str, source: str) -> Loaded:
        raise SourceUnavailable("shop is gone")

    said = (
        "The tables of depot cannot answer this. There is no column for customers. They hold: "
        "stock (part)."
    )
    desk.loaded, desk.writes = DEPOT, [LACKING, then]
    desk.next_source = other
    state = await desk.run("How many customers are there?")
    assert (state.status, state.stop_reason, state.final_answer) == ("refused", "not_in_data", said)
    desk.writes = [LACKING]
    desk.next_source = gone
    state = await desk.run("How many customers are there?")
    assert (state.final_answer, state.warnings) == (
        said,
        ["other tables were not asked: shop is gone"],
    )


async def test_without_a_model_only_what_is_confirmed_is_answered(desk: Desk) -> None:
    desk.llm = None
    state = await desk.run("Who are our customers?")
    assert (state.status, state.stop_reason) == ("refused", "no_model")
    desk.known, desk.writes = [confirmed()], [Candidate(COUNT, "qa_confirmed_1", "reused", 0.97)]
    answered = await desk.run("How many customers do we have?")
    assert answered.final_answer == "The count is 4.[1]"
    desk.writes = [Candidate("SELECT gone FROM customers", "qa_confirmed_1", "reused", 0.97)]
    failed = await desk.run("How many customers do we have?")
    assert (failed.status, failed.stop_reason) == ("refused", "repairs_exhausted")


async def test_a_model_that_is_not_there(desk: Desk) -> None:
    """Told without the path of its file; an operator finds that in the trace."""
    desk.llm, desk.writes = small(), [ModelUnavailable("/models/a.gguf: no chat model here")]
    state = await desk.run("Who are our customers?")
    assert (state.status, state.stop_reason) == ("refused", "no_model")
    assert "a.gguf" not in state.final_answer + "".join(state.warnings)


async def test_a_model_that_fails_at_the_statement_or_its_repair(desk: Desk) -> None:
    desk.llm = small()
    desk.writes = [TransientError("busy")]
    state = await desk.run("Who are our customers?")
    assert (state.status, state.stop_reason) == ("refused", "model_failed")
    assert state.node_execution_status["Generate SQL"] == "failed"
    desk.writes, desk.mends = ["SELECT a FROM customers"], [TransientError("busy")]
    state = await desk.run("Who are our customers?")
    assert (state.status, state.stop_reason) == ("refused", "model_failed")
    desk.analysis, desk.writes = UNSURE, [COUNT, TransientError("busy")]
    state = await desk.run("How many customers are there?")
    assert state.status == "answered"
    assert "busy" in state.warnings[0]


async def test_a_follow_up_changes_the_last_statement(desk: Desk) -> None:
    """A small model is sent it, and is not asked to put the follow-up in full words; who asks sees
    what was changed.
    """
    desk.llm = small()
    question, history = "How many customers do we have?", [("assistant", "The count is 4.")]
    asked = [("user", question), *history]
    desk.writes = ["SELECT count(*) FROM customers WHERE city = 'Berlin'"]
    state = await desk.run("only Berlin", asked, "shop", (question, COUNT, 0.5))
    assert desk.asked[-1].previous == Previous(question, COUNT, "only Berlin", 0.5)
    assert 0 < state.confidence < 0.5, "no surer than of the answer that it rests on"
    assert state.standalone.startswith(question)
    assert state.tried == [
        {"sql": COUNT, "problem": "the statement before, which this one changes"}
    ]
    desk.writes = [NAMES]
    whole = await desk.run(
        "Which customers live in Hamburg?", asked, "shop", (question, COUNT, 0.5)
    )
    assert (whole.previous, whole.tried) == (None, [])


async def test_what_the_tables_are_unlikely_to_have_is_asked_of_the_next_best(desk: Desk) -> None:
    async def other(question: str, source: str) -> Loaded:
        desk.analysis = Analysis("lookup")
        return SHOP

    desk.llm, desk.next_source, desk.writes, desk.loaded = small(), other, [COUNT], DEPOT
    desk.analysis = Analysis("lookup", answerable=False, log_odds=-3.0, missing=("warranty",))
    state = await desk.run("How many customers are there?")
    assert (state.status, state.source_name) == ("answered", "shop")
    assert ("Analyze Intent", "other_source") in desk.path_taken


async def test_a_model_that_writes_nothing(desk: Desk) -> None:
    state = await desk.run("Who are our customers?")
    assert (state.status, state.stop_reason) == ("refused", "no_statement")


async def test_the_budget_ends_it(desk: Desk) -> None:
    desk.analysis, desk.writes = UNSURE, [BudgetSpent("over", code="budget_tokens")]
    assert (await desk.run("Who are our customers?")).stop_reason == "budget_tokens"


async def test_when_it_is_late_nothing_more_is_tried(desk: Desk) -> None:
    desk.analysis, desk.late_after = UNSURE, 1
    desk.writes, desk.mends = ["SELECT a FROM customers", COUNT], [NAMES]
    state = await desk.run("Who are our customers?")
    assert (state.status, state.stop_reason) == ("refused", "budget_seconds")
    assert (desk.temperatures, desk.problems) == ([0.0], [])


async def test_when_half_the_time_is_gone_one_statement_must_do(desk: Desk) -> None:
    desk.analysis, desk.writes = UNSURE, [COUNT, NAMES]
    state = await desk.run("How many customers are there?", hurried=lambda: True)
    assert desk.temperatures == [0.0]
    assert state.status == "answered"


async def test_a_source_that_goes_away_meanwhile_is_an_error(desk: Desk) -> None:
    desk.writes, desk.wrongs = [NAMES], {"name": SourceUnavailable("the server is gone")}
    state = await desk.run("Who are our customers?")
    assert isinstance(state.error, SourceUnavailable)
    assert state.node_execution_status["Execute"] == "failed"
    assert desk.path_taken[-1] == ("Execute", "return_error")


async def test_what_people_confirmed_cannot_be_looked_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def recall(question: str, source: str) -> list[Known]:
        raise TransientError("locked")

    monkeypatch.setattr(desk, "recall", recall)
    desk.writes = [COUNT]
    state = await desk.run("How many customers are there?")
    assert state.status == "answered"
    assert "locked" in state.warnings[0]


async def test_a_guard_that_refuses_at_run_time_is_no_crash(desk: Desk) -> None:
    desk.writes, desk.mends = ["SELECT secret() FROM customers"], [NAMES]
    desk.wrongs = {"secret": StatementRefused("the function secret is not allowed")}
    state = await desk.run("Who are our customers?")
    assert state.status == "answered"
    assert tried(state) == ["the function secret is not allowed"]
