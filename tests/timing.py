"""How long work takes, told apart from what the machine and the other tests do meanwhile."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], tries: int = 3) -> float:
    """Of this process, the least of `tries`; what other tests left behind is not collected
    meanwhile.
    """
    found = []
    for _ in range(tries):
        gc.disable()
        try:
            began = time.process_time()
            work()
            found.append(time.process_time() - began)
        finally:
            gc.enable()
    return min(found)


def grows_within(
    seconds: Callable[[int], float], short: int, long: int, factor: float, rounds: int = 4
) -> bool:
    """Whether work on `long` takes less than `factor` times that on `short` (and a tenth of a
    second), in one of `rounds`.

    What is quadratic is above it in all of them; a busy neighbour is not.
    """
    return any(seconds(long) < factor * seconds(short) + 0.1 for _ in range(rounds))
