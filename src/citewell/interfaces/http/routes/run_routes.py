"""`/api/runs`: questions that were stopped before their answer, and those that are answered now
whoever listens. `POST /api/ask` with `{resume}` goes on with one of the first.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.routes.ask_routes import EVENTS, name_events
from citewell.interfaces.http.sse import stream_events
from citewell.service.ask.ask import list_unfinished_runs
from citewell.service.ask.live_runs import Underway, get_live_runs
from citewell.store.run_rows import Unfinished

router = APIRouter(prefix="/api/runs", tags=["ask"], route_class=JSONRoute)


class Runs(BaseModel):
    runs: list[Unfinished]
    live: list[Underway] = []


@router.get("")
async def list_runs(app: Citewell, caller: Asking) -> Runs:
    """`runs`: those that nobody is at work on; `live`: those asked with `detach` that are answered
    now. The newest first.
    """
    return Runs(
        runs=await list_unfinished_runs(app.runs, caller.user_id),
        live=await get_live_runs(app).list_underway(caller.user_id),
    )


@router.get(
    "/{trace_id}/events",
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {}}, "description": EVENTS}},
)
async def follow_run(request: Request, trace_id: str, app: Citewell, caller: Asking) -> Response:
    """The events of a question that is answered now, from its first one on."""
    events = await get_live_runs(app).follow(trace_id, caller.user_id)
    return stream_events(request, name_events(events))


@router.post("/{trace_id}/cancel", status_code=204)
async def cancel_run(trace_id: str, app: Citewell, caller: Asking) -> None:
    """End it without an answer."""
    await get_live_runs(app).cancel(trace_id, caller.user_id)
