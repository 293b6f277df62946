"""`POST /api/check`: a text held against documents, or claims against evidence that comes with
them. A client that leaves stops the work.
"""

from __future__ import annotations

from fastapi import APIRouter, Request

from citewell.interfaces.http.body import JSONRoute
from citewell.interfaces.http.deps import Citewell
from citewell.interfaces.http.routes.ask_routes import run_while_connected
from citewell.service.check.check_text import check_request
from citewell.service.check.check_types import CheckRequest, CheckResult, PairsResult

router = APIRouter(prefix="/api", tags=["check"], route_class=JSONRoute)


@router.post("/check")
async def check(request: Request, body: CheckRequest, app: Citewell) -> CheckResult | PairsResult:
    """Each sentence of `text` (20,000 characters) with its verdict and the quotes that show it; or,
    of `pairs` (200), a verdict each.
    """
    return await run_while_connected(request, check_request(app, body))
