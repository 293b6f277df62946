"""Bytes outside the database: in a bucket that several servers share, and buckets of others, of
which files are added.

An object of ours is written once, under a key that nobody else uses, before the row
that names it; it is deleted after that row has gone. So no object is ever changed under a reader,
and what a broken process leaves is an object that no row names, which `list_keys` finds.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final
from urllib.parse import urlsplit

import anyio

from citewell.errors import CitewellError, InvalidInput, StorageError, TransientError
from citewell.messages import Text

KINDS: Final = ("s3", "gs", "az")
ORIGINALS: Final = "files"  # how the keys of original files begin
_RETRY: Final = {"max_retries": 6, "retry_timeout": timedelta(seconds=30)}
# a request is never larger than a part, so one that takes longer has stalled
_CLIENT: Final = {"connect_timeout": "5s", "timeout": "60s", "allow_http": True}
_PART: Final = 8 * 1024 * 1024  # bytes sent or fetched in one request
_AT_ONCE: Final = 4  # parts of a file on their way at the same time


class ObjectStore:
    """`url`: s3://BUCKET/PREFIX, gs:// or az://; keys and endpoint come from the environment as the
    providers' own tools read them (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...). Every method raises
    StorageError where the store refuses, or does not answer in time: half a minute of further
    tries, a minute for a request that stalls.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._obstore, self._store = _open_store(url)

    async def put(self, sha256: str, data: bytes) -> str:
        """Keep an original file; the key under which it lies when this returns."""
        key = f"{ORIGINALS}/{sha256[:2]}/{sha256}-{secrets.token_hex(8)}"
        await self.put_at(key, data)
        return key

    async def put_at(self, key: str, data: bytes | BinaryIO) -> None:
        """Keep bytes under this key, a part at a time; they are there whole or not at all."""
        put = self._obstore.put_async(
            self._store, key, data, chunk_size=_PART, max_concurrency=_AT_ONCE
        )
        try:
            await self._run(put, key)
        except FileNotFoundError:
            raise StorageError(
                Text("{url}: there is no such bucket", url=self.url),
                hint=Text("create it, or name another"),
            ) from None

    async def get(self, key: str) -> bytes:
        async def read() -> bytes:
            reply = await self._obstore.get_async(self._store, key)
            return bytes(await reply.bytes_async())

        try:
            data: bytes = await self._run(read(), key)
        except FileNotFoundError:
            raise self._make_missing_error(key) from None
        return data

    async def download(self, key: str, path: Path) -> None:
        """Write an object to a file, a part at a time. Where it raises, what is there of the file
        is the caller's to remove. Raises OSError for the file.
        """
        size = await self.get_size(key)
        if size is None:
            raise self._make_missing_error(key)
        async with await anyio.open_file(path, "wb") as file:
            for start in range(0, size, _PART):
                end = min(start + _PART, size)
                part = self._obstore.get_range_async(self._store, key, start=start, end=end)
                try:
                    await file.write(await self._run(part, key))
                except FileNotFoundError:
                    raise self._make_missing_error(key) from None

    async def get_size(self, key: str) -> int | None:
        """In bytes; None where there is no such object."""
        try:
            return int((await self._run(self._obstore.head_async(self._store, key), key))["size"])
        except FileNotFoundError:
            return None

    def _make_missing_error(self, key: str) -> StorageError:
        return StorageError(
            Text("{url}: {key} is not there", url=self.url, key=key),
            hint=Text("restore the bucket to the state that belongs to the database"),
        )

    async def delete(self, keys: Sequence[str]) -> None:
        """Those that are not there are passed over."""
        for key in keys:
            try:
                await self._run(self._obstore.delete_async(self._store, key), key)
            except FileNotFoundError:
                continue

    async def list_keys(self, folder: str, before: float) -> AsyncIterator[str]:
        """Of objects whose keys begin with this folder, written before this moment (seconds since
        the epoch, by the store's clock).
        """
        pages = self._obstore.list(self._store, f"{folder}/")
        while True:
            try:
                page = await self._run(anext(pages), folder)
            except StopAsyncIteration:
                return
            for each in page:
                if each["last_modified"].timestamp() < before:
                    yield each["path"]

    async def is_empty(self) -> bool:
        """Whether there is no object at all below the address."""
        pages = self._obstore.list(self._store, chunk_size=1)
        try:
            return not await self._run(anext(pages), "")
        except StopAsyncIteration:
            return True

    async def check(self) -> None:
        """Write, read and delete a few bytes. Raises what the methods raise."""
        key = await self.put("0" * 64, b"citewell")
        if await self.get(key) != b"citewell":
            raise StorageError(
                Text("{url}: gives back other bytes than it was given", url=self.url)
            )
        await self.delete([key])

    async def _run(self, call: Any, key: str) -> Any:
        with _translate_errors(self._obstore, self.url, key, StorageError):
            return await call


class Bucket:
    """The bucket of an address such as s3://BUCKET/KEY, whose objects are only read. Methods block,
    and raise TransientError where it does not answer, StorageError where it refuses.
    """

    def __init__(self, address: str) -> None:
        scheme, _, rest = address.partition("://")
        bucket, _, self.key = rest.partition("/")
        self.url = f"{scheme}://{bucket}"
        self._obstore, self._store = _open_store(self.url)

    def list_objects(self) -> Iterator[tuple[str, int]]:
        """(address, bytes) of the object under the key, or of all below it whose names are not
        hidden, in the order of their keys. None where there is nothing.
        """
        with _translate_errors(self._obstore, self.url, self.key):
            pages = self._obstore.list(self._store, self.key or None)
            rows = sorted((row["path"], row["size"]) for page in pages for row in page)
            if not rows and self.key and not self.key.endswith("/"):
                try:
                    rows = [(self.key, self._obstore.head(self._store, self.key)["size"])]
                except FileNotFoundError:
                    return
        for path, size in rows:
            below = PurePosixPath(path.removeprefix(self.key))
            if not any(part.startswith(".") for part in below.parts):
                yield f"{self.url}/{path}", size

    def read(self, most: int) -> tuple[bytes, int, float]:
        """The object's bytes, or none where it has more than `most`; its size; when it was written
        (seconds since the epoch). Raises FileNotFoundError too.
        """
        with _translate_errors(self._obstore, self.url, self.key):
            reply = self._obstore.get(self._store, self.key)
            size, written = reply.meta["size"], reply.meta["last_modified"].timestamp()
            return (bytes(reply.bytes()) if size <= most else b""), size, written


@contextmanager
def _translate_errors(
    obstore: Any, url: str, key: str, away: type[CitewellError] = TransientError
) -> Iterator[None]:
    """`away`: what is raised where the store does not answer."""
    errors = obstore.exceptions
    try:
        yield
    except FileNotFoundError:
        raise
    except (errors.PermissionDeniedError, errors.UnauthenticatedError) as error:
        raise StorageError(
            Text("{url}: refuses access to {key}", url=url, key=key),
            hint=Text("check the keys in the environment and what they may do"),
        ) from error
    except (errors.BaseError, OSError) as error:
        raise away(
            Text("{url}: {why}", url=url, why=_shorten(error)),
            hint=Text("check that the object store runs, then try again"),
        ) from error


def _open_store(url: str) -> tuple[Any, Any]:
    """The library, and what it makes of the address. Raises InvalidInput."""
    obstore = _import_obstore()
    place = urlsplit(url)
    if place.scheme not in KINDS or not place.netloc:
        raise InvalidInput(
            Text("{url}: no address of an object store", url=url),
            hint=Text("such as s3://bucket/prefix"),
        )
    try:
        store = obstore.store.from_url(url, client_options=_CLIENT, retry_config=_RETRY)
    except obstore.exceptions.BaseError as error:
        raise InvalidInput(
            Text("{url}: {why}", url=url, why=_shorten(error)),
            hint=Text("check the address, and the keys in the environment"),
        ) from error
    return obstore, store


def _import_obstore() -> Any:
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise InvalidInput(
            Text("an object store needs the extra `objects`"),
            hint=Text("pip install 'citewell[objects]'"),
        ) from error
    return obstore


def _shorten(error: BaseException) -> str:
    """What it says first; obstore adds all causes below."""
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else type(error).__name__
