"""How fast it is here, as ratios in one run where a ratio can be had.

    .venv/bin/python evals/bench.py [--fast] [--large] [--serve]

The one rule: compare within one run only; machines are shared and noisy. `--fast` leaves the chat
model out, `--large` searches among 100,000 passages too (some minutes more). `--serve` measures the
server instead (bench_serve.py).
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

from bench_ingest import ingestion
from bench_loops import loops
from bench_search import searching
from citewell.config import load_settings
from citewell.graph import END, Graph, node
from citewell.runtime.app import App
from citewell.service.ask.ask import stream_answer
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.types import Step

REPOSITORY = Path(__file__).resolve().parent.parent


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
        subprocess.run(
            [sys.executable, "-m", "citewell", "--help"], check=True, capture_output=True
        )
        seconds.append(time.perf_counter() - started)
    bare = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    bare = time.perf_counter() - bare
    line("citewell --help", f"{min(seconds):.2f} s ({min(seconds) / bare:.1f} x a bare python)")


async def flow_overhead() -> None:
    graph: Graph[Nothing] = Graph(
        "bench", {nothing: {"again": nothing, "done": END}}, step_limit=200
    )

    async def run() -> None:
        async for _ in graph.run(Nothing(), None):
            pass

    line("flow overhead", f"{await median(run, 5) / 100 * 1000:.2f} ms a step")


async def answers(home: Path) -> None:
    """The sample library and the built-in model: time to the first evidence, and where an answer's
    time goes.
    """
    async with App(load_settings(home=home)) as app:
        started = time.perf_counter()
        report = await add_paths(app, [str(REPOSITORY / "samples/library")], "samples")
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
        async for told in loops(app, "samples"):
            line("dual loop over one pass", told)


async def _answer(app: App, question: str, *, first: bool) -> None:
    started = time.perf_counter()
    evidence = token = 0.0
    steps: dict[str, float] = {}
    async for event in stream_answer(
        app, AskRequest(question=question, collection="samples", keep=False)
    ):
        now = time.perf_counter() - started
        if isinstance(event.data, Step):
            steps[event.data.node] = steps.get(event.data.node, 0.0) + event.data.seconds
            evidence = evidence or (now if event.data.node == "DocumentRetrievalNode" else 0.0)
        token = token or (now if event.kind == "token" else 0.0)
    total = time.perf_counter() - started
    words = steps.get("AnswerGenerationNode", 0.0)
    line(
        "first answer, model loading" if first else "answer",
        f"{total:.1f} s: evidence after {evidence:.2f}, grade and "
        f"prompt {max(0.0, token - evidence):.1f}, "
        f"wording {max(0.0, evidence + words - (token or evidence)):.1f}, "
        f"proof {steps.get('AnswerRefinementNode', 0.0):.2f}",
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--fast", action="store_true", help="leave the chat model out")
    parser.add_argument(
        "--serve",
        action="store_true",
        help="only the server, with 200 conversations at once (some minutes)",
    )
    parser.add_argument("--large", action="store_true", help="search among 100,000 passages too")
    return parser.parse_args()


async def main(args: argparse.Namespace) -> None:
    line("load of the machine", f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    start_up()
    await flow_overhead()
    settings = load_settings(llm="none")
    with tempfile.TemporaryDirectory() as folder:
        for told in await ingestion(Path(folder) / "ingest", settings):
            line("ingestion", told)
        for chunks in (10_000, 100_000) if args.large else (10_000,):
            for told in await searching(
                Path(folder) / str(chunks),
                settings,
                chunks,
                rerank=not args.fast and chunks == 10_000,
            ):
                line("search", told)
        if not args.fast:
            await answers(Path(folder) / "answers")


if __name__ == "__main__":
    given = arguments()
    if given.serve:
        sys.exit(
            subprocess.run(
                [sys.executable, str(REPOSITORY / "evals/bench_serve.py")], check=False
            ).returncode
        )
    asyncio.run(main(given))
