"""The report of adding files: one entry a file, with the reason of a failure."""

from __future__ import annotations

import logging
from typing import Literal

from pydantic import Field

from citewell.errors import CitewellError, UnreadableFile
from citewell.messages import AnyText, Text
from citewell.service.library.expand_paths import describe_path_error
from citewell.types import Shown

log = logging.getLogger(__name__)


class FileReport(Shown):
    """The result of adding a file. `reason`: why it failed; `chunks`: its passages now."""

    path: str
    status: Literal["added", "replaced", "unchanged", "failed"]
    reason: AnyText = ""
    chunks: int = 0
    doc_id: str = ""
    warnings: list[AnyText] = Field(default_factory=list)


class AddReport(Shown):
    """In the order of the paths. `skipped`: how many files of each unknown kind the folders held.
    `links`: those in folders that lead out of them, and were not followed. `error`: what ended the
    run before all files were dealt with: those that are not listed were not.
    """

    files: list[FileReport]
    skipped: dict[str, int] = Field(default_factory=dict)
    links: list[str] = Field(default_factory=list)
    error: dict[str, AnyText] | None = None

    @property
    def failed(self) -> int:
        return sum(file.status == "failed" for file in self.files)


def build_failed_report(uri: str, error: Exception) -> FileReport:
    """The report of an unreadable file. A bug costs this file alone, and is logged."""
    if isinstance(error, UnreadableFile):
        reason = error.explanation
    elif isinstance(error, OSError):
        reason = describe_path_error(error)
    elif isinstance(error, CitewellError):
        raise error  # no fault of the file's, and the next one would end the same way
    else:
        log.error("%s", uri, exc_info=error)
        reason = Text("internal error: {name}: {error}", name=type(error).__name__, error=error)
    return FileReport(path=uri, status="failed", reason=reason)
