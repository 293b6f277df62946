"""`/api/health` (it runs), `/api/ready` (it can answer), `/api/version`, and what programs read at `/`."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel

from citewell import __version__
from citewell.interfaces.http.deps import Citewell
from citewell.service.ready import Readiness, readiness

router = APIRouter(tags=["status"])


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
async def ready(app: Citewell, response: Response) -> Readiness:
    """503 while the database cannot be read, and from the moment on that the server is told to stop; `degraded` while the chat model is missing."""
    found = await readiness(app)
    response.status_code = 503 if found.status in {"unavailable", "stopping"} else 200
    return found


@router.get("/api/version", operation_id="get_version")
async def version() -> Version:
    """Which Citewell this is."""
    return Version()
