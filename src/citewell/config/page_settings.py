"""Settings that are changed on the page, kept in the home folder: above the defaults, below the
settings file and the environment, for those are the word of whoever runs the installation. Nothing
but what `PAGE_SETTINGS` names is read or written. Keys stand in the file as they were given, so
that only its owner may read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from citewell.disk import sync_to_disk
from citewell.errors import ConfigError, StorageError
from citewell.messages import Text

FILE = "settings.json"
# by what belongs together: an address and the key that is sent there are set in the same place
PAGE_SETTINGS: dict[str, tuple[str, ...]] = {
    "model": ("llm", "llm_url", "llm_model", "llm_key"),
    "memory": ("memory.enabled",),
    "ocr": ("ingest.ocr",),
    "web": ("web.provider", "web.url", "web.key"),
}
NAMES = frozenset(name for names in PAGE_SETTINGS.values() for name in names)


def read_page_settings(home: Path) -> dict[str, Any]:
    """By name, as `web.key`; empty where none were changed. Raises ConfigError with the file."""
    path = home / FILE
    hint = Text("it keeps what was set on the Settings page; delete it to go back to the defaults")
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (ValueError, OSError) as error:
        raise ConfigError(Text("{path}: {error}", path=path, error=str(error)), hint=hint) from None
    strange = sorted(set(values) - NAMES) if isinstance(values, dict) else [FILE]
    if strange:
        raise ConfigError(
            Text("{path}: {name} cannot be set on the page", path=path, name=strange[0]), hint=hint
        )
    return dict(values)


def write_page_settings(home: Path, values: Mapping[str, Any]) -> None:
    """In the place of those before, whole or not at all. Raises StorageError."""
    path, new = home / FILE, home / f".{FILE}.{os.getpid()}"
    try:
        home.mkdir(parents=True, exist_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(dict(values), indent=2, sort_keys=True) + "\n")
        sync_to_disk(new)
        new.replace(path)
        sync_to_disk(home)
    except OSError as error:
        raise StorageError(
            Text("{path}: {error}", path=path, error=error.strerror or str(error)),
            hint=Text("make the folder writable"),
        ) from None


def nest_settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """`{"web.key": "k"}` as `{"web": {"key": "k"}}`."""
    nested: dict[str, Any] = {}
    for name, value in values.items():
        group, _, last = name.rpartition(".")
        (nested.setdefault(group, {}) if group else nested)[last] = value
    return nested
