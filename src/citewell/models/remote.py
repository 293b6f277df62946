"""The built-in embedder and reader where they run on other machines: servers started with
`citewell serve --models-only`, named by the setting `models_url`.

Vectors and readings are the same as in this process, so both keep their names, and a home may
change between the two ways. A server of another release is refused: its figures may differ.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import anyio
import numpy as np

from citewell.config import Settings
from citewell.errors import ModelUnavailable, TransientError, unwrap_first_error
from citewell.messages import Text
from citewell.models.balance import Pool
from citewell.models.base import Vector
from citewell.models.builtin.embedder import DIM, BuiltinEmbedder
from citewell.models.builtin.lanes import is_in_background
from citewell.models.builtin.reader import BuiltinReader, Result, Task
from citewell.models.reader_base import Judgement, Reading
from citewell.models.retry import is_transient, iterate_attempts
from citewell.release import __version__

AT_ONCE = 32  # texts or tasks of one request
WAIT = 0.2  # seconds before the second try
RELEASE = "Citewell-Version"  # the header in which both sides say their release


def split_addresses(setting: str) -> list[str]:
    """The addresses of a setting that may name several, with commas between them."""
    return [part.strip().rstrip("/") for part in setting.split(",") if part.strip()]


class ModelServers:
    """The servers of `models_url`: JSON there and back."""

    def __init__(self, settings: Settings) -> None:
        addresses = split_addresses(settings.models_url)
        self._pool = Pool(addresses)
        self._headers = {RELEASE: __version__}
        if key := settings.models_key.get_secret_value():
            self._headers["Authorization"] = f"Bearer {key}"
        self._seconds = settings.models_timeout
        self._running = anyio.Semaphore(2 * len(addresses))  # requests at a time
        self._client: Any = None

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The reply of the first server that answers. Raises ModelUnavailable."""
        body = {**body, "background": is_in_background()}
        try:
            async with self._running:
                async for attempt in iterate_attempts(WAIT, is_transient, self._seconds):
                    with attempt:
                        return await self._pool.call(
                            lambda address: self._post_once(f"{address}{path}", body)
                        )
        except TransientError as error:
            raise ModelUnavailable(
                error.message, hint=Text("is a server of models_url running?")
            ) from error
        raise AssertionError("the last attempt returns or raises")

    async def post_parts(self, path: str, name: str, items: Sequence[Any]) -> list[dict[str, Any]]:
        """The replies for `items`, sent in parts as `name`, in order."""
        parts = [items[at : at + AT_ONCE] for at in range(0, len(items), AT_ONCE)]
        replies: list[dict[str, Any]] = [{} for _ in parts]

        async def send(at: int) -> None:
            replies[at] = await self.post(path, {name: list(parts[at])})

        try:
            async with anyio.create_task_group() as group:
                for at in range(len(parts)):
                    group.start_soon(send, at)
        except BaseExceptionGroup as errors:
            raise unwrap_first_error(errors) from None
        return replies

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _post_once(self, url: str, body: dict[str, Any]) -> dict[str, Any]:
        import httpx2

        if self._client is None:
            self._client = httpx2.AsyncClient(headers=self._headers, timeout=self._seconds)
        try:
            response = await self._client.post(url, json=body)
        except httpx2.HTTPError as error:
            why = Text("{url}: {error}", url=url, error=str(error) or type(error).__name__)
            raise TransientError(why) from None
        status = Text("{url}: status {status}", url=url, status=response.status_code)
        if response.status_code == 429 or response.status_code >= 500:
            raise TransientError(status)
        if response.status_code != 200:
            hint = Text("is models_key the token of a user there?")
            if response.status_code == 421:
                hint = Text("access.hosts of that server has to list its name in models_url")
            raise ModelUnavailable(status, hint=hint)
        theirs = response.headers.get(RELEASE, "")
        if theirs != __version__:
            raise ModelUnavailable(
                Text(
                    "{url}: the server is of release {theirs}, this one of {ours}",
                    url=url,
                    theirs=theirs or "?",
                    ours=__version__,
                ),
                hint=Text("run the same release on both machines"),
            )
        found: dict[str, Any] = response.json()
        return found


class RemoteEmbedder(BuiltinEmbedder):
    """The built-in embedder of other machines; what was embedded last is remembered here."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._servers = ModelServers(settings)

    async def load(self) -> None:
        """Nothing to load here."""

    async def close(self) -> None:
        await self._servers.close()

    async def embed_prefixed(self, texts: list[str]) -> list[Vector]:
        replies = await self._servers.post_parts("/api/models/vectors", "texts", texts)
        return [row for reply in replies for row in decode_vectors(reply["vectors"])]


class RemoteReader(BuiltinReader):
    """The built-in reader of other machines."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._servers = ModelServers(settings)

    async def load(self) -> None:
        """Nothing to load here."""

    async def close(self) -> None:
        await self._servers.close()

    async def run_tasks(self, tasks: list[Task]) -> list[Any]:
        sent = [asdict(task) for task in tasks]
        replies = await self._servers.post_parts("/api/models/readings", "tasks", sent)
        return [decode_result(result) for reply in replies for result in reply["results"]]


def encode_vectors(vectors: Vector) -> str:
    """Rows of float32, little end first, in base64."""
    return base64.b64encode(vectors.astype("<f4").tobytes()).decode()


def decode_vectors(encoded: str) -> Vector:
    """Shape (n, DIM)."""
    return np.frombuffer(base64.b64decode(encoded), "<f4").reshape(-1, DIM).astype(np.float32)


def encode_result(result: Result) -> dict[str, Any]:
    """A result of the reader as JSON; what it is can be told from its names."""
    return {"same": result} if isinstance(result, float) else asdict(result)


def decode_result(found: dict[str, Any]) -> Result:
    """The other way round."""
    if "same" in found:
        return float(found["same"])
    if "entailed" in found:
        unsupported = tuple((start, end) for start, end in found.pop("unsupported"))
        return Judgement(**found, unsupported=unsupported)
    return Reading(**found)
