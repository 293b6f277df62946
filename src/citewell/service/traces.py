"""Traces of a user: list and get."""

from __future__ import annotations

from citewell.service.app import App
from citewell.types import Trace


async def list_traces(app: App, limit: int, user_id: str) -> list[Trace]:
    """Newest first."""
    return await app.traces.list(limit, user_id)


async def get_trace(app: App, trace_id: str, user_id: str) -> Trace:
    """Raises NotFound."""
    return await app.traces.get(trace_id, user_id)
