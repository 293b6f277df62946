"""A folder of a mailbox, over IMAP: each message as the mail that it is, with what it holds. It is
opened read-only, so that no message is marked as read.
"""

from __future__ import annotations

import base64
import imaplib
import re
import ssl
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from citewell.config import Settings
from citewell.errors import InvalidInput, PermanentError, TransientError
from citewell.fetch.addresses import Guard
from citewell.fetch.guarded_imap import GuardedImap, TooMuch, open_imap
from citewell.fetch.service_client import ITEM_MISSING, make_clear_error
from citewell.messages import Text
from citewell.service.sync.connectors.connector import Item
from citewell.service.sync.places import Place
from citewell.threads import run_in_thread

_PORTS: Final = {"imap": 143, "imaps": 993}
_SECONDS: Final = 30.0  # without a byte
_MOST_LISTING: Final = 50_000_000  # bytes
_OVERHEAD: Final = 10_000  # bytes around a message
_UID: Final = re.compile(rb"\bUID (\d{1,10})\b")
_SIZE: Final = re.compile(rb"\bRFC822\.SIZE (\d{1,18})\b")


class Mailbox:
    mark = ""

    def __init__(self, place: Place, secret: str, settings: Settings, mark: str = "") -> None:  # noqa: ARG002 - the protocol's form
        self._host, self._secure = place.host, place.parts.scheme == "imaps"
        self._port = place.parts.port or _PORTS[place.parts.scheme]
        self._user, self._secret = place.user, secret
        self._folder = place.path.strip("/") or "INBOX"
        if not self._user:
            raise InvalidInput(Text("a mailbox needs a user"), hint=Text("imaps://USER@HOST/INBOX"))
        self._shown = place.address.rstrip("/")
        self._guard = Guard(settings.allow_private_hosts)
        self._most = settings.ingest.max_bytes
        self._imap: GuardedImap | None = None

    async def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:  # noqa: ARG002 - all are listed
        addresses = await self._guard.addresses(
            self._host, self._port, service=self._port if self._port in _PORTS.values() else 0
        )
        for item in await run_in_thread(lambda: self._list(str(addresses[0]))):
            yield item

    def _list(self, address: str) -> list[Item]:
        """Runs in a thread."""
        try:
            self._imap = open_imap(self._host, address, self._port, _SECONDS, tls=self._secure)
            self._sign_in(self._imap)
            self._imap.allow(_MOST_LISTING)
            _expect(*self._imap.select(_quote(self._folder), readonly=True), self._folder)
            valid = self._imap.response("UIDVALIDITY")[1]
            said = valid[0].decode("ascii", "replace") if valid and valid[0] else ""
            count = self._imap.response("EXISTS")[1]
            if count and count[0] in {b"0", None}:
                return []
            rows = _expect(
                *self._imap.uid("FETCH", "1:*", "(UID RFC822.SIZE INTERNALDATE)"), self._folder
            )
            return [item for row in rows if (item := self._build_item(row, said)) is not None]
        except (imaplib.IMAP4.error, OSError, TooMuch) as error:
            raise _make_error(self._host, error) from None

    def _sign_in(self, imap: GuardedImap) -> None:
        if not self._secure and "STARTTLS" in imap.capabilities:
            imap.starttls(ssl.create_default_context())
        elif not self._secure and not self._guard.is_listed(self._host):
            raise make_clear_error(self._host)
        try:
            imap.login(self._user, self._secret)
        except imaplib.IMAP4.abort:
            raise
        except imaplib.IMAP4.error:
            raise PermanentError(
                Text("{host}: user or password is refused", host=self._host),
                hint=Text("many providers want a password made for programs"),
                code="refused",
            ) from None

    def _build_item(self, row: Any, valid: str) -> Item | None:
        """A number of a mailbox made anew means another message; its version says so."""
        line = row if isinstance(row, bytes) else b""
        uid, size = _UID.search(line), _SIZE.search(line)
        if uid is None or size is None:
            return None
        number = uid[1].decode()
        day = imaplib.Internaldate2tuple(line)
        return Item(
            uri=f"{self._shown};UID={number}",
            name=f"{number}.eml",
            version=f"{valid}-{size[1].decode()}",
            size=int(size[1]),
            dated=time.mktime(day) if day is not None else None,
            key=number,
        )

    async def read_item(self, item: Item) -> bytes:
        return await run_in_thread(lambda: self._read(item))

    def _read(self, item: Item) -> bytes:
        """Runs in a thread; one message at a time goes over the connection."""
        imap = self._imap
        if imap is None:
            raise TransientError(Text("{host}: the connection is closed", host=self._host))
        try:
            with imap.turn:
                imap.allow(self._most + _OVERHEAD)
                rows = _expect(*imap.uid("FETCH", item.key, "(BODY.PEEK[])"), self._folder)
        except (imaplib.IMAP4.error, OSError, TooMuch) as error:
            raise _make_error(self._host, error) from None
        for row in rows:
            if isinstance(row, tuple) and len(row) > 1:
                return bytes(row[1])
        raise PermanentError(Text("{uri}: no such message", uri=item.uri), code=ITEM_MISSING)

    async def close(self) -> None:
        imap, self._imap = self._imap, None
        if imap is not None:
            await run_in_thread(imap.leave)


def _expect(status: str, rows: Any, folder: str) -> list[Any]:
    if status != "OK":
        raise PermanentError(
            Text("there is no mail folder {folder}", folder=folder),
            hint=Text("name it as the mailbox does: INBOX, INBOX/Invoices"),
        )
    return [row for row in rows or [] if row is not None]


def _make_error(host: str, error: Exception) -> TransientError:
    """What the server or the network refused, which may work later."""
    return TransientError(
        Text("{host}: the mailbox cannot be read: {error}", host=host, error=error),
        hint=Text("the next run tries again"),
    )


def _quote(folder: str) -> str:
    """A folder's name as IMAP writes it: quoted, and in its own UTF-7 (RFC 3501, 5.1.3)."""
    parts: list[str] = []
    for plain, other in re.findall(r"([\x20-\x7e]+)|([^\x20-\x7e]+)", folder):
        if plain:
            parts.append(plain.replace("&", "&-"))
        else:
            encoded = other.encode("utf-16-be")
            parts.append("&" + _encode_base64(encoded) + "-")
    name = "".join(parts).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{name}"'


def _encode_base64(data: bytes) -> str:
    return base64.b64encode(data).decode().rstrip("=").replace("/", ",")
