"""Citewell in programs: `Citewell`, and `AsyncCitewell` in coroutines.

    from citewell import Citewell

    with Citewell("library") as citewell:
        citewell.add("handbook.pdf", "https://example.com/faq")
        print(citewell.ask("How many days of leave do I get?").answer)

The one rule: nothing is done here that the services do not do; both classes have the same methods,
and what one raises is a `CitewellError` with a hint.
"""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing
from functools import partial
from os import PathLike
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from citewell.config import Settings, load_settings
from citewell.errors import InvalidInput, StorageError
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.ask.ask import ask, stream_answer
from citewell.service.ask.default_collection import (
    add_default_collection,
    add_warnings,
    choose_collections,
)
from citewell.service.ask.run import AskRequest
from citewell.service.ask.search import SearchResult, parse_search_request, search
from citewell.service.check.check_text import check_text
from citewell.service.check.check_types import CheckResult
from citewell.service.library.add_report import AddReport
from citewell.service.library.read_and_embed import ingest_paths
from citewell.service.tables.sources import Added, add_source
from citewell.types import Answer, Event

FilePath = str | PathLike[str]


def _read_settings(home: FilePath | None, settings: dict[str, Any]) -> Settings:
    """`home` counts as CITEWELL_HOME does, so that its settings file is read."""
    there = {} if home is None else {"CITEWELL_HOME": str(Path(home).expanduser().resolve())}
    return load_settings({**os.environ, **there}, **settings)


class AsyncCitewell:
    """A library of documents and tables, open for the time of an `async with` block.

    `home`: the folder that holds all that is kept; None: the setting's. `settings`: settings by
    their names (docs/settings.md), before those of file and environment. `user`: whose sessions
    and memories the questions are.
    """

    def __init__(
        self, home: FilePath | None = None, *, user: str = "local", **settings: Any
    ) -> None:
        self.settings = _read_settings(home, settings)
        self.user = user
        self._stack = AsyncExitStack()
        self._opened: App | None = None

    async def __aenter__(self) -> Self:
        self._opened = await self._stack.enter_async_context(App(self.settings))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._opened = None
        await self._stack.__aexit__(kind, error, trace)

    @property
    def _app(self) -> App:
        if self._opened is None:
            raise InvalidInput(
                Text("it is not open"),
                hint=Text("use it in `with {name}()`", name=type(self).__name__),
            )
        return self._opened

    async def add(self, *paths: FilePath, collection: str | None = None) -> AddReport:
        """Add files, folders and web pages. A file that cannot be read is among `failed` and costs
        only itself. Raises StorageError, and what the embedder raises.
        """
        done = await ingest_paths(
            self._app, [os.fspath(path) for path in paths], collection or self.settings.collection
        )
        if done.report.error is not None:
            raise StorageError(done.report.error["message"], hint=done.report.error["hint"])
        if done.problem is not None:
            raise done.problem
        return done.report

    async def ask(self, question: str, **given: Any) -> Answer:
        """An answer with its citations. `given`: as in `stream`."""
        asked, chosen = await self._read_question(question, given)
        return add_warnings(await ask(self._app, asked), chosen)

    async def stream(self, question: str, **given: Any) -> AsyncGenerator[Event]:
        """Steps, citations and words as they come, the Answer last. `given`: `agent` (else `qa`),
        `collection`, `session_id` to go on with a conversation, `history`, `keep`; and any option
        of `AskOptions`, such as `doc_ids`, `since` or `max_seconds`.
        """
        asked, chosen = await self._read_question(question, given)
        events = stream_answer(self._app, asked)
        async with aclosing(events) as told:  # type: ignore[type-var]  # a generator
            async for event in told:
                if isinstance(event.data, Answer):
                    yield Event(event.kind, add_warnings(event.data, chosen))
                else:
                    yield event

    async def _read_question(
        self, question: str, given: dict[str, Any]
    ) -> tuple[AskRequest, list[str]]:
        """The request, and a warning that names its collection where nobody did."""
        of_request = {name: given.pop(name) for name in list(given) if name in _OF_REQUEST}
        asked = AskRequest(question=question, user_id=self.user, options=given, **of_request)
        return await add_default_collection(self._app, asked)

    async def search(self, query: str, **given: Any) -> SearchResult:
        """Passages, best first, without an answer. `given`: `collection` or `collections`, `k`, and
        any option of `SearchOptions`.
        """
        asked = parse_search_request(query, given)
        named = [asked.collection] if asked.collection else asked.collections
        where, chosen = await choose_collections(self._app, named)
        found = await search(self._app, asked.model_copy(update={"collections": where}))
        return found.model_copy(update={"warnings": [*chosen, *found.warnings]})

    async def check(self, text: str, collections: Sequence[str] = ()) -> CheckResult:
        """Each sentence of a text held against the documents."""
        where, chosen = await choose_collections(self._app, collections)
        found = await check_text(self._app, text, where)
        return found.model_copy(update={"warnings": [*chosen, *found.warnings]})

    async def add_tables(self, location: FilePath, name: str | None = None) -> Added:
        """Add a file with tables, or a database by its URL."""
        return await add_source(self._app, os.fspath(location), name)

    async def data(self, question: str, source: str = "", **given: Any) -> Answer:
        """A question to tables; `Answer.data` has the SQL and the rows. `source`: which tables;
        empty: those that fit.
        """
        return await self.ask(question, agent="data", source=source, **given)


_OF_REQUEST = frozenset(AskRequest.model_fields) - {"question", "user_id", "options"}


class Citewell:
    """The same for programs without coroutines, also where a loop runs already, as in notebooks.
    What it does runs in a thread of its own.
    """

    def __init__(
        self, home: FilePath | None = None, *, user: str = "local", **settings: Any
    ) -> None:
        self._inner = AsyncCitewell(home, user=user, **settings)
        self.settings = self._inner.settings
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None

    def __enter__(self) -> Self:
        with ExitStack() as opening:
            portal = opening.enter_context(start_blocking_portal())
            opening.enter_context(portal.wrap_async_context_manager(self._inner))
            self._portal, self._stack = portal, opening.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._portal = None
        self._stack.__exit__(kind, error, trace)

    @property
    def _calls(self) -> BlockingPortal:
        if self._portal is None:
            raise InvalidInput(Text("it is not open"), hint=Text("use it in `with Citewell()`"))
        return self._portal

    def add(self, *paths: FilePath, collection: str | None = None) -> AddReport:
        return self._calls.call(partial(self._inner.add, *paths, collection=collection))

    def ask(self, question: str, **given: Any) -> Answer:
        return self._calls.call(partial(self._inner.ask, question, **given))

    def stream(self, question: str, **given: Any) -> Generator[Event]:
        """What comes is cut off where the program stops listening."""
        told: SimpleQueue[Event | None] = SimpleQueue()

        async def listen() -> None:
            async with aclosing(self._inner.stream(question, **given)) as events:
                async for event in events:
                    told.put(event)

        listening = self._calls.start_task_soon(listen)
        listening.add_done_callback(lambda _: told.put(None))
        try:
            while (event := told.get()) is not None:
                yield event
            listening.result()
        finally:
            listening.cancel()

    def search(self, query: str, **given: Any) -> SearchResult:
        return self._calls.call(partial(self._inner.search, query, **given))

    def check(self, text: str, collections: Sequence[str] = ()) -> CheckResult:
        return self._calls.call(self._inner.check, text, collections)

    def add_tables(self, location: FilePath, name: str | None = None) -> Added:
        return self._calls.call(self._inner.add_tables, location, name)

    def data(self, question: str, source: str = "", **given: Any) -> Answer:
        return self._calls.call(partial(self._inner.data, question, source, **given))
