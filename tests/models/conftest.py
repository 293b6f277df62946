"""A small OpenAI-compatible server on the loopback, whose replies a test scripts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

Json = dict[str, Any]


class FakeServer:
    """Each `then_...` adds the reply to one more request. `requests`, `paths` and `keys` record
    what came. `home`: a folder for the settings of its clients.
    """

    def __init__(self, home: Path) -> None:
        self.url = ""
        self.home = home
        self.paths: list[str] = []
        self.requests: list[Json] = []
        self.keys: list[str] = []
        self.gone = asyncio.Event()  # a client left before its reply was over
        self._replies: list[tuple[int, Any]] = []

    def then(self, body: Any, status: int = 200) -> None:
        """JSON or bytes; a list is streamed as events, None streams one token and then nothing."""
        self._replies.append((status, body))

    def then_text(
        self,
        text: str | None,
        *,
        finish: str = "stop",
        logprobs: dict[str, float] | None = None,
        tokens: int = 2,
        **more: Any,
    ) -> None:
        """`more` goes into the message."""
        choice: Json = {
            "index": 0,
            "message": {"role": "assistant", "content": text, **more},
            "finish_reason": finish,
        }
        if logprobs is not None:
            top = [
                {"token": token, "logprob": value, "bytes": None}
                for token, value in logprobs.items()
            ]
            choice["logprobs"] = {"content": [top[0] | {"top_logprobs": top}]}
        usage = {
            "prompt_tokens": 10,
            "completion_tokens": tokens,
            "prompt_tokens_details": {"cached_tokens": 4},
        }
        self.then(
            {
                "id": "c",
                "object": "chat.completion",
                "created": 0,
                "model": "m",
                "choices": [choice],
                "usage": usage,
            }
        )

    def then_refuse(self, message: str, status: int = 400) -> None:
        self.then(
            {"error": {"message": message, "type": "invalid_request_error", "code": None}}, status
        )

    def piece(self, text: str, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        return {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m",
            "choices": [choice],
        }

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = dict(
                line.split(": ", 1) for line in head.lower().split("\r\n")[1:] if ": " in line
            )
            self.paths.append(head.split(" ")[1])
            self.requests.append(
                json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or "{}")
            )
            self.keys.append(headers.get("authorization", ""))
            await self._send(reader, writer, *self._replies.pop(0))
        finally:
            writer.close()

    async def _send(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, status: int, body: Any
    ) -> None:
        kind = "text/event-stream" if isinstance(body, list) or body is None else "application/json"
        writer.write(
            f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode()
        )
        if body is None:
            writer.write(event(self.piece("first")))
            await writer.drain()
            await reader.read()  # until the client leaves
            self.gone.set()
        elif isinstance(body, list):
            writer.write(b"".join(event(item) for item in body) + b"data: [DONE]\n\n")
        else:
            writer.write(body if isinstance(body, bytes) else json.dumps(body).encode())
        await writer.drain()


def event(item: Json) -> bytes:
    return b"data: " + json.dumps(item).encode() + b"\n\n"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[FakeServer]:
    fake = FakeServer(tmp_path / "home")
    listener = await asyncio.start_server(fake.handle, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/v1"
    async with listener:
        yield fake
