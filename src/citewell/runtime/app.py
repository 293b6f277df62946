"""The application: stores and models, built once from Settings. `async with App(settings)` opens
and closes them.

Models are built here but load on their first use, so that listing and removing cost no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from citewell.config import Settings
from citewell.errors import ConfigError
from citewell.fetch.addresses import Guard
from citewell.models.base import LLM, Embedder, Learns, Reranker
from citewell.models.probe import Known
from citewell.models.providers import (
    build_embedder,
    build_judge_llm,
    build_llm,
    build_reader,
    build_reranker,
)
from citewell.models.reader_base import Reader
from citewell.retrieve.confidence import OWN, Calibration, load_calibration
from citewell.runtime.health import ModelsSeen, Writing
from citewell.runtime.limits import Turns
from citewell.runtime.shutdown import Stopping
from citewell.store.boards.boards import Boards
from citewell.store.boards.saved_questions import SavedQuestions
from citewell.store.conversations.folders import Folders
from citewell.store.conversations.shares import Shares
from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Index
from citewell.store.jobs import Jobs
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_store import Collections
from citewell.store.library.file_objects import FileObjects
from citewell.store.library.object_store import ObjectStore
from citewell.store.library.pending_chunks import PendingChunks
from citewell.store.memory import Memories
from citewell.store.pages import Snapshots
from citewell.store.runs import Runs
from citewell.store.sessions import Sessions
from citewell.store.sites import Sites
from citewell.store.sources import Sources
from citewell.store.syncs.syncs import Syncs
from citewell.store.traces import Traces
from citewell.store.users.audit import Audit
from citewell.store.users.shared_home import open_shared_home
from citewell.store.users.user_rows import Role
from citewell.store.users.users import Users

LEASE_SECONDS = 15.0  # a killed worker's job is taken again after this
CHAT_MODEL = ("llm", "llm_url", "llm_model", "llm_key")  # settings that another model comes with
LOOK_AGAIN = 0.5  # seconds between checks whether the questions of a replaced model have ended
T = TypeVar("T")
M = TypeVar("M", bound=LLM | Embedder | Reader | Reranker | None)


class Stoppable(Protocol):
    """A running question that can be stopped."""

    stop: asyncio.Event

    @property
    def user_id(self) -> str:
        """Whose it is."""
        ...


@dataclass(frozen=True, slots=True)
class Viewer:
    """The user whose view of the data is shown. An admin needs no view: admins see everything."""

    user_id: str
    role: Role


class App:
    """Raises on entry StorageError where the database cannot be opened, and ConfigError where a
    model cannot be built, or the home has not the key of the database that others share.

    `viewer`: the user whose data is visible (access_scope.py); None: all data is. `root`: the App
    that was opened, of which this may be a view.
    """

    db: Database
    catalog: Catalog
    collections: Collections
    pending_chunks: PendingChunks
    file_objects: FileObjects
    sessions: Sessions
    folders: Folders
    shares: Shares
    traces: Traces
    memories: Memories
    runs: Runs
    jobs: Jobs
    snapshots: Snapshots
    sites: Sites
    sources: Sources
    syncs: Syncs
    saved_questions: SavedQuestions
    boards: Boards
    users: Users
    audit: Audit
    root: App
    viewer: Viewer | None = None

    def __init__(self, settings: Settings, *, lender: App | None = None) -> None:
        """`lender`: an open App that owns the models and the calibration used here. Raises
        ConfigError for wrong `allow_private_hosts`: here, not when the first page is fetched.
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
        return self._lender.llm if self._lender else self._keep(build_llm(self.settings))

    @cached_property
    def embedder(self) -> Embedder:
        return self._lender.embedder if self._lender else self._keep(build_embedder(self.settings))

    @cached_property
    def reader(self) -> Reader | None:
        """The small model that finds answering sentences; None if the settings turn it off."""
        return self._lender.reader if self._lender else self._keep(build_reader(self.settings))

    @cached_property
    def judge_llm(self) -> LLM | None:
        """The model that judges answers, if the settings name one; None: the chat model judges."""
        if self._lender:
            return self._lender.judge_llm
        return self._keep(build_judge_llm(self.settings))

    def _keep(self, model: M) -> M:
        """A model that is closed with this App."""
        if model is not None:
            self._stack.push_async_callback(model.close)
        return model

    def use_settings(self, settings: Settings) -> None:
        """Use other settings from now on, and another chat model if they name one. The previous
        model finishes the questions it has begun, then it is closed. If it raises ConfigError,
        nothing has changed.
        """
        before, self.settings = self.settings, settings
        if all(getattr(before, name) == getattr(settings, name) for name in CHAT_MODEL):
            return
        old = {name: self.__dict__.pop(name, None) for name in ("llm", "reranker")}
        try:
            _ = self.llm, self.reranker
        except ConfigError:
            self.settings = before
            self.__dict__ |= {name: model for name, model in old.items() if model is not None}
            raise
        if old["llm"] is not None:
            closing = asyncio.create_task(self._close_replaced(old["llm"], set(self.running)))
            self._stack.push_async_callback(_cancel_task, closing)

    async def _close_replaced(self, model: LLM, asked: set[str]) -> None:
        while asked & self.running.keys():  # noqa: ASYNC110 - they end wherever they are asked
            await asyncio.sleep(LOOK_AGAIN)
        await model.close()

    def get_known_models(self) -> dict[str, Known]:
        """What earlier probes found out about the endpoints, by the settings' prefix."""
        return {name: model.known for name, model in self._get_endpoints().items()}

    async def learn_models(self, *, anew: bool = False) -> dict[str, Known]:
        """Probe the endpoints that are due, because their abilities decide how a question is
        answered. Returns what is known of each, by the settings' prefix. Raises only ConfigError.
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
        """The model that ranks the best passages again, if the settings name one. Raises
        ConfigError.
        """
        if self._lender:
            return self._lender.reranker
        llm = self.llm if self.settings.reranker == "llm" else None
        return self._keep(build_reranker(self.settings, llm))

    @cached_property
    def calibration(self) -> Calibration:
        """The confidences' weights: the library's own for this embedder, else the shipped ones."""
        if self._lender:
            return self._lender.calibration
        return load_calibration(self.settings.home / OWN, self.embedder.name)

    def part(
        self, build: Callable[[App], T], close: Callable[[T], Awaitable[None]] | None = None
    ) -> T:
        """The result of `build`, called once, on first use. It lives as long as the App, which
        closes it. Raises what `build` raises.
        """
        if build not in self._parts:
            self._parts[build] = made = build(self.root)
            if close is not None:
                self._stack.push_async_callback(close, made)
        part: T = self._parts[build]
        return part

    @cached_property
    def index(self) -> Index:
        return INDEXES[self.db.dialect](self.db, self.embedder.name)

    async def __aenter__(self) -> Self:
        # settings that are wrong for these are told before anything is opened
        embedder, _ = self.embedder.name, self.reranker
        self.db = await self._stack.enter_async_context(make_database(self.settings))
        self._stack.push_async_callback(self.writing.close)
        if self.settings.home_is_cache:
            await open_shared_home(self.db)
        self.file_objects = make_file_objects(self.settings, self.db)
        self.catalog = Catalog(self.db, embedder, objects=self.file_objects)
        self.collections = Collections(self.db, embedder, objects=self.file_objects)
        self.pending_chunks = PendingChunks(self.db, embedder)
        self.sessions = Sessions(self.db)
        self.folders, self.shares = Folders(self.db), Shares(self.db)
        self.traces = Traces(self.db, self.settings.trace_days)
        self.memories = Memories(
            self.db, embedder, self.settings.memory.days, self.settings.memory.most
        )
        self.runs = Runs(self.db, self.settings.trace_days)
        self.jobs = Jobs(self.db, lease=LEASE_SECONDS)
        self.snapshots = Snapshots(self.db)
        self.sites = Sites(self.db)
        self.sources = Sources(self.db)
        self.syncs = Syncs(self.db)
        self.saved_questions, self.boards = SavedQuestions(self.db), Boards(self.db)
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


def make_database(settings: Settings) -> Database:
    """Raises ConfigError for an address that is none."""
    return Database(
        settings.database,
        settings.database_url.get_secret_value(),
        statement_seconds=settings.database_timeout,
        direct_url=settings.database_direct_url.get_secret_value(),
        replica_urls=settings.database_replica_urls.get_secret_value().split(),
        replica_lag=settings.database_replica_lag,
    )


def make_file_objects(settings: Settings, db: Database) -> FileObjects:
    """Raises InvalidInput for an address of an object store that is none."""
    url = settings.objects_url
    return FileObjects(db, ObjectStore(url) if url else None)


async def _cancel_task(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
