"""`/api/comparisons`: a table of papers by questions, each cell a proved answer."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Asking, Citewell
from citewell.interfaces.http.routes.document_routes import format_disposition
from citewell.service.papers.compare_papers import Comparison, compare_papers
from citewell.service.papers.export_comparison import RENDERERS

router = APIRouter(prefix="/api/comparisons", tags=["papers"], route_class=JSONRoute)
FORMAT = Annotated[
    Literal["json", "md", "csv", "bib"],
    Query(description="the table as JSON, Markdown or CSV, or its papers as BibTeX"),
]


class Compared(Closed):
    """Sessions that are compared, and the questions that each paper is asked alone."""

    session_ids: list[str]
    questions: list[str]


@router.post(
    "",
    response_model=Comparison,
    responses={200: {"content": {kind: {} for _, kind in RENDERERS.values()}}},
    operation_id="compare_papers",
)
async def compare(
    body: Compared,
    app: Citewell,
    caller: Asking,
    format: FORMAT = "json",  # noqa: A002  # the name in the address
) -> Comparison | Response:
    """A table of papers by questions, each cell a proved answer; or it as Markdown or CSV, or its
    papers as BibTeX.
    """
    made = await compare_papers(app, body.session_ids, body.questions, caller.user_id)
    if format == "json":
        return made
    render, kind = RENDERERS[format]
    headers = {"Content-Disposition": format_disposition(f"comparison.{format}")}
    return Response(render(made).encode("utf-8", "replace"), media_type=kind, headers=headers)
