"""`/api/data/sources/{name}/query` and `/export`: statements that people write, under the guard of
the agent's own. Whoever leaves ends what they asked for.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse
from pydantic import Field
from starlette.background import BackgroundTask

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Citewell
from citewell.interfaces.http.routes.ask_routes import run_while_connected
from citewell.interfaces.http.routes.document_routes import format_disposition
from citewell.service.tables.query_tables import (
    Form,
    Result,
    delete_result,
    export_tables,
    query_tables,
)
from citewell.store.boards.saved_questions import LONGEST_STATEMENT

router = APIRouter(prefix="/api/data/sources", tags=["data"], route_class=JSONRoute)
KINDS = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file. `Citewell-Rows` counts its rows; `Citewell-Truncated` is `true` "
        "where there were more.",
        "content": {
            kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
            for kind in KINDS.values()
        },
    }
}
FORM = Annotated[Form, Query(description="the kind of file")]


class Statement(Closed):
    """One statement that reads. `lang`: of the headings that columns without a name get."""

    sql: str = Field(min_length=1, max_length=LONGEST_STATEMENT)
    lang: Literal["en", "zh"] = "en"


@router.post("/{name}/query")
async def query_source(name: str, body: Statement, request: Request, app: Citewell) -> Result:
    """What a statement gives, within `data.max_rows` and `data.statement_seconds`, with the chart
    that fits.
    """
    return await run_while_connected(request, query_tables(app, name, body.sql, body.lang))


@router.post("/{name}/export", response_class=FileResponse, responses=FILES)
async def export_source(
    name: str,
    body: Statement,
    request: Request,
    app: Citewell,
    format: FORM = "csv",  # noqa: A002  # the name in the address
) -> FileResponse:
    """Every row of it, within `data.export_rows`, as a file."""
    made = await run_while_connected(request, export_tables(app, name, body.sql, format, body.lang))
    headers = {
        "Content-Disposition": format_disposition(f"{name}.{format}"),
        "Citewell-Rows": str(made.rows),
        "Citewell-Truncated": "true" if made.truncated else "false",
    }
    return FileResponse(
        made.path,
        media_type=KINDS[format],
        headers=headers,
        background=BackgroundTask(delete_result, made.path),
    )
