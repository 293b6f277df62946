"""Everything that answers, built once from Settings. The one rule: what `async with App(settings)`
opens, it closes.

Models are built here but load on their first use, so that listing and removing cost no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from citewell.config import Settings
from citewell.fetch.addresses import Guard
from citewell.models import build_embedder, build_judge_llm, build_llm, build_reranker
from citewell.models.base import LLM, Embedder, Learns, Reranker
from citewell.models.probe import Known
from citewell.models.reader_base import Reader
from citewell.models.readers import build_reader
from citewell.retrieve.confidence import OWN, Calibration, load_calibration
from citewell.runtime.health import ModelsSeen, Writing
from citewell.runtime.limits import Turns
from citewell.runtime.shutdown import Stopping
from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.index.base import Index
from citewell.store.jobs import Jobs
from citewell.store.library.catalog import Catalog
from citewell.store.memory import Memories
from citewell.store.pages import Snapshots
from citewell.store.runs import Runs
from citewell.store.sessions import Sessions
from citewell.store.sites import Sites
from citewell.store.sources import Sources
from citewell.store.traces import Traces
from citewell.store.users.audit import Audit
from citewell.store.users.user_rows import Role
from citewell.store.users.users import Users

LEASE_SECONDS = 15.0  # a killed worker's job is taken again after this


T = TypeVar("T")


class Stoppable(Protocol):
    """A question on its way that can be told to end."""

    stop: asyncio.Event

    @property
    def user_id(self) -> str:
        """Whose it is."""
        ...


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks. An admin needs no view: they see all."""

    user_id: str
    role: Role


class App:
    """Raises on entry StorageError where the database cannot be opened, and ConfigError where a
    model cannot be built.

    `viewer`: whose eyes it is seen with (access_scope.py); None: everything is seen. `root`: the
    one that was opened.
    """

    db: Database
    catalog: Catalog
    sessions: Sessions
    traces: Traces
    memories: Memories
    runs: Runs
    jobs: Jobs
    snapshots: Snapshots
    sites: Sites
    sources: Sources
    users: Users
    audit: Audit
    root: App
    viewer: Viewer | None = None

    def __init__(self, settings: Settings, *, lender: App | None = None) -> None:
        """`lender`: an open App whose models and calibration are used, and which closes them.
        Raises ConfigError for hosts of this house that are none: here, not at the first page that
        is fetched.
        """
        Guard(settings.allow_private_hosts)
        self.settings = settings
        self.root = self
        self._lender = lender
        self.new_job = asyncio.Event()  # wakes the worker of this process
        self.turns = Turns()
        self.stopping = Stopping()
        self.models_seen = ModelsSeen()
        self.writing = Writing()
        self.running: dict[str, Stoppable] = {}  # by trace_id
        self._stack = AsyncExitStack()
        self._parts: dict[Callable[..., Any], Any] = {}

    @cached_property
    def llm(self) -> LLM | None:
        """The chat model; None in tier none."""
        if self._lender:
            return self._lender.llm
        llm = build_llm(self.settings)
        if llm is not None:
            self._stack.push_async_callback(llm.close)
        return llm

    @cached_property
    def embedder(self) -> Embedder:
        if self._lender:
            return self._lender.embedder
        embedder = build_embedder(self.settings)
        self._stack.push_async_callback(embedder.close)
        return embedder

    @cached_property
    def reader(self) -> Reader | None:
        """The small model that finds answering sentences; None where the settings want none."""
        if self._lender:
            return self._lender.reader
        reader = build_reader(self.settings)
        if reader is not None:
            self._stack.push_async_callback(reader.close)
        return reader

    @cached_property
    def judge_llm(self) -> LLM | None:
        """The model that the settings name to judge answers; None: the one that writes them."""
        if self._lender:
            return self._lender.judge_llm
        llm = build_judge_llm(self.settings)
        if llm is not None:
            self._stack.push_async_callback(llm.close)
        return llm

    def get_known_models(self) -> dict[str, Known]:
        """What earlier probes learned of the endpoints, by the settings' prefix."""
        return {name: model.known for name, model in self._get_endpoints().items()}

    async def learn_models(self, *, anew: bool = False) -> dict[str, Known]:
        """Have the endpoints probed where that is due, before what they can do decides how a
        question is answered. What is known of each, by the settings' prefix; one that is no
        endpoint has none. Raises nothing but ConfigError.
        """
        endpoints = self._get_endpoints()
        return dict(
            zip(
                endpoints,
                await asyncio.gather(*(m.learn(anew=anew) for m in endpoints.values())),
                strict=True,
            )
        )

    def _get_endpoints(self) -> dict[str, Learns]:
        models: dict[str, object] = {"llm": self.llm, "judge": self.judge_llm}
        return {name: model for name, model in models.items() if isinstance(model, Learns)}

    @cached_property
    def reranker(self) -> Reranker | None:
        """What looks again at the best passages; None where the settings want none. Raises
        ConfigError.
        """
        if self._lender:
            return self._lender.reranker
        reranker = build_reranker(
            self.settings, self.llm if self.settings.reranker == "llm" else None
        )
        if reranker is not None:
            self._stack.push_async_callback(reranker.close)
        return reranker

    @cached_property
    def calibration(self) -> Calibration:
        """The weights of the confidences: the library's own where it has some for this embedder,
        else the shipped ones.
        """
        if self._lender:
            return self._lender.calibration
        return load_calibration(self.settings.home / OWN, self.embedder.name)

    def part(
        self, build: Callable[[App], T], close: Callable[[T], Awaitable[None]] | None = None
    ) -> T:
        """What `build` makes of this App, once, when it is first asked for; it lives as long as the
        App, which closes it. Raises what `build` raises.
        """
        if build not in self._parts:
            self._parts[build] = made = build(self.root)
            if close is not None:
                self._stack.push_async_callback(close, made)
        part: T = self._parts[build]
        return part

    @cached_property
    def index(self) -> Index:
        return INDEXES["sqlite"](self.db, self.embedder.name)

    async def __aenter__(self) -> Self:
        # settings that are wrong for these are told before anything is opened
        embedder, _ = self.embedder.name, self.reranker
        self.db = await self._stack.enter_async_context(Database(self.settings.database))
        self._stack.push_async_callback(self.writing.close)
        self.catalog = Catalog(self.db, embedder)
        self.sessions = Sessions(self.db)
        self.traces = Traces(self.db, self.settings.trace_days)
        self.memories = Memories(
            self.db, embedder, self.settings.memory.days, self.settings.memory.most
        )
        self.runs = Runs(self.db, self.settings.trace_days)
        self.jobs = Jobs(self.db, lease=LEASE_SECONDS)
        self.snapshots = Snapshots(self.db)
        self.sites = Sites(self.db)
        self.sources = Sources(self.db)
        self.users = Users(self.db)
        self.audit = Audit(self.db)
        self._stack.push_async_callback(self.users.settle)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)
