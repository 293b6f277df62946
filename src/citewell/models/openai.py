"""Any OpenAI-compatible endpoint through the `openai` SDK: vLLM, Ollama, llama.cpp server,
DeepSeek, Qwen, OpenAI. Servers differ; each is probed once (`models/probe.py`), what it still
refuses is sent again in another form (`QUIRKS`), and what worked is remembered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from citewell.config import Settings
from citewell.errors import PermanentError
from citewell.messages import Text
from citewell.models.base import OnToken, Reply, Tokens, Vector, YesNo
from citewell.models.endpoint import Endpoint, Refused
from citewell.models.observed import observe_call
from citewell.models.probe import (
    PATIENT_SECONDS,
    SECONDS,
    Known,
    load_known,
    probe_endpoint,
    save_known,
)
from citewell.models.quirks import Request, adapt_request, find_next_quirk
from citewell.models.yesno import compute_log_odds, parse_word_odds
from citewell.text.sanitize import escape_chat_markers, replace_unsafe_chars, strip_thinking
from citewell.types import Message

TOP = 20  # most that OpenAI lists
BATCH = 64  # texts that an embeddings request carries
WORD = 8  # tokens in which a model says yes or no, maybe in bold
T = TypeVar("T")


class OpenAILLM:
    """Implements `LLM`."""

    def __init__(self, settings: Settings, named: Literal["llm", "judge"] = "llm") -> None:
        """`named`: the settings that name the endpoint, as in `llm_url`, `llm_model`, `llm_key`."""
        url, model, key = (getattr(settings, f"{named}_{part}") for part in ("url", "model", "key"))
        self._endpoint = Endpoint(url, model, key.get_secret_value(), settings.llm_timeout, named)
        self._home, self._evidence = settings.home, settings.llm_evidence
        self._learning = asyncio.Lock()
        self.known = load_known(self._home, self._endpoint)
        self.name = f"openai:{model}"

    @property
    def evidence_tokens(self) -> int:
        """The setting, or what the model's context leaves, where that is known."""
        return self.known.evidence_tokens(self._evidence)

    async def learn(self, *, anew: bool = False) -> Known:
        """Probe the endpoint when due, or `anew`. Raises nothing; no answer changes nothing."""
        async with self._learning:
            if anew or self.known.is_due:
                found = await probe_endpoint(
                    self._endpoint, PATIENT_SECONDS if anew else SECONDS, self.known
                )
                if found.thinks is not None or self.known.thinks is None:
                    self._save_known(found)
        return self.known

    def _save_known(self, known: Known) -> None:
        self.known = known
        save_known(self._home, self._endpoint, known)

    @observe_call("chat")
    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 256,
        temperature: float = 0.0,
        schema: dict[str, Any] | None = None,
        grammar: str = "",  # noqa: ARG002 - part of the protocol
        stop: Sequence[str] = (),
        on_token: OnToken | None = None,
    ) -> Reply:
        request = self._build_request(
            messages, max_tokens=self.known.reply_tokens(max_tokens), temperature=temperature
        )
        if stop:
            request["stop"] = list(stop)
        if schema is not None:
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": schema},
            }
        if on_token is None:
            return await self._send_adapted(request, self._request_reply)
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        return await self._send_adapted(request, lambda sent: self._stream_reply(sent, on_token))

    @observe_call("yes_no")
    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        """Without log-probabilities from the server, or from a model that thinks first, the figure
        is +5 or -5 by the word, 0 for any other word.
        """
        request = self._build_request(messages, max_tokens=1, temperature=0.0)
        if self.known.thinks or self.known.logprobs is False:
            return await self._send_adapted(
                request | {"max_tokens": self.known.reply_tokens(WORD)}, self._grade_by_word
            )
        return await self._send_adapted(
            request | {"logprobs": True, "top_logprobs": TOP}, self._grade_by_logprobs
        )

    async def close(self) -> None:
        await self._endpoint.close()

    def _build_request(self, messages: Sequence[Message], **options: Any) -> Request:
        sent = [{"role": m.role, "content": escape_chat_markers(m.content)} for m in messages]
        return {"model": self._endpoint.model, "messages": sent, **options}

    async def _send_adapted(self, request: Request, read: Callable[[Request], Awaitable[T]]) -> T:
        """Send in the forms this server is known to take, then others, until it takes one."""
        quirks = self.known.quirks
        while True:
            adapted = adapt_request(request, quirks)
            try:
                async with self._endpoint.guard():
                    result = await read(adapted)
            except Refused as error:
                more = find_next_quirk(error.message, adapted, quirks)
                if more is None:
                    raise
                quirks = (*quirks, more)
            else:
                if set(quirks) - set(self.known.quirks):
                    self._save_known(self.known.model_copy(update={"quirks": quirks}))
                return result

    async def _create_completion(self, request: Request) -> Any:
        return await self._endpoint.client().chat.completions.create(**request)

    async def _request_reply(self, request: Request) -> Reply:
        completion = await self._create_completion(request)
        choice = self._endpoint.part(completion, "choices")[0]
        text = strip_thinking(choice.message.content or "", unopened=self.known.unopened)
        self._endpoint.check(
            text, choice.message.refusal or "", choice.finish_reason, may_be_empty="stop" in request
        )
        return Reply(text, extract_tokens(completion.usage), choice.finish_reason != "length")

    async def _stream_reply(self, request: Request, on_token: OnToken) -> Reply:
        written, refusal, text = "", "", ""
        usage, reason = None, None
        # left early, it closes the connection, and the server stops
        async with await self._create_completion(request) as stream:
            async for chunk in stream:
                usage = chunk.usage or usage
                for choice in chunk.choices:
                    reason = choice.finish_reason or reason
                    refusal += choice.delta.refusal or ""
                    written += choice.delta.content or ""
                    shown, text = len(text), strip_thinking(written, unopened=self.known.unopened)
                    if len(text) > shown:
                        on_token(text[shown:])
        self._endpoint.check(text, refusal, reason, may_be_empty="stop" in request)
        return Reply(text, extract_tokens(usage), reason != "length")

    async def _grade_by_word(self, request: Request) -> YesNo:
        reply = await self._request_reply(request)
        return YesNo(parse_word_odds(reply.text), reply.tokens)

    async def _grade_by_logprobs(self, request: Request) -> YesNo:
        completion = await self._create_completion(request)
        choice = self._endpoint.part(completion, "choices")[0]
        content = choice.logprobs.content if choice.logprobs is not None else None
        if content and content[0].top_logprobs:
            return YesNo(
                compute_log_odds((t.token, t.logprob) for t in content[0].top_logprobs),
                extract_tokens(completion.usage),
            )
        return YesNo(
            parse_word_odds(choice.message.content or ""), extract_tokens(completion.usage)
        )


class OpenAIEmbedder:
    """Implements `Embedder`. `dim` is 0 before the first reply. No prefixes."""

    def __init__(self, settings: Settings) -> None:
        key = settings.embed_key.get_secret_value()
        self._endpoint = Endpoint(
            settings.embed_url, settings.embed_model, key, settings.llm_timeout, "embed"
        )
        self.name = f"openai:{settings.embed_model}"
        self.dim = 0

    async def query(self, text: str) -> Vector:
        vector: Vector = (await self.passages([text]))[0]
        return vector

    async def passages(self, texts: Sequence[str]) -> Vector:
        batches = [
            await self._embed_batch(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)
        ]
        return np.concatenate(batches) if batches else np.empty((0, self.dim), np.float32)

    async def close(self) -> None:
        await self._endpoint.close()

    @observe_call("embeddings")
    async def _embed_batch(self, texts: Sequence[str]) -> Vector:
        sent = [
            replace_unsafe_chars(text) or " " for text in texts
        ]  # some servers refuse an empty text
        async with self._endpoint.guard():
            # asked for as numbers: the SDK would ask for base64, which some servers do not know
            reply = await self._endpoint.client().embeddings.create(
                model=self._endpoint.model, input=sent, encoding_format="float"
            )
            data = sorted(self._endpoint.part(reply, "data"), key=lambda item: item.index)
        vectors = np.array([item.embedding for item in data], np.float32)
        if vectors.shape[0] != len(texts) or vectors.ndim != 2:
            raise PermanentError(
                Text(
                    "{name}: {data} embeddings for {texts} texts",
                    name=self.name,
                    data=len(data),
                    texts=len(texts),
                )
            )
        self.dim = int(vectors.shape[1])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vector = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit


def extract_tokens(usage: Any) -> Tokens:
    """What the server says a call cost; zeros where it does not say."""
    if usage is None:
        return Tokens()
    details = usage.prompt_tokens_details
    return Tokens(
        usage.prompt_tokens, (details.cached_tokens or 0) if details else 0, usage.completion_tokens
    )
