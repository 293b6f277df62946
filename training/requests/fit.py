"""What a sentence asks for: the weights that `models/linear_probe.py` reads.

    python training/requests/fit.py [--write]

Each `*.jsonl`: `asks` names what it asks for, nothing for what only looks like it, in contrast
("Delete all orders", "List all orders"); those with `held` 1 are not fitted on. Of each thing a
logistic regression over the built-in embedder's vectors.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.config import load_settings
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.skills.dialogue import foreign_language, overview_request
from citewell.sql import question_kind

HERE = Path(__file__).parent
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Probe:
    """`query`: whether the text is embedded as a question is. `ridge`: of 0.003 to 0.3 one that
    the folds of `requests` that are fitted on like; its neighbours differ little.
    """

    items: str
    weights: Path
    least: float
    query: bool
    ridge: float


PROBES = (
    Probe("change.jsonl", question_kind.WEIGHTS, question_kind.LEAST, query=False, ridge=0.03),
    Probe(
        "overview.jsonl", overview_request.WEIGHTS, overview_request.LEAST, query=True, ridge=0.02
    ),
    Probe(
        "foreign.jsonl", foreign_language.WEIGHTS, foreign_language.LEAST, query=True, ridge=0.01
    ),
)


def fit_logistic(vectors: Floats, labels: Floats, ridge: float) -> tuple[Floats, float]:
    """Weights and bias, by Newton's method."""
    mean = vectors.mean(axis=0)
    inputs = np.c_[vectors - mean, np.ones(len(vectors))]
    penalty = np.diag([*[ridge] * vectors.shape[1], 1e-6])
    weights = np.zeros(inputs.shape[1])
    for _ in range(12):
        sure = 1 / (1 + np.exp(-inputs @ weights))
        slope = inputs.T @ (labels - sure) - penalty @ weights
        curve = (inputs * (sure * (1 - sure) + 1e-9)[:, None]).T @ inputs + penalty
        weights = weights + np.linalg.solve(curve, slope)
    return weights[:-1], float(weights[-1] - mean @ weights[:-1])


async def fit_probe(probe: Probe, embedder: BuiltinEmbedder) -> dict[str, dict[str, object]]:
    """The weights of each thing that can be asked for; prints what they tell of the held out."""
    rows = [json.loads(line) for line in (HERE / probe.items).read_text("utf-8").splitlines()]
    texts = [row["text"] for row in rows]
    embedded = (
        np.array([await embedder.query(text) for text in texts])
        if probe.query
        else await embedder.passages(texts)
    )
    vectors, asks = embedded.astype(float), np.array([row["asks"] for row in rows])
    held = np.array([bool(row["held"]) for row in rows])
    fitted = {}
    for name in sorted(set(asks) - {""}):
        weights, bias = fit_logistic(vectors[~held], (asks[~held] == name) * 1.0, probe.ridge)
        told = vectors @ weights + bias >= probe.least
        right, wrong = held & (asks == name), held & (asks == "")
        print(f"{name}, held out: {int(told[right].sum())} of {int(right.sum())} are told;")
        print(f"{int(told[wrong].sum())} of {int(wrong.sum())} that only look like it are told too")
        fitted[name] = {
            "weights": [round(float(each), 2) for each in weights],
            "bias": round(bias, 2),
        }
    return fitted


async def main() -> None:
    embedder = BuiltinEmbedder(load_settings())
    for probe in PROBES:
        asks = await fit_probe(probe, embedder)
        if "--write" in sys.argv:
            kept = {"embedder": embedder.name, "asks": asks}
            probe.weights.write_text(json.dumps(kept) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
