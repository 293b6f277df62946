"""`/api/runs`: questions that were stopped before their answer. `POST /api/ask` with `{resume}`
goes on with one.
"""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.service.ask.ask import list_unfinished_runs
from citewell.store.runs import Unfinished

router = APIRouter(prefix="/api/runs", tags=["ask"], route_class=JSONRoute)


class Runs(BaseModel):
    runs: list[Unfinished]


@router.get("")
async def list_runs(app: Citewell, caller: Asking) -> Runs:
    """Those that nobody is at work on, the newest first."""
    return Runs(runs=await list_unfinished_runs(app, caller.user_id))
