"""`/api/traces`: how answers came about."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from citewell.interfaces.http.deps import Citewell
from citewell.service import traces as service
from citewell.types import Status, Trace

router = APIRouter(prefix="/api/traces", tags=["traces"])


class TraceSummary(BaseModel):
    trace_id: str
    agent: str
    question: str
    collection: str
    session_id: str
    created_at: float
    status: Status


class Traces(BaseModel):
    traces: list[TraceSummary]


@router.get("")
async def list_traces(app: Citewell, user_id: str = "local", limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Traces:
    """Newest first."""
    return Traces(traces=[summary(trace) for trace in await service.list_traces(app, limit, user_id)])


@router.get("/{trace_id}")
async def get_trace(trace_id: str, app: Citewell, user_id: str = "local") -> Trace:
    return await service.get_trace(app, trace_id, user_id)


def summary(trace: Trace) -> TraceSummary:
    fields: dict[str, Any] = {name: getattr(trace, name) for name in TraceSummary.model_fields if name != "status"}
    return TraceSummary(**fields, status=trace.answer.status)
