"""Everything that answers, built once from Settings. The one rule: what `async with App(settings)` opens, it closes.

Models are built here but load on their first use, so that listing and removing cost no model.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import cached_property
from types import TracebackType
from typing import Self

from citewell.config import Settings
from citewell.knowledge.catalog import Catalog
from citewell.knowledge.db import Database
from citewell.knowledge.index import INDEXES, Index
from citewell.knowledge.jobs import Jobs
from citewell.knowledge.sessions import Sessions
from citewell.knowledge.traces import Traces
from citewell.models import build_embedder, build_llm
from citewell.models.base import LLM, Embedder

LEASE_SECONDS = 15.0  # a killed worker's job is taken again after this


class App:
    """Raises on entry StorageError where the database cannot be opened, and ConfigError where the embedder cannot be built."""

    db: Database
    catalog: Catalog
    sessions: Sessions
    traces: Traces
    jobs: Jobs

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.new_job = asyncio.Event()  # wakes the worker of this process
        self._stack = AsyncExitStack()

    @cached_property
    def llm(self) -> LLM | None:
        """The chat model; None in tier none."""
        llm = build_llm(self.settings)
        if llm is not None:
            self._stack.push_async_callback(llm.close)
        return llm

    @cached_property
    def embedder(self) -> Embedder:
        embedder = build_embedder(self.settings)
        self._stack.push_async_callback(embedder.close)
        return embedder

    @cached_property
    def index(self) -> Index:
        return INDEXES["sqlite"](self.db, self.embedder.name)

    async def __aenter__(self) -> Self:
        embedder = self.embedder.name  # a setting that is wrong for it is told before anything is opened
        self.db = await self._stack.enter_async_context(Database(self.settings.database))
        self.catalog = Catalog(self.db, embedder)
        self.sessions = Sessions(self.db)
        self.traces = Traces(self.db, self.settings.trace_days)
        self.jobs = Jobs(self.db, lease=LEASE_SECONDS)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)
