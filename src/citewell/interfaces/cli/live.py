"""An answer in the making, on standard error: the steps as they end, the best evidence as soon as
it is found, the draft as it grows; all gone when the answer is there.

The one rule: the draft is never the answer; what is printed at the end is what was checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from citewell.errors import CitewellError
from citewell.interfaces.cli.answer import WORDS
from citewell.interfaces.cli.terminal import err, plain, styled
from citewell.interfaces.problem import error_of
from citewell.text.sentences import language
from citewell.types import Answer, Event, Step

EVIDENCE = 3  # passages shown: the best ones
PAGES = 6  # pages of a site shown: the last ones read


async def watch(events: AsyncIterator[Event], beside: Callable[[], str] | None = None) -> Answer:
    """Follow a stream to its Answer. `beside`: says how far other work is that goes on meanwhile.
    Raises what an `error` event tells.
    """
    console = err()
    view = _View(console, beside)
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
        raise CitewellError(
            "the agent ended without an answer", hint="`citewell trace` shows the latest runs"
        )
    return answer


class _View:
    def __init__(self, console: Console, beside: Callable[[], str] | None) -> None:
        self.console = console
        self.beside = beside
        self.steps: list[Step] = []
        self.evidence: list[Text] = []
        self.pages: list[Text] = []
        self.draft = ""
        self.fresh = True  # the next token starts a new draft

    def take(self, event: Event) -> None:
        if isinstance(event.data, Step):
            self.steps.append(event.data)
            found = event.data.detail.get("evidence")  # of the retrieval step
            if isinstance(found, list):
                self.evidence = [_line(each) for each in found[:EVIDENCE]]
            self.fresh = True
        elif (
            event.kind == "progress"
            and isinstance(event.data, dict)
            and event.data.get("kind") == "page"
        ):
            self.pages.append(_page(event.data))
        elif event.kind == "token" and isinstance(event.data, str):
            self.draft = event.data if self.fresh else self.draft + event.data
            self.fresh = False

    def render(self) -> Group:
        """The last steps, the evidence, and as much of the draft's end as half the window holds."""
        height = max(4, self.console.height // 2 - len(self.evidence))
        steps = [
            styled(f"{step.node}: {step.action} ({step.seconds:.1f} s)", "dim")
            for step in self.steps[-height:]
        ]
        lines = Text(plain(self.draft), style="dim italic").wrap(
            self.console, max(20, self.console.width)
        )
        other = [styled(said, "dim")] if self.beside is not None and (said := self.beside()) else []
        return Group(*steps, *self.pages[-PAGES:], *self.evidence, *lines[-height:], *other)


def _page(told: dict[str, Any]) -> Text:
    """A page of a site that was read, or why it was not, and why it was chosen."""
    failed = _flat(told.get("problem"))
    mark, style = ("✗", "red") if failed else ("·" if told.get("how") == "reused" else "✓", "green")
    counts = f"{told.get('pages', 0)} read, {told.get('links', 0)} links left"
    line = styled(f"  {mark} ", style) + styled(
        _flat(told.get("title")) or _flat(told.get("url")), "cyan"
    )
    line += styled(f"  {failed or _flat(told.get('why'))}  ({counts})", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _line(found: dict[str, Any]) -> Text:
    """Where a passage stands and how it begins, on one line, which the terminal's width cuts."""
    text = _flat(found.get("text"))
    page, section = found.get("page"), _flat(found.get("section")).rpartition(" › ")[2]
    place = [_flat(found.get("title"))]
    place += [WORDS[language(text)]["page"].format(page)] if page is not None else []
    place += [section] if section and section != place[0] else []
    line = styled("  " + " · ".join(place), "cyan") + styled(f"  {text}", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _flat(value: Any) -> str:
    """On one line, without anything a terminal would obey."""
    return " ".join(plain(str(value or "")).split())
