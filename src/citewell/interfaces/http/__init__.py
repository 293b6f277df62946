"""The HTTP interface: one noun a file, one router each. The one rule: every answer that is not 2xx has the one error shape."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import APIRouter, FastAPI

from citewell import __version__
from citewell.interfaces.http import (
    ask,
    chunks,
    collections,
    data,
    documents,
    feedback,
    graphs,
    jobs,
    knowledge,
    mcp,
    memories,
    openai,
    page,
    papers,
    runs,
    search,
    sessions,
    sign_in,
    sites,
    status,
    traces,
)
from citewell.interfaces.http.access import Access
from citewell.interfaces.http.errors import HANDLERS
from citewell.interfaces.http.guard import Guard
from citewell.service.app import App
from citewell.service.jobs import work

ROUTERS: tuple[APIRouter, ...] = (
    ask.router,
    chunks.router,
    collections.router,
    data.router,
    documents.router,
    feedback.router,
    graphs.router,
    jobs.router,
    knowledge.router,
    mcp.router,
    memories.router,
    openai.router,
    page.router,
    papers.router,
    runs.router,
    search.router,
    sessions.router,
    sign_in.router,
    sites.router,
    traces.router,
    status.router,
)


def create_app(app: App) -> FastAPI:
    """The web application around an open App. `state.stopping` ends open streams when it is set."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        worker = asyncio.create_task(work(app))
        try:
            async with http.state.mcp.open():
                yield
        finally:
            http.state.stopping.set()
            worker.cancel()
            with suppress(asyncio.CancelledError):
                await worker

    http = FastAPI(
        title="Citewell",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        lifespan=lifespan,
        exception_handlers=HANDLERS,
        telemetry={"tracing": False, "metrics": False, "logs": False, "operation_spans": False, "auto_configure": False},
    )
    http.state.citewell = app
    http.state.stopping = asyncio.Event()
    http.state.mcp = mcp.Door(http.state.stopping)
    for router in ROUTERS:
        http.include_router(router)
    http.add_middleware(Access, settings=app.settings)
    http.add_middleware(Guard, settings=app.settings)  # the outer one
    return http
