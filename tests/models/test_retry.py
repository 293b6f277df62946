"""Transport retries: what is tried again, how often, and what never is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import anyio
import pytest
import stamina

from citewell.errors import PermanentError, TransientError
from citewell.models.base import OnToken, Reply, Vector
from citewell.models.retry import ATTEMPTS, TRIED, RetryingEmbedder, RetryingLLM
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.types import Message

ASK = [Message(role="user", content="Which town?")]
BUSY = TransientError("busy")


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=ATTEMPTS):
        yield


async def test_transient_is_tried_again() -> None:
    """Two failures, then the reply."""
    inner = ScriptedLLM(BUSY, BUSY, "Leeds")
    assert (await RetryingLLM(inner).chat(ASK)).text == "Leeds"
    assert len(inner.calls) == 3


async def test_yes_no_is_tried_again() -> None:
    """A yes/no question too."""
    inner = ScriptedLLM()
    inner.enqueue_yes_no(BUSY, -2.0)
    assert (await RetryingLLM(inner).yes_no(ASK)).log_odds == -2.0


async def test_attempts_are_capped() -> None:
    """In the end the last failure is raised."""
    inner = ScriptedLLM(*[BUSY] * 9)
    with pytest.raises(TransientError):
        await RetryingLLM(inner).chat(ASK)
    assert len(inner.calls) == ATTEMPTS


async def test_permanent_is_not_tried_again() -> None:
    """What will fail the same way again is raised at once."""
    inner = ScriptedLLM(PermanentError("wrong"), "Leeds")
    with pytest.raises(PermanentError):
        await RetryingLLM(inner).chat(ASK)
    assert len(inner.calls) == 1


async def test_not_after_a_token() -> None:
    """Nobody is shown the beginning of an answer twice."""
    seen: list[str] = []

    class Broken(ScriptedLLM):
        async def chat(
            self, messages: Sequence[Message], *, on_token: OnToken | None = None, **_: Any
        ) -> Reply:
            assert on_token is not None
            on_token("Lee")
            raise BUSY

    with pytest.raises(TransientError):
        await RetryingLLM(Broken()).chat(ASK, on_token=seen.append)
    assert seen == ["Lee"]


async def test_one_deadline_over_all_tries() -> None:
    """Tries and the waits between them end together, with what the last whole try ended in, or with
    the time.
    """

    class Slow(ScriptedLLM):
        async def chat(self, *_: Any, **__: Any) -> Reply:
            await anyio.sleep(0.08)
            raise BUSY

    began = time.monotonic()
    for seconds, words in ((0.2, "busy"), (0.05, r"no reply within 0\.05 seconds")):
        with pytest.raises(TransientError, match=words) as caught:
            await RetryingLLM(Slow(), seconds=seconds).chat(ASK)
        assert caught.value.code == TRIED
    assert time.monotonic() - began < 2.0


async def test_embedder() -> None:
    """Embeddings are tried again as well."""

    class Flaky(ScriptedEmbedder):
        failures = 2

        async def passages(self, texts: Sequence[str]) -> Vector:
            self.failures -= 1
            if self.failures >= 0:
                raise BUSY
            return await super().passages(texts)

    embedder = RetryingEmbedder(Flaky())
    assert (await embedder.passages(["a"])).shape == (1, embedder.dim)
    assert (await embedder.query("a")).shape == (embedder.dim,)
