"""The built-in chat model: a GGUF file run here by llama.cpp (package `xllamacpp`), loaded once:
when first used or before. Every call streams inside, even where the caller wants no tokens, because
the streaming callback is the only place where llama.cpp can be told to stop. It is called for every
batch of the prompt and for every token.
"""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from citewell.config import Settings
from citewell.errors import ModelUnavailable, TransientError
from citewell.messages import Text
from citewell.models.base import OnToken, Reply, YesNo
from citewell.models.builtin.chat_call import Call
from citewell.models.builtin.cores import count_cores
from citewell.models.builtin.download import MODEL, get_model_path
from citewell.models.builtin.lanes import FOREGROUND
from citewell.models.observed import observe_call
from citewell.models.yesno import compute_log_odds
from citewell.text.sanitize import escape_chat_markers
from citewell.threads import run_in_thread
from citewell.types import Message

# calls that run side by side; each has its own half of the context and its own prefix cache
SLOTS = 2
CONTEXT = 8192  # tokens, of all slots together
BATCH = 128  # prompt tokens between two chances to stop
# prompts kept beside the slots, 28 KiB a token: a switch of language then costs 0.5 s, not 5
PREFIX_CACHE_MIB = 512
TOP = 64  # most likely tokens asked for; yes and no are looked for among them
# a socket's path may have 108 bytes; in a longer folder llama.cpp listens on a free loopback port
LONGEST_FOLDER = 90
HINT = Text(
    'fetch it with `citewell models pull`, go without it with llm = "none", or name '
    "another GGUF file with llm_file"
)


class BuiltinLLM:
    """Implements `LLM`. Cancelling a call, or its timeout, stops it and frees its slot."""

    evidence_tokens = 500

    def __init__(self, settings: Settings) -> None:
        self._path = settings.llm_file or get_model_path(settings)
        self._packaged = settings.llm_file is None
        self._timeout = settings.llm_timeout
        self._threads = settings.llm_threads or count_cores()
        self._verbose = settings.log_level == "debug"
        self._server: Any = None
        self._loading = anyio.Lock()
        self._slots = anyio.Semaphore(SLOTS)
        self._calls: set[Call] = set()
        self.name = f"builtin:{self._path.stem}"

    @observe_call("chat")
    async def chat(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 256,
        temperature: float = 0.0,
        schema: dict[str, Any] | None = None,
        grammar: str = "",
        stop: Sequence[str] = (),
        on_token: OnToken | None = None,
    ) -> Reply:
        body: dict[str, Any] = {
            "max_tokens": max_tokens,
            "temperature": temperature,
            "stop": list(stop),
        }
        if schema is not None:
            body["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "reply", "schema": schema},
            }
        if grammar:
            body |= {"grammar": grammar, "logprobs": True, "top_logprobs": 1}
        call = await self._run_call(messages, body, on_token)
        log_prob = sum(call.log_probs) / len(call.log_probs) if call.log_probs else None
        finished = call.finish_reason != "length"
        return Reply("".join(call.pieces), call.tokens, finished, log_prob)

    @observe_call("yes_no")
    async def yes_no(self, messages: Sequence[Message]) -> YesNo:
        """The probabilities are the model's own: not renormalised over the two words."""
        body = {"max_tokens": 1, "temperature": 0.0, "logprobs": True, "top_logprobs": TOP}
        call = await self._run_call(messages, body, None)
        return YesNo(compute_log_odds(call.first), call.tokens)

    async def close(self) -> None:
        """Stop what runs and free the model's memory. A later call loads it again."""
        async with self._loading:
            for call in self._calls:
                call.stop()
            for _ in range(SLOTS):
                await self._slots.acquire()
            server, self._server = self._server, None
            if server is not None:
                holder = [server]
                del server
                await anyio.to_thread.run_sync(holder.clear)
            for _ in range(SLOTS):
                self._slots.release()

    async def _run_call(
        self, messages: Sequence[Message], body: dict[str, Any], on_token: OnToken | None
    ) -> Call:
        sent = [{"role": m.role, "content": escape_chat_markers(m.content)} for m in messages]
        request = {"messages": sent, "stream": True, "return_progress": True, **body}
        # for other files: an answer is wanted, not a monologue
        request["chat_template_kwargs"] = {"enable_thinking": False}
        server = await self._get_server()
        await self._slots.acquire()
        call = Call(server, request, on_token, self._slots.release)
        del server  # a finished call must not keep the model alive
        self._calls.add(call)
        try:
            with FOREGROUND.enter(), anyio.fail_after(self._timeout):
                await anyio.to_thread.run_sync(call.run, abandon_on_cancel=True)
        except TimeoutError:
            raise TransientError(
                Text(
                    "{name}: no reply within {timeout:g} seconds",
                    name=self.name,
                    timeout=self._timeout,
                ),
                hint=Text("a longer llm_timeout gives it more time"),
            ) from None
        finally:
            call.stop()
            self._calls.discard(call)
        call.raise_error(self.name)
        return call

    async def load(self) -> None:
        await self._get_server()

    async def _get_server(self) -> Any:
        async with self._loading:
            if self._server is None:
                self._server = await run_in_thread(self._load_server)
            return self._server

    def _load_server(self) -> Any:
        check_file(self._path, MODEL.bytes if self._packaged else None)
        try:
            import xllamacpp
        except (ImportError, OSError) as error:
            raise ModelUnavailable(
                Text("llama.cpp cannot be started: {error}", error=error),
                hint=Text("install xllamacpp again"),
            ) from error
        folder = Path(tempfile.mkdtemp(prefix="citewell-"))
        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx, params.n_parallel = CONTEXT, SLOTS
        params.n_batch = params.n_ubatch = BATCH
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        params.cache_ram_mib = PREFIX_CACHE_MIB
        params.verbosity = 3 if self._verbose else -1
        params.warmup = params.ui = params.endpoint_slots = params.fit_params = False
        # llama.cpp insists on listening. It gets a key, and a socket in a folder of our own, gone
        # as soon as the model is up.
        params.api_keys = [secrets.token_hex()]
        if len(str(folder)) < LONGEST_FOLDER:
            params.hostnames = [str(folder / "llama.sock")]
        try:
            return xllamacpp.Server(params)
        except RuntimeError:
            raise ModelUnavailable(
                Text("{path}: llama.cpp cannot run this file", path=self._path), hint=HINT
            ) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def check_file(path: Path, size: int | None) -> None:
    """Raise ModelUnavailable unless `path` looks like a whole GGUF file: llama.cpp is not asked to
    try what cannot work.
    """
    try:
        with path.open("rb") as file:
            magic = file.read(4)
        found = path.stat().st_size
    except OSError as error:
        raise ModelUnavailable(
            Text("{path}: no chat model here ({strerror})", path=path, strerror=error.strerror),
            hint=HINT,
        ) from None
    if magic != b"GGUF":
        raise ModelUnavailable(Text("{path}: not a GGUF file", path=path), hint=HINT)
    if size is not None and found != size:
        raise ModelUnavailable(
            Text(
                "{path}: {found:,} bytes where {size:,} are due: incomplete",
                path=path,
                found=found,
                size=size,
            ),
            hint=HINT,
        )
