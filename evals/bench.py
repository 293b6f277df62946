"""How fast it is here, as ratios in one run where a ratio can be had.

    .venv/bin/python evals/bench.py [--fast]

The one rule: compare within one run only; machines are shared and noisy. `--fast` leaves the chat model out.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from citewell.config import Settings, load_settings
from citewell.flow import END, Graph, node
from citewell.knowledge.index import Filter
from citewell.models import build_embedder
from citewell.service.add import add, embed_pending
from citewell.service.app import App
from citewell.service.ask import AskRequest, stream
from citewell.types import Chunk, Document, Section, Step

REPOSITORY = Path(__file__).resolve().parent.parent
CHUNKS = 10_000
WORDS = ["warranty", "pump", "filter", "battery", "delivery", "return", "order", "customer", "office", "leave", "travel"]
HAN = ["保修期", "水泵", "滤芯", "电池", "交货", "退货", "订单", "客户", "办公室", "年假", "差旅", "报销", "安全", "型号"]


@dataclass
class Nothing:
    left: int = 100
    node_execution_status: dict[str, str] = field(default_factory=dict)


@node("Nothing")
async def nothing(state: Nothing, _: None) -> Literal["again", "done"]:
    state.left -= 1
    return "again" if state.left else "done"


def line(name: str, value: str) -> None:
    print(f"{name:38} {value}", flush=True)


async def median(call: Callable[[], Awaitable[object]], n: int) -> float:
    """Median seconds of n calls after one that warms up."""
    await call()
    seconds = []
    for _ in range(n):
        started = time.perf_counter()
        await call()
        seconds.append(time.perf_counter() - started)
    return statistics.median(seconds)


def start_up() -> None:
    seconds = []
    for _ in range(5):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-m", "citewell", "--help"], check=True, capture_output=True)
        seconds.append(time.perf_counter() - started)
    bare = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    bare = time.perf_counter() - bare
    line("citewell --help", f"{min(seconds):.2f} s ({min(seconds) / bare:.1f} x a bare python)")


async def flow_overhead() -> None:
    graph: Graph[Nothing] = Graph("bench", {nothing: {"again": nothing, "done": END}}, step_limit=200)

    async def run() -> None:
        async for _ in graph.run(Nothing(), None):
            pass

    line("flow overhead", f"{await median(run, 5) / 100 * 1000:.2f} ms a step")


async def embedding(settings: Settings) -> None:
    embedder = build_embedder(settings)
    rng = np.random.default_rng(1)
    for name, words, joint, size in (("English", WORDS, " ", 150), ("Chinese", HAN, "", 100)):
        texts = [joint.join(rng.choice(words, size)) for _ in range(24)]
        await embedder.passages(texts[:4])
        started = time.perf_counter()
        await embedder.passages([f"{i} {t}" for i, t in enumerate(texts)])
        line(
            f"embedding, {name} passages",
            f"{len(texts) / (time.perf_counter() - started):.1f} a second (about 220 tokens each)",
        )
    await embedder.close()


async def search(home: Path) -> None:
    """10,000 chunks with random vectors: our search by vector, by words, and a numpy scan of the same vectors."""
    async with App(Settings(home=home, llm="none", embedder="scripted")) as app:
        rng = np.random.default_rng(2)
        for part in range(10):
            texts = [" ".join(rng.choice(WORDS + HAN, 60)) for _ in range(CHUNKS // 10)]
            text = "\n".join(texts)
            chunks, at = [], 0
            for each in texts:
                chunks.append(Chunk(each, at, at + len(each), 0, (), None, 80))
                at += len(each) + 1
            document = Document(f"d{part}", "text/plain", "en", text, (Section((), 0, len(text)),))
            await app.catalog.put("bench", f"d{part}", text.encode(), document, chunks)
        rows = rng.standard_normal((CHUNKS, app.embedder.dim)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        ids = [i for i, _ in await app.catalog.unembedded(app.embedder.name, CHUNKS)]
        await app.catalog.put_vectors(app.embedder.name, ids, rows[: len(ids)])
        query = rows[7]
        where = Filter(collections=("bench",))

        async def scan() -> object:
            scores = rows @ query
            return np.argpartition(-scores, 10)[:10]

        numpy_seconds = await median(scan, 50)
        vector = await median(lambda: app.index.by_vector(query, 10, where), 50)
        words = await median(lambda: app.index.by_words("pump 保修期 leave", 10, where), 20)
        line(
            f"search by vector, {len(ids)} chunks", f"{vector * 1000:.2f} ms ({vector / numpy_seconds:.1f} x a bare numpy scan)"
        )
        line(f"search by words, {len(ids)} chunks", f"{words * 1000:.2f} ms")


async def answers(home: Path) -> None:
    """The sample library and the built-in model: time to the first evidence, and where an answer's time goes."""
    async with App(load_settings(home=home)) as app:
        started = time.perf_counter()
        report = await add(app, [str(REPOSITORY / "samples/library")], "samples")
        await embed_pending(app)
        chunks = sum(f.chunks for f in report.files)
        line("add the sample library", f"{time.perf_counter() - started:.1f} s ({chunks} chunks)")
        questions = (
            "How many days may I work from home each week?",  # loads the model
            "How long is the frame warranty?",
            "保修期是多久？",
            "退货运费由谁承担？",
        )
        for i, question in enumerate(questions):
            await _answer(app, question, first=i == 0)


async def _answer(app: App, question: str, *, first: bool) -> None:
    started = time.perf_counter()
    evidence = token = 0.0
    steps: dict[str, float] = {}
    async for event in stream(app, AskRequest(question=question, collection="samples", keep=False)):
        now = time.perf_counter() - started
        if isinstance(event.data, Step):
            steps[event.data.node] = steps.get(event.data.node, 0.0) + event.data.seconds
            evidence = evidence or (now if event.data.node == "DocumentRetrievalNode" else 0.0)
        token = token or (now if event.kind == "token" else 0.0)
    total = time.perf_counter() - started
    words = steps.get("AnswerGenerationNode", 0.0)
    line(
        "first answer, model loading" if first else "answer",
        f"{total:.1f} s: evidence after {evidence:.2f}, grade and prompt {max(0.0, token - evidence):.1f}, "
        f"wording {max(0.0, evidence + words - (token or evidence)):.1f}, proof {steps.get('AnswerRefinementNode', 0.0):.2f}",
    )


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", action="store_true", help="leave the chat model out")
    args = parser.parse_args()
    line("load of the machine", f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    start_up()
    await flow_overhead()
    await embedding(load_settings())
    with tempfile.TemporaryDirectory() as folder:
        await search(Path(folder) / "search")
        if not args.fast:
            await answers(Path(folder) / "answers")


if __name__ == "__main__":
    asyncio.run(main())
