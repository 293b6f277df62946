"""The processes in which parsers run: at most as many as the caller lets run at once, kept for the
next file.

A call names a function of this package as `module:function`, and gives its arguments.

A worker that died, or whose caller was cancelled, is killed and never used again. A worker ends
with its input, so it never outlives the process that started it.

Not `anyio.to_process`: its workers run the main script again, which without an `if __name__ ==
"__main__"` starts it all anew, and they import modules from the folder they are started in.
"""

from __future__ import annotations

import atexit
import importlib
import os
import pickle
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio.to_thread

if sys.platform != "win32":
    import resource

Call = tuple[str, tuple[Any, ...]]  # `module:function` and its arguments, which pickle
PROGRAM = "from citewell.ingest.worker import serve; serve()"
PACKAGES = str(Path(__file__).resolve().parents[2])  # where `citewell` is
# bytes that a worker may have: twice what the largest Office file that is read takes
MOST_MEMORY = 4 << 30
IDLE_SECONDS = 60.0  # without a file for so long, a worker gives its memory back

_idle: list[Worker] = []


class Died(Exception):
    """The worker ended, or answered nonsense."""


class Worker:
    """One process and its two pipes: a pickled Call in, its pickled result or exception out."""

    def __init__(self) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), PACKAGES]),
        }
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        command = [sys.executable, "-P", "-c", PROGRAM]
        self._process = subprocess.Popen(  # noqa: S603 our own
            command, stdin=pipe, stdout=pipe, stderr=nothing, env=environment
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin, self._process.stdout

    def ask(self, call: Call) -> Any:
        """Blocks until the answer is there. Raises Died."""
        try:
            pickle.dump(call, self._to, pickle.HIGHEST_PROTOCOL)
            self._to.flush()
            return pickle.load(self._from)  # noqa: S301 - our own process wrote it
        except (OSError, EOFError, ValueError, pickle.UnpicklingError) as error:
            raise Died(str(error)) from error

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._to, self._from):
            with suppress(OSError):
                pipe.close()


async def run_in_worker(function: str, *arguments: Any, keep: bool = True) -> Any:
    """What `function` (`module:function`) returns, run in a process of its own. `keep`: whether it
    stays for the next call. Not all the memory of a large one goes back to the system before its
    process ends.

    Raises what it raises, and Died. Cancelling kills the process.
    """
    call: Call = (function, arguments)
    for last in (False, True):  # the second time a fresh one: an idle one may have ended unnoticed
        worker = _idle.pop() if _idle and not last else Worker()
        try:
            outcome = await anyio.to_thread.run_sync(worker.ask, call, abandon_on_cancel=True)
        except BaseException as error:
            worker.kill()
            if last or not isinstance(error, Died):
                raise
            continue
        if keep:
            _idle.append(worker)
        else:
            worker.kill()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
    raise AssertionError("the last try returns or raises")


@atexit.register
def kill_idle_workers() -> None:
    while _idle:
        _idle.pop().kill()


def serve() -> None:
    """The worker's own program. An interrupt from the keyboard is the parent's to act on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory()
    source, target = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what native code prints must not mix with the answers
    while select.select([source], [], [], IDLE_SECONDS)[0] and source.peek(1):
        try:
            outcome = _run_call(pickle.load(source))  # noqa: S301 - the parent wrote it
        except Exception as error:  # noqa: BLE001 - whatever it is, the process that asked has to hear of it
            outcome = error
        pickle.dump(outcome, target, pickle.HIGHEST_PROTOCOL)
        target.flush()
        outcome = None  # an idle worker holds nothing


def _limit_memory() -> None:
    """Where the system can: beyond it a MemoryError, not the machine's last page."""
    if sys.platform == "win32":
        return
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = MOST_MEMORY if hard == resource.RLIM_INFINITY else min(MOST_MEMORY, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (most, hard))


def _run_call(call: Call) -> Any:
    function, arguments = call
    module, _, name = function.partition(":")
    if not module.startswith("citewell."):
        raise ValueError(f"{module} is not ours to run")
    return getattr(importlib.import_module(module), name)(*arguments)
