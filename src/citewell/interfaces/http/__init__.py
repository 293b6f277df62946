"""The HTTP interface: its rooms' routers, joined. All but 2xx has the one error shape."""

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
from citewell.interfaces.http.accept_language import Language
from citewell.interfaces.http.description import build_openapi, get_operation_id
from citewell.interfaces.http.errors import HANDLERS, get_redactor
from citewell.interfaces.http.mcp import mcp_gateway
from citewell.interfaces.http.models import model_routes
from citewell.interfaces.http.openai import openai_embeddings, openai_routes
from citewell.interfaces.http.page import api_page, page_routes, widget_routes
from citewell.interfaces.http.papers import comparison_routes, paper_routes
from citewell.interfaces.http.routes import (
    ask_routes,
    audit_routes,
    check_routes,
    chunk_routes,
    collection_routes,
    data_routes,
    document_routes,
    feedback_routes,
    graph_routes,
    job_routes,
    knowledge_routes,
    memory_routes,
    run_routes,
    sample_routes,
    search_routes,
    session_routes,
    settings_routes,
    sign_in_routes,
    site_routes,
    status_routes,
    sync_routes,
    trace_routes,
    user_routes,
)
from citewell.interfaces.http.security.access import Access
from citewell.interfaces.http.security.guard import Guard
from citewell.interfaces.http.security.request_headers import normalize_address
from citewell.interfaces.http.server import metrics
from citewell.interfaces.http.server.closing import Closing
from citewell.interfaces.http.server.connections import Connections, compute_max_connections
from citewell.interfaces.http.server.listener import get_descriptor_limit
from citewell.interfaces.http.server.metrics import Metrics
from citewell.interfaces.http.server.observe import Observed
from citewell.interfaces.http.tables import board_routes, query_routes
from citewell.interfaces.spans import build_spans
from citewell.runtime.app import App
from citewell.service.admin.follow_settings import follow_page_settings
from citewell.service.jobs.worker import run_worker_until_closing

ROUTERS: tuple[APIRouter, ...] = (
    api_page.router,
    ask_routes.router,
    audit_routes.router,
    board_routes.router,
    check_routes.router,
    chunk_routes.router,
    collection_routes.router,
    data_routes.router,
    data_routes.sample_router,
    document_routes.router,
    feedback_routes.router,
    graph_routes.router,
    job_routes.router,
    knowledge_routes.router,
    mcp_gateway.router,
    memory_routes.router,
    metrics.router,
    model_routes.router,
    openai_routes.router,
    page_routes.router,
    paper_routes.router,
    query_routes.router,
    comparison_routes.router,
    run_routes.router,
    sample_routes.router,
    search_routes.router,
    session_routes.router,
    session_routes.folder_router,
    settings_routes.router,
    session_routes.share_router,
    sign_in_routes.router,
    site_routes.router,
    trace_routes.router,
    user_routes.router,
    widget_routes.router,
    status_routes.router,
    sync_routes.router,
)
# of a server that only lends its models to others
MODELS_ONLY = (metrics.router, model_routes.router, openai_embeddings.router, status_routes.router)


def join_routes(routers: tuple[APIRouter, ...]) -> list[BaseRoute]:
    joined = APIRouter(generate_unique_id_function=get_operation_id)
    for router in routers:
        joined.include_router(router)
    return joined.routes


# Joined once in a process: the first request to a route builds it, which takes milliseconds.
ROUTES, MODEL_ROUTES = join_routes(ROUTERS), join_routes(MODELS_ONLY)


def create_app(app: App, *, models_only: bool = False, works: bool = True) -> FastAPI:
    """The web application around an open App. How it ends is the App's to say (`App.stopping`).
    `models_only`: without page, documents, questions and jobs. `works`: it takes jobs itself.
    """
    routers = MODELS_ONLY if models_only else ROUTERS
    counts, spans = Metrics(), build_spans(app.settings)
    watches: list[Watch] = [counts, app.models_seen, *([spans] if spans else [])]

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        attach_watches(*watches)  # the worker's jobs
        works_here = works and not models_only
        worker = asyncio.create_task(run_worker_until_closing(app)) if works_here else None
        following = asyncio.create_task(follow_page_settings(app))
        try:
            async with http.state.mcp.open():
                yield
        finally:
            app.stopping.end()
            following.cancel()
            if worker is not None:
                await worker
            if spans is not None:
                await anyio.to_thread.run_sync(spans.close)

    http = FastAPI(
        title="Citewell",
        version=__version__,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page loads scripts from another site; ours is page/api_page.py
        redoc_url=None,
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
    http.state.mcp = mcp_gateway.MCPGateway(app.stopping, get_redactor(http))
    http.routes.extend(MODEL_ROUTES if models_only else ROUTES)
    described = cache(lambda: build_openapi(http, signs_in=app.settings.auth == "token"))
    http.openapi = described  # type: ignore[method-assign]  # the framework's own way of saying it otherwise
    http.add_middleware(Access, settings=app.settings)
    http.add_middleware(Closing, stopping=app.stopping)
    http.add_middleware(Guard, settings=app.settings)
    http.add_middleware(Observed, watches=watches, routes=_collect_routes(http, routers))
    http.add_middleware(Language)  # the outer one
    return http


def _build_connections(access: AccessSettings) -> Connections:
    return Connections(
        compute_max_connections(get_descriptor_limit()),
        access.connections,
        map(normalize_address, access.proxies),
    )


def _collect_routes(http: FastAPI, routers: tuple[APIRouter, ...]) -> list[BaseRoute]:
    """All that have a path, to name requests by that are refused before they reach theirs."""
    return [
        *(each for router in routers for each in router.routes),
        *(each for each in http.routes if isinstance(each, Route)),
    ]
