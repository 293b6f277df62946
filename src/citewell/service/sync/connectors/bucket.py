"""A bucket of S3 or of what speaks like it: MinIO, Ceph, Cloudflare R2, Backblaze B2. A bucket is
listed and read, by signed requests that are good for minutes; a public one without a key by plain
ones.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from citewell.config import Settings
from citewell.errors import InvalidInput, TransientError
from citewell.fetch.aws_signature import AwsKey, sign_request
from citewell.fetch.service_client import ServiceClient, ServiceReply
from citewell.ingest.markup.xml_tree import extract_text, find_element, get_tag
from citewell.messages import Text
from citewell.service.sync.connectors.connector import Item
from citewell.service.sync.connectors.listing_xml import MOST_BYTES, parse_listing
from citewell.service.sync.places import Place
from citewell.text.timestamps import parse_timestamp

_REGION: Final = "us-east-1"


class Bucket:
    mark = ""

    def __init__(self, place: Place, secret: str, settings: Settings, mark: str = "") -> None:  # noqa: ARG002 - the protocol's form
        self._bucket = place.host
        self._prefix = place.path.lstrip("/")
        region = place.options.get("region", _REGION)
        endpoint = place.options.get("endpoint", "").rstrip("/")
        if endpoint and urlsplit(endpoint).scheme not in {"http", "https"}:
            raise InvalidInput(
                Text("{endpoint} is no address of a server", endpoint=endpoint),
                hint=Text("such as ?endpoint=https://minio.example.com"),
            )
        amazon = f"https://s3.{region}.amazonaws.com"
        self._url = f"{endpoint or amazon}/{quote(self._bucket, safe='')}"
        self._key = AwsKey(place.user, secret, region) if secret else None
        self._most = settings.ingest.max_bytes
        self._client = ServiceClient(settings)

    async def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:  # noqa: ARG002 - all are listed
        token = ""
        while True:
            root = parse_listing((await self._list_page(token)).data, self._url)
            for each in root:
                if get_tag(each) == "Contents" and (item := self._parse_object(each)):
                    yield item
            before, token = token, _get_text(root, "NextContinuationToken")
            if _get_text(root, "IsTruncated") != "true" or not token:
                return
            if token == before:
                raise TransientError(
                    Text("{url}: its listing goes round in a circle", url=self._url)
                )

    async def _list_page(self, token: str) -> ServiceReply:
        query = {"list-type": "2", "encoding-type": "url", "max-keys": "1000"}
        query |= {"prefix": self._prefix} if self._prefix else {}
        query |= {"continuation-token": token} if token else {}
        return await self._send(self._url, query, MOST_BYTES)

    def _parse_object(self, element: Any) -> Item | None:
        """None for what only stands for a folder, and for hidden files and folders."""
        key = unquote(_get_text(element, "Key").replace("+", " "))
        below = key.removeprefix(self._prefix).split("/")
        if not key or key.endswith("/") or any(part.startswith(".") for part in below):
            return None
        size = _get_text(element, "Size")
        dated = parse_timestamp(_get_text(element, "LastModified"))
        return Item(
            uri=f"s3://{self._bucket}/{key}",
            name=below[-1],
            version=_get_text(element, "ETag") or f"{dated}-{size}",
            size=int(size) if size.isascii() and size.isdigit() and len(size) < 19 else 0,
            dated=dated,
            key=key,
        )

    async def read_item(self, item: Item) -> bytes:
        return (await self._send(f"{self._url}/{quote(item.key)}", {}, self._most)).data

    async def _send(self, url: str, query: Mapping[str, str], most: int) -> ServiceReply:
        headers = sign_request(self._key, "GET", url, query) if self._key else {}
        asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in sorted(query.items()))
        return await self._client.send(
            "GET",
            f"{url}?{asked}" if asked else url,
            most=most,
            headers=headers,
            secret=self._key is not None,
        )

    async def close(self) -> None:
        await self._client.close()


def _get_text(element: Any, name: str) -> str:
    found = find_element(element, name)
    return extract_text(found).strip() if found is not None else ""
