"""A checkpoint as the ONNX file that is shipped: weights of 8 bits (one scale an output), heads in
full precision.

    python training/reader/export.py CHECKPOINT [FILE] [--mean CHECKPOINT] [--bits 7] [--float]
        --hand FILE... | --pack DIR

In each layer a channel or two of the inner products are ten times as large as all others, so that 8
bits for the whole would leave the others three: these few are computed beside the rest in full
precision. They are found by running the network on hand-written pairs (`--hand`; `--pack`: those of
a pack, where there is no tokenizer). What goes into a product is divided by its largest value,
token by token. Weights use 7 of their 8 bits by default: products of unsigned and signed bytes then
never saturate on processors without VNNI, and the figures are the same everywhere (measured: no
worse than 8). The one rule: the sums are those of `model.py`; the last lines compare both.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from batches import TASKS, Encoded
from feed import Encoder, RowEncoder
from model import FAR, HEADS, HIDDEN, INNER, LAYERS, LOWER, Reader, masks
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper
from rows import groups_of, passages
from unpack import PackedEncoder, hand_groups, open_pack

WEIGHTS = (
    Path(__file__).resolve().parents[2] / "src/citewell/models/builtin/weights/reader-int8.onnx"
)
MICROSOFT = "com.microsoft"
LARGE = 4  # channels of a layer in full precision
PAIRS, PAIR = 24, 256  # pairs that are looked at, and tokens of one
Arrays = dict[str, NDArray[Any]]


class Writer:
    """Nodes and constants in their order; each of its methods returns the name of what it makes.
    `large`: by layer, the inner channels that are computed in full precision; their columns of the
    whole are zero.
    """

    def __init__(self, state: Arrays, bits: int, large: list[list[int]]) -> None:
        self.state, self.bits, self.large = dict(state), bits, large
        for number, channels in enumerate(large):
            for part in ("weight", "bias"):
                values = self.state[f"layers.{number}.fi.{part}"].copy()
                values[channels] = 0
                self.state[f"layers.{number}.fi.{part}"] = values
        self.whole = state
        self.nodes: list[NodeProto] = []
        self.arrays: Arrays = {
            name: np.array([int(name)], np.int64) for name in ("0", "1", "-1")
        } | {
            "big": np.array([2**31], np.int64),
            "little": np.array([1e-6], np.float32),
        }

    def node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: object
    ) -> str:
        self.nodes.append(
            helper.make_node(operator, inputs, [output], name=output, domain=domain, **attributes)
        )
        return output

    def kept(self, name: str, values: NDArray[Any] | None = None) -> str:
        self.arrays[name] = np.ascontiguousarray(self.state[name] if values is None else values)
        return name

    def linear(self, name: str, x: str) -> str:
        weight, bias = self.state[f"{name}.weight"].T, self.kept(f"{name}.bias")
        if not self.bits:
            product = self.node(
                "MatMul", [x, self.kept(f"{name}.weight", weight)], f"{name}.product"
            )
            return self.node("Add", [product, bias], name)
        most = 2 ** (self.bits - 1) - 1
        scale = np.maximum(np.abs(weight).max(0) / most, 1e-12).astype(np.float32)
        whole = np.clip(np.rint(weight / scale), -most, most).astype(np.int8)
        parts = [
            self.kept(f"{name}.weight", whole),
            self.kept(f"{name}.scale", scale),
            self.kept(f"{name}.zero", np.zeros(len(scale), np.int8)),
        ]
        largest = self.node(
            "ReduceMax", [self.node("Abs", [x], f"{name}.sizes"), "-1"], f"{name}.most", keepdims=1
        )
        largest = self.node("Max", [largest, "little"], f"{name}.largest")
        unit = self.node("Div", [x, largest], f"{name}.unit")
        product = self.node("DynamicQuantizeMatMul", [unit, *parts], f"{name}.product", MICROSOFT)
        return self.node("Add", [self.node("Mul", [product, largest], f"{name}.back"), bias], name)

    def head(self, name: str, x: str) -> str:
        product = self.node(
            "MatMul",
            [x, self.kept(f"{name}.weight", self.state[f"{name}.weight"].T)],
            f"{name}.product",
        )
        return self.node("Add", [product, self.kept(f"{name}.bias")], f"{name}.out")

    def norm(self, name: str, x: str) -> str:
        return self.node(
            "LayerNormalization",
            [x, self.kept(f"{name}.weight"), self.kept(f"{name}.bias")],
            name,
            axis=-1,
            epsilon=1e-12,
        )

    def layer(self, name: str, x: str) -> str:
        parts = [f"{name}.{part}" for part in "qkv"]
        self.nodes.append(
            helper.make_node(
                "Split", [self.linear(f"{name}.qkv", x)], parts, axis=-1, num_outputs=3
            )
        )
        seen = self.node("MultiHeadAttention", parts, f"{name}.seen", MICROSOFT, num_heads=HEADS)
        x = self.norm(
            f"{name}.ln1", self.node("Add", [x, self.linear(f"{name}.o", seen)], f"{name}.sum1")
        )
        inner = self.node("Gelu", [self.linear(f"{name}.fi", x)], f"{name}.gelu", MICROSOFT)
        total = self.node("Add", [x, self.linear(f"{name}.fo", inner)], f"{name}.sum2")
        return self.norm(f"{name}.ln2", self.with_large(name, x, total))

    def with_large(self, name: str, x: str, total: str) -> str:
        """The large inner channels' part of a layer's outcome added to the rest."""
        channels = self.large[int(name.split(".")[1])] if self.large else []
        if not channels:
            return total
        into, bias = (
            self.whole[f"{name}.fi.weight"][channels].T,
            self.whole[f"{name}.fi.bias"][channels],
        )
        product = self.node(
            "MatMul", [x, self.kept(f"{name}.large.in", into)], f"{name}.large.product"
        )
        inner = self.node(
            "Add", [product, self.kept(f"{name}.large.bias", bias)], f"{name}.large.sum"
        )
        inner = self.node("Gelu", [inner], f"{name}.large.gelu", MICROSOFT)
        out = self.whole[f"{name}.fo.weight"][:, channels].T
        beside = self.node("MatMul", [inner, self.kept(f"{name}.large.out", out)], f"{name}.large")
        return self.node("Add", [total, beside], f"{name}.sum3")

    def slice(self, x: str, start: str, end: str, output: str) -> str:
        return self.node("Slice", [x, start, end, "1"], output)  # by axis 1

    def marked(self, x: str) -> str:
        """With what the layers above the lower ones are told: which text is which, and what the
        pair is read for.
        """
        column = self.node("Unsqueeze", ["is_second", "-1"], "column")
        x = self.node(
            "Add", [x, self.node("Mul", [column, self.kept("seg")], "second.row")], "x.second"
        )
        kind = self.node(
            "Unsqueeze",
            [
                self.node(
                    "MatMul", ["task", self.kept("task.rows", self.state["task"])], "task.row"
                ),
                "1",
            ],
            "task.place",
        )
        begin = self.node("Add", [self.slice(x, "0", "1", "x.begin"), kind], "begin.task")
        return self.node("Concat", [begin, self.slice(x, "1", "big", "x.rest")], "x.task", axis=1)

    def figures(self, x: str) -> None:
        """The outputs."""
        first = self.node("Squeeze", [self.slice(x, "0", "1", "x.first"), "1"], "first")
        places = self.head("span", x)
        self.nodes.append(
            helper.make_node("Split", [places], ["starts.all", "ends.all"], axis=-1, num_outputs=2)
        )
        for name in ("starts", "ends"):
            self.node("Squeeze", [f"{name}.all", "-1"], name)
        for head, output in (("na", "answerable.all"), ("sup", "support")):
            inner = self.node("Tanh", [self.head(f"{head}_h", first)], f"{head}.inner")
            self.node("Identity", [self.head(head, inner)], output)
        self.node("Squeeze", ["answerable.all", "-1"], "answerable")
        self.node("Squeeze", [self.head("tok", x), "-1"], "tokens")


def pairs_of(files: list[Path], pack: Path | None) -> tuple[RowEncoder, list[tuple[str, Encoded]]]:
    """Some hand-written pairs with their tasks, and what knows their word rows."""
    if pack:
        opened = open_pack(pack)
        groups = hand_groups(opened)
        encoder: RowEncoder = PackedEncoder(opened, PAIR)
    else:
        encoder = Encoder(PAIR)
        groups = [
            group
            for file in files
            for passage in passages(file, 0.0, 0.1)
            for group in groups_of(passage)
        ]
    rows = [group[0] for group in groups[:: max(1, len(groups) // PAIRS)]]
    return encoder, [(row["task"], encoder.encoded(row)) for row in rows]


def large_channels(
    state: dict[str, torch.Tensor], files: list[Path], pack: Path | None
) -> list[list[int]]:
    """Of each layer the inner channels that are largest on hand-written pairs."""
    model = Reader().eval()
    model.load_state_dict(state)
    most = [torch.zeros(INNER) for _ in range(LAYERS)]

    def look(number: int, inner: torch.Tensor) -> None:
        most[number] = torch.maximum(most[number], inner.abs().amax((0, 1)))

    for number, layer in enumerate(model.layers):
        layer.fo.register_forward_hook(lambda _, given, __, number=number: look(number, given[0]))
    encoder, pairs = pairs_of(files, pack)
    with torch.no_grad():
        for task, pair in pairs:
            ids, sizes = encoder.inputs([pair], 0)
            model(
                torch.from_numpy(encoder.rows(ids)),
                *masks(torch.from_numpy(sizes), ids.shape[1]),
                TASKS.index(task),
            )
    return [sorted(values.argsort(descending=True)[:LARGE].tolist()) for values in most]


def graph(state: Arrays, bits: int, large: list[list[int]]) -> onnx.ModelProto:
    """The begin mark and the second text are read by `reader_network`; other places of `starts` and
    `ends` mean nothing.
    """
    write = Writer(state, bits, large)
    write.nodes.append(helper.make_node("Shape", ["rows"], ["length"], start=1, end=2))
    positions = write.kept("positions", (state["pos"] + state["typ"][0])[None])
    x = write.norm(
        "ln", write.node("Add", ["rows", write.slice(positions, "0", "length", "places")], "sum")
    )
    for number in range(LAYERS):
        x = write.layer(f"layers.{number}", write.marked(x) if number == LOWER else x)
    write.figures(x)
    floats = TensorProto.FLOAT
    inputs = {"rows": [1, "length", HIDDEN], "is_second": [1, "length"], "task": [1, 2]}
    outputs = {
        "starts": [1, "length"],
        "ends": [1, "length"],
        "answerable": [1],
        "support": [1, 3],
        "tokens": [1, "length"],
    }
    made = helper.make_graph(
        write.nodes,
        "reader",
        [helper.make_tensor_value_info(name, floats, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, floats, shape) for name, shape in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in write.arrays.items()],
    )
    model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)],
        ir_version=9,
    )
    model.producer_name = "citewell"
    return model


def state_of(*checkpoints: Path) -> dict[str, torch.Tensor]:
    """The weights of a checkpoint; of several their mean (Wortsman et al. 2022, "Model soups")."""
    loaded = [torch.load(file, map_location="cpu", weights_only=True) for file in checkpoints]
    states = [saved.get("model", saved) for saved in loaded]
    return {
        name: torch.stack([state[name].float() for state in states]).mean(0) for name in states[0]
    }


def largest_difference(state: dict[str, torch.Tensor], file: Path) -> dict[str, float]:
    """Between torch and the file, for each output, on a pair of random rows."""
    torch.manual_seed(1)
    length, at = 60, 12
    rows, second = torch.randn(1, length, HIDDEN) * 0.05, torch.zeros(1, length)
    second[:, at:-1] = 1
    model = Reader().eval()
    model.load_state_dict(state)
    with torch.no_grad():
        wanted = model(rows, torch.ones(1, length), second, 1)
    fed = {
        "rows": rows.numpy(),
        "is_second": second.numpy(),
        "task": np.array([[0, 1]], np.float32),
    }
    found = onnxruntime.InferenceSession(file.read_bytes(), providers=["CPUExecutionProvider"]).run(
        None, fed
    )
    names = ("starts", "ends", "answerable", "support", "tokens")
    return {
        name: float(np.abs(np.where(a.numpy() > FAR / 2, a.numpy() - b, 0)).max())
        for name, a, b in zip(names, wanted, found, strict=True)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("file", type=Path, nargs="?", default=WEIGHTS)
    parser.add_argument(
        "--mean", type=Path, help="where training began: the mean of both is written"
    )
    parser.add_argument("--bits", type=int, default=7)
    parser.add_argument("--hand", type=Path, nargs="+", default=[], help="hand-written files")
    parser.add_argument("--pack", type=Path, help="a folder of pack.py, in place of them")
    parser.add_argument("--float", action="store_true", help="full precision, to compare with")
    options = parser.parse_args()
    state = state_of(*filter(None, (options.checkpoint, options.mean)))
    options.file.parent.mkdir(parents=True, exist_ok=True)
    large = [] if options.float else large_channels(state, options.hand, options.pack)
    arrays = {name: values.numpy() for name, values in state.items()}
    onnx.save(graph(arrays, 0 if options.float else options.bits, large), options.file)
    print(
        f"{options.file.name}: {options.file.stat().st_size / 1e6:.1f} MB; off "
        f"by {largest_difference(state, options.file)}"
    )


if __name__ == "__main__":
    main()
