"""How much an ingestion costs beside the embedding that it cannot do without.

The one rule: the same passages, by the same embedder with nothing beside it, in turns; machines are
shared and noisy.
"""

from __future__ import annotations

import json
import random
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import text

from citewell.config import Settings
from citewell.ingest.worker import kill_idle_workers
from citewell.models.providers import build_embedder
from citewell.runtime.app import App
from citewell.service.library.read_and_embed import ingest_paths
from citewell.store.index.vectors import build_embedding_text

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = REPOSITORY.parent / "shared" / "data"
CORPORA = ("retrieval_zh/crud_distractors.jsonl", "retrieval_en/cranfield_corpus.jsonl")
_SENTENCE = re.compile(r"(?<=[。！？])|(?<=[.!?])\s+")


@dataclass(frozen=True, slots=True)
class Cost:
    """`cpu`: seconds of all processes together, which the load of others changes less than
    `wall`.
    """

    wall: float
    cpu: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.wall + other.wall, self.cpu + other.cpu)


class Meter:
    """Counts wall and processor time of this process and of those it started that have ended."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), _cpu()

    def read(self) -> Cost:
        return Cost(time.perf_counter() - self._wall, _cpu() - self._cpu)


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def sentences() -> list[str]:
    """Real sentences, Chinese and English: of the evaluation data where it is beside this checkout,
    else of the samples.
    """
    texts: list[str] = []
    for corpus in CORPORA if DATA.is_dir() else ():
        texts += [
            json.loads(row)["text"] for row in (DATA / corpus).read_text("utf-8").splitlines()
        ]
    for path in sorted((REPOSITORY / "samples").rglob("*.md")) if not texts else ():
        texts.append(path.read_text("utf-8"))
    return [
        part.strip() for each in texts for part in _SENTENCE.split(each) if 10 < len(part) < 400
    ]


def library(folder: Path, files: int, seed: int) -> None:
    """Markdown files of three sections of about a passage each, all different."""
    folder.mkdir(parents=True)
    known, chance = sentences(), random.Random(seed)
    for number in range(files):
        parts = [f"# Note {number}"]
        for section in range(3):
            parts += [f"## Part {section}", *_about(known, chance, 500)]
        (folder / f"{number:03}.md").write_text("\n\n".join(parts), "utf-8")


def _about(known: list[str], chance: random.Random, characters: int) -> Iterator[str]:
    while characters > 0:
        yield (sentence := chance.choice(known))
        characters -= len(sentence) * (3 if ord(sentence[0]) > 0x2E80 else 1)


async def ingestion(home: Path, settings: Settings, files: int = 40) -> Iterator[str]:
    """Lines to print: ingest and bare embedding of the same passages, then two others of each in
    the other order.
    """
    whole, bare, passages, characters = Cost(0, 0), Cost(0, 0), 0, 0
    for turn in range(2):
        folder = home / f"library{turn}"
        library(folder, files, seed=turn)
        texts = await _passages(
            settings.model_copy(update={"home": home / f"cut{turn}", "embedder": "scripted"}),
            folder,
        )
        passages, characters = passages + len(texts), characters + sum(map(len, texts))
        if turn:
            bare += await _bare(settings, texts)
        whole += await _whole(settings.model_copy(update={"home": home / f"home{turn}"}), folder)
        if not turn:
            bare += await _bare(settings, texts)
    rate, size = passages / whole.wall, characters / passages
    over = f"{whole.wall:.1f} s over {bare.wall:.1f} s; processor time {whole.cpu / bare.cpu:.2f} x"
    return iter(
        [
            f"{rate:.1f} passages a second ({passages} passages of {size:.0f} characters)",
            (
                f"{passages / bare.cpu:.1f} passages a processor second by the embedder alone, "
                "its loading included"
            ),
            f"{whole.wall / bare.wall:.2f} x bare embedding ({over})",
        ]
    )


async def _passages(settings: Settings, folder: Path) -> list[str]:
    """What is embedded of the files, summaries included."""
    async with App(settings) as app:
        await ingest_paths(app, [str(folder)], "bench")
        rows = await app.db.read(
            lambda connection: connection.execute(
                text("SELECT heading_path, text FROM chunks")
            ).all()
        )
    kill_idle_workers()
    return list(
        dict.fromkeys(build_embedding_text(json.loads(row.heading_path), row.text) for row in rows)
    )


async def _whole(settings: Settings, folder: Path) -> Cost:
    """Everything, the start of all processes included."""
    meter = Meter()
    async with App(settings) as app:
        await ingest_paths(app, [str(folder)], "bench")
    kill_idle_workers()
    return meter.read()


async def _bare(settings: Settings, texts: list[str]) -> Cost:
    meter = Meter()
    embedder = build_embedder(settings)
    await embedder.passages(texts)
    await embedder.close()
    return meter.read()
