"""What every index adapter must do, written against the protocol only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from citewell.errors import InvalidInput
from citewell.models.base import Vector
from citewell.store.index.adapters import INDEXES
from citewell.store.index.protocol import Filter

if TYPE_CHECKING:
    from tests.store.conftest import Shelf


@pytest.fixture(params=sorted(INDEXES))
def database_url(request: pytest.FixtureRequest) -> str:
    """Every adapter, each on its own kind of database."""
    return "" if request.param == "sqlite" else str(request.getfixturevalue("home_url"))


EMBEDDER = "test"
DIM = 64
NEEDLE_ZH = "研究人员用量子计算模拟分子"
NEEDLE_MOLE = "昨天我们看见一只鼹鼠在花园里"


async def embed_at_random(shelf: Shelf, seed: int = 0) -> dict[int, Vector]:
    """Vectors in clusters, the same offset on all (embeddings are like that), by chunk id."""
    rng = np.random.default_rng(seed)
    centres, offset = rng.standard_normal((20, DIM)), 3 * rng.standard_normal(DIM)
    kept: dict[int, Vector] = {}
    while waiting := await shelf.pending_chunks.list_unembedded(EMBEDDER, 1000):
        rows = (
            offset
            + centres[rng.integers(0, 20, len(waiting))]
            + 0.5 * rng.standard_normal((len(waiting), DIM))
        )
        rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
        await shelf.pending_chunks.put_vectors(EMBEDDER, [chunk for chunk, _ in waiting], rows)
        kept |= {chunk: rows[i] for i, (chunk, _) in enumerate(waiting)}
    return kept


async def test_recall_is_that_of_an_exact_scan(shelf: Shelf) -> None:
    """The ten nearest are the ten nearest, with and without a filter, after additions and deletions
    too.
    """
    for n in range(10):
        await shelf.put(
            f"d{n}", *[f"{n} {i}" for i in range(200)], collection=f"c{n % 3}", embed=False
        )
    vectors = await embed_at_random(shelf)
    await shelf.nearest("load now, follow from here on")
    docs = await shelf.catalog.documents("c0")
    await shelf.catalog.delete(docs[0].doc_id)
    await shelf.put("late", *[f"late {i}" for i in range(300)], collection="c0", embed=False)
    vectors |= await embed_at_random(shelf, seed=1)
    alive = {hit.chunk_id: hit.collection for hit in await shelf.index.hits(list(vectors))}
    for where in (Filter(), Filter(collections=("c1",)), Filter(collections=("c0", "c2"))):
        ids = [
            chunk
            for chunk, collection in alive.items()
            if not where.collections or collection in where.collections
        ]
        exact = np.stack([vectors[chunk] for chunk in ids])
        for query in list(vectors.values())[::97]:
            found = await shelf.index.search_vectors(query, 10, where)
            cosines = exact @ query
            assert {chunk for chunk, _ in found} == {ids[i] for i in np.argsort(-cosines)[:10]}
            assert [score for _, score in found] == pytest.approx(
                sorted(cosines, reverse=True)[:10], abs=1e-5
            )


@pytest.mark.parametrize(
    ("text", "question"),
    [
        (NEEDLE_ZH, "量子"),
        (NEEDLE_MOLE, "鼹鼠"),
        (NEEDLE_MOLE, "鼹"),
        (NEEDLE_MOLE, "里"),
        ("Ｆｕｌｌ－ｗｉｄｔｈ ２０２４", "full width 2024"),
        ("Refunds were issued within 30 days.", "refund"),
        ("退款期限是14天。", "14天"),
        ("退款期限是14天。", "14"),
        ("The fee is 3.5% of v2.1.", "3.5%"),
        ("The fee is 3.5% of v2.1.", "2.1"),
        ("Released 2024-05-01 as model A-100.", "2024-05-01"),
        ("Released 2024-05-01 as model A-100.", "A100"),
        ("東京タワーの高さ", "タワー"),
        ("서울특별시", "서울"),
    ],
)
async def test_words_are_found(shelf: Shelf, text: str, question: str) -> None:
    """Words inside Chinese sentences, other widths and forms, numbers whole and in part; and only
    where they stand.
    """
    await shelf.put("a", "无关的内容 and nothing to see", text, "另一段", embed=False)
    assert await shelf.worded(question) == [text]


async def test_words_rank_best_first(shelf: Shelf) -> None:
    """Scores are positive and fall; a chunk with more of the question's rarer words stands
    first.
    """
    await shelf.put("a", "the cat sat", "the cat ate the mouse", "a dog", embed=False)
    found = await shelf.index.search_words("cat and mouse", 10)
    assert [hit.text for hit in await shelf.index.hits([i for i, _ in found])] == [
        "the cat ate the mouse",
        "the cat sat",
    ]
    assert found[0][1] > found[1][1] > 0
    assert (
        await shelf.index.search_words("cat", 1) == (await shelf.index.search_words("cat", 10))[:1]
    )


async def test_a_question_of_stop_words_still_searches(shelf: Shelf) -> None:
    await shelf.put("a", "to be or not to be", "这是什么", embed=False)
    assert await shelf.worded("to be") == ["to be or not to be"]
    assert await shelf.worded("这是什么") == ["这是什么"]


async def test_filters_are_exact(shelf: Shelf) -> None:
    """Collection, document and language, alone and together, for words and vectors; what does not
    exist matches nothing.
    """
    await shelf.put("a", "shared words", "共同的词 shared", collection="one")
    second = await shelf.put("b", "shared here too", collection="two words, 两个词")
    for search in (shelf.worded, shelf.nearest):
        assert len(await search("shared")) == 3
        assert len(await search("shared", where=Filter(collections=("one",)))) == 2
        assert await search("shared", where=Filter(collections=("two words, 两个词",))) == [
            "shared here too"
        ]
        assert await search("shared", where=Filter(doc_ids=(second.doc_id,))) == ["shared here too"]
        assert await search("shared", where=Filter(langs=("zh",))) == ["共同的词 shared"]
        assert await search("shared", where=Filter(collections=("one",), langs=("en",))) == [
            "shared words"
        ]
        assert (
            await search("shared", where=Filter(collections=("one",), doc_ids=(second.doc_id,)))
            == []
        )
        for nothing in (
            Filter(collections=("none", "")),
            Filter(doc_ids=('" OR tokens : "',)),
            Filter(langs=("fr",)),
        ):
            assert await search("shared", where=nothing) == []


async def test_many_document_filters(shelf: Shelf) -> None:
    """A filter of a thousand documents is one search."""
    info = await shelf.put("a", "shared words")
    where = Filter(doc_ids=(info.doc_id, *[f"doc_{i:016x}" for i in range(1000)]))
    assert (
        await shelf.worded("shared", where=where)
        == await shelf.nearest("shared", where=where)
        == ["shared words"]
    )


async def test_writes_are_read_at_once(shelf: Shelf) -> None:
    """Words right after `put`, meaning right after `put_vectors`, a new version instead of the old,
    nothing after deletion.
    """
    info = await shelf.put("a", "first text", embed=False)
    assert await shelf.worded("first") == ["first text"]
    assert await shelf.nearest("first text") == []
    await shelf.embed()
    assert await shelf.nearest("first text") == ["first text"]
    await shelf.put("a", "second text")
    assert await shelf.worded("text") == await shelf.nearest("first text") == ["second text"]
    await shelf.catalog.delete(info.doc_id)
    assert await shelf.worded("text") == await shelf.nearest("second text") == []


async def test_a_deleted_collection_is_gone_at_once(shelf: Shelf) -> None:
    await shelf.put("a", "one text", collection="one")
    await shelf.put("b", "two text", collection="two")
    assert len(await shelf.nearest("text")) == 2
    await shelf.collections.delete("one")
    assert await shelf.worded("text") == await shelf.nearest("text") == ["two text"]


async def test_hits_and_vectors_in_the_order_asked(shelf: Shelf) -> None:
    """Hits carry where they stand; unknown ids are left out there, and rows of zeros among the
    vectors.
    """
    await shelf.put("file.txt", "one", "two")
    (two, cosine), *_ = await shelf.index.search_vectors((await shelf.index.vectors([2]))[0], 1)
    assert cosine == pytest.approx(1)
    hits = await shelf.index.hits([two, 999, 1])
    assert [(h.text, h.uri, h.title, h.heading_path, h.start, h.end) for h in hits] == [
        ("two", "file.txt", "T", ("T",), 4, 7),
        ("one", "file.txt", "T", ("T",), 0, 3),
    ]
    rows = await shelf.index.vectors([999, 1])
    assert rows.shape == (2, DIM)
    assert np.linalg.norm(rows, axis=1) == pytest.approx([0, 1])
    assert await shelf.index.hits([]) == []


async def test_nothing_embedded_yet(shelf: Shelf) -> None:
    """Search by meaning finds nothing, and rows of zeros have the length of the query: the two can
    still be multiplied.
    """
    await shelf.put("a", "text", embed=False)
    query = np.ones(DIM, np.float32)
    assert await shelf.index.search_vectors(query, 5) == []
    assert ((await shelf.index.vectors([1])) @ query).tolist() == [0.0]


async def test_wrong_vectors_are_refused(shelf: Shelf) -> None:
    """A query of another length or with NaN says so."""
    await shelf.put("a", "text")
    with pytest.raises(InvalidInput, match="32 dimensions, the vectors 64"):
        await shelf.index.search_vectors(np.ones(32, np.float32), 5)
    with pytest.raises(InvalidInput, match="finite"):
        await shelf.index.search_vectors(np.full(DIM, np.nan, np.float32), 5)


async def test_vectors_of_another_embedder_are_not_compared(shelf: Shelf) -> None:
    """When the embedder changes, chunks drop out of the search by meaning until they are embedded
    again.
    """
    await shelf.put("a", "one", "two")
    assert len(await shelf.nearest("one")) == 2
    await shelf.pending_chunks.put_vectors("other", [1], np.ones((1, 8), np.float32))
    assert await shelf.nearest("one") == ["two"]
    assert await shelf.embed() == 1
    assert len(await shelf.nearest("one")) == 2
