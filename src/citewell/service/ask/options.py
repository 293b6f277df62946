"""What people may say about a search (which documents, which strategy, how much newness and variety
count), and about how a question is answered (what it may cost, which loops, whether the web and the
memory are used). A wrong value is refused by its name, with what would be right; what is said here
is said alike on the command line, in `POST /api/search` and in the `options` of `POST /api/ask`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError

from citewell.config import Settings
from citewell.errors import InvalidInput
from citewell.messages import Text
from citewell.retrieve.boosts import HIGHEST
from citewell.retrieve.strategies import STRATEGIES
from citewell.runtime.app import App
from citewell.service.library.documents import find_documents
from citewell.service.library.media_types import resolve_media_types
from citewell.skills.paper.reading_context import Selection
from citewell.store.index.protocol import Filter
from citewell.types import Shown

LANGS = ("en", "zh")
MOST_DOCUMENTS = 1_000  # named in one search
MOST_COLLECTIONS = 200  # asked at once


class SearchOptions(Shown):
    """`doc_ids`: ids, addresses, paths; `types`: media types, suffixes; `since`, `until`: dates."""

    doc_ids: list[str] = Field(default=[], max_length=MOST_DOCUMENTS)
    types: list[str] = Field(default=[], max_length=50)
    langs: list[str] = Field(default=[], max_length=10)
    since: str | None = None
    until: str | None = None
    least_priority: int | None = Field(None, ge=0, le=HIGHEST)
    strategy: str | None = None
    recency: float | None = Field(None, ge=0, le=5)
    diversity: float | None = Field(None, ge=0, le=1)


class AskOptions(SearchOptions):
    """`max_...`: the budget of this question. `corrections`, `inner_loop`, `outer_loop`: how the
    dual loop goes about it. `web` and `memory` False: neither is used; None: as the settings say.
    From `start_urls` on: of the website agent, as spec 002 has them. `allowed_domains` None: the
    hosts of the start pages; empty: every one. From `event` on: of the paper agent; what the
    session is to do (None: what its state expects), what the reader has marked, the sender's own
    name of the message, and the language of report and route. `source` of the data agent: the
    tables that are asked. `knowledge` False: what people have confirmed is not used (to measure
    what it is worth). `collections`: more of them that are asked, beside the request's own.
    """

    max_calls: int | None = Field(None, ge=1)
    max_tokens: int | None = Field(None, ge=1)
    max_seconds: float | None = Field(None, gt=0)
    corrections: int | None = Field(None, ge=0, le=5)
    inner_loop: bool | None = None
    outer_loop: bool | None = None
    web: bool | None = None
    memory: bool | None = None
    start_urls: list[str] = Field(default=[], max_length=50)
    allowed_domains: list[str] | None = Field(None, max_length=100)
    instruction: str | None = Field(None, max_length=1_000)
    max_iterations: int | None = Field(None, ge=0, le=50)
    max_pages: int | None = Field(None, ge=1, le=5_000)
    max_urls_per_iteration: int | None = Field(None, ge=1, le=50)
    content_max_chars: int | None = Field(None, ge=200)
    event: Literal["report", "plan", "ask", "compare"] | None = None
    selection: Selection | None = None
    message_id: str = Field("", max_length=100)
    lang: Literal["en", "zh"] | None = None
    source: str = Field("", max_length=200)
    knowledge: bool | None = None
    collections: list[str] = Field(default=[], max_length=MOST_COLLECTIONS)


# what only some agents know of
LOOPS = ("corrections", "inner_loop", "outer_loop", "web", "memory")
EXPLORING = ("max_iterations", "max_pages", "max_urls_per_iteration", "content_max_chars")
SITE = ("start_urls", "allowed_domains", "instruction", *EXPLORING)
NARROWING = ("doc_ids", "types", "langs", "since", "until", "least_priority")
READING = ("event", "selection", "message_id", "lang")
TABLES = ("source",)
WIDENING = ("collections",)
UNKNOWN = {
    "qa": (*LOOPS, *SITE, *READING, *TABLES),
    "dual_loop": (*SITE, *READING, *TABLES),
    "website": (*LOOPS, *NARROWING, *READING, *TABLES, "knowledge", *WIDENING),
    "paper": (*LOOPS, *NARROWING, *SITE, *TABLES, "knowledge", *WIDENING),
    "data": (*LOOPS, *NARROWING, *SITE, *READING, *WIDENING),
}


def is_narrowed(options: SearchOptions) -> bool:
    """Whether only some of the documents are asked."""
    return any(getattr(options, name) not in (None, []) for name in NARROWING)


def list_unused_warnings(agent: str, options: AskOptions, settings: Settings) -> list[str]:
    """Warnings of what was said and does not count."""
    if said := [
        name for name in UNKNOWN.get(agent, ()) if getattr(options, name) not in (None, [], "")
    ]:
        return [Text("the {agent} agent does not use {said}", agent=agent, said=", ".join(said))]
    if agent != "dual_loop":
        return []
    if options.web and settings.web.provider == "none":
        return [Text("the web is not searched: no provider is named (setting web.provider)")]
    if options.web and is_narrowed(options):
        return [Text("the web is not searched: only some of the documents are asked")]
    return []


Given = TypeVar("Given", bound=SearchOptions)


def parse_options(given: Mapping[str, Any], kind: type[Given]) -> Given:
    """Raises InvalidInput naming the option that is unknown or wrong."""
    known = kind.model_fields
    if unknown := sorted(set(given) - set(known)):
        raise InvalidInput(
            Text("unknown options: {unknown}", unknown=", ".join(unknown)),
            hint=_suggest_option(unknown[0], known),
        )
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InvalidInput(
            Text("option {where}: {msg}", where=where, msg=first["msg"]),
            hint=_suggest_option(where, known),
        ) from None


def _suggest_option(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, [each for each in known if each != name], n=1)
    return (
        ""
        if name in known
        else Text("did you mean {near}?", near=near[0])
        if near
        else Text("known: {known}", known=", ".join(known))
    )


def get_strategy(options: SearchOptions, app: App) -> str:
    """Raises InvalidInput for an unknown one, naming those there are."""
    name = options.strategy or app.settings.search.strategy
    if name not in STRATEGIES:
        raise InvalidInput(
            Text("unknown strategy: {name}", name=name),
            hint=Text("known: {strategies}", strategies=", ".join(STRATEGIES)),
            code="unknown_strategy",
        )
    return name


async def build_filter(app: App, options: SearchOptions, collections: Sequence[str]) -> Filter:
    """Raises InvalidInput for a wrong value, NotFound for an unknown document."""
    unknown = [lang for lang in options.langs if lang not in LANGS]
    if unknown:
        raise InvalidInput(
            Text("unknown language: {unknown}", unknown=", ".join(unknown)),
            hint=Text("known: {langs}", langs=", ".join(LANGS)),
        )
    since, until = (
        parse_moment(options.since, "since"),
        parse_moment(options.until, "until", end=True),
    )
    if since is not None and until is not None and since > until:
        raise InvalidInput(
            Text(
                "since {since} is later than until {until}",
                since=options.since,
                until=options.until,
            ),
            hint=Text("nothing could be found"),
        )
    return Filter(
        collections=tuple(collections),
        doc_ids=tuple(
            [
                doc
                for target in options.doc_ids
                for doc in await _resolve_documents(app, target, collections)
            ]
        ),
        langs=tuple(options.langs),
        media_types=resolve_media_types(options.types),
        since=since,
        until=until,
        least_priority=options.least_priority,
    )


async def _resolve_documents(app: App, target: str, collections: Sequence[str]) -> list[str]:
    """The ids that one name means. Raises NotFound, or InvalidInput if all are elsewhere."""
    found = (
        [await app.catalog.document(target)]
        if target.startswith("doc_")
        else await find_documents(app, target)
    )
    within = [info.doc_id for info in found if info.collection in collections]
    if not within:
        there = ", ".join(sorted({info.collection for info in found}))
        raise InvalidInput(
            Text("{target} is in collection {there}", target=target, there=there),
            hint=Text("search there: collection {there}", there=there),
        )
    return within


def parse_moment(given: str | None, name: str, *, end: bool = False) -> float | None:
    """Seconds since the epoch at which a day, month or year (in UTC) begins, or `end`s. Raises
    InvalidInput.
    """
    if given is None or not given.strip():
        return None
    text = given.strip()
    for form, after in _FORMS.items():
        with suppress(ValueError, OverflowError):
            start = datetime.strptime(text, form).replace(tzinfo=UTC)
            return (
                (_get_next_period(start, after) - timedelta(milliseconds=1)).timestamp()
                if end
                else start.timestamp()
            )
    with suppress(ValueError, OverflowError):
        exact = datetime.fromisoformat(text)
        return (exact if exact.tzinfo else exact.replace(tzinfo=UTC)).timestamp()
    raise InvalidInput(
        Text("{name}: {given!r} is not a date", name=name, given=given),
        hint=Text("a day, a month or a year: 2024-05-01, 2024-05, 2024"),
    )


def _get_next_period(start: datetime, after: Callable[[datetime], datetime]) -> datetime:
    try:
        return after(start)
    except (ValueError, OverflowError):
        return datetime.max.replace(tzinfo=UTC)  # after the last day that there is


_FORMS: dict[str, Callable[[datetime], datetime]] = {
    "%Y-%m-%d": lambda day: day + timedelta(days=1),
    "%Y%m%d": lambda day: day + timedelta(days=1),
    "%Y-%m": lambda month: (month + timedelta(days=31)).replace(day=1),
    "%Y": lambda year: year.replace(year=year.year + 1),
}
