"""A graph on onnxruntime, one for the embedder and one for the reader. The thread that asks does
the work, so nobody spins, nobody waits, and results never hang on other requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray


def open_session(graph: bytes, arrays: Mapping[str, NDArray[Any]] | None = None) -> Any:
    """`arrays`: weights that the graph only names. Raises ImportError, RuntimeError."""
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # of Windows only, and of ours nowhere
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if arrays:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in arrays.values()]
        options.add_external_initializers(list(arrays), values)
    try:
        return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors have no class in common
        raise RuntimeError(f"onnxruntime {onnxruntime.__version__}: {error}") from error
