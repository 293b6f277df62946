"""`citewell serve`: the HTTP interface on this machine. The address is bound before anything slow
is loaded. A stop (SIGTERM, Ctrl-C) lets answers that are under way be finished, in `stop_seconds`;
a second one ends at once. Both end with exit code 0.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Annotated

import typer
import uvicorn
from fastapi import FastAPI

from citewell.config import Settings
from citewell.errors import Conflict, InvalidInput
from citewell.interfaces.cli.arguments import Json, option
from citewell.interfaces.cli.output.terminal import (
    get_stderr,
    print_json,
    print_text,
    print_warning,
    write_paragraph,
)
from citewell.interfaces.cli.run import DONE, guard_command
from citewell.interfaces.http import create_app
from citewell.interfaces.http.server.listener import BACKLOG, Listener, raise_descriptor_limit
from citewell.interfaces.http.server.timed import IDLE, make_protocol
from citewell.runtime.app import App
from citewell.runtime.shutdown import Stopping
from citewell.service.admin.warm import warm_up_server

EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - what is compared
GRACE = 5  # seconds that what was cut off has to be gone; longer than TELLS of http/sse.py
SOON = 0.3  # seconds in which what needs no time is over: nothing is said of it
AT_ONCE = 2.0  # seconds after the second signal at which the process is gone, whatever it is at


def run_serve(
    host: Annotated[str | None, option("Address to listen on.")] = None,
    port: Annotated[int | None, option("Port; 0: any free one.", min=0, max=65535)] = None,
    models_only: Annotated[
        bool,
        typer.Option(
            "--models-only",
            help="Only lend the built-in embedder and reader to other servers (models_url).",
        ),
    ] = False,
    no_worker: Annotated[
        bool,
        typer.Option("--no-worker", help="Take no jobs: `citewell worker` or other servers do."),
    ] = False,
    json: Json = False,
) -> None:
    """Serve the web page, the API and the chat element on this machine."""
    own = {"llm": "none", "models_url": ""} if models_only else {}
    with guard_command(json=json, serves=True, host=host, port=port, **own) as settings:
        check_address(settings)
        raise_descriptor_limit()
        listener = open_listener(settings.host, settings.port)
        try:
            http = partial(create_app, models_only=models_only, works=not no_worker)
            asyncio.run(_run_server(settings, listener, json, http))
        finally:
            listener.close()
        raise typer.Exit(DONE)


def build_config(http: FastAPI, grace: int = GRACE) -> uvicorn.Config:
    """How the web application is served, its connections counted and timed."""
    return uvicorn.Config(
        http,
        http=make_protocol(http.state.connections),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=grace,
    )


class Server(uvicorn.Server):
    """uvicorn's server, with stop signals handled by us: it would raise them again."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def check_address(settings: Settings) -> None:
    """Raises InvalidInput for an address that others can reach, unless they have to sign in and
    have a name to ask for.
    """
    if is_loopback(settings.host):
        return
    if settings.auth == "none":
        raise InvalidInput(
            f"{settings.host}: without users Citewell listens on this machine only "
            "(127.0.0.1, ::1, localhost)",
            hint='anyone who reaches the port could read every document: set auth = "token" and '
            "add users (docs/security.md)",
        )
    if settings.host in EVERYWHERE and not settings.access.hosts:
        raise InvalidInput(
            f"{settings.host}: no name is known by which others may ask for this server",
            hint='list them in access.hosts, as CITEWELL_ACCESS__HOSTS="ask.example.com, '
            '192.0.2.7"',
        )


def open_listener(host: str, port: int) -> Listener:
    """A bound socket. Raises Conflict for a port in use, or an address of another machine."""
    address = "127.0.0.1" if host == "localhost" else host
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        bound = socket.create_server((address, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise Conflict(
            f"cannot listen on {host} port {port}: {error.strerror or error}",
            hint="another program has it; stop that one or choose another with --port (0 takes "
            "any free one)",
        ) from None
    # said to be TCP, so that asyncio sends small packets at once: else the second request of each
    # connection waits 40 ms
    return Listener(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=bound.detach())


def is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


async def _run_server(
    settings: Settings, listener: Listener, json: bool, create: Callable[[App], FastAPI]
) -> None:
    app = App(settings)
    http = create(app)
    listener.make_room = http.state.connections.make_room
    server = Server(build_config(http))
    # a second signal is heard until all is closed
    stopping = asyncio.create_task(_stop_server(app, server, _queue_signals()))
    try:
        async with app:
            if settings.auth == "token" and not await app.users.list():
                print_warning(
                    "there are no users, so nobody can sign in: `citewell user add NAME` adds "
                    "the first, an admin"
                )
            host, port = listener.getsockname()[:2]
            _announce_address(f"http://{f'[{host}]' if ':' in host else host}:{port}", json)
            warming = asyncio.create_task(warm_up_server(app))
            try:
                await server.serve(sockets=[listener])
            finally:
                await _cancel_warming(warming)
            _report_stopped(app.stopping)
    finally:
        stopping.cancel()


async def _cancel_warming(warming: asyncio.Task[None]) -> None:
    """A model that is being loaded cannot be left half-way."""
    warming.cancel()
    _, still = await asyncio.wait({warming}, timeout=SOON)
    if still:
        write_paragraph(
            get_stderr(),
            "stopping: a model is being loaded, which has to end first; Ctrl-C ends at once",
        )
        await asyncio.wait(still)


def _queue_signals() -> asyncio.Queue[int]:
    """Those that ask for a stop, as they come."""
    found: asyncio.Queue[int] = asyncio.Queue()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, found.put_nowait, number)
    return found


async def _stop_server(app: App, server: uvicorn.Server, signals: asyncio.Queue[int]) -> None:
    """At the first signal nothing new is taken; when all is answered, or the time is over, or a
    second one comes, it ends.
    """
    await signals.get()
    stopping, seconds = app.stopping, app.settings.stop_seconds
    stopping.close(seconds)
    again = asyncio.create_task(signals.get())
    idle = asyncio.create_task(stopping.wait_idle())
    await asyncio.wait(
        {again, idle}, timeout=min(SOON, seconds), return_when=asyncio.FIRST_COMPLETED
    )
    if seconds and not again.done() and not idle.done():
        said = (
            f"stopping: {stopping.running} under way, which may take {seconds:g} s more; a "
            "second Ctrl-C ends at once"
        )
        write_paragraph(get_stderr(), said)
        await asyncio.wait({again, idle}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    stopping.end()
    server.should_exit = True
    if not again.done():
        await again
    server.force_exit = True
    # what is kept is on the disk already: nothing is lost by it
    last = threading.Timer(AT_ONCE, os._exit, (DONE,))
    last.daemon = True
    last.start()


def _report_stopped(stopping: Stopping) -> None:
    """What was cut off."""
    if stopping.kept or stopping.lost:
        parts = (
            [f"{stopping.kept} can be gone on with (`citewell trace` lists them)"]
            if stopping.kept
            else []
        )
        parts += [f"{stopping.lost} have to be asked again"] if stopping.lost else []
        write_paragraph(
            get_stderr(), f"stopped; of the answers that were cut off, {', '.join(parts)}"
        )


def _announce_address(address: str, json: bool) -> None:
    if json:
        print_json({"url": address})
    else:
        print_text(f"Citewell listens on {address}: open it in a browser (Ctrl-C stops it)")
