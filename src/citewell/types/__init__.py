"""What flows through Citewell. Inside: frozen dataclasses. Outside (API, CLI, traces): pydantic
models, one shape a channel. Every `start`/`end` is a character offset into its document's `text`,
and `text[start:end]` is the words meant.
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
