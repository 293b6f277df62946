"""The graphs over HTTP: what is drawn is what runs."""

from __future__ import annotations

from typing import Any

import httpx

from citewell.agents.data import data
from citewell.agents.dual_loop import dual_loop
from citewell.agents.paper import paper_states
from citewell.agents.qa import qa
from citewell.agents.website import website
from citewell.graph import END, Graph, get_node_name


async def test_every_agents_table(client: httpx.AsyncClient) -> None:
    """Nodes in the table's order, the end last, and every label once for each edge."""
    graphs: list[Graph[Any]] = [qa.GRAPH, dual_loop.GRAPH, website.GRAPH, data.GRAPH]
    for graph in graphs:
        shown = (await client.get(f"/api/graphs/{graph.name}")).json()
        assert shown["agent"] == graph.name
        assert shown["nodes"] == [*map(get_node_name, graph.table), END]
        assert shown["edges"] == [
            [get_node_name(one), get_node_name(graph.table[one][label]), label]
            for one in graph.table
            for label in graph.table[one]
        ]
        assert shown["mermaid"] == graph.mermaid()


async def test_the_states_of_a_reading_session(client: httpx.AsyncClient) -> None:
    shown = (await client.get("/api/graphs/paper")).json()
    assert shown["nodes"] == ["GUIDE_PENDING_REPORT", "GUIDE_PENDING_PLAN", "CONTROL_ROUTING"]
    assert ["CONTROL_ROUTING", "CONTROL_ROUTING", "plan_changed"] in shown["edges"]
    assert len(shown["edges"]) == len(paper_states.TRANSITIONS)
    assert shown["mermaid"] == paper_states.render_mermaid()


async def test_an_agent_without_a_graph(client: httpx.AsyncClient) -> None:
    for agent in ("auto", "nobody", "%3Cscript%3E"):
        reply = await client.get(f"/api/graphs/{agent}")
        assert reply.status_code == 404
        assert "qa, dual_loop, website, data, paper" in reply.json()["error"]["hint"]


async def test_the_steps_of_an_answer_are_ways_in_its_graph(client: httpx.AsyncClient) -> None:
    """What the page lights: every step is a node, and where it went on is an edge of its."""
    answer = (
        await client.post(
            "/api/ask", json={"question": "How tall is the lighthouse?", "agent": "dual_loop"}
        )
    ).json()
    steps = (await client.get(f"/api/traces/{answer['trace_id']}")).json()["steps"]
    shown = (await client.get("/api/graphs/dual_loop")).json()
    ways = {(start, label): end for start, end, label in shown["edges"]}
    assert len(steps) > 2
    for step, after in zip(steps, [*(step["node"] for step in steps[1:]), END], strict=True):
        assert ways[step["node"], step["action"]] == after
