"""A connection to a mail server whose address the guard has checked. What a server sends to one
command is bounded, lines and literals alike, for the library below keeps all of it in memory.
"""

from __future__ import annotations

import imaplib
import socket
import ssl
import threading
from contextlib import suppress
from typing import Any


class TooMuch(Exception):
    """The server sends more than was asked for."""


class GuardedImap(imaplib.IMAP4):
    """`turn`: who sends commands holds it. `tls` None: not encrypted, until `starttls`."""

    def __init__(
        self, host: str, address: str, port: int, seconds: float, tls: ssl.SSLContext | None
    ) -> None:
        self.turn = threading.Lock()
        self._address, self._tls = address, tls
        self._left = _GREETING
        super().__init__(host, port, timeout=seconds)

    def _create_socket(self, timeout: float | None) -> socket.socket:
        """To the address that was checked; the certificate is that of the host's name."""
        plain = socket.create_connection((self._address, self.port), timeout)
        if self._tls is None:
            return plain
        try:
            return self._tls.wrap_socket(plain, server_hostname=self.host)
        except BaseException:
            plain.close()
            raise

    def allow(self, most: int) -> None:
        """What the next command may bring, in bytes."""
        self._left = most

    def read(self, size: int) -> bytes:
        self._spend(size)
        return super().read(size)

    def readline(self) -> bytes:
        line = super().readline()
        self._spend(len(line))
        return line

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise TooMuch("it sends more than was asked for")

    def leave(self) -> None:
        """Sign out as far as the server lets us."""
        self.allow(_GREETING)
        with suppress(imaplib.IMAP4.error, OSError, TooMuch):
            self.logout()
        with suppress(OSError):
            self.shutdown()


_GREETING = 100_000  # bytes, until more is allowed


def open_imap(host: str, address: str, port: int, seconds: float, *, tls: bool) -> GuardedImap:
    """Connected, not signed in. Blocks. Raises OSError, `imaplib.IMAP4.error`, TooMuch."""
    context: Any = ssl.create_default_context() if tls else None
    return GuardedImap(host, address, port, seconds, context)
