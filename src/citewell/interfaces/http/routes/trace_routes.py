"""`/api/traces`: how answers came about, and what comes out when their steps are run again. A trace
is its user's, also to replay and to delete.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.runtime.access_scope import require_role
from citewell.service.sessions import traces as service
from citewell.service.sessions.replay import Replay
from citewell.service.sessions.replay import replay_trace as run_again
from citewell.store.traces import TraceSummary, Wanted
from citewell.types import Chart, Status, Trace

router = APIRouter(prefix="/api/traces", tags=["traces"], route_class=JSONRoute)


class Traces(BaseModel):
    """`next`: the `before` of the page after this one; empty where this is the last."""

    traces: list[TraceSummary]
    next: str


@router.get("")
async def list_traces(
    app: Citewell,
    caller: Asking,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[str, Query(max_length=100, description="the `next` of the page before")] = "",
    agent: Annotated[str, Query(max_length=100, description="only of this agent")] = "",
    status: Annotated[Status | None, Query(description="only answers of this status")] = None,
    q: Annotated[
        str, Query(max_length=500, description="only where question, collection or id hold this")
    ] = "",
) -> Traces:
    """Newest first, a page at a time."""
    found = await app.traces.page(limit, caller.user_id, Wanted(before, agent, status or "", q))
    return Traces(traces=list(found.traces), next=found.next)


@router.get("/{trace_id}")
async def get_trace(trace_id: str, app: Citewell, caller: Asking) -> Trace:
    """With its steps, its prompts and its answer."""
    return await app.traces.get(trace_id, caller.user_id)


@router.delete("/{trace_id}", status_code=204)
async def delete_trace(trace_id: str, app: Citewell, caller: Asking) -> None:
    """The answer stays in its session, without how it came about."""
    await service.delete_trace(app, trace_id, caller.user_id)


class ChartChoice(Closed):
    """`chart`: of columns of the answer; null: as the agent chose."""

    chart: Chart | None


@router.put("/{trace_id}/chart")
async def choose_chart(
    trace_id: str, body: ChartChoice, app: Citewell, caller: Asking
) -> ChartChoice:
    """How the rows of an answer over tables are drawn from now on."""
    chosen = await service.choose_chart(app, trace_id, caller.user_id, body.chart)
    return ChartChoice(chart=chosen)


class ReplayWish(Closed):
    """`recorded`: the chat model says what it said then. `fetch`: pages of the web may be fetched
    anew, and stored.
    """

    recorded: bool = False
    fetch: bool = False


@router.post("/{trace_id}/replay", operation_id="replay_trace")
async def replay(
    trace_id: str, app: Citewell, caller: Asking, wish: ReplayWish | None = None
) -> Replay:
    """Runs the stored steps again and tells what differs. Nothing is kept of it."""
    wish = wish or ReplayWish()
    if wish.fetch:
        require_role(app, "editor", "to have pages fetched")
    return await run_again(app, trace_id, caller.user_id, recorded=wish.recorded, fetch=wish.fetch)
