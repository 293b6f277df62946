"""The socket that a server listens on, and how many descriptors there are for what comes in by it.
Running out of descriptors closes the newest caller's connection: one descriptor is kept for that.
Where another thread took that one, the connection that waits longest is closed, until it is back.
"""

from __future__ import annotations

import errno
import logging
import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

if sys.platform != "win32":
    import resource

log = logging.getLogger(__name__)

# connections that wait to be taken; asyncio takes so many at once before it looks at any of them
BACKLOG: Final = 128
WANTED: Final = 65_536  # descriptors, where the system lets a process have them
FEW: Final = 1_024  # where it does not say


class Listener(socket.socket):
    """Turns a caller away where no descriptor is left for them. asyncio would try again at once, as
    often as the backlog is long, and write a traceback each time.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.make_room: Callable[[], object] = lambda: None  # close a connection
        self._spare = os.open(os.devnull, os.O_RDONLY)

    def accept(self) -> tuple[socket.socket, Any]:
        if self._spare >= 0 or self._open_spare():
            try:
                return super().accept()
            except OSError as error:
                if error.errno not in {errno.EMFILE, errno.ENFILE}:
                    raise
            self._turn_away()
        # asyncio goes on with the next
        raise ConnectionAbortedError(errno.ECONNABORTED, "no descriptor is left for it")

    def close(self) -> None:
        self._close_spare()
        super().close()

    def _turn_away(self) -> None:
        self._close_spare()
        with suppress(OSError):
            super().accept()[0].close()
        self._open_spare()
        log.warning("no file descriptor is left: connections are turned away")

    def _open_spare(self) -> bool:
        try:
            self._spare = os.open(os.devnull, os.O_RDONLY)
        except OSError:  # a file was opened meanwhile
            self.make_room()
        return self._spare >= 0

    def _close_spare(self) -> None:
        if self._spare >= 0:
            os.close(self._spare)
            self._spare = -1


def get_descriptor_limit() -> int:
    """How many this process may have open."""
    if sys.platform == "win32":
        return FEW
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED if soft == resource.RLIM_INFINITY else soft


def raise_descriptor_limit() -> None:
    """As many as the system lets this process have, `WANTED` at most."""
    if sys.platform == "win32":
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # some systems let a process have fewer than they say
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
