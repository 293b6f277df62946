"""Bytes outside the database: original files in a bucket that several servers share, and buckets of
others, of which files are added. An object of ours is written once, under a key that nobody else
uses, before the row that names it; it is deleted after that row has gone. So no object is ever
changed under a reader, and what a broken process leaves is an object that no row names, which
`list_keys` finds.
"""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

from citewell.errors import InvalidInput, StorageError, TransientError
from citewell.messages import Text

KINDS: Final = ("s3", "gs", "az")
_PREFIX: Final = "files"
_RETRY: Final = {"max_retries": 6, "retry_timeout": timedelta(seconds=30)}
_CLIENT: Final = {"connect_timeout": "5s", "timeout": "60s", "allow_http": True}


class ObjectStore:
    """`url`: s3://BUCKET/PREFIX, gs:// or az://; keys and endpoint come from the environment as the
    providers' own tools read them (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...). Every method raises
    TransientError where the store does not answer within half a minute, and StorageError where it
    refuses.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._obstore, self._store = _open_store(url)

    async def put(self, sha256: str, data: bytes) -> str:
        """Keep bytes; the key under which they lie when this returns."""
        key = f"{_PREFIX}/{sha256[:2]}/{sha256}-{secrets.token_hex(8)}"
        try:
            await self._run(self._obstore.put_async(self._store, key, data), key)
        except FileNotFoundError:
            raise StorageError(
                Text("{url}: there is no such bucket", url=self.url),
                hint=Text("create it, or name another"),
            ) from None
        return key

    async def get(self, key: str) -> bytes:
        async def read() -> bytes:
            reply = await self._obstore.get_async(self._store, key)
            return bytes(await reply.bytes_async())

        try:
            data: bytes = await self._run(read(), key)
        except FileNotFoundError:
            raise StorageError(
                Text("{url}: {key} is not there", url=self.url, key=key),
                hint=Text("restore the bucket to the state that belongs to the database"),
            ) from None
        return data

    async def delete(self, keys: Sequence[str]) -> None:
        """Those that are not there are passed over."""
        for key in keys:
            try:
                await self._run(self._obstore.delete_async(self._store, key), key)
            except FileNotFoundError:
                continue

    async def list_keys(self, before: float) -> AsyncIterator[str]:
        """Of objects written before this moment (seconds since the epoch, by the store's clock)."""
        pages = self._obstore.list(self._store, f"{_PREFIX}/")
        while True:
            try:
                page = await self._run(anext(pages), _PREFIX)
            except StopAsyncIteration:
                return
            for each in page:
                if each["last_modified"].timestamp() < before:
                    yield each["path"]

    async def check(self) -> None:
        """Write, read and delete a few bytes. Raises what the methods raise."""
        key = await self.put("0" * 64, b"citewell")
        if await self.get(key) != b"citewell":
            raise StorageError(
                Text("{url}: gives back other bytes than it was given", url=self.url)
            )
        await self.delete([key])

    async def _run(self, call: Any, key: str) -> Any:
        with _translate_errors(self._obstore, self.url, key):
            return await call


class Bucket:
    """The bucket of an address such as s3://BUCKET/KEY, whose objects are only read. Methods block,
    and raise what those of `ObjectStore` raise.
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
def _translate_errors(obstore: Any, url: str, key: str) -> Iterator[None]:
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
        raise TransientError(
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
