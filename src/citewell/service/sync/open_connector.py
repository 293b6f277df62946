"""Every kind of place and what reads it. A new kind is one file and one row."""

from __future__ import annotations

from typing import Final

from citewell.config import Settings
from citewell.service.sync.connectors.bucket import Bucket
from citewell.service.sync.connectors.connector import Connector, OpenConnector
from citewell.service.sync.connectors.feed import Feed
from citewell.service.sync.connectors.folder import Folder
from citewell.service.sync.connectors.git import Git
from citewell.service.sync.connectors.mailbox import Mailbox
from citewell.service.sync.connectors.webdav import WebDav
from citewell.service.sync.place_secrets import reveal_secret
from citewell.service.sync.places import FOLDER, Place
from citewell.store.syncs.sync_rows import Sync

CONNECTORS: Final[dict[str, OpenConnector]] = {
    FOLDER: Folder,
    "feed": Feed,
    "webdav": WebDav,
    "s3": Bucket,
    "git": Git,
    "imap": Mailbox,
}


def open_connector(settings: Settings, sync: Sync) -> Connector:
    """Nothing is asked of the place yet. Raises InvalidInput, SourceUnavailable."""
    return CONNECTORS[sync.kind](
        Place.restore(sync.kind, sync.place, sync.options),
        reveal_secret(settings.home, sync),
        settings,
        sync.mark,
    )
