"""`/api/graphs`: how an agent goes about a question, to be drawn. Nothing of it is of a user."""

from __future__ import annotations

from fastapi import APIRouter

from citewell.interfaces.http.deps import Asking
from citewell.service.admin.agent_graphs import Drawing, draw_graph

router = APIRouter(prefix="/api/graphs", tags=["graphs"])


@router.get("/{agent}")
async def get_graph(agent: str, _: Asking) -> Drawing:
    """Nodes by the names that steps tell them by, `[from, to, label]` of each edge, and all of it
    as Mermaid text.
    """
    return draw_graph(agent)
