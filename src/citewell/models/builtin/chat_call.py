"""One call of the built-in chat model, on its way."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

from citewell.errors import ModelUnavailable, PermanentError
from citewell.messages import Text
from citewell.models.base import OnToken, Tokens


class Call:
    """One generation: `run` in a worker thread, everything else in the event loop's."""

    def __init__(
        self,
        server: Any,
        request: dict[str, Any],
        on_token: OnToken | None,
        release: Callable[[], None],
    ) -> None:
        self.pieces: list[str] = []
        self.tokens = Tokens()
        self.finish_reason = ""
        self.first: list[tuple[str, float]] = []  # likeliest first tokens, log-probabilities
        self.log_probs: list[float] = []  # of each token that was taken, where they are asked for
        self._server = server
        self._request = request
        self._on_token = on_token
        self._release = release
        self._loop = asyncio.get_running_loop()
        # taken once, by the thread that runs, or by `stop` if none ever will
        self._claim = threading.Lock()
        self._stopped = False
        self._error: dict[str, Any] = {}
        self._broken: Exception | None = None

    def stop(self) -> None:
        """No token comes after this; llama.cpp stops at its next batch. Harmless when done."""
        self._stopped = True
        if self._claim.acquire(blocking=False):
            self._server = None
            self._release()

    def run(self) -> None:
        if not self._claim.acquire(blocking=False):
            return
        try:
            self._server.handle_chat_completions(self._request, self._receive_chunk)
        except (ValueError, RuntimeError) as error:
            # the request is malformed (a schema it cannot turn into a grammar)
            self._error = {"message": str(error)}
        finally:
            self._server = None
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for the slot
                self._loop.call_soon_threadsafe(self._release)

    def raise_error(self, name: str) -> None:
        """What llama.cpp refused, what `on_token` raised, or that the model was closed."""
        if self._broken is not None:
            raise self._broken
        if self.finish_reason:
            return
        if not self._error:
            raise ModelUnavailable(Text("{name}: closed before its reply was whole", name=name))
        message = str(self._error.get("message", "the request was refused"))
        if self._error.get("type") == "exceed_context_size_error":
            raise PermanentError(
                Text("{name}: {message}", name=name, message=message),
                hint=Text("send less evidence or history"),
                code="prompt_too_long",
            )
        raise PermanentError(Text("{name}: {message}", name=name, message=message))

    def _receive_chunk(self, chunk: dict[str, Any]) -> bool:
        """llama.cpp's callback: True stops the generation."""
        if self._stopped:
            return True
        if "error" in chunk:
            self._error = chunk["error"]
            return True
        for choice in chunk.get("choices", ()):
            for token in (choice.get("logprobs") or {}).get("content", ()):
                self.log_probs.append(token["logprob"])
                self.first = self.first or [
                    (t["token"], t["logprob"]) for t in token["top_logprobs"]
                ]
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            piece = choice["delta"].get("content")
            if piece:
                self.pieces.append(piece)
                if self._on_token is not None:
                    self._loop.call_soon_threadsafe(self._deliver_piece, piece)
        figures = chunk.get("timings")
        if figures:
            cached = figures["cache_n"]
            self.tokens = Tokens(cached + figures["prompt_n"], cached, figures["predicted_n"])
        return False

    def _deliver_piece(self, piece: str) -> None:
        if self._stopped or self._on_token is None:
            return
        try:
            self._on_token(piece)
        except Exception as error:  # noqa: BLE001 - it is the caller's own: handed back to it by raise_error
            self._stopped, self._broken = True, error
