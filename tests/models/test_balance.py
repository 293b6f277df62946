"""Several addresses used as one: which is asked, what happens to one that fails."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from tests.models.conftest import FakeServer

from citewell.config import Settings
from citewell.errors import PermanentError, TransientError
from citewell.models.balance import LONGEST_WAIT, Pool
from citewell.models.providers import build_embedder, build_llm
from citewell.types import Message


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def ask(pool: Pool[str], failing: str = "") -> str:
    async def use(address: str) -> str:
        if address in failing:
            raise TransientError(f"{address} is down")
        return address

    return await pool.call(use)


async def test_calls_go_to_the_address_with_the_fewest() -> None:
    pool = Pool(["a", "b"])
    done = asyncio.Event()

    async def wait(address: str) -> str:
        await done.wait()
        return address

    waiting = [asyncio.create_task(pool.call(wait)) for _ in range(3)]
    await asyncio.sleep(0)
    assert sorted(each.running for each in pool.members) == [1, 2]
    done.set()
    assert sorted(await asyncio.gather(*waiting)) in (["a", "a", "b"], ["a", "b", "b"])
    assert [await ask(pool) for _ in range(4)] in (["a", "b", "a", "b"], ["b", "a", "b", "a"])


async def test_one_that_fails_is_left_out_until_it_answers() -> None:
    clock = Clock()
    pool = Pool(["a", "b"], clock)
    with pytest.raises(TransientError):
        await ask(pool, "a")
    assert [await ask(pool, "a") for _ in range(3)] == ["b", "b", "b"]
    clock.now = 1.5
    with pytest.raises(TransientError):  # its turn has come: it is tried once
        await ask(pool, "a")
    clock.now = 3.0
    assert await ask(pool, "a") == "b"  # the second wait is twice as long
    clock.now = 4.0
    assert {await ask(pool), await ask(pool)} == {"a", "b"}


async def test_one_that_is_tried_again_gets_one_call_at_a_time() -> None:
    clock = Clock()
    pool = Pool(["a", "b"], clock)
    with pytest.raises(TransientError):
        await ask(pool, "a")
    clock.now = 2.0
    done = asyncio.Event()

    async def wait(address: str) -> str:
        await done.wait()
        return address

    waiting = [asyncio.create_task(pool.call(wait)) for _ in range(4)]
    await asyncio.sleep(0)
    done.set()
    assert sorted(await asyncio.gather(*waiting)) == ["a", "b", "b", "b"]


async def test_where_all_have_failed_the_error_is_theirs() -> None:
    clock = Clock()
    pool = Pool(["a", "b"], clock)
    for _ in range(12):
        with pytest.raises(TransientError, match="is down"):
            await ask(pool, "ab")
        clock.now += LONGEST_WAIT
    assert {await ask(pool), await ask(pool)} == {"a", "b"}


async def test_other_errors_say_nothing_about_the_address() -> None:
    pool = Pool(["a"])

    async def refuse(_: str) -> str:
        raise PermanentError("no")

    with pytest.raises(PermanentError):
        await pool.call(refuse)
    assert pool.members[0].failed == 0


async def test_a_chat_model_at_two_addresses_of_which_one_is_dead(server: FakeServer) -> None:
    """The dead one is asked once, then left out."""
    settings = Settings(
        llm="openai", llm_url=f"http://127.0.0.1:9/v1, {server.url}", llm_model="m",
        home=server.home,
    )  # fmt: skip
    llm = build_llm(settings)
    assert llm is not None
    for text in ("one", "two", "three"):
        server.then_text(text)
    said = [(await llm.chat([Message(role="user", content="?")])).text for _ in range(3)]
    await llm.close()
    assert said == ["one", "two", "three"]


async def test_an_embedder_at_two_addresses(server: FakeServer) -> None:
    settings = Settings(
        embedder="openai", embed_url=f"{server.url},{server.url}/", embed_model="m",
        home=server.home,
    )  # fmt: skip
    embedder = build_embedder(settings)
    for _ in range(2):
        data = [{"object": "embedding", "index": 0, "embedding": [3.0, 4.0]}]
        server.then({"object": "list", "model": "m", "data": data, "usage": None})
    vectors = [await embedder.query("q"), (await embedder.passages(["p"]))[0]]
    await embedder.close()
    assert embedder.dim == 2
    assert np.allclose(vectors, [[0.6, 0.8], [0.6, 0.8]])
