"""Traces of a user: list, get, delete. The one rule: nobody reaches another user's."""

from __future__ import annotations

from citewell.runtime.app import App
from citewell.store.traces import Page, Wanted
from citewell.types import Trace


async def list_traces(app: App, limit: int, user_id: str) -> list[Trace]:
    """Newest first."""
    return await app.traces.list(limit, user_id)


async def find_traces(app: App, limit: int, user_id: str, wanted: Wanted) -> Page:
    """Newest first, a page at a time. Raises InvalidInput."""
    return await app.traces.page(limit, user_id, wanted)


async def get_trace(app: App, trace_id: str, user_id: str) -> Trace:
    """Raises NotFound."""
    return await app.traces.get(trace_id, user_id)


async def delete_trace(app: App, trace_id: str, user_id: str) -> None:
    """Raises NotFound. What people confirmed of it stays: that is kept with the feedback."""
    await app.traces.get(trace_id, user_id)
    await app.traces.delete(trace_id)
    await app.db.forget()
