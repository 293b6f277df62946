"""Two lanes: the order of results, who goes first, and what cancelling and failing leave behind."""

from __future__ import annotations

import asyncio
import threading
import time

import anyio.from_thread
import anyio.to_thread
import pytest

from citewell.models.builtin import lanes
from citewell.models.builtin.lanes import Lanes, use_background_priority


class Slow:
    """Work of a hundredth of a second that says when it was done."""

    def __init__(self) -> None:
        self.done: list[int] = []
        self.at_once = self.most = 0
        self._lock = threading.Lock()

    def __call__(self, item: int) -> int:
        with self._lock:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        time.sleep(0.01)
        with self._lock:
            self.at_once -= 1
            self.done.append(item)
        return -item


async def in_background(work: Lanes[int, int], items: list[int]) -> list[int]:
    with use_background_priority():
        return await work.results(items)


async def test_order_and_threads() -> None:
    slow = Slow()
    work = Lanes(slow, 3)
    assert await work.results(list(range(20))) == [-n for n in range(20)]
    assert slow.most == 3
    assert await work.results([]) == []


async def test_a_question_passes_an_upload() -> None:
    """Many items of the background are left when what came last is done."""
    slow = Slow()
    work = Lanes(slow, 2)
    uploads = [asyncio.create_task(in_background(work, list(range(100)))) for _ in range(2)]
    await asyncio.sleep(0.05)
    assert await work.results([1000, 1001, 1002, 1003]) == [-1000, -1001, -1002, -1003]
    after = slow.done.index(1003)
    assert len([n for n in slow.done[:after] if n < 1000]) < 40
    assert [await upload for upload in uploads] == [[-n for n in range(100)]] * 2


async def test_the_background_of_one_model_gives_way_to_another() -> None:
    """While a question is read, an upload is not embedded, but for what each thread had begun."""
    slow = Slow()
    upload = asyncio.create_task(in_background(Lanes(slow, 2), list(range(100))))
    await asyncio.sleep(0.05)
    before = len(slow.done)
    await Lanes(Slow(), 1).results(list(range(20)))
    assert len(slow.done) <= before + 2
    assert await upload == [-n for n in range(100)]


async def test_a_short_call_passes_a_long_one() -> None:
    """Calls of one lane take turns."""
    slow = Slow()
    work = Lanes(slow, 1)
    long = asyncio.create_task(work.results(list(range(100))))
    await asyncio.sleep(0.05)
    assert await work.results([1000]) == [-1000]
    assert len(slow.done) < 50
    assert await long == [-n for n in range(100)]


async def test_the_background_never_stands_still(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many questions come, an item goes on once its patience is over."""
    monkeypatch.setattr(lanes, "PATIENCE", 0.05)
    work = Lanes(Slow(), 1)
    asking = asyncio.create_task(work.results(list(range(1000))))
    await asyncio.sleep(0)
    async with asyncio.timeout(120):
        assert await in_background(work, [1, 2]) == [-1, -2]
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_cancelled_work_stops() -> None:
    """Each thread ends with its item, the caller at once; the next call works."""
    slow = Slow()
    work = Lanes(slow, 2)
    task = asyncio.create_task(work.results(list(range(1000))))
    await asyncio.sleep(0.05)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0.05)
    done = len(slow.done)
    await asyncio.sleep(0.05)
    assert len(slow.done) == done < 100
    assert await work.results([1]) == [-1]


async def test_the_first_error_is_raised() -> None:
    """And nothing more is begun."""
    tried: list[int] = []

    def fail(item: int) -> int:
        tried.append(item)
        raise KeyError(item)

    with pytest.raises(KeyError):
        await Lanes(fail, 1).results([1, 2, 3])
    assert tried == [1]


async def test_a_thread_hands_its_lane_on() -> None:
    """What a thread of the background asks the loop for is of the background too."""

    async def lane() -> bool:
        return lanes._behind.get()

    def ask() -> bool:
        with use_background_priority():
            return anyio.from_thread.run(lane)

    assert await anyio.to_thread.run_sync(ask)
    assert not await lane()
