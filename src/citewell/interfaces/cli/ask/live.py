"""An answer in the making, on standard error: the steps as they end, the best evidence as soon as
it is found, the draft as it grows; all gone when the answer is there. The draft is never the
answer; what is printed at the end is what was checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from citewell.errors import CitewellError
from citewell.interfaces.cli.ask.answer import WORDS
from citewell.interfaces.cli.output.terminal import get_stderr, strip_controls, style_text
from citewell.interfaces.problem import to_error
from citewell.text.sentences import detect_language
from citewell.types import Answer, Event, Step

EVIDENCE = 3  # passages shown: the best ones
PAGES = 6  # pages of a site shown: the last ones read


async def watch_events(
    events: AsyncIterator[Event], beside: Callable[[], str] | None = None
) -> Answer:
    """Follow a stream to its Answer. `beside`: says how far other work is that goes on meanwhile.
    Raises what an `error` event tells.
    """
    console = get_stderr()
    view = _View(console, beside)
    if not console.is_terminal:
        return await _follow_events(events, view)
    with Live(console=console, transient=True, refresh_per_second=8, get_renderable=view.render):
        return await _follow_events(events, view)


async def _follow_events(events: AsyncIterator[Event], view: _View) -> Answer:
    answer: Answer | None = None
    async with aclosing(events) as stream:  # type: ignore[type-var]  # an async generator wherever it is one
        async for event in stream:
            if isinstance(event.data, Answer):
                answer = event.data
            elif event.kind == "error" and isinstance(event.data, dict):
                raise to_error(event.data)
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
                self.evidence = [_format_passage(each) for each in found[:EVIDENCE]]
            self.fresh = True
        elif (
            event.kind == "progress"
            and isinstance(event.data, dict)
            and event.data.get("kind") == "page"
        ):
            self.pages.append(_format_page(event.data))
        elif event.kind == "token" and isinstance(event.data, str):
            self.draft = event.data if self.fresh else self.draft + event.data
            self.fresh = False

    def render(self) -> Group:
        """The last steps, the evidence, and as much of the draft's end as half the window holds."""
        height = max(4, self.console.height // 2 - len(self.evidence))
        steps = [
            style_text(f"{step.node}: {step.action} ({step.seconds:.1f} s)", "dim")
            for step in self.steps[-height:]
        ]
        lines = Text(strip_controls(self.draft), style="dim italic").wrap(
            self.console, max(20, self.console.width)
        )
        other = (
            [style_text(said, "dim")] if self.beside is not None and (said := self.beside()) else []
        )
        return Group(*steps, *self.pages[-PAGES:], *self.evidence, *lines[-height:], *other)


def _format_page(told: dict[str, Any]) -> Text:
    """A page of a site that was read, or why it was not, and why it was chosen."""
    failed = _flatten_text(told.get("problem"))
    mark, style = ("✗", "red") if failed else ("·" if told.get("how") == "reused" else "✓", "green")
    counts = f"{told.get('pages', 0)} read, {told.get('links', 0)} links left"
    line = style_text(f"  {mark} ", style) + style_text(
        _flatten_text(told.get("title")) or _flatten_text(told.get("url")), "cyan"
    )
    line += style_text(f"  {failed or _flatten_text(told.get('why'))}  ({counts})", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _format_passage(found: dict[str, Any]) -> Text:
    """Where a passage stands and how it begins, on one line, which the terminal's width cuts."""
    text = _flatten_text(found.get("text"))
    page, section = found.get("page"), _flatten_text(found.get("section")).rpartition(" › ")[2]
    place = [_flatten_text(found.get("title"))]
    place += [WORDS[detect_language(text)]["page"].format(page)] if page is not None else []
    place += [section] if section and section != place[0] else []
    line = style_text("  " + " · ".join(place), "cyan") + style_text(f"  {text}", "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _flatten_text(value: Any) -> str:
    """On one line, without anything a terminal would obey."""
    return " ".join(strip_controls(str(value or "")).split())
