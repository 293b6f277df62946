"""An endpoint tried before it is used: the names of its models, what the one that is meant can do,
or the error that it ends in. A trial raises nothing of the endpoint's; its error is part of what
was found.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from citewell.config import Settings
from citewell.errors import CitewellError
from citewell.models.endpoint import Endpoint
from citewell.models.openai import OpenAILLM
from citewell.models.probe import PATIENT_SECONDS, Known, probe_endpoint, save_known
from citewell.types import Message

MOST_NAMES = 200  # models listed
LONGEST_NAME = 200
LISTING = 10.0  # seconds in which a server that is there lists them
UNNAMED = "-"  # in the place of a model's name while only the list is asked for
REPLY = 300  # tokens of the reply to a plain call
HELLO = [Message(role="user", content="Say OK.")]


@dataclass(frozen=True, slots=True)
class Trial:
    """`names`: the models that the server lists. `known`: of the model, where it replied."""

    names: list[str] = field(default_factory=list)
    known: Known | None = None
    error: CitewellError | None = None


async def try_endpoint(settings: Settings) -> Trial:
    """List the models of `llm_url`, then probe `llm_model` where it is named."""
    names: list[str] = []
    try:
        names = await _list_models(settings)
    except CitewellError as error:
        if not settings.llm_model:
            return Trial(error=error)
    if not settings.llm_model:
        return Trial(names)
    known = await _probe_model(settings)
    if known.thinks is not None:
        return Trial(names, known)
    llm = OpenAILLM(settings)
    try:
        await llm.chat(HELLO, max_tokens=REPLY)  # a plain call tells why it has not replied
    except CitewellError as error:
        return Trial(names, error=error)
    finally:
        await llm.close()
    return Trial(names, known)


async def _probe_model(settings: Settings) -> Known:
    """What it does now: what an earlier probe learned, with another key perhaps, does not count."""
    endpoint = _build_endpoint(settings, settings.llm_model, settings.llm_timeout)
    try:
        known = await probe_endpoint(endpoint, PATIENT_SECONDS, Known())
    finally:
        await endpoint.close()
    if known.thinks is not None:
        save_known(settings.home, endpoint, known)
    return known


def _build_endpoint(settings: Settings, model: str, seconds: float) -> Endpoint:
    key = settings.llm_key.get_secret_value()
    return Endpoint(settings.llm_url, model, key, seconds, "llm")


async def _list_models(settings: Settings) -> list[str]:
    """Raises what a call of the endpoint raises."""
    endpoint = _build_endpoint(settings, UNNAMED, LISTING)
    try:
        async with endpoint.guard():
            reply: Any = await endpoint.client().get("/models", cast_to=object)
    finally:
        await endpoint.close()
    listed = reply.get("data") or reply.get("models") if isinstance(reply, dict) else None
    entries = (
        [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    )
    names = [each.get("id") or each.get("name") for each in entries]
    return [name[:LONGEST_NAME] for name in names if isinstance(name, str)][:MOST_NAMES]
