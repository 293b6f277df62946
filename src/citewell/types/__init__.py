"""The data types of Citewell. Internal ones are frozen dataclasses; those of the API, the command
line and traces are pydantic models. Every `start`/`end` is a character offset into the `text` of
its document: `text[start:end]` is the quoted text.
"""

from __future__ import annotations

from citewell.types.answer_types import (
    Answer,
    Chart,
    Citation,
    CitationStatus,
    ColumnLook,
    Elsewhere,
    Followed,
    How,
    Kind,
    Message,
    Origin,
    Role,
    Sentence,
    Shown,
    Status,
    Step,
    TableData,
    Usage,
    Verdict,
)
from citewell.types.document_types import Box, Chunk, ChunkKind, Document, Hit, Page, Section
from citewell.types.trace_types import Event, EventKind, IntentAnalysis, Snapshot, Trace

__all__ = [
    "Answer",
    "Box",
    "Chart",
    "Chunk",
    "ChunkKind",
    "Citation",
    "CitationStatus",
    "ColumnLook",
    "Document",
    "Elsewhere",
    "Event",
    "EventKind",
    "Followed",
    "Hit",
    "How",
    "IntentAnalysis",
    "Kind",
    "Message",
    "Origin",
    "Page",
    "Role",
    "Section",
    "Sentence",
    "Shown",
    "Snapshot",
    "Status",
    "Step",
    "TableData",
    "Trace",
    "Usage",
    "Verdict",
]
