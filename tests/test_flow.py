"""A graph's table is checked at import, runs in order, and cannot run for ever."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field, fields
from typing import Any, Literal

import pytest

from citewell import graphs
from citewell.errors import StepLimit
from citewell.graph import (
    END,
    Graph,
    Table,
    WiringError,
    emit,
    get_node_name,
    node,
    record_detail,
)
from citewell.types import Step


@dataclass
class Count:
    n: int = 0
    node_execution_status: dict[str, str] = field(default_factory=dict)


@node("Up")
async def up(state: Count, deps: int) -> Literal["again", "done"]:
    state.n += deps
    emit(state.n)
    record_detail(reached=state.n)
    return "again" if state.n < 3 else "done"


@node("Last")
async def last(state: Count, deps: int) -> Literal["end"]:
    return "end"


async def unlabelled(state: Count, deps: int) -> str:
    return "end"


@node("Broken")
async def broken(state: Count, deps: int) -> Literal["end"]:
    raise ZeroDivisionError


GOOD: Table = {up: {"again": up, "done": last}, last: {"end": END}}


async def collect(graph: Graph[Count], state: Count, deps: int = 1) -> list[Any]:
    return [event async for event in graph.run(state, deps)]


async def test_steps_and_emitted_events_arrive_in_order() -> None:
    """Every node yields a Step after what it emitted; the state is changed in place."""
    state = Count()
    events = await collect(Graph("good", GOOD), state)
    assert [e if isinstance(e, int) else (e.n, e.node, e.action) for e in events] == [
        1,
        (1, "Up", "again"),
        2,
        (2, "Up", "again"),
        3,
        (3, "Up", "done"),
        (4, "Last", "end"),
    ]
    assert state.n == 3
    assert state.node_execution_status == {"Up": "completed", "Last": "completed"}
    assert next(e.detail for e in events if isinstance(e, Step)) == {"reached": 1}


async def test_langgraph_runs_and_keeps_it() -> None:
    """By its own tools: over the agent's fields, stopped before a node, gone on with, drawn."""
    from langgraph.checkpoint.memory import InMemorySaver

    graph: Graph[Count] = Graph("good", GOOD)
    compiled = graph.build_state_graph().compile(
        checkpointer=InMemorySaver(), interrupt_before=["Last"]
    )
    config = {"configurable": {"deps": 1, "thread_id": "a"}}
    stopped = await compiled.ainvoke({"n": 1, "node_execution_status": {}}, config)
    assert stopped["n"] == 3
    kept = await compiled.aget_state(config)
    assert (kept.next, kept.values["node_execution_status"]) == (("Last",), {"Up": "completed"})
    ended = await compiled.ainvoke(None, config)
    assert ended["node_execution_status"] == {"Up": "completed", "Last": "completed"}
    drawn = compiled.get_graph().draw_mermaid()
    assert "Up -. &nbsp;done&nbsp; .-> Last" in drawn


@pytest.mark.parametrize("name", ["qa", "dual_loop", "website", "data"])
def test_every_agent_is_there_for_langgraph(name: str) -> None:
    """With the names of the specification, and the agent's own state."""
    compiled = getattr(graphs, name)
    nodes = set(compiled.get_graph().nodes) - {"__start__", "__end__"}
    agent = importlib.import_module(f"citewell.agents.{name}.{name}").GRAPH
    assert nodes == {get_node_name(each) for each in agent.table}
    assert {each.name for each in fields(agent.state_type)} <= set(compiled.channels)
    with pytest.raises(AttributeError, match="paper"):
        _ = graphs.paper


async def test_two_runs_at_once_do_not_mix() -> None:
    """One compiled graph serves many states."""
    graph: Graph[Count] = Graph("good", GOOD)
    first, second = Count(), Count(n=2)
    assert len(await collect(graph, first)) == 7
    assert len(await collect(graph, second)) == 3


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({}, "empty"),
        ({up: {"again": up}, last: {"end": END}}, r"without edge \['done'\]"),
        (
            {up: {"again": up, "done": last, "extra": END}, last: {"end": END}},
            r"without label \['extra'\]",
        ),
        ({up: {"again": up, "done": last}}, "Last: target has no row"),
        ({up: {"again": up, "done": END}, last: {"end": END}}, "no way leads to Last"),
        ({unlabelled: {"end": END}}, "must declare Literal"),
        ({up: {"again": up, "done": up}}, "no way leads to the end"),
    ],
)
def test_wrong_wiring_fails_where_the_graph_is_declared(table: Any, says: str) -> None:
    """Wrong label, dangling target, orphan node, no end: each is named."""
    with pytest.raises(WiringError, match=says):
        Graph("wrong", table)


async def test_the_step_limit_ends_a_loop() -> None:
    """A graph that goes round for ever is stopped with its limit named."""
    with pytest.raises(StepLimit, match="after 5 steps"):
        await collect(Graph("loop", GOOD, step_limit=5), Count(n=-1000))


async def test_an_error_in_a_node_reaches_the_caller() -> None:
    """Nothing is swallowed on the way through LangGraph."""
    with pytest.raises(ZeroDivisionError):
        await collect(Graph[Count]("broken", {broken: {"end": END}}), Count())


def test_mermaid_shows_every_edge_with_its_label() -> None:
    """The diagram is the table."""
    assert Graph("good", GOOD).mermaid().splitlines() == [
        "flowchart TD",
        "    Start([start]) --> Up",
        "    Up -->|again| Up",
        "    Up -->|done| Last",
        "    Last -->|end| End([end])",
    ]


async def test_a_run_begins_in_the_middle() -> None:
    """From the node named, its steps counted on from those that are done."""
    state = Count(2)
    graph: Graph[Count] = Graph("g", {up: {"again": up, "done": last}, last: {"end": END}})
    steps = [each async for each in graph.run(state, 1, start="Last", n=4)]
    assert [(s.n, s.node) for s in steps] == [(5, "Last")]
    assert state.n == 2


async def test_no_run_begins_where_there_is_no_node() -> None:
    graph: Graph[Count] = Graph("g", {last: {"end": END}})
    with pytest.raises(WiringError, match="no node Up"):
        [each async for each in graph.run(Count(), 1, start="Up")]


async def test_a_step_is_kept_before_anybody_hears_of_it() -> None:
    """`done` gets the step and what comes next; where it fails, the run ends there and the step was
    never told.
    """
    graph: Graph[Count] = Graph("g", {up: {"again": up, "done": last}, last: {"end": END}})
    kept: list[tuple[str, str]] = []

    async def keep(step: Step, after: str) -> None:
        kept.append((step.node, after))

    told = [each async for each in graph.run(Count(), 2, done=keep) if isinstance(each, Step)]
    assert kept == [("Up", "Up"), ("Up", "Last"), ("Last", END)]
    assert len(told) == 3

    async def full(_: Step, after: str) -> None:
        if after == "Last":
            raise OSError("the disk is full")

    heard: list[Step] = []

    async def hear() -> None:
        async for each in graph.run(Count(), 2, done=full):
            heard.extend([each] if isinstance(each, Step) else [])

    with pytest.raises(OSError, match="the disk is full"):
        await hear()
    assert [step.action for step in heard] == ["again"]
