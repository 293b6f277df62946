"""Any OpenAI-compatible endpoint through the `openai` SDK: vLLM, Ollama, llama.cpp server, DeepSeek, Qwen, OpenAI.

The one rule: servers differ; what one refuses is sent again in another form (`QUIRKS`), and what worked is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal, TypeVar

import numpy as np

from citewell.config import Settings
from citewell.errors import PermanentError
from citewell.models.base import OnToken, Reply, Tokens, Vector, YesNo
from citewell.models.clean import clean, inert
from citewell.models.endpoint import Endpoint, Refused
from citewell.models.quirks import QUIRKS, Quirk, Request
from citewell.models.watched import call
from citewell.models.yesno import log_odds, word_odds
from citewell.types import Message

TOP = 20  # most that OpenAI lists
BATCH = 64  # texts that an embeddings request carries
T = TypeVar("T")
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)


class OpenAILLM:
    """Implements `LLM`."""

    def __init__(self, settings: Settings, named: Literal["llm", "judge"] = "llm") -> None:
        """`named`: the settings that name the endpoint, as in `llm_url`, `llm_model`, `llm_key`."""
        url, model, key = (getattr(settings, f"{named}_{part}") for part in ("url", "model", "key"))
        self._endpoint = Endpoint(url, model, key.get_secret_value(), settings.llm_timeout, named)
        self._quirks: tuple[Quirk, ...] = ()
        self.name = f"openai:{model}"
        self.evidence_tokens = settings.llm_evidence

    @call("chat")
    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 256,
        temperature: float = 0.0,
        schema: dict[str, Any] | None = None,
        stop: Sequence[str] = (),
        on_token: OnToken | None = None,
    ) -> Reply:
        request = self._request(messages, max_tokens=max_tokens, temperature=temperature)
        if stop:
            request["stop"] = list(stop)
        if schema is not None:
            request["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        if on_token is None:
            return await self._send(request, self._whole)
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        return await self._send(request, lambda sent: self._streamed(sent, on_token))

    @call("yes_no")
    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        """Without log-probabilities from the server the figure is +5 or -5 by the word, 0 for any other word."""
        request = self._request(messages, max_tokens=1, temperature=0.0)
        return await self._send(request | {"logprobs": True, "top_logprobs": TOP}, self._judged)

    async def close(self) -> None:
        await self._endpoint.close()

    def _request(self, messages: Sequence[Message], **options: Any) -> Request:
        sent = [{"role": m.role, "content": inert(m.content)} for m in messages]
        return {"model": self._endpoint.model, "messages": sent, **options}

    async def _send(self, request: Request, read: Callable[[Request], Awaitable[T]]) -> T:
        """Send in the forms this server is known to take, then in others, until it takes one or none is left."""
        quirks = self._quirks
        while True:
            adapted = request
            for quirk in quirks:
                adapted = quirk.change(adapted)
            try:
                async with self._endpoint.guard():
                    result = await read(adapted)
            except Refused as error:
                more = [q for q in QUIRKS if q not in quirks and q.explains(error.message, adapted)]
                if not more:
                    raise
                quirks = (*quirks, more[0])
            else:
                self._quirks = quirks
                return result

    async def _create(self, request: Request) -> Any:
        return await self._endpoint.client().chat.completions.create(**request)

    async def _whole(self, request: Request) -> Reply:
        completion = await self._create(request)
        choice = self._endpoint.part(completion, "choices")[0]
        text = without_thinking(choice.message.content or "")
        return Reply(text, spent(completion.usage), choice.finish_reason != "length")

    async def _streamed(self, request: Request, on_token: OnToken) -> Reply:
        pieces: list[str] = []
        usage, finished = None, True
        async with await self._create(request) as stream:  # left early, it closes the connection, and the server stops
            async for chunk in stream:
                usage = chunk.usage or usage
                for choice in chunk.choices:
                    finished = finished and choice.finish_reason != "length"
                    if choice.delta.content:
                        pieces.append(choice.delta.content)
                        if not _is_thinking("".join(pieces)):
                            on_token(choice.delta.content)
        return Reply(without_thinking("".join(pieces)), spent(usage), finished)

    async def _judged(self, request: Request) -> YesNo:
        completion = await self._create(request)
        choice = self._endpoint.part(completion, "choices")[0]
        content = choice.logprobs.content if choice.logprobs is not None else None
        if content and content[0].top_logprobs:
            return YesNo(log_odds((t.token, t.logprob) for t in content[0].top_logprobs), spent(completion.usage))
        return YesNo(word_odds(choice.message.content or ""), spent(completion.usage))


class OpenAIEmbedder:
    """Implements `Embedder`. `dim` is 0 until the first reply tells it. No prefixes: query and passage are alike."""

    def __init__(self, settings: Settings) -> None:
        key = settings.embed_key.get_secret_value()
        self._endpoint = Endpoint(settings.embed_url, settings.embed_model, key, settings.llm_timeout, "embed")
        self.name = f"openai:{settings.embed_model}"
        self.dim = 0

    async def query(self, text: str) -> Vector:
        vector: Vector = (await self.passages([text]))[0]
        return vector

    async def passages(self, texts: Sequence[str]) -> Vector:
        batches = [await self._batch(texts[at : at + BATCH]) for at in range(0, len(texts), BATCH)]
        return np.concatenate(batches) if batches else np.empty((0, self.dim), np.float32)

    async def close(self) -> None:
        await self._endpoint.close()

    @call("embeddings")
    async def _batch(self, texts: Sequence[str]) -> Vector:
        sent = [clean(text) or " " for text in texts]  # some servers refuse an empty text
        async with self._endpoint.guard():
            # asked for as numbers: the SDK would ask for base64, which some servers do not know
            reply = await self._endpoint.client().embeddings.create(
                model=self._endpoint.model, input=sent, encoding_format="float"
            )
            data = sorted(self._endpoint.part(reply, "data"), key=lambda item: item.index)
        vectors = np.array([item.embedding for item in data], np.float32)
        if vectors.shape[0] != len(texts) or vectors.ndim != 2:
            raise PermanentError(f"{self.name}: {len(data)} embeddings for {len(texts)} texts")
        self.dim = int(vectors.shape[1])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vector = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit


def without_thinking(text: str) -> str:
    """A reply without what a reasoning model thinks aloud before it, `<think>...</think>`. One that was cut off while thinking
    has said nothing.
    """
    return "" if _is_thinking(text) else _THOUGHT.sub("", text)


def _is_thinking(text: str) -> bool:
    opened = text.lstrip()
    return (opened.startswith("<think>") and "</think>" not in opened) or ("<think>".startswith(opened) and bool(opened))


def spent(usage: Any) -> Tokens:
    """What the server says a call cost; zeros where it does not say."""
    if usage is None:
        return Tokens()
    details = usage.prompt_tokens_details
    return Tokens(usage.prompt_tokens, (details.cached_tokens or 0) if details else 0, usage.completion_tokens)
