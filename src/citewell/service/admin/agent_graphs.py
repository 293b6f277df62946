"""How each agent goes about a question, as nodes and edges, read from the table that runs."""

from __future__ import annotations

from typing import Any, Final

from citewell.agents.data import data
from citewell.agents.dual_loop import dual_loop
from citewell.agents.paper import paper_states
from citewell.agents.qa import qa
from citewell.agents.website import website
from citewell.errors import NotFound
from citewell.graph import END, Graph, get_node_name
from citewell.messages import Text
from citewell.types import Shown

GRAPHS: Final[dict[str, Graph[Any]]] = {
    graph.name: graph for graph in (qa.GRAPH, dual_loop.GRAPH, website.GRAPH, data.GRAPH)
}
PAPER: Final = "paper"  # no graph: the states of its session are what is drawn


class Drawing(Shown):
    """`nodes` by the names that steps tell them by; the first is where a run starts, and `END` is
    the last where a run ends. `edges`: from, to, and the label that leads there.
    """

    agent: str
    nodes: list[str]
    edges: list[tuple[str, str, str]]
    mermaid: str


def draw_graph(agent: str) -> Drawing:
    """Raises NotFound for an agent that has no table of its own."""
    if agent == PAPER:
        return _draw_paper_states()
    graph = GRAPHS.get(agent)
    if graph is None:
        raise NotFound(
            Text("no graph of {agent!r}", agent=agent),
            hint=Text("known: {value}", value=", ".join([*GRAPHS, PAPER])),
        )
    edges = [
        (get_node_name(function), get_node_name(target), label)
        for function, ways in graph.table.items()
        for label, target in ways.items()
    ]
    return Drawing(
        agent=agent,
        nodes=[*map(get_node_name, graph.table), END],
        edges=edges,
        mermaid=graph.mermaid(),
    )


def _draw_paper_states() -> Drawing:
    edges = [(before, after, what) for (before, what), after in paper_states.TRANSITIONS.items()]
    nodes = dict.fromkeys([paper_states.FIRST, *(state for edge in edges for state in edge[:2])])
    return Drawing(
        agent=PAPER, nodes=list(nodes), edges=[*edges], mermaid=paper_states.render_mermaid()
    )
