"""Traces of a user: choose a chart, delete. Nobody reaches another user's."""

from __future__ import annotations

from citewell.runtime.app import App
from citewell.service.tables.query_tables import check_chart
from citewell.types import Chart


async def choose_chart(app: App, trace_id: str, user_id: str, chart: Chart | None) -> Chart | None:
    """How the rows of an answer are drawn from now on. Raises NotFound, InvalidInput."""
    trace = await app.traces.get(trace_id, user_id)
    if chart is not None:
        check_chart(chart, list((trace.answer.data or {}).get("columns", [])))
    await app.traces.choose_chart(trace_id, user_id, chart)
    return chart


async def delete_trace(app: App, trace_id: str, user_id: str) -> None:
    """Raises NotFound. What people confirmed of it stays: that is kept with the feedback."""
    await app.traces.get(trace_id, user_id)
    await app.traces.delete(trace_id)
    await app.db.forget()
