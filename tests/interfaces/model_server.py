"""A server of models on the loopback, for what is set up while Citewell runs. It notes each
request: its path and its key.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FORM = '{"capital": "Paris", "numbers": [1, 2, 3]}'


class ModelServer(ThreadingHTTPServer):
    """`wants`: the one key that it takes; empty: any. `says`: every reply but the probe's.
    `context`: what it tells of itself.
    """

    def __init__(self, wants: str = "", says: str = FORM) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.wants = wants
        self.says = says
        self.context = 32_768
        self.came: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.came]

    @property
    def keys(self) -> set[str]:
        return {key for _, key in self.came}


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_GET(self) -> None:
        listed = [{"id": "m", "max_model_len": self.server.context}, {"id": "other"}]
        self._reply({"object": "list", "data": listed})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = FORM if "capital of France" in str(asked) else self.server.says
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "finish_reason": "stop",
        }
        usage = {"prompt_tokens": 30, "completion_tokens": 40, "total_tokens": 70}
        self._reply(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [choice],
                "usage": usage,
            }
        )

    def _reply(self, body: dict[str, Any]) -> None:
        key = self.headers.get("authorization", "").removeprefix("Bearer ")
        self.server.came.append((self.path, key))
        status = 200
        if self.server.wants and key != self.server.wants:
            status, body = 401, {"error": {"message": f"Incorrect API key provided: {key}"}}
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Says nothing."""


@contextmanager
def run_model_server(wants: str) -> Iterator[ModelServer]:
    with ModelServer(wants=wants) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
