"""What a page of another site may ask: a collection, or a site that is kept, and nothing beside it.
What stands in a page is everybody's, so the page's word counts for nothing here. Who asks through
it may choose among what is open to it; everything else that a question can say (options, a history,
a run to go on with) is refused, and what is told leaves out what is not for strangers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from citewell.errors import InvalidInput, NotAllowed, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.ask.run import AskRequest
from citewell.store.library.collection_rows import check_name
from citewell.store.library.collection_store import Collections
from citewell.types import Answer, Citation, Event, Step

Kind = Literal["collection", "site"]
AGENTS: dict[Kind, tuple[str, ...]] = {  # usual first
    "collection": ("qa", "dual_loop"),
    "site": ("website", "qa", "dual_loop"),
}
SAYS = frozenset({"question", "agent", "collection", "session_id", "user_id"})
ANY = frozenset({"", "auto"})  # agents that leave the choice to us
# visitors share a user, so what one has told is not for the next; and what the web costs is for no
# stranger to spend
WITHIN = {"dual_loop": {"memory": False, "web": False}}
CODE = "not_open"


class Binding(NamedTuple):
    kind: Kind
    name: str

    def __str__(self) -> str:
        """As tokens keep it."""
        return f"{self.kind}:{self.name}"

    @property
    def words(self) -> str:
        return f"{self.kind} {self.name}"


def parse_binding(text: str) -> Binding:
    """Of a token, or as in the settings: `help`, `collection:help`, `site:docs.example.com`."""
    kind, colon, name = text.partition(":")
    if colon and kind == "site":
        return Binding("site", name.strip())
    return Binding("collection", name.strip() if colon and kind == "collection" else text.strip())


def build_binding(collection: str, site: str) -> Binding:
    """What a token for a page is made for. Raises InvalidInput for nothing, or two things."""
    if bool(collection) == bool(site):
        hint = Text(
            "say what visitors may ask: --collection NAME, or --site NAME; a token for each"
        )
        raise InvalidInput(Text("a token for a page is for one collection or one site"), hint=hint)
    return (
        Binding("site", check_name(site)) if site else Binding("collection", check_name(collection))
    )


async def check_binding(app: App, binding: Binding) -> None:
    """That there is what a token is made for. Raises NotFound."""
    await app.collections.get(binding.name)
    pages = await app.snapshots.of(binding.name, links=False)
    if binding.kind == "site" and await app.sites.site(binding.name) is None and not pages:
        hint = Text("`citewell sites list` shows those there are; for documents use --collection")
        raise NotFound(Text("{name} is no site that is kept", name=binding.name), hint=hint)


async def restrict_request(
    collections: Collections, request: AskRequest, open_to: Sequence[str]
) -> AskRequest:
    """The request within what is open: named, or the first of it. Raises NotAllowed, NotFound."""
    bindings = [parse_binding(each) for each in open_to]
    if not bindings:
        hint = Text(
            'the owner of this server names it: access.public = ["help"], or a token: '
            "citewell user token NAME --widget"
        )
        raise NotAllowed(Text("nothing is open to pages of other sites"), hint=hint, code=CODE)
    said = {
        name
        for name in request.model_fields_set
        if getattr(request, name) not in (None, {}, [], True)
    }
    if more := sorted(said - SAYS):
        hint = Text(
            "a page of another site says a question, and at most agent, collection and session_id"
        )
        raise NotAllowed(
            Text("{more}: not for pages of other sites", more=", ".join(more)), hint=hint, code=CODE
        )
    named = request.agent if "agent" in said and request.agent not in ANY else ""
    fit = [each for each in bindings if request.collection in {None, "", each.name}]
    fit = [each for each in fit if not named or named in AGENTS[each.kind]]
    if not fit:
        raise _make_refusal(bindings, request.collection or "", named)
    agent = named or AGENTS[fit[0].kind][0]
    await _check_collection(collections, fit[0])
    within = {
        "agent": agent,
        "collection": fit[0].name,
        "options": dict(WITHIN.get(agent, {})),
        "history": None,
    }
    return request.model_copy(update=within)


def _make_refusal(bindings: Sequence[Binding], collection: str, agent: str) -> NotAllowed:
    asked = Text(", ").join(
        [f"agent {agent}"] * bool(agent) + [f"collection {collection}"] * bool(collection)
    )
    may = Text(", ").join(
        Text("{words} ({agents})", words=each.words, agents=", ".join(AGENTS[each.kind]))
        for each in bindings
    )
    hint = Text(
        "leave both out; or the owner of this server opens more: access.public, or "
        "citewell user token NAME --widget"
    )
    return NotAllowed(
        Text("this page may ask {may}; not {asked}", may=may, asked=asked[:200]),
        hint=hint,
        code=CODE,
    )


async def _check_collection(collections: Collections, binding: Binding) -> None:
    """Raises NotFound, which does not say what else there is."""
    try:
        await collections.get(binding.name)
    except NotFound:
        hint = Text("the owner of this server adds documents to it, or opens another")
        raise NotFound(
            Text("there is no {words}", words=binding.words), hint=hint, code="not_there"
        ) from None


def redact_event(event: Event) -> Event:
    """Without the inside of steps, where files lie, who has confirmed what."""
    if isinstance(event.data, Step):
        return Event(event.kind, event.data.model_copy(update={"detail": {}}))
    if isinstance(event.data, Citation):
        return Event(event.kind, _redact_citation(event.data))
    return Event(event.kind, redact_answer(event.data)) if isinstance(event.data, Answer) else event


def redact_answer(answer: Answer) -> Answer:
    return answer.model_copy(
        update={"citations": [_redact_citation(each) for each in answer.citations], "followed": []}
    )


def _redact_citation(citation: Citation) -> Citation:
    is_web = citation.uri.lower().startswith(("http://", "https://"))
    return citation if is_web else citation.model_copy(update={"uri": ""})
