"""The dual_loop graph is the spec's, and the docs show it as it is."""

from __future__ import annotations

from pathlib import Path

from citewell.agents.dual_loop import dual_loop_grade
from citewell.agents.dual_loop.dual_loop import GRAPH
from citewell.graph import END, get_node_name

SPEC_NODES = {
    "retrieve_memory",
    "route_query",
    "rewrite_query",
    "retrieve_documents",
    "grade_documents",
    "generate_response",
    "direct_response",
    "grade_relevance",
    "consolidate_memory",
}


def edges(name: str) -> dict[str, str]:
    return next(
        {label: get_node_name(t) for label, t in ways.items()}
        for node, ways in GRAPH.table.items()
        if get_node_name(node) == name
    )


def test_nodes_carry_the_names_of_the_spec() -> None:
    """A trace can be held against spec 001, node by node."""
    assert {get_node_name(n) for n in GRAPH.table} == SPEC_NODES


def test_both_conditional_edges_decide_as_the_spec_says() -> None:
    """Their functions, their decisions, and where each leads."""
    assert edges("grade_documents") == {
        "generate": "generate_response",
        "retry_retrieve": "retrieve_documents",
        "fallback": END,
    }
    assert edges("grade_relevance") == {"end": "consolidate_memory", "retry": "rewrite_query"}
    assert callable(dual_loop_grade.decide_after_document_grading)
    assert callable(dual_loop_grade.decide_after_answer_grading)


def test_the_docs_show_the_graph_as_it_is() -> None:
    """docs/dual-loop.md holds the graph's own Mermaid text."""
    page = Path(__file__).resolve().parents[3] / "docs" / "dual-loop.md"
    assert f"```mermaid\n{GRAPH.mermaid()}\n```" in page.read_text(encoding="utf-8")
