"""`/api/samples`: the sample library, added in one call."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from citewell.interfaces.http.body import Closed, JSONRoute
from citewell.interfaces.http.deps import Citewell, Editor
from citewell.service.library import samples
from citewell.store.job_rows import Job

router = APIRouter(prefix="/api/samples", tags=["collections"], route_class=JSONRoute)


class SamplesWish(Closed):
    """`lang`: of the documents that come first, `en` or `zh`."""

    lang: str = Field("", max_length=10)


@router.post("", status_code=202)
async def add_samples(body: SamplesWish, app: Citewell, _: Editor) -> Job:
    """Add them to the collection `samples` as a job; what is there stays as it is."""
    return await samples.add_samples(app, body.lang)
