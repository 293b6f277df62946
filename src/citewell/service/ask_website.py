"""The `website` agent on an open App: which site is asked, its pages, and its state after every step.

The one rule: a site is a collection. A session keeps which one it asks, so that a follow-up needs no address.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import TypeAdapter

from citewell.agents import website
from citewell.agents.website_state import Deps, WebsiteState
from citewell.config import WebsiteSettings
from citewell.errors import InvalidInput
from citewell.ingest.domains import domains
from citewell.ingest.urls import canonical
from citewell.knowledge.documents import check_name
from citewell.retrieve.confidence import confidence
from citewell.service.ask_qa import widener
from citewell.service.auto import ADDRESS
from citewell.service.locate import locator
from citewell.service.options import EXPLORING
from citewell.service.run import Run
from citewell.service.website import Website
from citewell.skills.clean import clean
from citewell.skills.sensitive import word_list
from citewell.skills.validate import objection
from citewell.types import Answer, Event, Hit, Step

STATE = TypeAdapter(WebsiteState)
SITE = "website"  # what a session keeps it under


@dataclass(frozen=True, slots=True)
class Scope:
    """Which site is asked: its collection, where it begins, and which hosts belong to it (none: every host does)."""

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
    scope = await scope_of(run)
    state = STATE.validate_python(run.state) if run.state else _fresh(run, scope)
    run.collection, run.session_data = scope.collection, {SITE: scope.as_data()}
    await run.app.sites.put_site(scope.collection, scope.start_urls, scope.allowed_domains, scope.instruction)
    yield Event("progress", {"kind": "begin", "trace_id": run.trace_id, "site": scope.collection})
    done = run.keeping(lambda: STATE.dump_python(state, mode="json"))
    run.app.running[run.trace_id] = run
    try:
        async for event in website.GRAPH.run(state, _deps(run, scope), start=run.goes_on, n=len(run.steps), done=done):
            yield Event("step", event) if isinstance(event, Step) else event
    finally:
        run.app.running.pop(run.trace_id, None)
    yield Event("answer", _answer(run, state))


def _fresh(run: Run, scope: Scope) -> WebsiteState:
    """Raises InvalidInput for what cannot be asked, before anything is kept of the site."""
    settings = run.app.settings.qa
    if found := objection(clean(run.request.question), settings.question_max_chars, word_list(settings.sensitive_words)):
        raise found[1]
    return WebsiteState(
        user_question=_without_addresses(run.request.question),
        conversation_history=run.history,
        instruction=scope.instruction,
        start_urls=list(scope.start_urls),
        warnings=run.warnings,
    )


def _without_addresses(question: str) -> str:
    """What is asked about the site that is named. Raises InvalidInput where nothing is."""
    asked = " ".join(ADDRESS.sub(" ", question).split())
    if question.strip() and not asked:
        raise InvalidInput("the question is only an address", hint="say what you want to know about that site")
    return asked


async def scope_of(run: Run) -> Scope:
    """What the request says, else what its session asked before, what is kept of the collection, or the addresses in the
    question. Raises InvalidInput where none names a site, or one is wrong.
    """
    app, said, request = run.app, run.options, run.request
    before: dict[str, Any] = {}
    if run.session_id:
        before = (await app.sessions.data(run.session_id)).get(SITE, {})
    starts = tuple(canonical(url) for url in said.start_urls or before.get("start_urls", []))
    kept = await app.sites.site(request.collection) if request.collection and not starts else None
    if kept is not None:
        starts = kept.start_urls
        before = {"allowed_domains": list(kept.allowed_domains), "instruction": kept.instruction, "collection": kept.collection}
    starts = starts or tuple(canonical(url) for url in ADDRESS.findall(request.question))
    if not starts:
        hint = "name its start pages: citewell site https://... -q QUESTION, or the option start_urls"
        raise InvalidInput("which website is asked?", hint=hint, code="no_site")
    hosts = before.get("allowed_domains") if not said.start_urls else None
    if said.allowed_domains is not None:
        hosts = [] if "*" in said.allowed_domains else said.allowed_domains
    if hosts is None:
        hosts = list(dict.fromkeys(urlsplit(url).netloc for url in starts))
    domains(hosts)
    collection = request.collection or (before.get("collection") if not said.start_urls else "") or urlsplit(starts[0]).netloc
    instruction = said.instruction if said.instruction is not None else before.get("instruction", "")
    return Scope(check_name(collection), starts, tuple(hosts), instruction)


def _deps(run: Run, scope: Scope) -> Deps:
    app, settings = run.app, limits(run)

    def rate(text: str, hits: Sequence[Hit]) -> float:
        return confidence(text, hits, app.calibration.retrieval)

    return Deps(
        settings=settings,
        thresholds=app.settings.qa,
        llm=run.meter,
        embedder=app.embedder,
        site=Website(run, settings, domains(scope.allowed_domains), app.labels, scope.start_urls),
        rate=rate,
        locate=locator(app),
        widen=widener(app),
        late=lambda: run.seconds_left == 0.0,
        stopped=run.stop.is_set,
        sensitive=word_list(app.settings.qa.sensitive_words),
        calibration=app.calibration.answer,
    )


def limits(run: Run) -> WebsiteSettings:
    """The settings, with what this request says otherwise."""
    said = run.options.model_dump(include=set(EXPLORING), exclude_none=True)
    return run.app.settings.website.model_copy(update=said)


def _answer(run: Run, state: WebsiteState) -> Answer:
    return Answer(
        answer=state.final_answer,
        sentences=state.proof.sentences,
        citations=state.proof.citations,
        status=state.status,
        confidence=state.confidence,
        agent="website",
        agent_reason=run.agent_reason,
        route=run.collection,
        stop_reason=state.stop_reason,
        session_id=run.session_id,
        trace_id=run.trace_id,
        warnings=state.warnings,
        usage=run.usage(),
    )
