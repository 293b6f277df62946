"""The HTTP interface: one noun a file, one router each. The one rule: every answer that is not 2xx
has the one error shape.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

import anyio.to_thread
from fastapi import APIRouter, FastAPI
from starlette.routing import BaseRoute, Route

from citewell import __version__
from citewell.config import AccessSettings
from citewell.instrumentation import Watch, attach_watches
from citewell.interfaces.http import (
    ask,
    audit,
    check,
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
    metrics,
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
    users,
    widget,
)
from citewell.interfaces.http.access import Access, normalize_address
from citewell.interfaces.http.closing import Closing
from citewell.interfaces.http.connections import Connections, compute_max_connections
from citewell.interfaces.http.description import build_openapi, get_operation_id
from citewell.interfaces.http.errors import HANDLERS, get_redactor
from citewell.interfaces.http.guard import Guard
from citewell.interfaces.http.listener import get_descriptor_limit
from citewell.interfaces.http.metrics import Metrics
from citewell.interfaces.http.observe import Observed
from citewell.interfaces.spans import build_spans
from citewell.runtime.app import App
from citewell.service.jobs.worker import run_worker_until_closing

ROUTERS: tuple[APIRouter, ...] = (
    ask.router,
    audit.router,
    check.router,
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
    metrics.router,
    openai.router,
    page.router,
    papers.router,
    runs.router,
    search.router,
    sessions.router,
    sign_in.router,
    sites.router,
    traces.router,
    users.router,
    widget.router,
    status.router,
)


def create_app(app: App) -> FastAPI:
    """The web application around an open App. How it ends is the App's to say (`App.stopping`)."""
    counts, spans = Metrics(), build_spans(app.settings)
    watches: list[Watch] = [counts, app.models_seen, *([spans] if spans else [])]

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        attach_watches(*watches)  # the worker's jobs
        worker = asyncio.create_task(run_worker_until_closing(app))
        try:
            async with http.state.mcp.open():
                yield
        finally:
            app.stopping.end()
            await worker
            if spans is not None:
                await anyio.to_thread.run_sync(spans.close)

    http = FastAPI(
        title="Citewell",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page loads scripts from another site
        redoc_url=None,
        generate_unique_id_function=get_operation_id,
        lifespan=lifespan,
        exception_handlers=HANDLERS,
        telemetry={
            "tracing": False,
            "metrics": False,
            "logs": False,
            "operation_spans": False,
            "auto_configure": False,
        },
    )
    http.state.citewell = app
    http.state.metrics = counts
    http.state.connections = _build_connections(app.settings.access)
    http.state.connections.told = counts.watch_connections(http.state.connections)
    http.state.mcp = mcp.MCPGateway(app.stopping, get_redactor(http))
    for router in ROUTERS:
        http.include_router(router)
    described = cache(lambda: build_openapi(http, signs_in=app.settings.auth == "token"))
    http.openapi = described  # type: ignore[method-assign]  # the framework's own way of saying it otherwise
    http.add_middleware(Access, settings=app.settings)
    http.add_middleware(Closing, stopping=app.stopping)
    http.add_middleware(Guard, settings=app.settings)
    http.add_middleware(Observed, watches=watches, routes=_collect_routes(http))  # the outer one
    return http


def _build_connections(access: AccessSettings) -> Connections:
    return Connections(
        compute_max_connections(get_descriptor_limit()),
        access.connections,
        map(normalize_address, access.proxies),
    )


def _collect_routes(http: FastAPI) -> list[BaseRoute]:
    """All that have a path, to name requests by that are refused before they reach theirs."""
    return [
        *(each for router in ROUTERS for each in router.routes),
        *(each for each in http.routes if isinstance(each, Route)),
    ]
