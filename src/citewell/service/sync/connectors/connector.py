"""What a place is to the engine: items that can be listed and read. A connector writes nothing,
there or here, and remembers nothing between two runs. What it raises says what was amiss:
UnreadableFile and InvalidInput with the item as it is now, PermanentError with `item_missing` that
it is gone, TransientError that it may work later.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from citewell.config import Settings
from citewell.service.sync.places import Place


@dataclass(frozen=True, slots=True)
class Item:
    """`uri`: what it is known by for ever, unlike all others of all places, as people read it.
    `name`: its file name; empty where its bytes tell what it is. `version`: other than before where
    it changed; empty where that cannot be told. `size` in bytes, 0 where it is not known. `dated`:
    when it last changed, in seconds since the epoch. `key`: what the connector reads it by.
    """

    uri: str
    name: str
    version: str
    size: int = 0
    dated: float | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class WebPage:
    """In the place of bytes: a page of the web, which is fetched and kept as such pages are."""

    url: str


class Connector(Protocol):
    """One place while a run lasts. `list_items` may raise after some items: then the listing is
    not whole, and nothing is held to be gone. `known`: the items seen before, their versions by
    their addresses. `mark`: what the place as a whole is, once it was listed; empty where nothing
    says so.
    """

    @property
    def mark(self) -> str: ...

    def list_items(self, known: Mapping[str, str]) -> AsyncIterator[Item]:
        """Each item that is there now, in any order."""
        ...

    async def read_item(self, item: Item) -> bytes | WebPage:
        """What it holds, of at most `ingest.max_bytes`."""
        ...

    async def close(self) -> None:
        """Let go of connections and files."""
        ...


class OpenConnector(Protocol):
    """Makes a connector; nothing is asked of the place yet. `mark`: the one of the last run, where
    that read all there was. Raises InvalidInput.
    """

    def __call__(
        self, place: Place, secret: str, settings: Settings, mark: str = ""
    ) -> Connector: ...
