"""The agents' graphs as LangGraph has them, under the specs' node names.

To draw, to step through, to embed in a graph of your own:

    from citewell.graphs import qa
    print(qa.get_graph().draw_mermaid())

The one rule: LangGraph is imported when a graph is first asked for. `paper` is no graph: its
sessions' states are the specification's (agents/paper/paper_states.py).
"""

from __future__ import annotations

from typing import Any

from citewell.agents.data import data as _data
from citewell.agents.dual_loop import dual_loop as _dual_loop
from citewell.agents.qa import qa as _qa
from citewell.agents.website import website as _website
from citewell.graph import Graph

_GRAPHS: dict[str, Graph[Any]] = {
    "data": _data.GRAPH,
    "dual_loop": _dual_loop.GRAPH,
    "qa": _qa.GRAPH,
    "website": _website.GRAPH,
}


def __getattr__(name: str) -> Any:
    """A compiled graph by its agent's name."""
    if name not in _GRAPHS:
        raise AttributeError(f"there is no graph {name}; there are {', '.join(_GRAPHS)}")
    return _GRAPHS[name].get_compiled()
