"""What a run came to, and places as they are shown. Every item is answered for, those that stayed
as they were by their number.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from citewell.messages import AnyText
from citewell.service.library.add_report import FileReport
from citewell.types import Shown

MOST_FILES = 500  # told of one by one; the sums count all


class SyncReport(Shown):
    """`files` were added, replaced or failed; `gone` are there no more and `removed` were so for
    long; `skipped`: how many of each unknown kind. `whole`: all that is there was listed. `error`:
    what ended the run before its end; what was read until then is kept. `problem`: why passages
    cannot be found by meaning yet. Times are seconds since the epoch.
    """

    sync_id: str
    collection: str
    place: str
    began_at: float
    ended_at: float
    listed: int = 0
    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    failed: int = 0
    files: list[FileReport] = Field(default_factory=list)
    gone_count: int = 0
    removed_count: int = 0
    gone: list[str] = Field(default_factory=list)
    removed: list[str] = Field(default_factory=list)
    skipped: dict[str, int] = Field(default_factory=dict)
    whole: bool = True
    embedded: int = 0
    warnings: list[AnyText] = Field(default_factory=list)
    error: dict[str, AnyText] | None = None
    problem: AnyText = ""


class SyncInfo(Shown):
    """A place that is kept in step. `every`: seconds between two runs, 0: only when asked;
    `next_at` None where there is no next one. `items` are there now, `gone` were. `secret`: whether
    it has one. `report`: of the last run.
    """

    sync_id: str
    collection: str
    kind: str
    place: str
    every: float
    next_at: float | None
    ran_at: float | None
    state: Literal["waiting", "running", "idle"]
    items: int = 0
    gone: int = 0
    secret: bool = False
    job_id: str = ""
    report: SyncReport | None = None


class SyncRemoved(Shown):
    """`documents` were deleted with it; without, they stay as they are."""

    sync_id: str
    place: str
    documents: int = 0
