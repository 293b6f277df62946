"""The shipped ONNX file back into a checkpoint, so that training goes on from it where its own
checkpoints are gone.

    python training/reader/restore.py CHECKPOINT [FILE]

The file holds the positions with the type row already added: the type rows of the checkpoint are
zero, which is the same. The one rule: the inverse of `export.py`; only the rounding of its 8 bits
is lost, which a few hundred steps make good.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from export import WEIGHTS, Arrays, largest_difference
from model import HIDDEN, LAYERS, Reader
from onnx import numpy_helper

HEADS = ("span", "tok", "na_h", "na", "sup_h", "sup")


def restored_state(arrays: Arrays) -> dict[str, torch.Tensor]:
    """The weights by their names in `model.py`. Raises ValueError where the file lacks some."""
    state = Reader().state_dict()
    new: Arrays = {
        "pos": arrays["positions"][0],
        "typ": np.zeros((2, HIDDEN), np.float32),
        "task": arrays["task.rows"],
    }
    for name, values in arrays.items():
        if f"{name.removesuffix('weight')}scale" in arrays and name.endswith(".weight"):
            new[name] = (
                values.astype(np.float32) * arrays[f"{name.removesuffix('weight')}scale"]
            ).T
        elif name.rpartition(".")[0] in HEADS and name.endswith(".weight"):
            new[name] = values.T
        elif name in state and name not in new:
            new[name] = values
    for number in range(LAYERS):
        restore_large(new, arrays, f"layers.{number}")
    if missing := sorted(state.keys() - new.keys()):
        raise ValueError(f"no weights for {', '.join(missing)}")
    return {name: torch.from_numpy(np.array(new[name], np.float32)) for name in state}


def restored_file(file: Path) -> dict[str, torch.Tensor]:
    return restored_state(
        {array.name: numpy_helper.to_array(array) for array in onnx.load(file).graph.initializer}
    )


def restore_large(new: Arrays, arrays: Arrays, layer: str) -> None:
    """The inner channels of a layer that stand beside the rest: their rows and columns of the whole
    are zero.
    """
    if f"{layer}.large.in" not in arrays:
        return
    channels = ~new[f"{layer}.fi.weight"].any(1)
    new[f"{layer}.fi.weight"][channels] = arrays[f"{layer}.large.in"].T
    new[f"{layer}.fi.bias"] = new[f"{layer}.fi.bias"].copy()
    new[f"{layer}.fi.bias"][channels] = arrays[f"{layer}.large.bias"]
    new[f"{layer}.fo.weight"][:, channels] = arrays[f"{layer}.large.out"].T


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("file", type=Path, nargs="?", default=WEIGHTS)
    options = parser.parse_args()
    state = restored_file(options.file)
    options.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": state}, options.checkpoint)
    print(f"{options.checkpoint}: off by {largest_difference(state, options.file)}")


if __name__ == "__main__":
    main()
