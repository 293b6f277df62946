"""What one long text takes until its words can be searched: seconds, and memory of all processes at
its peak.

    .venv/bin/python evals/bench_text.py [--megabytes 50]

The one rule: `citewell add` runs as a process of its own, with an embedder that costs nothing, and
is ended as soon as its document is committed. Linux only: memory is the proportional set size of
the process and those below it.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

WHO = [
    "the harbour",
    "a lamp keeper",
    "our committee",
    "the northern valley",
    "an old ledger",
    "the winter market",
]
DOES = [
    "records",
    "measures",
    "describes",
    "compares",
    "keeps",
    "reports",
    "examines",
    "replaces",
    "weighs",
    "explains",
]
PAUSE = 0.1  # seconds between two looks


def prose(size: int) -> str:
    """About `size` characters in paragraphs, of 20,000 made-up words."""
    chance = random.Random(0)
    syllables = [a + b for a in "bcdfglmnprst" for b in "aeiou"]
    words = ["".join(chance.choices(syllables, k=chance.randint(2, 4))) for _ in range(20_000)]
    return "\n\n".join(_paragraphs(chance, words, size))


def _paragraphs(chance: random.Random, words: list[str], size: int) -> Iterator[str]:
    while size > 0:
        paragraph = " ".join(_sentence(chance, words) for _ in range(chance.randint(3, 8)))
        yield paragraph
        size -= len(paragraph) + 2


def _sentence(chance: random.Random, words: list[str]) -> str:
    first, second, third, fourth = chance.choices(words, k=4)
    who, other = (chance.choice(WHO) for _ in range(2))
    start = (
        f"{who.capitalize()} {chance.choice(DOES)} {first} {second} near {third} "
        f"in {chance.randint(1700, 2025)}"
    )
    return (
        f"{start}, and {other} {chance.choice(DOES)} the {fourth} {chance.randint(2, 900)} times."
    )


def processes(process: int) -> Iterator[int]:
    """It and those that it started."""
    yield process
    with suppress(OSError):
        for task in Path(f"/proc/{process}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from processes(int(child))


def memory(process: int) -> float:
    """Megabytes of all of them; what they share is counted once."""
    total = 0
    for each in processes(process):
        with suppress(OSError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1000


def seconds_of(process: int) -> float:
    """Processor time of all of them, and of those of theirs that have ended."""
    total = 0
    for each in processes(process):
        with suppress(OSError):
            total += sum(
                map(int, Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()[11:15])
            )
    return total / os.sysconf("SC_CLK_TCK")


def committed(home: Path) -> bool:
    """Whether a passage can be found."""
    for file in home.glob("*.db"):
        with (
            suppress(sqlite3.Error),
            closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection,
        ):
            if connection.execute("SELECT 1 FROM words LIMIT 1").fetchone():
                return True
    return False


def measured(folder: Path, megabytes: float) -> str:
    text, home = folder / "long.txt", folder / "home"
    text.write_text(prose(int(megabytes * 1e6)), "utf-8")
    environment = os.environ | {
        "CITEWELL_HOME": str(home),
        "CITEWELL_EMBEDDER": "scripted",
        "CITEWELL_LLM": "none",
    }
    started, peak, used = time.perf_counter(), 0.0, 0.0
    command = [sys.executable, "-m", "citewell", "add", str(text)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        while process.poll() is None and not committed(home):
            peak, used = max(peak, memory(process.pid)), seconds_of(process.pid) or used
            time.sleep(PAUSE)
        wall = time.perf_counter() - started
        process.kill()
    return (
        f"{megabytes:g} MB of text: {peak:.0f} MB at the peak, {wall:.1f} s ({used:.1f} s of "
        "processors) until it is searchable"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=50)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as where:
        print(measured(Path(where), given.megabytes))
