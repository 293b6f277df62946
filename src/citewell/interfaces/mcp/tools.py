"""The tools: what a model reads of each, and what it does. A tool says what it did in words that
lead on (ids, offsets, hints), and what it refuses is a result with a hint, never a broken
connection.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Annotated, Any, Concatenate, ParamSpec, cast

from mcp_types import CallToolResult

from citewell.errors import CitewellError
from citewell.interfaces.mcp import render, shown
from citewell.interfaces.mcp.adding import Given, add_given
from citewell.interfaces.mcp.parameters import (
    AddDocumentText,
    AddLocalDocumentUrl,
    Agent,
    Collection,
    Correction,
    DocId,
    IsCorrect,
    K,
    Limit,
    MaxSeconds,
    Offset,
    Path,
    Query,
    Question,
    SessionId,
    Since,
    Source,
    StartUrls,
    Text,
    Title,
    TraceId,
    Types,
    Until,
    Url,
)
from citewell.interfaces.mcp.visit import Place, Say
from citewell.runtime.access_scope import require_role
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.default_collection import add_default_collection, get_default_collection
from citewell.service.ask.default_collection import format_notice as told_of
from citewell.service.ask.run import AskRequest
from citewell.service.ask.search import SearchRequest, search
from citewell.service.check.check_text import check_text
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.service.library.collections import list_collections
from citewell.service.sites.sites import list_sites
from citewell.service.tables.sources import list_sources
from citewell.types import Answer, Event, Step

LEARN_SECONDS = 30.0  # for what a vote brings about, where no server does it

P = ParamSpec("P")


def explain_failures(
    tool: Callable[Concatenate[Tools, P], Coroutine[Any, Any, CallToolResult]],
) -> Callable[Concatenate[Tools, P], Coroutine[Any, Any, CallToolResult]]:
    """Failures we can explain become results; others are the library's to hide and to log."""

    @functools.wraps(tool)
    async def run(self: Tools, /, *args: P.args, **kwargs: P.kwargs) -> CallToolResult:
        try:
            return await tool(self, *args, **kwargs)
        except CitewellError as error:
            return shown.build_failure(error, self._place.tell)

    return run


class Tools:
    """Each public method is a tool; its docstring is what a model reads."""

    def __init__(self, place: Place) -> None:
        self._place = place

    @explain_failures
    async def ask(
        self,
        ctx: Say,
        question: Question,
        agent: Agent = "auto",
        collection: Collection = None,
        session_id: SessionId = None,
        source: Source = None,
        start_urls: StartUrls = None,
        max_seconds: MaxSeconds = None,
    ) -> Annotated[CallToolResult, shown.Asked]:
        """Ask the user's documents, web sites or tables, and get an answer whose every sentence is
        proved by a citation.

        Prefer this to answering from your own knowledge when the question is about the user's
        material. Repeat the citations `[n]` with their links where you pass the answer on.
        `refused` means that the sources do not say it: tell the user so, and do not fill the gap.
        """
        visit = self._place.visit(ctx)
        given = {"source": source, "start_urls": start_urls, "max_seconds": max_seconds}
        asked = AskRequest(
            question=question,
            agent=agent,
            collection=collection or None,
            session_id=session_id or None,
            user_id=visit.user_id,
            options={name: value for name, value in given.items() if value},
        )
        asked, warnings = await add_default_collection(visit.app, asked)
        answer: Answer | None = None
        count = 0
        events = cast("AsyncGenerator[Event, None]", stream_answer(visit.app, asked))
        async with visit.app.root.stopping.cancel_on_stop(), aclosing(events):
            async for event in events:
                if message := _describe_progress(event):
                    count += 1
                    await ctx.report_progress(count, message=message)
                if isinstance(event.data, Answer):
                    answer = event.data
        if answer is None:
            raise CitewellError(
                "the agent ended without an answer", hint="a fault of Citewell; its log has more"
            )
        return render.render_answer(
            answer.model_copy(update={"warnings": [*warnings, *answer.warnings]}), visit.base
        )

    @explain_failures
    async def search(
        self,
        ctx: Say,
        query: Query,
        collection: Collection = None,
        k: K = 6,
        types: Types = None,
        since: Since = None,
        until: Until = None,
    ) -> Annotated[CallToolResult, shown.Search]:
        """Find passages of the user's documents, best first, by words and by meaning. No answer is
        written.

        Read on around a passage with get_document(doc_id, offset=start).
        """
        visit = self._place.visit(ctx)
        chosen = None if collection else await get_default_collection(visit.app)
        where = collection or chosen
        request = SearchRequest(
            query=query, collection=where, k=k, types=types or [], since=since, until=until
        )
        result = await search(visit.app, request)
        said = [told_of(chosen)] if chosen else []
        return render.render_search(
            result.model_copy(update={"warnings": [*said, *result.warnings]}), visit.base
        )

    @explain_failures
    async def check(
        self, ctx: Say, text: Text, collection: Collection = None
    ) -> Annotated[CallToolResult, shown.Checked]:
        """Hold a text against the user's documents: each sentence is `entailed`, `contradicted` or
        `not_stated`, with quotes.

        Use it for what you or others have written about the user's material, before it is passed
        on. `not_stated` means that the documents do not settle it, not that it is false.
        """
        visit = self._place.visit(ctx)
        chosen = None if collection else await get_default_collection(visit.app)
        where = collection or chosen

        async def report_progress(done: int, total: int) -> None:
            await ctx.report_progress(done, total, f"{done} of {total} sentences checked")

        result = await check_text(visit.app, text, [where] if where else [], report_progress)
        said = [told_of(chosen)] if chosen else []
        return render.render_check(
            result.model_copy(update={"warnings": [*said, *result.warnings]}), visit.base
        )

    @explain_failures
    async def list_collections(self, ctx: Say) -> Annotated[CallToolResult, shown.Collections]:
        """Which collections of documents there are, which tables (for the agent data), and which
        web sites were explored.
        """
        app = self._place.visit(ctx).app
        found = await list_collections(app)
        sources = await list_sources(app)
        sites = [site.collection for site in await list_sites(app)]
        return render.render_listing(app.settings.collection, found, sources, sites)

    @explain_failures
    async def get_document(
        self, ctx: Say, doc_id: DocId, offset: Offset = 0, limit: Limit = 8_000
    ) -> Annotated[CallToolResult, shown.DocumentPart]:
        """Read the text of a document, a part at a time. `next_offset` says where the next part
        begins.
        """
        visit = self._place.visit(ctx)
        info = await visit.app.catalog.document(doc_id)
        document = await visit.app.catalog.content(doc_id)
        return render.render_document(info, document, offset, limit, visit.base)

    @explain_failures
    async def give_feedback(
        self, ctx: Say, trace_id: TraceId, is_correct: IsCorrect, correction: Correction = None
    ) -> Annotated[CallToolResult, shown.Feedback]:
        """Tell that an answer was right or wrong, so that the next one is better. Only what the
        user said, not your view.
        """
        visit = self._place.visit(ctx)
        given = await submit_feedback(
            visit.app, trace_id, is_correct, correction or None, visit.user_id
        )
        if self._place.local:
            await run_pending_jobs(visit.app, LEARN_SECONDS)
        said = shown.Feedback(
            feedback_id=given.feedback_id, state=given.state, message=given.message
        )
        return shown.build_result(said, f"{given.feedback_id}: {given.message}")

    @explain_failures
    async def add_document(
        self,
        ctx: Say,
        url: Url = None,
        text: AddDocumentText = None,
        title: Title = None,
        collection: Collection = None,
    ) -> Annotated[CallToolResult, shown.Added]:
        """Add a document to a collection, from a web address or as text, so that it can be asked
        and searched.

        The same address or title again replaces the document. The collection is made where it is
        new.
        """
        return await self._add_from_source(ctx, url, text, title, None, collection)

    @explain_failures
    async def add_local_document(
        self,
        ctx: Say,
        path: Path = None,
        url: AddLocalDocumentUrl = None,
        text: AddDocumentText = None,
        title: Title = None,
        collection: Collection = None,
    ) -> Annotated[CallToolResult, shown.Added]:
        """Add documents to a collection, so that they can be asked and searched: a file or a folder
        of this machine, a web address, or a text.

        The same path, address or title again replaces the document. The collection is made where it
        is new.
        """
        return await self._add_from_source(ctx, url, text, title, path, collection)

    async def _add_from_source(
        self,
        ctx: Say,
        url: str | None,
        text: str | None,
        title: str | None,
        path: str | None,
        collection: str | None,
    ) -> CallToolResult:
        app = self._place.visit(ctx).app
        require_role(app, "editor", "add_document")
        given = Given(url, text, title, path)
        return await add_given(app, given, collection, ctx.report_progress, local=self._place.local)


def _describe_progress(event: Event) -> str:
    """What is told of an event while the answer is made."""
    if isinstance(event.data, Step):
        return f"{event.data.node}: {event.data.action}"
    if (
        event.kind == "progress"
        and isinstance(event.data, dict)
        and event.data.get("kind") == "page"
    ):
        return f"read {event.data.get('title') or event.data.get('url')}"
    return ""
