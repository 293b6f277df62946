"""`citewell` as processes of their own, without the second of CPU that each takes to import it: one
process has imported everything, and each of them is a fork of it.

The one rule: nothing of ours runs in the process that is forked, but that its routes are built. So
a fork finds what a new process finds; arguments, environment, folder and files are the call's.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Sequence
from typing import Any

PATIENCE = 120.0  # seconds for what takes one on an idle machine
LONGEST = 200_000  # bytes of a request: arguments and environment


class Forked(subprocess.Popen[Any]):
    """As `subprocess.Popen` of `[sys.executable, "-m", "citewell", ...]` or of
    `[sys.executable, "-c", PROGRAM, ...]`.
    """

    def _execute_child(self, args: Sequence[str], *how: Any) -> None:
        cwd, env, pipes = how[4], how[5], how[9:15]
        files = [own if pipes[n] < 0 else pipes[n] for own, n in enumerate((0, 3, 5))]
        folder = os.fspath(cwd or os.getcwd())  # noqa: PTH109
        self.pid = _ask([args[1:], dict(os.environ if env is None else env), folder], files)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def _try_wait(self, flags: int) -> tuple[int, int]:
        if not flags & os.WNOHANG:
            end = os.pidfd_open(self.pid)
            select.select([end], [], [])
            os.close(end)
        pid, status = _ask([self.pid])
        return pid, status

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        try:
            return int(self._wait(0))  # type: ignore[attr-defined]
        except subprocess.TimeoutExpired:
            return None


def run_forked(
    args: Sequence[str], env: dict[str, str], *, text: bool = False, check: bool = False
) -> subprocess.CompletedProcess[Any]:
    """As `subprocess.run`, with what the process prints."""
    pipe = subprocess.PIPE
    with Forked(args, env=env, stdout=pipe, stderr=pipe, text=text) as process:
        try:
            out, err = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


_asking = threading.Lock()


def _ask(request: list[Any], files: Sequence[int] = ()) -> Any:
    with _asking:
        socket.send_fds(_start_forker(), [json.dumps(request).encode()], files)
        return json.loads(_start_forker().recv(LONGEST))


@functools.cache
def _start_forker() -> socket.socket:
    """It ends when its input does."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    command = [sys.executable, "-P", __file__, str(its.fileno())]
    process = subprocess.Popen(command, pass_fds=[its.fileno()], stdin=subprocess.DEVNULL)
    its.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours


def _import_everything() -> None:
    from fastapi.routing import iter_route_contexts

    from citewell.interfaces import http
    from citewell.interfaces.cli.commands import COMMANDS
    from citewell.service.ask import agent_runners

    for place in COMMANDS.values():
        place.load()
    assert [*iter_route_contexts(http.ROUTES)]  # which builds them
    assert agent_runners
    gc.freeze()


def _serve_forks(channel: socket.socket) -> tuple[list[Any], list[int]]:
    """Fork for each request. Returns in the fork."""
    while True:
        message, files, _, _ = socket.recv_fds(channel, LONGEST, 3)
        if not message:
            sys.exit()
        request = json.loads(message)
        if not files:
            channel.send(json.dumps(os.waitpid(request[0], os.WNOHANG)).encode())
        elif pid := os.fork():
            channel.send(json.dumps(pid).encode())
            for file in files:
                os.close(file)
        else:
            return request, files


def _run_program(arguments: list[str], environment: dict[str, str], folder: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    places = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [each for each in places if each not in sys.path]
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
    kind, program, *more = arguments
    sys.argv = [kind, *more]
    if kind == "-m":
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        exec(compile(program, "<string>", "exec"), main.__dict__)  # noqa: S102


def _main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who tests ends the tests
    channel = socket.socket(fileno=int(sys.argv[1]))
    _import_everything()
    request, files = _serve_forks(channel)
    for own, file in enumerate(files):
        os.dup2(file, own)
    channel.detach()
    os.closerange(3, 256)
    _run_program(*request)


if __name__ == "__main__":
    _main()
