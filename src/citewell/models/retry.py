"""Transport retries, for connected models.

The one rule: only TransientError is tried again, and never after a token was shown. A chat model
has one deadline over all tries.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import anyio
import stamina

from citewell.errors import TransientError
from citewell.models.base import LLM, Embedder, Learns, OnToken, Reply, Reranker, Vector, YesNo
from citewell.models.probe import Known
from citewell.types import Message

T = TypeVar("T")
ATTEMPTS = 4
# code of a transient error that was tried again in vain: nobody above need do so once more
TRIED = "tried_again"
SECONDS = 60.0  # no further try starts once this much time has gone by


def iterate_attempts(
    wait: float, on: Callable[[Exception], bool], seconds: float = SECONDS
) -> AsyncIterator[stamina.Attempt]:
    """Tries with a doubling, jittered wait of `wait` seconds at first, 8 at most. None starts after
    `seconds`.
    """
    return stamina.retry_context(
        on=on, attempts=ATTEMPTS, timeout=seconds, wait_initial=wait, wait_max=8.0, wait_jitter=wait
    ).__aiter__()


def is_transient(error: Exception) -> bool:
    return isinstance(error, TransientError)


class RetryingLLM:
    """An LLM that tries again, for `seconds` in all."""

    def __init__(self, inner: LLM, *, seconds: float = SECONDS, wait: float = 0.5) -> None:
        self.inner = inner
        self.name = inner.name
        self._seconds = seconds
        self._wait = wait

    @property
    def evidence_tokens(self) -> int:
        return self.inner.evidence_tokens

    @property
    def known(self) -> Known:
        return self.inner.known if isinstance(self.inner, Learns) else Known()

    async def learn(self, *, anew: bool = False) -> Known:
        return await self.inner.learn(anew=anew) if isinstance(self.inner, Learns) else Known()

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
        shown = False

        def forward(piece: str) -> None:
            nonlocal shown
            shown = True
            if on_token is not None:
                on_token(piece)

        listen = forward if on_token is not None else None
        return await self._call_with_retry(
            lambda: self.inner.chat(
                messages,
                max_tokens=max_tokens,
                temperature=temperature,
                schema=schema,
                stop=stop,
                on_token=listen,
            ),
            lambda error: is_transient(error) and not shown,
        )

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        return await self._call_with_retry(lambda: self.inner.yes_no(messages), is_transient)

    async def _call_with_retry(
        self, call: Callable[[], Awaitable[T]], on: Callable[[Exception], bool]
    ) -> T:
        last: TransientError | None = None
        try:
            with anyio.fail_after(self._seconds):
                async for attempt in iterate_attempts(self._wait, on, self._seconds):
                    with attempt:
                        try:
                            return await call()
                        except TransientError as error:
                            last = error
                            raise
        except TransientError as error:
            raise TransientError(error.message, hint=error.hint, code=TRIED) from error
        except TimeoutError:
            # what the tries before ended in says more than that the time is over
            if last is not None:
                raise TransientError(last.message, hint=last.hint, code=TRIED) from None
            why = f"{self.name}: no reply within {self._seconds:g} seconds"
            raise TransientError(
                why, hint="a longer llm_timeout gives it more time", code=TRIED
            ) from None
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        await self.inner.close()


class RetryingEmbedder:
    """An Embedder that tries again."""

    def __init__(self, inner: Embedder, *, wait: float = 0.5) -> None:
        self.inner = inner
        self.name = inner.name
        self.dim = inner.dim
        self._wait = wait

    async def query(self, text: str) -> Vector:
        return await self._call_with_retry(lambda: self.inner.query(text))

    async def passages(self, texts: Sequence[str]) -> Vector:
        return await self._call_with_retry(lambda: self.inner.passages(texts))

    async def _call_with_retry(self, call: Callable[[], Awaitable[Vector]]) -> Vector:
        async for attempt in iterate_attempts(self._wait, is_transient):
            with attempt:
                vectors = await call()
                self.dim = self.inner.dim  # an endpoint tells it with its first reply
                return vectors
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        await self.inner.close()


class RetryingReranker:
    """A Reranker that tries again, for `seconds` in all: a search waits for it, and can do without
    it.
    """

    def __init__(self, inner: Reranker, *, seconds: float, wait: float = 0.5) -> None:
        self.inner = inner
        self.name = inner.name
        self.passage_tokens = inner.passage_tokens
        self.weight = inner.weight
        self.reach = inner.reach
        self._seconds = seconds
        self._wait = wait

    async def scores(self, question: str, texts: Sequence[str]) -> list[float | None]:
        async for attempt in iterate_attempts(self._wait, is_transient, self._seconds):
            with attempt:
                return await self.inner.scores(question, texts)
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        await self.inner.close()


def compute_backoff(wait: float, tried: int) -> float:
    """Doubles each time, with jitter of up to a half."""
    return wait * float(2 ** (tried - 1)) * (1 + random.random() / 2)  # noqa: S311 - jitter is not cryptography
