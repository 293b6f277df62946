"""What runs on the machines of a Ray cluster: a file is read; parsed, cut and made rows; its texts
are embedded. Rows of Ray Data go in and out, what they hold is pickled. Nothing here has a database
or its password. As in `citewell add`, parsers run in processes of their own, bounded in time and
memory (`ingest/bounded.py`).
"""

from __future__ import annotations

import asyncio
import json
import logging
import pickle
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from citewell.config import Settings
from citewell.errors import CitewellError, ConfigError
from citewell.messages import Text
from citewell.models.builtin.lanes import use_background_priority
from citewell.models.providers import build_embedder
from citewell.release import __version__
from citewell.runtime.app import App
from citewell.runtime.limits import REQUESTS
from citewell.service.bulk.draft import Draft, DraftCollections, Known, Outcome
from citewell.service.library.add import Source, read_source, take_file
from citewell.service.library.add_report import FileReport, build_failed_report
from citewell.service.library.embedding import REQUEST
from citewell.service.library.intake import Intake
from citewell.service.library.read_file import Read
from citewell.store.index.vectors import build_embedding_text, encode_vectors

Row = dict[str, Any]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """What holds for all files of a run. `release`: the Citewell of who gives it."""

    settings: Settings
    collection: str
    priority: int | None
    release: str = __version__


def build_order(settings: Settings, collection: str, priority: int | None) -> Order:
    """Without the passwords that reading and embedding do not need."""
    kept = {"embed_key", "models_key"}
    secrets = [name for name, value in settings if isinstance(value, SecretStr)]
    blank = {name: SecretStr("") for name in secrets if name not in kept}
    return Order(settings.model_copy(update={**blank, "embed_workers": 1}), collection, priority)


def build_row(number: int, source: Source, known: Known) -> Row:
    task = pickle.dumps((source, known))
    return {"number": number, "in_bucket": source.in_bucket, "task": task}


def read_row(row: Row, order: Order) -> Row:
    """Adds `got`: the bytes, or the error that came instead."""
    source, _ = pickle.loads(row["task"])  # noqa: S301 our own
    got: Read | Exception
    try:
        got = read_source(source, order.settings.ingest.max_bytes)
    except Exception as error:  # noqa: BLE001 it is reported, and the other files go on
        got = error
    return row | {"got": pickle.dumps(got)}


def prepare_row(row: Row, order: Order) -> Row:
    """`outcome`: an Outcome, without vectors."""
    source, known = pickle.loads(row["task"])  # noqa: S301 our own
    got = pickle.loads(row["got"])  # noqa: S301 our own
    outcome = asyncio.run(prepare_file(got, source, known, order))
    return {"number": row["number"], "outcome": pickle.dumps(outcome)}


async def prepare_file(
    got: Read | Exception, source: Source, known: Known, order: Order
) -> Outcome:
    """What `Intake` makes of a file here, noted."""
    draft = Draft(known)
    try:
        draft.outcome.reports = await _take_file(_check_read(got, order), source, draft, order)
    except Exception as error:  # noqa: BLE001 whatever it is, the other files go on
        try:
            draft.outcome.reports = [build_failed_report(source.uri, error)]
        except CitewellError as fatal:
            draft.outcome.error = fatal
    return draft.outcome


def _check_read(got: Read | Exception, order: Order) -> Read:
    if order.release != __version__:
        raise _make_release_error(order.release)
    if isinstance(got, Exception):
        raise got
    return got


async def _take_file(got: Read, source: Source, draft: Draft, order: Order) -> list[FileReport]:
    async with AsyncExitStack() as stack:
        app = App(order.settings)
        stack.push_async_exit(app)  # what it built is closed; its database was never opened
        app.catalog, app.collections = draft, DraftCollections(draft.known)
        dated = got.dated if source.dates else None
        intake = Intake(app, order.collection, dated, order.priority)
        return await take_file(intake, got, source)


class TextEmbedder:
    """An actor that holds the embedder. Called with a table of `number` and `outcome`, it gives the
    documents in them the vectors of their texts. Where the embedder cannot be used it leaves them
    without from then on: they are embedded, and the trouble told, by who keeps them.
    """

    def __init__(self, order: Order) -> None:
        self._embedder = build_embedder(order.settings)
        self._running = asyncio.Runner()
        self._broken = False

    def __call__(self, table: Any) -> Any:
        outcomes: list[Outcome] = [
            pickle.loads(data)  # noqa: S301 our own
            for data in table.column("outcome").to_pylist()
        ]
        texts = _collect_texts(outcomes)
        if texts and not self._broken:
            vectors = self._running.run(self._embed_texts(texts))
            for document in (each for outcome in outcomes for each in outcome.documents):
                own = {chunk["sha256"] for chunk in document.chunks}
                document.vectors.update({text: vectors[text] for text in own & vectors.keys()})
        rows = [pickle.dumps(outcome) for outcome in outcomes]
        return {"number": table.column("number").to_numpy(), "outcome": _build_column(rows)}

    async def _embed_texts(self, texts: dict[str, str]) -> dict[str, tuple[str, bytes]]:
        """Stored vectors by the hash of their text; some are missing where it breaks."""
        turns, vectors = asyncio.Semaphore(REQUESTS), dict[str, tuple[str, bytes]]()
        hashes = list(texts)

        async def embed(some: list[str]) -> None:
            async with turns:
                if self._broken:
                    return
                try:
                    rows = await self._embedder.passages([texts[each] for each in some])
                except CitewellError as error:
                    log.warning("%s", error.message)
                    self._broken = True
                    return
            name = self._embedder.name
            encoded = encode_vectors(name, range(len(some)), rows)
            vectors.update({text: (name, encoded[n]) for n, text in enumerate(some)})

        with use_background_priority():
            slices = range(0, len(hashes), REQUEST)
            await asyncio.gather(*(embed(hashes[first : first + REQUEST]) for first in slices))
        return vectors


def _collect_texts(outcomes: Iterable[Outcome]) -> dict[str, str]:
    """Those to embed, by their hash: equal ones once."""
    return {
        chunk["sha256"]: build_embedding_text(json.loads(chunk["heading_path"]), chunk["text"])
        for outcome in outcomes
        for document in outcome.documents
        for chunk in document.chunks
    }


def _build_column(rows: list[bytes]) -> Any:
    import numpy as np

    column = np.empty(len(rows), dtype=object)
    column[:] = rows
    return column


def _make_release_error(release: str) -> ConfigError:
    return ConfigError(
        Text(
            "a machine of the Ray cluster has Citewell {there}, this one has {here}",
            there=__version__,
            here=release,
        ),
        hint=Text("install the same release on all of them"),
    )
