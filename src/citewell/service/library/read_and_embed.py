"""Read files and embed them meanwhile; an embedder that fails is told at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from citewell.errors import CitewellError
from citewell.runtime.app import App
from citewell.runtime.progress import OnProgress
from citewell.service.bulk.ray_reading import RayReading
from citewell.service.library.add import Reading, add_paths
from citewell.service.library.add_report import AddReport
from citewell.service.library.embedding import Embedding

Engine = Literal["local", "ray"]
ENGINES: dict[Engine, type[Reading]] = {"local": Reading, "ray": RayReading}


@dataclass(frozen=True, slots=True)
class Ingested:
    """`problem`: why passages still wait to be found by meaning; all that was added can be found by
    its words. `others`: passages of other files that wait, because their run is going on beside
    this one, or was stopped.
    """

    report: AddReport
    embedded: int
    problem: CitewellError | None = None
    others: int = 0


async def ingest_paths(
    app: App,
    paths: Sequence[str],
    collection: str,
    *,
    on_progress: OnProgress | None = None,
    priority: int | None = None,
    links: bool = False,
    engine: Engine = "local",
) -> Ingested:
    """Add `paths` as `add_paths` does, and embed what of them waits, whoever left it: two that run
    at once do not do the same twice. `engine`: where files are read, parsed and embedded. Raises
    what `add_paths` raises, and what `RayReading` raises.
    """
    embedding = Embedding(app, on_progress, docs=())
    problems: list[CitewellError] = []
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_run_embedding, embedding, problems)
            report = await add_paths(
                app,
                paths,
                collection,
                on_progress=on_progress,
                priority=priority,
                embedding=embedding,
                links=links,
                engine=ENGINES[engine],
            )
            embedding.close()
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
    others = 0 if problems or report.error else await app.pending_chunks.count_unembedded()
    return Ingested(report, embedding.done, problems[0] if problems else None, others)


async def _run_embedding(embedding: Embedding, problems: list[CitewellError]) -> None:
    """Run it beside the reading; what its model refuses must not stop the reading."""
    try:
        await embedding.run()
    except CitewellError as error:
        problems.append(error)
