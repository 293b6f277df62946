"""Questions that are answered whether or not anybody listens: each in a task of its own, its events
kept until it ends, so that who comes back hears all of them. Such a run ends with its answer, when
its user cancels it, or with the server.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from citewell.errors import Conflict, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.runtime.shutdown import Stopping
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.ask.shared_runs import cancel_run, follow_remote_run, share_run
from citewell.store.conversations.live_run_rows import LiveRunRows
from citewell.types import Event, Step

MOST = 16  # of one user at once; a question beyond them ends with its line


@dataclass(frozen=True, slots=True)
class Underway:
    """What a list shows of one."""

    trace_id: str
    question: str
    agent: str
    session_id: str
    started_at: float


@dataclass(slots=True, eq=False)
class LiveRun:
    """`error`: what it ended in where it did not end in an answer."""

    request: AskRequest
    trace_id: str = ""
    events: list[Event] = field(default_factory=list)
    error: Exception | None = None
    ended: bool = False
    started_at: float = field(default_factory=time.time)
    task: asyncio.Task[None] | None = None
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def follow(self, stopping: Stopping) -> AsyncIterator[Event]:
        """All its events from the first on. Raises what it ended in."""
        told = 0
        while True:
            while told < len(self.events):
                yield self.events[told]
                told += 1
            if self.ended:
                break
            try:
                async with self.changed:
                    while len(self.events) == told and not self.ended:
                        await self.changed.wait()
            except asyncio.CancelledError:
                if not stopping.cut.is_set() or self.task is None:
                    raise
                await asyncio.wait({self.task})  # it says how to go on with it
        if self.error is not None:
            raise self.error


class LiveRuns:
    """Of one App; where several servers share a PostgreSQL, those of the others too."""

    def __init__(self, app: App) -> None:
        self._stopping = app.root.stopping
        self._runs: list[LiveRun] = []
        self._shared = LiveRunRows(app.db) if app.db.dialect == "postgresql" else None
        self._sharing = set[asyncio.Task[None]]()

    async def ask(self, app: App, request: AskRequest) -> AsyncIterator[Event]:
        """As `stream_answer`, but that the run goes on where this is left after its first event."""
        if len(self._of(request.user_id)) >= MOST:
            async for event in stream_answer(app, request):
                yield event
            return
        run = LiveRun(request)
        self._runs.append(run)
        run.task = asyncio.create_task(self._answer(app, run))
        if self._shared:
            sharing = asyncio.create_task(share_run(self._shared, run))
            self._sharing.add(sharing)
            sharing.add_done_callback(self._sharing.discard)
        try:
            async for event in run.follow(self._stopping):
                yield event
        finally:
            if not run.trace_id:  # nobody could find it again
                run.task.cancel()

    async def follow(self, trace_id: str, user_id: str) -> AsyncIterator[Event]:
        """Raises NotFound where no such run of this user is under way."""
        if run := self._get(trace_id, user_id):
            return run.follow(self._stopping)
        if self._shared and await self._shared.is_alive(trace_id, user_id):
            return follow_remote_run(self._shared, trace_id)
        raise _make_ended_error(trace_id)

    async def cancel(self, trace_id: str, user_id: str) -> None:
        """End it without an answer. Raises NotFound as `follow` does."""
        run = self._get(trace_id, user_id)
        if run and run.task is not None:
            run.task.cancel()
            await asyncio.wait({run.task})
        elif not self._shared or not await cancel_run(self._shared, trace_id, user_id):
            raise _make_ended_error(trace_id)

    async def list_underway(self, user_id: str) -> list[Underway]:
        """The newest first."""
        here = self._list_own(user_id)
        own = {run.trace_id for run in here}
        rows = await self._shared.list(user_id) if self._shared else ()
        elsewhere = [
            Underway(row.trace_id, row.question, row.agent, row.session_id, row.started_at)
            for row in rows
            if row.trace_id not in own
        ]
        return sorted([*here, *elsewhere], key=lambda run: run.started_at, reverse=True)

    def _list_own(self, user_id: str) -> list[Underway]:
        return [
            Underway(
                run.trace_id,
                run.request.question,
                run.request.agent,
                run.request.session_id or "",
                run.started_at,
            )
            for run in reversed(self._of(user_id))
            if run.trace_id
        ]

    async def close(self) -> None:
        tasks = [run.task for run in self._runs if run.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, *self._sharing, return_exceptions=True)

    def _of(self, user_id: str) -> list[LiveRun]:
        return [run for run in self._runs if run.request.user_id == user_id]

    def _get(self, trace_id: str, user_id: str) -> LiveRun | None:
        return next((run for run in self._of(user_id) if run.trace_id == trace_id), None)

    async def _answer(self, app: App, run: LiveRun) -> None:
        self._stopping.count_start()
        cutting = asyncio.create_task(self._cancel_when_cut(asyncio.current_task()))
        try:
            async for event in stream_answer(app, run.request):
                if not run.trace_id and isinstance(event.data, Step):
                    run.trace_id = event.data.detail.get("trace_id", "")
                async with run.changed:
                    run.events.append(event)
                    run.changed.notify_all()
        except asyncio.CancelledError:
            run.error = Conflict(Text("the question was stopped"), code="stopped")
        except Exception as error:  # noqa: BLE001  # whoever listens is told, as with any stream
            run.error = error
        finally:
            cutting.cancel()
            self._runs.remove(run)
            self._stopping.count_end()
            run.ended = True
            async with run.changed:
                run.changed.notify_all()

    async def _cancel_when_cut(self, task: asyncio.Task[None] | None) -> None:
        await self._stopping.cut.wait()
        if task is not None:
            task.cancel()


def _make_ended_error(trace_id: str) -> NotFound:
    hint = Text(
        "it may have ended: `citewell trace {trace_id}` shows its answer then",
        trace_id=trace_id,
    )
    return NotFound(Text("no run {trace_id!r} is under way here", trace_id=trace_id), hint=hint)


def get_live_runs(app: App) -> LiveRuns:
    """Those of this process."""
    return app.part(LiveRuns, LiveRuns.close)
