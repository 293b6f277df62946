"""`/api/health` (it runs), `/api/ready` (it can answer), `/api/version`, and what programs read at
`/`.
"""

from __future__ import annotations

import time
from typing import Literal, cast

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel
from starlette.datastructures import State

from citewell import __version__
from citewell.interfaces.http.deps import Citewell
from citewell.runtime.app import App
from citewell.service.admin.readiness import Readiness, get_readiness, redact_readiness

router = APIRouter(tags=["status"])
FRESH = 1.0  # seconds that what was found counts for


class Health(BaseModel):
    status: Literal["live"] = "live"


class Version(BaseModel):
    version: str = __version__


class Root(BaseModel):
    name: str = "Citewell"
    version: str = __version__
    openapi: str = "/api/openapi.json"
    ask: str = "POST /api/ask"


@router.get("/api/health", operation_id="get_health")
async def health() -> Health:
    """It runs."""
    return Health()


@router.get("/api/ready", responses={503: {"model": Readiness}}, operation_id="get_ready")
async def ready(
    request: Request, app: Citewell, response: Response, strict: bool = False
) -> Readiness:
    """503 while the database takes nothing, and from the moment on that the server is told to stop.
    `degraded` while a model is missing or its last call failed: answers are poorer then; with
    `strict` that is 503 too. At most a second old.
    """
    found = redact_readiness(await _probe_readiness(request.app.state, app), app.settings)
    bad = {"unavailable", "stopping", "degraded"} if strict else {"unavailable", "stopping"}
    response.status_code = 503 if found.status in bad else 200
    return found


async def _probe_readiness(state: State, app: App) -> Readiness:
    """Probes of several programs, each every second, look once."""
    at, found, stopping = getattr(state, "ready", (0.0, None, False))
    stops = app.root.stopping.closing.is_set()
    if found is None or stops != stopping or time.monotonic() - at > FRESH:
        found = await get_readiness(app)
        state.ready = (time.monotonic(), found, stops)
    return cast("Readiness", found)


@router.get("/api/version", operation_id="get_version")
async def version() -> Version:
    """Which Citewell this is."""
    return Version()
