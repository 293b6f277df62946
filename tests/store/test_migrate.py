"""A database of an earlier version opens, and all that is in it is found as before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from sqlalchemy import Connection, text
from tests.store.earlier import be_earlier

from citewell.models.base import Vector
from citewell.store.confirmed import items as confirmed
from citewell.store.db import Database
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter
from citewell.store.jobs import Jobs
from citewell.store.library.catalog import Catalog
from citewell.store.library.collection_store import Collections
from citewell.store.library.pending_chunks import PendingChunks
from citewell.store.migrations.migration_list import MIGRATIONS
from citewell.store.migrations.steps_021_descriptions import m021_descriptions
from citewell.store.pages import Snapshots
from citewell.store.runs import Runs
from citewell.store.sites import Sites
from citewell.store.sources import Sources
from citewell.types import Section

if TYPE_CHECKING:
    from collections.abc import Callable

BODY = "The pump costs 520 yuan.\n水泵的价格是520元。"


def filled(connection: Connection) -> None:
    """What version 4 wrote for one document of two chunks, the first of them embedded."""
    run: Callable[..., object] = connection.exec_driver_sql
    run("INSERT INTO collections VALUES ('default', 1.0)")
    run("INSERT INTO files VALUES ('f', x'00')")
    sections = '[{"heading_path": ["T"], "start": 0, "end": 40}]'
    document = (
        "'doc_1', 'default', '/a.txt', 'T', 'text/plain', 'en', 'f', 1, 1, 7.0, 0, '[]', ?, '[]', ?"
    )
    run(f"INSERT INTO documents VALUES ({document})", (sections, BODY))
    chunk = (
        "INSERT INTO chunks VALUES (?, 'doc_1', 'default', ?, ?, 0, ?, ?, NULL, 8, ?, ?, "
        "'[\"T\"]', ?)"
    )
    run(chunk, (1, "en", 0, 0, 24, "s1", "test", BODY[:24]))
    run(chunk, (2, "zh", 1, 25, 38, "s2", "", BODY[25:]))
    words = "INSERT INTO words (rowid, tokens, place) VALUES (?, ?, ?)"
    run(words, (1, "t the pump cost 520 yuan", "c_37a8eec1ce19687d d_doc_1 l_en"))
    run(words, (2, "t 水泵 价格 520 元", "c_37a8eec1ce19687d d_doc_1 l_zh"))
    run("INSERT INTO vectors VALUES (1, ?)", (vector().tobytes(),))


def vector() -> Vector:
    import numpy as np

    row = np.zeros(8, np.float32)
    row[3] = 1
    return row


async def test_a_database_of_version_4(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks are passages, nothing has a priority, documents count by when they were added; and it
    can be written to.
    """
    be_earlier(monkeypatch, MIGRATIONS[:4])
    async with Database(path) as db:
        await db.write(filled)
    monkeypatch.undo()
    async with Database(path) as db:
        catalog, index = Catalog(db, "test"), INDEXES["sqlite"](db, "test")
        info = await catalog.document("doc_1")
        assert (info.chunks, info.embedded, info.dated, info.priority) == (2, 1, None, 0)
        assert (await Collections(db, "test").get("default")).chunking == {}
        assert [c.kind for c in await catalog.chunks("doc_1")] == ["text", "text"]
        assert (await catalog.content("doc_1")).sections == (Section(("T",), 0, 40),)
        for where in (
            Filter(),
            Filter(since=6.0, until=7.0, kinds=("text",), media_types=("text/plain",)),
        ):
            assert [chunk for chunk, _ in await index.search_words("价格", 5, where)] == [2]
            assert await index.search_vectors(vector(), 5, where) == [(1, 1.0)]
        for nothing in (Filter(since=8.0), Filter(kinds=("summary",)), Filter(least_priority=1)):
            assert (
                await index.search_words("pump", 5, nothing)
                == await index.search_vectors(vector(), 5, nothing)
                == []
            )
        assert [(hit.dated, hit.kind, hit.media_type) for hit in await index.hits([1])] == [
            (7.0, "text", "text/plain")
        ]
        assert await PendingChunks(db, "test").list_unembedded("test", 5) == [
            (2, "T\n" + BODY[25:])
        ]
        assert (await catalog.rechunk("doc_1", await catalog.chunks("doc_1"))).embedded == 0
        await catalog.delete("doc_1")
        left = await db.read(lambda c: c.execute(text("SELECT count(*) FROM words")).scalar_one())
        assert left == 0


def of_version_8(connection: Connection) -> None:
    """What version 8 wrote for a page of the web."""
    run: Callable[..., object] = connection.exec_driver_sql
    run("INSERT INTO collections (name, created_at) VALUES ('web', 1.0)")
    run("INSERT INTO files VALUES ('f', x'00')")
    page = (
        "'doc_1', 'web', 'https://example.com/a', 'T', 'text/html', 'en', 'f', 1, 1, 7.0, 0, "
        "'[]', '[]', '[]', ?, NULL, 0"
    )
    run(f"INSERT INTO documents VALUES ({page})", (BODY,))


async def test_a_database_of_version_8(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no pages and no sites yet, and takes them; its documents are as they were."""
    be_earlier(monkeypatch, MIGRATIONS[:8])
    async with Database(path) as db:
        await db.write(of_version_8)
    monkeypatch.undo()
    async with Database(path) as db:
        catalog, snapshots, sites = Catalog(db, "test"), Snapshots(db), Sites(db)
        info = await catalog.document("doc_1")
        assert (info.collection, info.uri, info.title) == ("web", "https://example.com/a", "T")
        assert (await catalog.content("doc_1")).text == BODY
        assert not any(
            [
                await snapshots.of("web"),
                await snapshots.count_by_collection("test"),
                await sites.sites(),
            ]
        )
        await sites.put_site("web", ["https://example.com/"])
        await snapshots.note_failure("web", "https://example.com/b", "gone", "page_missing", 1.0)
        assert [each.problem for each in await snapshots.of("web")] == ["gone"]
        await Collections(db, "test").delete("web")
        assert not any([await snapshots.of("web"), await sites.sites()])


async def test_a_database_of_version_9(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was stopped then can be gone on with."""
    be_earlier(monkeypatch, MIGRATIONS[:9])
    async with Database(path) as db:
        row = "'tr_1', 'local', 'paper', '{\"question\": \"Why?\"}', 'ask', '{}', 'h', 1.0, 1.0"
        await db.write(
            lambda connection: connection.exec_driver_sql(f"INSERT INTO runs VALUES ({row})")
        )
    monkeypatch.undo()
    async with Database(path) as db:
        runs = Runs(db, 30.0, lambda: 2.0)
        [run] = await runs.list("local")
        assert (run.question, run.alive) == ("Why?", False)
        saved, _ = await runs.take("tr_1", "local")
        assert saved.next == "ask"


async def test_a_database_of_version_12(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there is shared; papers are their reader's, and what was confirmed of one is to be
    put out of others' sight.
    """
    be_earlier(monkeypatch, MIGRATIONS[:12])
    async with Database(path) as db:
        await db.write(of_version_12)
    monkeypatch.undo()
    async with Database(path) as db:
        collections = Collections(db, "test")
        owners = {info.name: info.owner for info in await collections.list_all()}
        assert owners == {"default": "", "papers": "local", "papers-1": "ann", "twice": ""}
        assert [info.name for info in await collections.restrict_to_viewer("ann").list_all()] == [
            "default",
            "papers-1",
            "twice",
        ]
        items = await db.read(
            lambda connection: {
                item.item_id: item.owner for item in confirmed.list_items(connection)
            }
        )
        assert items == {"qa_1": "ann", "qa_2": ""}
        [job] = await Jobs(db).list()
        assert (job.kind, job.payload, job.state) == ("feedback", {"item_id": "qa_1"}, "queued")


def of_version_12(connection: Connection) -> None:
    run: Callable[..., object] = connection.exec_driver_sql
    for name in ("default", "papers", "papers-1", "twice"):
        run("INSERT INTO collections (name, created_at) VALUES (?, 1.0)", (name,))
    for number, (user, name) in enumerate(
        [("local", "papers"), ("ann", "papers-1"), ("ann", "twice"), ("bob", "twice")]
    ):
        data = json.dumps({"agent": "paper", "paper": {"collection": name}})
        run("INSERT INTO sessions VALUES (?, ?, 'T', 'FIRST', ?, 1.0)", (f"s{number}", user, data))
    run("INSERT INTO sessions VALUES ('s9', 'ann', 'T', '', NULL, 1.0)")
    for item_id, collection in (("qa_1", "papers-1"), ("qa_2", "default")):
        columns = (
            item_id,
            "tr",
            "paper",
            "Why?",
            "en",
            "",
            collection,
            "{}",
            "",
            "So.",
            "[]",
            "active",
            "",
            "",
            "[]",
            "doc_1",
        )
        run(
            f"INSERT INTO confirmed VALUES ({', '.join('?' * 16)}, 0, 0, 0, 0, 1, 1, 'test', x'')",
            columns,
        )


async def test_a_database_of_version_13(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Traces that were kept then are looked for like others."""
    be_earlier(monkeypatch, MIGRATIONS[:13])
    kept = json.dumps(
        {
            "trace_id": "tr_1",
            "agent": "data",
            "question": "ÜBER \ud800 Sales?",
            "answer": {"status": "refused"},
        }
    )
    async with Database(path) as db:
        row = ("tr_1", "local", "", 1.0, 9e9, kept)
        columns = "trace_id, user_id, session_id, created_at, expires, trace"
        await db.write(
            lambda c: c.exec_driver_sql(
                f"INSERT INTO traces ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row
            )
        )
    monkeypatch.undo()
    async with Database(path) as db:
        found = await db.read(
            lambda c: c.exec_driver_sql("SELECT agent, status, words FROM traces").one()
        )
    assert (found.agent, found.status) == ("data", "refused")
    assert found.words.startswith("über ? sales?")


async def test_a_glossary_becomes_the_terms_of_a_description(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(connection: Connection) -> None:
        for name, glossary in (("shop", [{"term": "IT: 费用", "meaning": "no # 1"}]), ("bare", [])):
            connection.execute(
                text(
                    "INSERT INTO sources (name, dialect, location, path, stat, tables, "
                    "fingerprint, glossary, problem, created_at, refreshed_at, owner) VALUES "
                    "(:name, 'sqlite', '', '', '{}', '[]', '', :glossary, '', 1, 1, '')"
                ),
                {"name": name, "glossary": json.dumps(glossary)},
            )

    be_earlier(monkeypatch, MIGRATIONS[: MIGRATIONS.index(m021_descriptions)])
    async with Database(path) as db:
        await db.write(fill)
    monkeypatch.undo()
    async with Database(path) as db:
        shop, bare = await Sources(db).get("shop"), await Sources(db).get("bare")
    assert yaml.safe_load(shop.description) == {"terms": {"IT: 费用": "no # 1"}}
    assert bare.description == ""
