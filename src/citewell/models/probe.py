"""What an OpenAI-compatible endpoint and its model can do: asked in at most three requests,
remembered in the home folder. A probe never fails a question. What a server does not tell stays
None, and the first real request's errors say the rest. Neither the key nor the address is written
down.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
from pydantic import BaseModel, ConfigDict, ValidationError

from citewell.errors import CitewellError
from citewell.models.endpoint import Endpoint, Refused
from citewell.models.quirks import adapt_request, find_next_quirk
from citewell.text.sanitize import has_thinking_block, strip_thinking

FILE = "endpoints.json"  # in the home folder; deleting it only makes the next question probe again
KEPT = timedelta(days=7)
AGAIN = timedelta(minutes=10)  # where the model did not reply to the probe
# a probe may take: before a question, and for `citewell doctor`
SECONDS, PATIENT_SECONDS = (5.0, 30.0)
REPLY = 4_000  # tokens of the longest reply that is asked for
THOUGHT = 4_000  # tokens left to a reasoning model for its thinking
OVERHEAD = 1_500  # tokens of a prompt beside its evidence: task, conversation, schema in words
# of the room left: ids of sentences are not counted as evidence, and tokenizers differ
EVIDENCE_SHARE = 0.8
LEAST_EVIDENCE = 500
TRIES = 2  # chat requests
# what reading a reply of no known form ends in
STRANGE = (AttributeError, LookupError, TypeError, ValueError)
# where a server tells the context that runs, by what /models says of its owner: llama.cpp, Ollama,
# LM Studio
SERVERS = {"llamacpp": "/props", "library": "/api/ps", "organization_owner": "/api/v0/models"}
# names of the context's length, the one that runs before the one that is possible
CONTEXT = (
    *("loaded_context_length", "n_ctx", "max_model_len", "context_length"),
    *("context_window", "max_context_length", "n_ctx_train"),
)
ASKED = "Give the capital of France and the numbers from 1 to 10."


class Form(BaseModel):
    """What the model is asked to reply with; the words of the question do not name the fields."""

    model_config = ConfigDict(extra="forbid", strict=True)

    capital: str
    numbers: list[int]


class Known(BaseModel):
    """What was learned `at` that time; None: not known. `context` in tokens; `keeps_schema`: a
    reply had the form that was asked for; `unopened`: thinking ends with `</think>` and has no
    beginning; `speed` in tokens a second; `quirks` by name.
    """

    model_config = ConfigDict(frozen=True)

    at: datetime = datetime.min.replace(tzinfo=UTC)
    context: int | None = None
    keeps_schema: bool | None = None
    logprobs: bool | None = None
    thinks: bool | None = None
    unopened: bool = False
    speed: float | None = None
    quirks: tuple[str, ...] = ()

    @property
    def is_due(self) -> bool:
        """Whether it is time to ask anew."""
        return datetime.now(UTC) - self.at > (AGAIN if self.thinks is None else KEPT)

    def reply_tokens(self, wanted: int) -> int:
        """What a request may ask for: room to think, and only part of the context."""
        tokens, share = (wanted + THOUGHT, 2) if self.thinks else (wanted, 4)
        return tokens if self.context is None else min(tokens, self.context // share)

    def evidence_tokens(self, setting: int) -> int:
        """The setting, or what the context leaves."""
        if self.context is None:
            return setting
        left = self.context - self.reply_tokens(REPLY) - OVERHEAD
        return min(setting, max(LEAST_EVIDENCE, round(EVIDENCE_SHARE * left)))


def load_known(home: Path, endpoint: Endpoint) -> Known:
    """What an earlier probe learned; nothing where there was none or it cannot be read."""
    with suppress(OSError, *STRANGE):
        return Known.model_validate(
            json.loads((home / FILE).read_text("utf-8"))[_build_entry_name(endpoint)]
        )
    return Known()


def save_known(home: Path, endpoint: Endpoint, known: Known) -> None:
    """Keep it for other processes. Where the folder cannot be written to, they ask again."""
    with suppress(OSError):
        entries: dict[str, Any] = {}
        with suppress(OSError, *STRANGE):
            entries = dict(json.loads((home / FILE).read_text("utf-8")))
        entries[_build_entry_name(endpoint)] = known.model_dump(mode="json")
        home.mkdir(parents=True, exist_ok=True)
        new = home / f"{FILE}.{os.getpid()}"
        new.write_text(json.dumps(entries, indent=2) + "\n", "utf-8")
        os.replace(new, home / FILE)  # noqa: PTH105 - the atomic one


def _build_entry_name(endpoint: Endpoint) -> str:
    """The address goes in as a digest: it may hold a password."""
    return f"{endpoint.model} {hashlib.sha256(endpoint.url.encode()).hexdigest()[:16]}"


async def probe_endpoint(endpoint: Endpoint, seconds: float, before: Known) -> Known:
    """Ask the server; what it has not told within `seconds` is not known. Where the probe `before`
    had no reply, this one goes on with the quirks known since: a server may refuse more of a
    request than one probe finds out.
    """
    learned: dict[str, Any] = {"quirks": before.quirks if before.thinks is None else ()}
    with anyio.move_on_after(seconds), suppress(*STRANGE):
        entry = await _fetch_model_entry(endpoint, "/models")
        learned["context"] = _extract_context_size(entry)
        requests = await _ask_model(endpoint, learned)
        place = SERVERS.get(str(entry.get("owned_by")))
        if place and requests < TRIES:  # after the model's reply: Ollama lists what is loaded
            root = endpoint.url.rstrip("/").removesuffix("/v1")
            learned["context"] = (
                _extract_context_size(await _fetch_model_entry(endpoint, root + place))
                or learned["context"]
            )
    return Known(at=datetime.now(UTC), **learned)


async def _fetch_model_entry(endpoint: Endpoint, path: str) -> dict[str, Any]:
    """What a list of models says of this one; of a single model whatever its name."""
    reply: Any = None
    with suppress(CitewellError, *STRANGE):
        async with endpoint.guard():
            reply = await endpoint.client().get(path, cast_to=object)
    if not isinstance(reply, dict):
        return {}
    listed = reply.get("data") or reply.get("models") or [reply.get("default_generation_settings")]
    entries = (
        [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    )
    names = {endpoint.model, f"{endpoint.model}:latest"}
    same = [
        each for each in entries if names & {str(each.get(key)) for key in ("id", "name", "model")}
    ]
    return next(iter(same or (entries if len(entries) == 1 else [])), {})


def _extract_context_size(entry: dict[str, Any]) -> int | None:
    meta = entry.get("meta")
    facts = {**meta, **entry} if isinstance(meta, dict) else entry
    return next(
        (value for name in CONTEXT if isinstance(value := facts.get(name), int) and value > 0), None
    )


async def _ask_model(endpoint: Endpoint, learned: dict[str, Any]) -> int:
    """One tiny request for a schema and log-probabilities; where it is refused, once more in
    another form. Says how many.
    """
    form = {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": Form.model_json_schema()},
    }
    request = {
        "model": endpoint.model,
        "messages": [{"role": "user", "content": ASKED}],
        "max_tokens": 300,
        "temperature": 0.0,
    }
    request |= {"response_format": form, "logprobs": True, "top_logprobs": 5}
    for tries in range(1, TRIES + 1):
        adapted = adapt_request(request, learned["quirks"])
        started = time.perf_counter()
        try:
            async with endpoint.guard():
                completion = await endpoint.client().chat.completions.create(**adapted)
                choice = endpoint.part(completion, "choices")[0]
        except Refused as error:
            more = find_next_quirk(error.message, adapted, learned["quirks"])
            if more is None:
                return tries
            learned["quirks"] = (*learned["quirks"], more)
        except CitewellError:
            return tries
        else:
            learned |= _read_capabilities(
                choice, completion.usage, learned["quirks"], time.perf_counter() - started
            )
            return tries
    return TRIES


def _read_capabilities(
    choice: Any, usage: Any, quirks: tuple[str, ...], seconds: float
) -> dict[str, Any]:
    text = choice.message.content or ""
    apart = getattr(choice.message, "reasoning_content", None) or getattr(
        choice.message, "reasoning", None
    )
    hidden = getattr(getattr(usage, "completion_tokens_details", None), "reasoning_tokens", None)
    unopened = "</think>" in text and not has_thinking_block(text)
    body = strip_thinking(text, unopened=unopened)
    cut = choice.finish_reason == "length"
    keeps = False if "json_schema" in quirks else None if cut else _has_form(body)
    written = usage.completion_tokens if usage is not None else 0
    return {
        "keeps_schema": keeps,
        "logprobs": "logprobs" not in quirks and bool(choice.logprobs and choice.logprobs.content),
        "thinks": bool(apart or hidden or "</think>" in text or has_thinking_block(text)),
        "unopened": unopened,
        "speed": round(written / max(seconds, 1e-3), 1) if written >= 10 else None,
        "quirks": (*quirks, "json_schema")
        if keeps is False and "json_schema" not in quirks
        else quirks,
    }


def _has_form(text: str) -> bool:
    with suppress(ValidationError):
        return bool(Form.model_validate_json(text))
    return False
