"""The command line on a pseudo-terminal of 60 columns, for tests that type and read as people."""

from __future__ import annotations

import codecs
import os
import pty
import re
import select
import sys
import time

from tests.interfaces.serving import PATIENCE
from tests.servers.forked import Forked

from citewell.interfaces.cli.output.terminal import strip_controls


class Terminal:
    """A Python program with these arguments; `unread` has what came and nobody has asked for."""

    def __init__(self, program: str, arguments: tuple[str, ...], environ: dict[str, str]) -> None:
        self.fd, inner = pty.openpty()
        size = {"COLUMNS": "60", "LINES": "24"}
        utf8 = {"LC_CTYPE": "C.UTF-8"}  # as Python sets it at its start; readline looks there
        self.process = Forked(
            [sys.executable, "-c", program, *arguments],
            stdin=inner,
            stdout=inner,
            stderr=inner,
            env={**environ, **size, **utf8},
        )
        os.close(inner)
        self.unread = ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def until(self, words: str, *, bare: bool = False) -> str:
        """Read until `words` are on the screen, maybe broken over lines; the text since the last
        call, `words` included. `bare`: without what steers the terminal.
        """
        wanted = re.compile(r"\s+".join(re.escape(word) for word in words.split()))
        deadline = time.monotonic() + 2 * PATIENCE
        while not (found := wanted.search(self._read(bare))):
            assert time.monotonic() < deadline, f"{words!r} did not come: {self.unread[-2000:]!r}"
            if select.select([self.fd], [], [], 0.1)[0]:
                self.unread += self._decoder.decode(os.read(self.fd, 65536))
        text = self._read(bare)
        self.unread = text[found.end() :]
        return text[: found.end()]

    def _read(self, bare: bool) -> str:
        return strip_controls(self.unread) if bare else self.unread

    def write(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.fd)
