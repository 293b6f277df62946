"""`/api/audit`: the log of administration, for admins: list, verify. It is only read here."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from citewell.interfaces.http.deps import Admin, Citewell
from citewell.store.users.audit import MOST, Entry, Verified

router = APIRouter(prefix="/api/audit", tags=["audit"])


class Entries(BaseModel):
    entries: list[Entry]


@router.get("")
async def list_audit(
    app: Citewell,
    _: Admin,
    limit: Annotated[int, Query(ge=1, le=MOST)] = 100,
    before: Annotated[
        int | None, Query(ge=1, le=2**53, description="entries older than this one")
    ] = None,
) -> Entries:
    """Who administered what, the newest first."""
    return Entries(entries=await app.audit.list(limit, before))


@router.get("/verify")
async def verify_audit(app: Citewell, _: Admin) -> Verified:
    """Whether the chain holds from the first entry to the last."""
    return await app.audit.verify()
