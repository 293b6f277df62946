"""The qa graph is the spec's, and the docs show it as it is."""

from __future__ import annotations

from pathlib import Path

from citewell.agents.qa.qa import GRAPH
from citewell.graph import get_node_name

SPEC_NODES = {
    "InputValidationNode",
    "QuestionUnderstandingNode",
    "ConversationMemoryNode",
    "DocumentRetrievalNode",
    "AnswerGenerationNode",
    "AnswerRefinementNode",
}


def test_nodes_carry_the_names_of_the_spec() -> None:
    """A trace can be held against spec 000, node by node."""
    assert {get_node_name(n) for n in GRAPH.table} == SPEC_NODES


def test_the_docs_show_the_graph_as_it_is() -> None:
    """docs/architecture.md holds the graph's own Mermaid text."""
    page = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
    assert f"```mermaid\n{GRAPH.mermaid()}\n```" in page.read_text(encoding="utf-8")
