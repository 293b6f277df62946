"""Transport retries, for connected models. Only TransientError is tried again, and never after a
token was shown. A chat model has one deadline over all tries.
"""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar, Unpack

import anyio
import stamina

from citewell.errors import TransientError
from citewell.messages import Text
from citewell.models.balance import Pool
from citewell.models.base import LLM, ChatOptions, Embedder, Learns, Reply, Reranker, Vector, YesNo
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
    """Tries with a doubling, jittered `wait` (8 s at most); none starts after `seconds`."""
    return stamina.retry_context(
        on=on, attempts=ATTEMPTS, timeout=seconds, wait_initial=wait, wait_max=8.0, wait_jitter=wait
    ).__aiter__()


def is_transient(error: Exception) -> bool:
    return isinstance(error, TransientError)


class RetryingLLM:
    """An LLM that tries again, `seconds` in all. `members` serve the same model."""

    def __init__(self, *members: LLM, seconds: float = SECONDS, wait: float = 0.5) -> None:
        self._pool = Pool(members)
        self.name = members[0].name
        self._seconds = seconds
        self._wait = wait

    @property
    def evidence_tokens(self) -> int:
        """What the member with the smallest context has room for."""
        return min(llm.evidence_tokens for llm in self._pool.values)

    @property
    def known(self) -> Known:
        first = self._pool.values[0]
        return first.known if isinstance(first, Learns) else Known()

    async def learn(self, *, anew: bool = False) -> Known:
        for llm in self._pool.values:
            if isinstance(llm, Learns):
                await llm.learn(anew=anew)
        return self.known

    async def chat(self, messages: Sequence[Message], **options: Unpack[ChatOptions]) -> Reply:
        shown = False

        def forward(piece: str) -> None:
            nonlocal shown
            shown = True
            if on_token is not None:
                on_token(piece)

        if (on_token := options.get("on_token")) is not None:
            options["on_token"] = forward
        return await self._call_with_retry(
            lambda llm: llm.chat(messages, **options),
            lambda error: is_transient(error) and not shown,
        )

    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        return await self._call_with_retry(lambda llm: llm.yes_no(messages), is_transient)

    async def _call_with_retry(
        self, call: Callable[[LLM], Awaitable[T]], on: Callable[[Exception], bool]
    ) -> T:
        last: TransientError | None = None
        try:
            with anyio.fail_after(self._seconds):
                async for attempt in iterate_attempts(self._wait, on, self._seconds):
                    with attempt:
                        try:
                            return await self._pool.call(call)
                        except TransientError as error:
                            last = error
                            raise
        except TransientError as error:
            raise TransientError(error.message, hint=error.hint, code=TRIED) from error
        except TimeoutError:
            # what the tries before ended in says more than that the time is over
            if last is not None:
                raise TransientError(last.message, hint=last.hint, code=TRIED) from None
            why = Text(
                "{name}: no reply within {seconds:g} seconds", name=self.name, seconds=self._seconds
            )
            raise TransientError(
                why, hint=Text("a longer llm_timeout gives it more time"), code=TRIED
            ) from None
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        for llm in self._pool.values:
            await llm.close()


class RetryingEmbedder:
    """An Embedder that tries again. Several `members` serve the same model, and are used as one."""

    def __init__(self, *members: Embedder, wait: float = 0.5) -> None:
        self._pool = Pool(members)
        self.name = members[0].name
        self.dim = members[0].dim
        self._wait = wait

    async def query(self, text: str) -> Vector:
        return await self._call_with_retry(lambda embedder: embedder.query(text))

    async def passages(self, texts: Sequence[str]) -> Vector:
        return await self._call_with_retry(lambda embedder: embedder.passages(texts))

    async def _call_with_retry(self, call: Callable[[Embedder], Awaitable[Vector]]) -> Vector:
        async for attempt in iterate_attempts(self._wait, is_transient):
            with attempt:
                vectors = await self._pool.call(call)
                # an endpoint tells it with its first reply
                self.dim = max(embedder.dim for embedder in self._pool.values)
                return vectors
        raise AssertionError("the last attempt returns or raises")

    async def close(self) -> None:
        for embedder in self._pool.values:
            await embedder.close()


class RetryingReranker:
    """A Reranker that tries again, for `seconds` in all: a search waits for it."""

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
