"""`/api/sites`: web sites that are kept: list, read with pages, refresh, export, delete."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Citewell, Editor
from citewell.interfaces.http.description import describe_replies
from citewell.interfaces.http.routes.document_routes import format_disposition
from citewell.runtime.app import App
from citewell.service.sites import refresh_site as refresh
from citewell.service.sites import sites as service
from citewell.service.sites.sites import SiteInfo, SitePage
from citewell.store.job_rows import Job

router = APIRouter(prefix="/api/sites", tags=["sites"], route_class=JSONRoute)


class SiteList(BaseModel):
    sites: list[SiteInfo]


class SitePages(BaseModel):
    site: SiteInfo
    pages: list[SitePage]


@router.get("")
async def list_sites(app: Citewell) -> SiteList:
    """All of them, with how many pages of each are kept."""
    return SiteList(sites=await service.list_sites(app))


@router.get("/{name}")
async def get_site(name: str, app: Citewell) -> SitePages:
    """With its pages, those that could not be read among them."""
    return SitePages(
        site=await service.get_site(app, name), pages=await service.list_pages(app, name)
    )


@router.post("/{name}/refresh", status_code=202)
async def refresh_site(name: str, app: Citewell, _: Editor) -> Job:
    """Every page asked for anew, by a job; its `result` says what became of them."""
    return await refresh.submit_refresh(app, name)


@router.get(
    "/{name}/export",
    response_class=Response,
    responses={200: describe_replies("application/x-ndjson")},
)
async def export_site(name: str, app: Citewell) -> Response:
    """One JSON object a line and page: text, links, address, time, hash."""
    await service.get_site(app, name)  # an error after the first byte could not be told
    headers = {"Content-Disposition": format_disposition(f"{name}.jsonl")}
    return StreamingResponse(
        _export_lines(app, name), media_type="application/x-ndjson", headers=headers
    )


async def _export_lines(app: App, name: str) -> AsyncIterator[bytes]:
    async for line in service.export_site(app, name):
        yield line.encode("utf-8", "replace")


@router.delete("/{name}", status_code=204)
async def delete_site(name: str, app: Citewell, _: Editor) -> None:
    """Its pages; other documents of the collection stay, and without any the collection goes
    too.
    """
    await service.delete_site(app, name)
