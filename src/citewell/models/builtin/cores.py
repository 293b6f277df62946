"""How many cores the built-in models may use, and how they wait. Import this before xllamacpp.

It brings OpenMP, whose waiting threads spin by default: on a shared machine that makes two threads
slower than one (measured: 2.7 instead of 19 tokens a second), so waiting is made passive here,
before it is loaded. onnxruntime works on the thread that calls it (`e5_network`) and has none that
wait.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def count_cores() -> int:
    """Cores this process may run on, at least 1; a container's pinning counts."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
