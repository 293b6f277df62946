"""The `website` agent on an open App: which site is asked, its pages, and its state after every
step. A site is a collection of its own, and never mixed into one of documents. A session keeps
which one it asks, so that a follow-up needs no address.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from citewell.agents.website import website
from citewell.agents.website.website_state import Deps, WebsiteState
from citewell.config import WebsiteSettings
from citewell.errors import InvalidInput, NotFound
from citewell.fetch.domains import parse_domains
from citewell.fetch.urls import canonicalize_url
from citewell.messages import Text
from citewell.runtime.access_scope import require_role
from citewell.service.ask.ask_qa import DocumentSearch, get_models
from citewell.service.ask.choose_agent import ADDRESS
from citewell.service.ask.lazy_embedding import open_labels
from citewell.service.ask.options import EXPLORING
from citewell.service.ask.run import Run
from citewell.service.library.collection_owner import ensure_collection
from citewell.service.sites.explore_site import Website
from citewell.service.sites.keep_pages import open_pages
from citewell.skills.dialogue.sensitive import load_word_list
from citewell.skills.dialogue.validate import find_question_error
from citewell.store.library.collection_rows import check_name
from citewell.store.pages import Snapshots
from citewell.store.sites import Sites
from citewell.text.normalize import normalize_text
from citewell.types import Event, Step

STATE = TypeAdapter(WebsiteState)
STARTS = 3  # pages to begin with, of a collection that was not explored but added to
AUTO = "auto"  # as a request names it
SITE = "website"  # what a session keeps it under
_PLACE = "\0"  # where an address stood
_SAID = rf"{_PLACE}(?:\s*(?:,|、|and|or|和|与|及)?\s*{_PLACE})*"
_NAMING = re.compile(  # the addresses with the words that only lead to them, in English and Chinese
    r"\s*(?:\b(?:according\s+to|of|on|at|from|in|by|via)\s+|(?:在|根据|按照|从|关于|"
    rf"对于)\s*)?[(<（]?{_SAID}[)>）]?\s*"
    r"(?:(?:这个|该)?(?:网站|网页|页面|网店|官网))?(?:上面|里面|[上里中](?=[的\s，,]|$))?的?\s*",
    re.IGNORECASE,
)
_SPACED = re.compile(r"\s+([?!.,;:？！。，；：])(?=\s|$)")
_LEADING = " \t,;:，；：、-"
_CHINESE = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Scope:
    """Which site is asked: its collection, its start, and which hosts belong to it (none: all)."""

    collection: str
    start_urls: tuple[str, ...]
    allowed_domains: tuple[str, ...]
    instruction: str = ""

    def as_data(self) -> dict[str, Any]:
        """For a session."""
        return {
            "collection": self.collection,
            "start_urls": list(self.start_urls),
            "allowed_domains": list(self.allowed_domains),
            "instruction": self.instruction,
        }


async def run_website(run: Run) -> AsyncIterator[Event]:
    # settings of fetching that are wrong are told before anything is kept: ConfigError
    _ = open_pages(run.app)
    state = (
        STATE.validate_python(run.state)
        if run.state
        else _build_initial_state(run, await resolve_scope(run))
    )
    scope = Scope(
        state.collection, tuple(state.start_urls), tuple(state.allowed_domains), state.instruction
    )
    run.collection, run.session_data = scope.collection, {SITE: scope.as_data()}
    is_new = False
    if run.goes_on:
        await _check_collection_exists(run)
    elif run.request.keep and await run.app.sites.site(scope.collection) is None:
        is_new = True
        # shared by all who ask it: the first one's pages to begin with, and nobody's instruction
        await run.app.sites.put_site(scope.collection, scope.start_urls, scope.allowed_domains)
    run.app.running[run.trace_id] = run
    try:
        yield Event(
            "progress", {"kind": "begin", "trace_id": run.trace_id, "site": scope.collection}
        )
        done = run.make_step_recorder(lambda: STATE.dump_python(state, mode="json"))
        async for event in website.GRAPH.run(
            state, _build_deps(run, scope), start=run.goes_on, n=len(run.steps), done=done
        ):
            yield Event("step", event) if isinstance(event, Step) else event
    finally:
        run.app.running.pop(run.trace_id, None)
    if is_new:
        await _forget_empty_site(run)
    yield Event("answer", run.answer(state, run.collection))


async def _forget_empty_site(run: Run) -> None:
    """A site of which nothing could be read, or nothing had to be, is not kept: its address may be
    mistyped. One that somebody else asks at this moment stays.
    """
    others = [each for each in run.app.running.values() if isinstance(each, Run)]
    if any(each.collection == run.collection for each in others):
        return
    if not await run.app.catalog.documents(run.collection):
        await run.app.collections.delete(run.collection)


async def _check_collection_exists(run: Run) -> None:
    """A run whose pages were deleted meanwhile can never end well. Raises NotFound."""
    try:
        await run.app.collections.get(run.collection)
    except NotFound:
        await run.app.runs.end(run.trace_id, run.holder)
        raise


def _build_initial_state(run: Run, scope: Scope) -> WebsiteState:
    """Raises InvalidInput for what cannot be asked, before anything is kept of the site."""
    settings = run.app.settings.qa
    if found := find_question_error(
        normalize_text(run.request.question),
        settings.question_max_chars,
        load_word_list(settings.sensitive_words),
    ):
        raise found[1]
    return WebsiteState(
        user_question=_remove_addresses(run.request.question),
        conversation_history=run.history,
        instruction=scope.instruction,
        start_urls=list(scope.start_urls),
        allowed_domains=list(scope.allowed_domains),
        collection=scope.collection,
        warnings=run.warnings,
    )


def _remove_addresses(question: str) -> str:
    """What is asked about the site that is named, without the words that led to the address: "the
    return policy of ?" says less than "the return policy?". Raises InvalidInput where nothing is.
    """
    asked = " ".join(_NAMING.sub(_replace_address, ADDRESS.sub(_PLACE, question)).split())
    asked = _SPACED.sub(r"\1", asked).lstrip(_LEADING)
    if question.strip() and not re.search(r"\w", asked):
        raise InvalidInput(
            Text("the question is only an address"),
            hint=Text("say what you want to know about that site"),
        )
    return asked


def _replace_address(found: re.Match[str]) -> str:
    """What stands in the place of an address: nothing in Chinese, which has no spaces."""
    around = found.string[: found.start()][-1:], found.string[found.end() :][:1]
    return "" if all(map(_CHINESE.match, around)) else " "


async def resolve_scope(run: Run) -> Scope:
    """What the request says, else the addresses in the question, what its session asked before, or
    what is kept of the collection. An address of the site that the session asks is one more page to
    begin with. Raises InvalidInput where none names a site, or one is wrong.
    """
    said, named = run.options, await _get_named_collection(run)
    before = await _load_previous_scope(run, named)
    asked = tuple(canonicalize_url(url) for url in ADDRESS.findall(run.request.question))
    starts = tuple(canonicalize_url(url) for url in said.start_urls) or asked
    ours = before is not None and all(map(parse_domains(before.allowed_domains).is_allowed, starts))
    if before is not None and ours and starts and not said.start_urls:
        before = replace(before, start_urls=tuple(dict.fromkeys((*starts, *before.start_urls))))
        starts = ()
    if not starts and before is None:
        hint = Text(
            "name its start pages: citewell site https://... -q QUESTION, or the option start_urls"
        )
        raise InvalidInput(Text("which website is asked?"), hint=hint, code="no_site")
    if starts or before is None:
        hosts = tuple(dict.fromkeys(urlsplit(url).netloc for url in starts))
        before = Scope(
            (named if ours or run.request.agent != AUTO else "") or hosts[0], starts, hosts
        )
    if said.allowed_domains is not None:
        before = replace(
            before,
            allowed_domains=() if "*" in said.allowed_domains else tuple(said.allowed_domains),
        )
    if said.instruction is not None:
        before = replace(before, instruction=said.instruction)
    parse_domains(before.allowed_domains)
    check_name(before.collection)
    await _check_may_explore(run, before)
    return before


async def _check_may_explore(run: Run, scope: Scope) -> None:
    """Who only reads may ask a site that is kept, within what it was kept with. Raises NotAllowed,
    and NotFound where the collection is another user's.
    """
    if run.app.viewer is None:
        return
    kept = await _load_kept_scope(run.app.sites, run.app.snapshots, scope.collection)
    if kept is None or not _is_within_scope(scope, kept):
        require_role(run.app, "editor", "to explore another site")
    await ensure_collection(run.app, scope.collection)


def _is_within_scope(scope: Scope, kept: Scope) -> bool:
    """Whether nothing is asked that was not kept. No domains at all: every one."""
    if kept.allowed_domains and not (
        scope.allowed_domains and set(scope.allowed_domains) <= set(kept.allowed_domains)
    ):
        return False
    return all(map(parse_domains(kept.allowed_domains).is_allowed, scope.start_urls))


async def _get_named_collection(run: Run) -> str:
    """The collection of the request, where a site may be kept in it; else empty, and the site goes
    by its host. With `auto` it says which documents are meant, unless they are a site's pages; who
    asks a website by name may have a new one made.
    """
    app, name = run.app, run.request.collection
    if not name:
        return ""
    by_name, kept = run.request.agent != AUTO, await app.sites.site(name) is not None
    if by_name and kept:
        return name
    try:
        documents = (await app.collections.get(name)).documents
    except NotFound:
        documents = 0
    pages = {page.doc_id for page in await app.snapshots.of(name, links=False) if page.doc_id}
    return name if documents <= len(pages) and (by_name or kept or pages) else ""


async def _load_previous_scope(run: Run, named: str) -> Scope | None:
    """What the session asked, or what is kept of the collection."""
    if run.session_id:
        data = (await run.app.sessions.data(run.session_id)).get(SITE)
        if data is not None and named in {"", data["collection"]}:
            return Scope(
                data["collection"],
                tuple(data["start_urls"]),
                tuple(data["allowed_domains"]),
                data["instruction"],
            )
    return await _load_kept_scope(run.app.sites, run.app.snapshots, named) if named else None


async def _load_kept_scope(sites: Sites, snapshots: Snapshots, collection: str) -> Scope | None:
    """A site as it was explored, or the pages of it that were added."""
    kept = await sites.site(collection)
    if kept is not None:
        return Scope(kept.collection, kept.start_urls, kept.allowed_domains)
    pages = await snapshots.of(collection, links=False)
    starts = tuple(page.uri for page in pages if page.doc_id)[:STARTS]
    hosts = tuple(dict.fromkeys(urlsplit(url).netloc for url in starts))
    return Scope(collection, starts, hosts) if starts else None


def _build_deps(run: Run, scope: Scope) -> Deps:
    app, settings = run.app, get_website_settings(run)
    return Deps(
        **get_models(run),
        settings=settings,
        thresholds=app.settings.qa,
        search=DocumentSearch(run),
        site=Website(
            run, settings, parse_domains(scope.allowed_domains), open_labels(app), scope.start_urls
        ),
        late=lambda: run.seconds_left == 0.0,
        stopped=run.stop.is_set,
    )


def get_website_settings(run: Run) -> WebsiteSettings:
    """The settings, with what this request says otherwise."""
    said = run.options.model_dump(include=set(EXPLORING), exclude_none=True)
    return run.app.settings.website.model_copy(update=said)
