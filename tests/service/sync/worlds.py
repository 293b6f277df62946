"""A place of each kind, on the loopback, whose items a test can change."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate
from pathlib import Path
from socketserver import BaseServer, ThreadingMixIn
from typing import Any, Protocol, cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import boto3
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain
from moto.server import ThreadedMotoServer
from tests.conftest import Reply, SiteServer
from tests.service.sync.imap_server import ImapServer, Inbox
from wsgidav.wsgidav_app import WsgiDAVApp


class World(Protocol):
    """`place`: how it is named to `citewell sync add`. `password`: what it wants."""

    password: str

    @property
    def place(self) -> str: ...

    def write(self, name: str, data: bytes) -> None: ...

    def remove(self, name: str) -> None: ...

    def rename(self, old: str, new: str) -> None: ...

    def break_item(self, name: str) -> None:
        """An item that cannot be read, in the way of this kind of place."""
        ...


OpenWorld = Callable[[Path], AbstractContextManager[World]]


@dataclass
class FolderWorld:
    top: Path
    password: str = ""

    @property
    def place(self) -> str:
        return str(self.top)

    def write(self, name: str, data: bytes) -> None:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def remove(self, name: str) -> None:
        (self.top / name).unlink()

    def rename(self, old: str, new: str) -> None:
        (self.top / old).rename(self.top / new)

    def break_item(self, name: str) -> None:
        self.write(name + ".docx", b"PK\x03\x04 no zip at all")


SECRET = "a-secret-of-the-test"


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


class _Threaded(ThreadingMixIn, WSGIServer):
    daemon_threads = True


@contextmanager
def serve_wsgi(app: Any) -> Iterator[int]:
    """The port of an application on the loopback, in a thread."""
    server = make_server("127.0.0.1", 0, app, _Threaded, _Quiet)
    with run_server(server):
        yield server.server_port


@contextmanager
def run_server(server: BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve_site() -> Iterator[SiteServer]:
    site = SiteServer()
    with run_server(site.server):
        yield site


@contextmanager
def open_folder(tmp: Path) -> Iterator[FolderWorld]:
    top = tmp / "folder"
    top.mkdir()
    yield FolderWorld(top)


@dataclass
class FeedWorld:
    """A news feed and its pages."""

    site: SiteServer
    password: str = ""
    dates: dict[str, float] = field(default_factory=dict)
    now: float = 1_700_000_000.0

    @property
    def place(self) -> str:
        return f"{self.site.url}/feed.xml"

    def write(self, name: str, data: bytes) -> None:
        self._page(name, f"<p>{data.decode()}</p>".encode(), "text/html")

    def _page(self, name: str, body: bytes, kind: str) -> None:
        self.now += 60
        self.dates[name] = self.now
        self.site.pages[f"/{name}"] = Reply(body=body, kind=kind)
        self._publish()

    def remove(self, name: str) -> None:
        del self.dates[name], self.site.pages[f"/{name}"]
        self._publish()

    def rename(self, old: str, new: str) -> None:
        page = self.site.pages[f"/{old}"]
        self.remove(old)
        self._page(new, page.body, page.kind)

    def break_item(self, name: str) -> None:
        self._page(name, b"\0\1\2", "application/octet-stream")

    def _publish(self) -> None:
        items = "".join(
            f"<item><link>{self.site.url}/{name}</link><title>{name}</title>"
            f"<pubDate>{formatdate(at)}</pubDate></item>"
            for name, at in self.dates.items()
        )
        body = f'<rss version="2.0"><channel><title>News</title>{items}</channel></rss>'
        self.site.pages["/feed.xml"] = Reply(body=body.encode(), kind="application/rss+xml")


@contextmanager
def open_feed(_: Path) -> Iterator[FeedWorld]:
    with serve_site() as site:
        yield FeedWorld(site)


@dataclass
class DavWorld(FolderWorld):
    """WsgiDAV over a folder, for a user with a password."""

    url: str = ""

    @property
    def place(self) -> str:
        return self.url


@contextmanager
def open_dav(tmp: Path) -> Iterator[DavWorld]:
    top = tmp / "dav"
    top.mkdir()
    users = {"*": {"alice": {"password": SECRET}}}
    served = WsgiDAVApp(
        {
            "provider_mapping": {"/dav": {"root": str(top)}},
            "simple_dc": {"user_mapping": users},
            "http_authenticator": {"accept_basic": True, "accept_digest": False},
            "logging": {"enable": False, "enable_loggers": []},
            "verbose": 0,
        }
    )
    with serve_wsgi(served) as port:
        yield DavWorld(top, SECRET, f"dav://alice@127.0.0.1:{port}/dav")


@dataclass
class BucketWorld:
    """Moto's bucket."""

    client: Any
    port: int
    name: str
    password: str = SECRET

    @property
    def place(self) -> str:
        return f"s3://KEYID@{self.name}/docs/?endpoint=http://127.0.0.1:{self.port}"

    def write(self, name: str, data: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=f"docs/{name}", Body=data)

    def remove(self, name: str) -> None:
        self.client.delete_object(Bucket=self.name, Key=f"docs/{name}")

    def rename(self, old: str, new: str) -> None:
        self.client.copy_object(
            Bucket=self.name, Key=f"docs/{new}", CopySource=f"{self.name}/docs/{old}"
        )
        self.remove(old)

    def break_item(self, name: str) -> None:
        self.write(name + ".docx", b"PK\x03\x04 no zip at all")


@contextmanager
def open_bucket(_: Path) -> Iterator[BucketWorld]:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    port = int(server.get_host_and_port()[1])
    client = boto3.client(
        "s3",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id="KEYID",
        aws_secret_access_key=SECRET,
    )
    name = f"shelf-{secrets.token_hex(4)}"  # all servers of a process share their buckets
    client.create_bucket(Bucket=name)
    try:
        yield BucketWorld(client, port, name)
    finally:
        server.stop()


@dataclass
class GitWorld(FolderWorld):
    """Dulwich's server over a repository; each change is a commit."""

    port: int = 0

    @property
    def place(self) -> str:
        return f"git+http://127.0.0.1:{self.port}/books.git"

    @property
    def head(self) -> str:
        with Repo(str(self.top)) as repo:
            return repo.head().decode()

    def write(self, name: str, data: bytes) -> None:
        super().write(name, data)
        self._commit(name)

    def remove(self, name: str) -> None:
        super().remove(name)
        self._commit(name)

    def rename(self, old: str, new: str) -> None:
        super().rename(old, new)
        self._commit(old, new)

    def _commit(self, *names: str) -> None:
        with Repo(str(self.top)) as repo:
            repo.get_worktree().stage(list(names))
            repo.get_worktree().commit(
                message=b"change", author=b"A <a@example.com>", committer=b"A <a@example.com>"
            )


@contextmanager
def open_git(tmp: Path) -> Iterator[GitWorld]:
    top = tmp / "books"
    top.mkdir()
    with Repo.init(str(top)) as repo:
        served = make_wsgi_chain(DictBackend({b"/books.git": cast("Any", repo)}))
        with serve_wsgi(served) as port:
            yield GitWorld(top, "", port)


@dataclass
class MailWorld:
    """A mail for each name; one that changes is what an IMAP server does not do with a number, but
    a mailbox made anew.
    """

    inbox: Inbox
    port: int
    numbers: dict[str, int] = field(default_factory=dict)
    password: str = SECRET

    @property
    def place(self) -> str:
        return f"imap://alice@127.0.0.1:{self.port}/INBOX"

    def write(self, name: str, data: bytes) -> None:
        mail = EmailMessage()
        mail["Subject"], mail["From"] = name, "bob@example.com"
        mail.set_content(data.decode())
        self._put(name, bytes(mail))

    def _put(self, name: str, message: bytes) -> None:
        if name in self.numbers:
            self.inbox.valid += 1
            self.inbox.messages[self.numbers[name]] = message
        else:
            self.numbers[name] = self.inbox.append(message)

    def remove(self, name: str) -> None:
        del self.inbox.messages[self.numbers.pop(name)]

    def rename(self, old: str, new: str) -> None:
        message = self.inbox.messages[self.numbers[old]]
        self.remove(old)
        self._put(new, message)

    def break_item(self, name: str) -> None:
        self._put(name, b"")


@contextmanager
def open_mail(_: Path) -> Iterator[MailWorld]:
    server = ImapServer(Inbox(SECRET))
    with run_server(server):
        yield MailWorld(server.inbox, server.port)


WORLDS: dict[str, OpenWorld] = {
    "folder": open_folder,
    "feed": open_feed,
    "webdav": open_dav,
    "bucket": open_bucket,
    "git": open_git,
    "mail": open_mail,
}
