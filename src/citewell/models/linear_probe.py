"""What a sentence asks for, told from its vector by fitted weights (`training/requests/fit.py`).
Weights say something only of the embedder that they were fitted to.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np

from citewell.models.base import Vector


@cache
def read_probes(path: Path) -> tuple[str, dict[str, tuple[Vector, float]]]:
    """The embedder's name, and weights and bias of each thing that can be asked for."""
    kept = json.loads(path.read_text("utf-8"))
    return kept["embedder"], {
        name: (np.array(each["weights"], dtype=np.float32), each["bias"])
        for name, each in kept["asks"].items()
    }


def compute_odds(path: Path, embedder: str, vector: Vector) -> dict[str, float]:
    """Log-odds of each; empty where the vector is another embedder's."""
    name, probes = read_probes(path)
    if embedder != name:
        return {}
    return {asks: float(vector @ weights) + bias for asks, (weights, bias) in probes.items()}
