"""The tool functions of specs 000, 002 and 004 under their names and signatures: a thin public face
over the layers below.

    from citewell.tools import bound, llm_call, vector_db_search

    async with bound():
        text, tokens = await llm_call("Say hello.")

The one rule: nothing is done here that the layers do not do; outside `bound` the tools that need a
store or a model say so.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, ClassVar, Literal

import numpy as np

from citewell.config import Settings, load_settings
from citewell.errors import InvalidInput, ModelUnavailable, NotFound
from citewell.fetch.domains import is_valid, parse_domains
from citewell.fetch.urls import canonicalize_url
from citewell.runtime.app import App
from citewell.service.check.check_text import check_text
from citewell.service.check.check_types import CheckResult
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import get_feedback, submit_feedback
from citewell.service.sites.keep_pages import open_pages
from citewell.skills.answer.format import format_citations
from citewell.skills.dialogue.intent import classify_intent
from citewell.skills.dialogue.reference import is_follow_up, join_earlier_questions
from citewell.store.index.protocol import Filter
from citewell.text.entities import extract_entities
from citewell.text.normalize import normalize_text
from citewell.types import Citation, Message

_app: ContextVar[App] = ContextVar("app")


@asynccontextmanager
async def bound(settings: Settings | None = None) -> AsyncIterator[App]:
    """Open what the tools work on (by default file and environment) for the block."""
    async with App(settings or load_settings()) as app:
        token = _app.set(app)
        try:
            yield app
        finally:
            _app.reset(token)


def _get_app() -> App:
    try:
        return _app.get()
    except LookupError:
        hint = "call it inside `async with citewell.tools.bound():`"
        raise InvalidInput("no store and no models are open here", hint=hint) from None


def _check_model(asked: str | None, there: str) -> None:
    if asked not in {None, "", there}:
        raise InvalidInput(f"unknown model: {asked}", hint=f"the settings name {there}")


async def llm_call(
    prompt: str, model_name: str | None = None, params: Mapping[str, Any] | None = None
) -> tuple[str, int]:
    """(response_text, tokens_used). `params`: max_tokens, temperature, schema, stop. Raises
    ModelUnavailable in tier none.
    """
    llm = _get_app().llm
    if llm is None:
        raise ModelUnavailable(
            "there is no chat model: llm is none", hint="choose one with the setting llm"
        )
    _check_model(model_name, llm.name)
    given = dict(params or {})
    unknown = sorted(set(given) - {"max_tokens", "temperature", "schema", "stop"})
    if unknown:
        raise InvalidInput(
            f"unknown params: {', '.join(unknown)}",
            hint="known: max_tokens, temperature, schema, stop",
        )
    reply = await llm.chat([Message(role="user", content=prompt)], **given)
    return reply.text, reply.tokens.prompt + reply.tokens.completion


async def call_llm(prompt: str) -> str:
    """The chat model's response. Raises ModelUnavailable in tier none."""
    text, _ = await llm_call(prompt)
    return text


async def web_crawler(url: str, allowed_domains: Sequence[str] = ()) -> tuple[str, list[str]]:
    """(clean_text_content, list_of_links) of a page, kept in the collection of the setting
    `web.collection`. The links are those that `url_validator` lets through, and the page itself and
    where it leads are judged as they are. Raises InvalidInput for an address that is refused, and
    what fetching it raises.
    """
    app = _get_app()
    allowed, address = parse_domains(allowed_domains), canonicalize_url(url)
    if not allowed.is_allowed(address):
        hint = "name its host in allowed_domains, or none to allow every site"
        raise InvalidInput(f"{address}: its host is not one of allowed_domains", hint=hint)
    settings = app.settings
    seconds = settings.website.page_seconds
    page = await open_pages(app).page(
        address, settings.web.collection, seconds=seconds, within=allowed.is_allowed
    )
    document = await app.catalog.content(page.doc_id)
    links = dict.fromkeys(link.url for link in page.links)
    return document.text, [link for link in links if url_validator(link, allowed_domains)]


def url_validator(url: str, allowed_domains: Sequence[str]) -> bool:
    """Whether an address is one of the web's, of a host of `allowed_domains`: `example.com` itself,
    `*.example.com` what is below it. Where there are none, any host but those inside: private
    addresses, `localhost`, ports of other services than the web; what `allow_private_hosts` lists
    passes inside `bound()`. What a name stands for is looked at when it is fetched. Raises
    InvalidInput for a domain that is none.
    """
    app = _app.get(None)
    return is_valid(url, allowed_domains, app.settings.allow_private_hosts if app else ())


async def embedding_generate(text: str, model_name: str | None = None) -> list[float]:
    """The text as a unit vector, embedded as a question is."""
    embedder = _get_app().embedder
    _check_model(model_name, embedder.name)
    return [float(x) for x in await embedder.query(normalize_text(text))]


async def vector_db_search(
    query_vector: Sequence[float], top_k: int = 5, filters: Mapping[str, Any] | None = None
) -> tuple[list[str], list[float], list[dict[str, Any]]]:
    """(documents, scores, metadata), best first: chunk texts, cosines, and where each stands.

    `filters`: any of collections, doc_ids, langs, media_types, each a list of names.
    """
    given = dict(filters or {})
    known = ("collections", "doc_ids", "langs", "media_types")
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise InvalidInput(
            f"unknown filters: {', '.join(unknown)}", hint=f"known: {', '.join(known)}"
        )
    collections, doc_ids, langs, media_types = (tuple(given.get(name, ())) for name in known)
    where = Filter(collections, doc_ids, langs, media_types)
    index = _get_app().index
    found = await index.search_vectors(np.asarray(query_vector, dtype=np.float32), top_k, where)
    hits = await index.hits([chunk_id for chunk_id, _ in found])
    scores = dict(found)
    metadata = [
        {
            "doc_id": h.doc_id,
            "title": h.title,
            "uri": h.uri,
            "page": h.page,
            "section": " › ".join(h.heading_path),
            "start": h.start,
            "end": h.end,
        }
        for h in hits
    ]
    return [h.text for h in hits], [scores[h.chunk_id] for h in hits], metadata


async def check(text: str, collection: str | Sequence[str] | None = None) -> CheckResult:
    """Each sentence of a text with its verdict by the documents (`entailed`, `contradicted`,
    `not_stated`), the probability that it is entailed, and the quotes that show it. Raises
    InvalidInput, NotFound for an unknown collection, and what models raise.
    """
    names = [collection] if isinstance(collection, str) else list(collection or ())
    return await check_text(_get_app(), text, names)


async def text_cleaning(text: str, options: Mapping[str, Any] | None = None) -> str:
    """Without control characters, invisible marks, needless space. `options`: max_chars."""
    given = dict(options or {})
    unknown = sorted(set(given) - {"max_chars"})
    if unknown:
        raise InvalidInput(f"unknown options: {', '.join(unknown)}", hint="known: max_chars")
    return normalize_text(text)[: given.get("max_chars")]


async def entity_extraction(
    text: str, model_name: str | None = None
) -> tuple[list[dict[str, str]], float]:
    """(entities, confidence). Rules find them: `model_name` may only be None or "rules"."""
    _check_model(model_name, "rules")
    entities = [{"entity": e.entity, "type": e.type} for e in extract_entities(text)]
    return entities, 1.0 if entities else 0.0


async def intent_classification(text: str, context: Sequence[Message] = ()) -> tuple[str, float]:
    """(intent_label, confidence). A question is read together with its `context`."""
    whole = join_earlier_questions(text, context) if context and is_follow_up(text) else text
    intent = await classify_intent(whole, _get_app().embedder)
    return intent.label, intent.confidence


async def citation_formatting(
    sources: Sequence[Citation],
    format: Literal["text", "markdown", "json"] = "text",  # noqa: A002 - the spec's name
) -> list[str]:
    """One line a citation: plain, as a Markdown list item, or as JSON."""
    if format == "json":
        return [c.model_dump_json() for c in sources]
    lines = format_citations(sources, "en")
    if format == "markdown":
        return [f"- {line}" for line in lines]
    if format == "text":
        return lines
    raise InvalidInput(f"unknown format: {format}", hint="known: text, markdown, json")


class FeedbackManager:
    """Spec 004's `handle_feedback`: a vote of `user_id`, done when it returns."""

    TOLD: ClassVar[Mapping[str, str]] = {
        "active": "Knowledge captured",
        "pending": "Waiting for more confirmations",
        "quarantined": "Set aside, waiting to be restored",
        "rule": "Correction waits for review",
    }

    def __init__(self, user_id: str = "local") -> None:
        self.user_id = user_id

    async def handle_feedback(
        self, trace_id: str, is_correct: bool, user_correction: str | None = None
    ) -> str:
        """Says "Knowledge captured", "Trace not found", or what came of it. Raises InvalidInput."""
        app = _get_app()
        try:
            given = await submit_feedback(app, trace_id, is_correct, user_correction, self.user_id)
        except NotFound:
            return "Trace not found"
        await run_pending_jobs(app)
        vote = await get_feedback(app, given.feedback_id, self.user_id)
        if vote.state != "done":
            return (
                f"Kept, and not done yet: {vote.outcome}"
                if vote.outcome
                else "Kept, and not done yet"
            )
        outcome, _, why = vote.outcome.partition(": ")
        told = self.TOLD.get(outcome, "Kept for analysis")
        return f"{told}: {why}" if outcome == "rule" and why else told
