"""How far a long job is, on standard error: bars on a terminal, else lines now and then."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from citewell.interfaces.cli.output.terminal import get_stderr, strip_controls, style_text
from citewell.runtime.progress import OnProgress, Progress

LABELS = {
    "read": "reading files",
    "embed": "learning meanings",
    "cut": "cutting documents",
    "write": "writing summaries",
    "ask": "asking",
    "check": "checking sentences",
    "move": "moving rows",
}
LINE_EVERY = 10.0  # seconds between two plain lines of one phase


@asynccontextmanager
async def show_progress() -> AsyncIterator[OnProgress]:
    """Show the Progress that is told inside the block."""
    console = get_stderr()
    if not console.is_terminal:
        yield _Lines().tell
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[pace]}"),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        yield _Bars(bars).tell


class _Bars:
    def __init__(self, bars: Bars) -> None:
        self.bars = bars
        self.tasks: dict[str, TaskID] = {}

    async def tell(self, progress: Progress) -> None:
        label = LABELS[progress.phase]
        task = self.tasks.get(progress.phase)
        if task is None:
            task = self.tasks[progress.phase] = self.bars.add_task(
                label, total=progress.total, pace=""
            )
        name = strip_controls(progress.name).replace("\n", " ")
        shown = name if len(name) <= 24 else name[:23] + "…"
        total = max(progress.total, progress.done)
        self.bars.update(
            task,
            description=shown or label,
            completed=progress.done,
            total=total,
            pace=format_pace(progress),
        )


class _Lines:
    def __init__(self) -> None:
        self.at: dict[str, float] = {}  # when a line of this phase was written last

    async def tell(self, progress: Progress) -> None:
        now = time.monotonic()
        if (
            now - self.at.get(progress.phase, -LINE_EVERY) < LINE_EVERY
            and progress.done < progress.total
        ):
            return
        self.at[progress.phase] = now
        tail = f" ({said})" if (said := format_pace(progress)) else ""
        get_stderr().print(
            style_text(f"{LABELS[progress.phase]}: {progress.done} of {progress.total}{tail}"),
            soft_wrap=True,
        )


def format_pace(progress: Progress) -> str:
    """How fast it goes and how long it will take, where that is known."""
    parts = [f"{progress.rate:.1f} a second"] if progress.rate else []
    if progress.left is not None and progress.done < progress.total:
        minutes, seconds = divmod(round(progress.left), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)


@contextmanager
def show_byte_progress(name: str) -> Iterator[Callable[[int, int], None]]:
    """Show a download; tell it (bytes done, bytes in all)."""
    console = get_stderr()
    if not console.is_terminal:
        lines = _ByteLines(name)
        yield lines.tell
        return
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Bars(*columns, console=console, transient=True) as bars:
        task = bars.add_task(name)
        yield lambda done, total: bars.update(task, completed=done, total=total)


class _ByteLines:
    def __init__(self, name: str) -> None:
        self.name = name
        self.at = 0.0

    def tell(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self.at >= LINE_EVERY or done == total:
            self.at = now
            get_stderr().print(
                style_text(f"{self.name}: {done / 1e6:.0f} of {total / 1e6:.0f} MB"), soft_wrap=True
            )
