"""A branch of a Git repository, over HTTP: the files of its newest commit. No program is run and no
hook, filter, submodule or link of the repository followed; its objects are looked at by dulwich,
whose requests go through the guarded client.
"""

from __future__ import annotations

import stat
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from urllib.parse import quote

import anyio.to_thread

from citewell.config import Settings
from citewell.errors import ConfigError, PermanentError, TransientError, UnreadableFile
from citewell.fetch.service_client import ITEM_MISSING, ServiceClient, ServiceReply, hide_query
from citewell.messages import Text
from citewell.service.sync.connectors.connector import Item
from citewell.service.sync.connectors.git_pack import check_pack
from citewell.service.sync.connectors.thread_bridge import ThreadBridge
from citewell.service.sync.places import Place
from citewell.threads import run_in_thread

if TYPE_CHECKING:
    from dulwich.objects import ObjectID
    from dulwich.repo import Repo

_SECONDS: Final = 900.0  # for a pack
_DEEPEST: Final = 100  # folders inside each other
_SMART: Final = "application/x-git-"


class Git:
    """`mark` is the commit: while the branch stands there, nothing is fetched."""

    def __init__(self, place: Place, secret: str, settings: Settings, mark: str = "") -> None:
        try:
            import dulwich  # noqa: F401 - only whether it is there
        except ImportError:
            raise ConfigError(
                Text("Git repositories need the extra sync"),
                hint=Text("pip install 'citewell[sync]'"),
            ) from None
        self.mark = ""
        self._before = mark
        self._ref = place.options.get("ref", "")
        parts = place.parts
        ended = f":{parts.port}" if parts.port else ""
        self._shown = place.address
        scheme = parts.scheme.removeprefix("git+")
        self._url = f"{scheme}://{place.host}{ended}{quote(place.path)}"
        self._most = settings.ingest.max_bytes
        self._most_pack = settings.sync.max_bytes
        self._client = ServiceClient(settings, place.user or "git", secret)
        self._bridge = ThreadBridge(self._client)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._repo: Repo | None = None

    async def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:
        self._folder = tempfile.TemporaryDirectory(prefix="citewell-git-")
        commit = await self._bridge.run(self._fetch)
        if commit == self._before:
            for uri, version in known.items():
                yield Item(uri, Path(uri).name, version, key="")
        else:
            for item in await run_in_thread(lambda: list(self._walk(commit))):
                yield item
        self.mark = commit

    def _fetch(self) -> str:
        """The branch's head commit with its files, unless it is the one before. In a thread."""
        from dulwich.errors import GitProtocolError, NotGitRepository
        from dulwich.repo import Repo

        assert self._folder is not None
        self._repo = Repo.init_bare(self._folder.name)
        try:
            return self._fetch_pack(self._repo)
        except NotGitRepository:
            raise PermanentError(Text("{url}: no Git repository", url=self._url)) from None
        except (GitProtocolError, OSError, ValueError, KeyError, AssertionError) as error:
            raise TransientError(
                Text("{url}: Git cannot read it: {error}", url=self._url, error=error)
            ) from None

    def _fetch_pack(self, repo: Repo) -> str:
        client = _make_client(self._url, self._bridge, self._most_pack)
        wanted: list[str] = []

        def choose(refs: Mapping[bytes, bytes | None], depth: int | None = None) -> list[bytes]:  # noqa: ARG001 - the library's form
            commit = self._find_head(refs)
            wanted.append(commit.decode())
            return [] if wanted[0] == self._before else [commit]

        with tempfile.TemporaryFile() as pack:
            client.fetch_pack(
                "",
                choose,
                repo.get_graph_walker(),
                pack.write,
                depth=1,
                filter_spec=f"blob:limit={self._most}".encode(),
            )
            if pack.tell():
                check_pack(pack, most=self._most, in_all=self._most_pack)
                pack.seek(0)
                target, commit, abort = repo.object_store.add_pack()
                try:
                    while part := pack.read(1 << 20):
                        target.write(part)
                except BaseException:
                    abort()
                    raise
                commit()
        return wanted[0]

    def _find_head(self, refs: Mapping[bytes, bytes | None]) -> bytes:
        names = [f"refs/heads/{self._ref}", f"refs/tags/{self._ref}"] if self._ref else ["HEAD"]
        for name in names:
            if commit := refs.get(name.encode()):
                return commit
        raise PermanentError(
            Text("{url}: there is no branch {name}", url=self._url, name=self._ref or "HEAD")
        )

    def _walk(self, commit: str) -> Iterator[Item]:
        """Files only: what a link leads to and what a submodule holds are not the repository's."""
        from dulwich.objects import ObjectID

        assert self._repo is not None
        top: Any = self._repo[ObjectID(commit.encode())]
        if top.type_name == b"tag":
            top = self._repo[top.object[1]]
        waiting: list[tuple[tuple[str, ...], ObjectID]] = [((), top.tree)]
        while waiting:
            path, sha1 = waiting.pop()
            tree: Any = self._repo[sha1]
            for entry in tree.items():
                name = entry.path.decode("utf-8", "backslashreplace")
                if name.startswith(".") or "/" in name:
                    continue
                if stat.S_ISDIR(entry.mode) and len(path) < _DEEPEST:
                    waiting.append(((*path, name), entry.sha))
                elif stat.S_ISREG(entry.mode):
                    there = "/".join((*path, name))
                    sha = entry.sha.decode()
                    yield Item(f"{self._shown}#{there}", name, sha, key=sha)

    async def read_item(self, item: Item) -> bytes:
        return await anyio.to_thread.run_sync(self._read_blob, item)

    def _read_blob(self, item: Item) -> bytes:
        from dulwich.objects import ObjectID

        assert self._repo is not None
        try:
            blob: Any = self._repo[ObjectID(item.key.encode())]
            data: bytes = blob.data
        except KeyError:
            if not item.key:
                raise PermanentError(
                    Text("{uri}: no such file", uri=item.uri), code=ITEM_MISSING
                ) from None
            # the server was asked to leave out what is larger
            raise UnreadableFile(
                Text("larger than {most:,} bytes", most=self._most),
                hint=Text("raise ingest.max_bytes, or split the file"),
            ) from None
        return data

    async def close(self) -> None:
        if self._repo is not None:
            self._repo.close()
        if self._folder is not None:
            await anyio.to_thread.run_sync(self._folder.cleanup)
        await self._client.close()


class _Reply:
    """What dulwich wants to know of a reply."""

    def __init__(
        self, status: int, content_type: str, url: str, asked: str, body: BinaryIO
    ) -> None:
        self.status = status
        self._body = body
        self.content_type = content_type
        self.redirect_location = url if url != asked else ""
        self.headers: Mapping[str, str] = {"Content-Type": content_type}

    def close(self) -> None:
        self._body.close()


def _check_kind(reply: ServiceReply) -> str:
    """Its media type. A server that only serves files has another."""
    kind = reply.headers.get("content-type", "")
    if not kind.startswith(_SMART):
        raise PermanentError(
            Text("{url}: no Git server that speaks smart HTTP", url=hide_query(reply.url)),
            hint=Text("name the address that `git clone` takes"),
        )
    return kind


def _make_client(url: str, bridge: ThreadBridge, most: int) -> Any:
    """Dulwich's client over our requests. Its class needs dulwich, which is an extra."""
    from dulwich.client import AbstractHttpGitClient

    class Client(AbstractHttpGitClient):
        def _http_request(
            self,
            url: str,
            headers: dict[str, str] | None = None,
            data: bytes | Iterator[bytes] | None = None,
            raise_for_status: bool = True,  # noqa: ARG002 - errors are raised all the same
        ) -> tuple[Any, Callable[[int], bytes]]:
            body = data if isinstance(data, bytes) else b"".join(data or ())
            kept = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the reply is let go
            try:
                reply = bridge.send(
                    "POST" if data is not None else "GET",
                    url,
                    most=most,
                    headers=headers,
                    content=body,
                    seconds=_SECONDS,
                    into=kept,
                )
                kind = _check_kind(reply)
            except BaseException:
                kept.close()
                raise
            kept.seek(0)
            return _Reply(reply.status, kind, reply.url, url, kept), kept.read

    return Client(url, quiet=True)
