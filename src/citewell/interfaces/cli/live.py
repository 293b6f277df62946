"""An answer in the making, on standard error: the steps as they end, the draft as it grows, gone when it is proved.

The one rule: the draft is never the answer; what is printed at the end is what was checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from citewell.errors import CitewellError
from citewell.interfaces.cli.terminal import err, plain, styled
from citewell.interfaces.problem import error_of
from citewell.types import Answer, Event, Step


async def watch(events: AsyncIterator[Event]) -> Answer:
    """Follow a stream to its Answer. Raises what an `error` event tells."""
    console = err()
    view = _View(console)
    if not console.is_terminal:
        return await _follow(events, view)
    with Live(console=console, transient=True, refresh_per_second=8, get_renderable=view.render):
        return await _follow(events, view)


async def _follow(events: AsyncIterator[Event], view: _View) -> Answer:
    answer: Answer | None = None
    async with aclosing(events) as stream:  # type: ignore[type-var]  # an async generator wherever it is one
        async for event in stream:
            if isinstance(event.data, Answer):
                answer = event.data
            elif event.kind == "error" and isinstance(event.data, dict):
                raise error_of(event.data)
            else:
                view.take(event)
    if answer is None:
        raise CitewellError("the agent ended without an answer", hint="`citewell trace` shows the latest runs")
    return answer


class _View:
    def __init__(self, console: Console) -> None:
        self.console = console
        self.steps: list[Step] = []
        self.draft = ""
        self.fresh = True  # the next token starts a new draft

    def take(self, event: Event) -> None:
        if isinstance(event.data, Step):
            self.steps.append(event.data)
            self.fresh = True
        elif event.kind == "token" and isinstance(event.data, str):
            self.draft = event.data if self.fresh else self.draft + event.data
            self.fresh = False

    def render(self) -> Group:
        """The last steps, and as much of the draft's end as half the window holds."""
        height = max(4, self.console.height // 2)
        steps = [styled(f"{step.node}: {step.action} ({step.seconds:.1f} s)", "dim") for step in self.steps[-height:]]
        lines = Text(plain(self.draft), style="dim italic").wrap(self.console, max(20, self.console.width))
        return Group(*steps, *lines[-height:])
