"""`POST /api/search`: passages for a query, without an answer."""

from __future__ import annotations

from fastapi import APIRouter

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Citewell
from citewell.service.ask.search import SearchRequest, SearchResult
from citewell.service.ask.search import search as passages

router = APIRouter(prefix="/api", tags=["search"], route_class=JSONRoute)


@router.post("/search")
async def search(body: SearchRequest, app: Citewell) -> SearchResult:
    """The best passages, with where they stand, what in them matches, and how sure the search is of
    the first three.
    """
    return await passages(app, body)
