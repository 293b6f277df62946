"""A folder of a WebDAV server: Nextcloud, ownCloud, a NAS. A server names what is in a folder as it
likes, and only what lies below the folder that was asked for is taken.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote, urljoin, urlsplit

from citewell.config import Settings
from citewell.errors import TransientError
from citewell.fetch.service_client import ServiceClient
from citewell.ingest.markup.xml_tree import extract_text, find_element, get_tag
from citewell.messages import Text
from citewell.service.sync.connectors.connector import Item
from citewell.service.sync.connectors.listing_xml import MOST_BYTES, parse_listing
from citewell.service.sync.places import Place
from citewell.text.timestamps import parse_timestamp

_ASK: Final = (
    b'<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getetag/>'
    b"<getcontentlength/><getlastmodified/></prop></propfind>"
)
_HEADERS: Final = {"Depth": "1", "Content-Type": "application/xml; charset=utf-8"}
_SECURE: Final = {"dav": "http", "davs": "https"}
_MOST_FOLDERS: Final = 20_000  # that are asked for in one listing


@dataclass(frozen=True, slots=True)
class _Entry:
    path: str
    folder: bool
    etag: str
    size: int
    dated: float | None


class WebDav:
    mark = ""

    def __init__(self, place: Place, secret: str, settings: Settings, mark: str = "") -> None:  # noqa: ARG002 - the protocol's form
        parts = place.parts
        ended = f":{parts.port}" if parts.port else ""
        host = f"[{place.host}]" if ":" in place.host else place.host
        self._origin = f"{_SECURE[parts.scheme]}://{host}{ended}"
        self._shown = place.address.removesuffix(parts.path)
        self._top = place.path.rstrip("/") + "/"
        self._most = settings.ingest.max_bytes
        self._client = ServiceClient(settings, place.user, secret)

    async def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:  # noqa: ARG002 - all are listed
        waiting, seen = [self._top], {self._top}
        while waiting:
            folder = waiting.pop()
            for entry in await self._list_folder(folder):
                name = entry.path.rstrip("/").rpartition("/")[2]
                if name.startswith("."):
                    continue
                if not entry.folder:
                    yield self._build_item(entry, name)
                elif entry.path not in seen:
                    if len(seen) >= _MOST_FOLDERS:
                        raise TransientError(
                            Text("more than {most:,} folders", most=_MOST_FOLDERS),
                            hint=Text("name a folder further down"),
                        )
                    seen.add(entry.path)
                    waiting.append(entry.path)

    async def _list_folder(self, folder: str) -> list[_Entry]:
        url = self._origin + quote(folder)
        reply = await self._client.send(
            "PROPFIND", url, most=MOST_BYTES, headers=_HEADERS, content=_ASK
        )
        root = parse_listing(reply.data, url)
        found = [_parse_response(each, url) for each in root if get_tag(each) == "response"]
        return [
            entry
            for entry in found
            if entry is not None
            and entry.path.startswith(folder)
            and entry.path.rstrip("/") != folder.rstrip("/")
            and ".." not in entry.path.split("/")
        ]

    def _build_item(self, entry: _Entry, name: str) -> Item:
        version = entry.etag or (f"{entry.dated}-{entry.size}" if entry.dated else "")
        uri = self._shown + entry.path
        return Item(uri, name, version, entry.size, entry.dated, entry.path)

    async def read_item(self, item: Item) -> bytes:
        reply = await self._client.send("GET", self._origin + quote(item.key), most=self._most)
        return reply.data

    async def close(self) -> None:
        await self._client.close()


def _parse_response(element: Any, url: str) -> _Entry | None:
    """None for what has no address on this server."""
    href = find_element(element, "href")
    there = urljoin(url, extract_text(href).strip()) if href is not None else ""
    if not there or urlsplit(there).netloc != urlsplit(url).netloc:
        return None
    said = {get_tag(each): each for each in _iterate_properties(element)}
    kind = said.get("resourcetype")
    length = extract_text(said["getcontentlength"]) if "getcontentlength" in said else ""
    folder = kind is not None and any(get_tag(each) == "collection" for each in kind)
    path = unquote(urlsplit(there).path)
    return _Entry(
        path=path.rstrip("/") + "/" if folder else path,
        folder=folder,
        etag=extract_text(said["getetag"]).strip() if "getetag" in said else "",
        size=int(length) if length.isascii() and length.isdigit() and len(length) < 19 else 0,
        dated=parse_timestamp(extract_text(said["getlastmodified"]))
        if "getlastmodified" in said
        else None,
    )


def _iterate_properties(element: Any) -> Iterator[Any]:
    """Those that the server has: it lists the others beside them, with status 404."""
    for stat in element:
        status = find_element(stat, "status") if get_tag(stat) == "propstat" else None
        if status is not None and " 200" in extract_text(status):
            for prop in stat:
                if get_tag(prop) == "prop":
                    yield from prop
