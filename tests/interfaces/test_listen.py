"""The socket that `citewell serve` listens on."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from citewell.interfaces.cli.admin.serve import open_listener


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_small_packets_are_sent_at_once(host: str) -> None:
    """asyncio turns off the wait for more (Nagle's) only where a socket says that it is TCP; else
    the second request of each connection and all that follow take 40 ms longer.
    """
    with (
        closing(open_listener(host, 0)) as listener,
        closing(socket.create_connection(listener.getsockname()[:2])),
    ):
        accepted, _ = listener.accept()
        with closing(accepted):
            assert accepted.proto == socket.IPPROTO_TCP
