"""Citewell: answers from your own documents, in Chinese and English, with every sentence proved.

    from citewell import Citewell, AsyncCitewell

The one rule: data flows right, imports point left only
(`ingest -> knowledge -> retrieve -> skills -> agents -> service -> interfaces`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from citewell.release import __version__

if TYPE_CHECKING:
    from citewell.api import AsyncCitewell, Citewell

__all__ = ["AsyncCitewell", "Citewell", "__version__"]
_LATER = ("AsyncCitewell", "Citewell")


def __getattr__(name: str) -> Any:
    """The classes are imported when they are asked for: every command imports this module."""
    if name in _LATER:
        return getattr(import_module("citewell.api"), name)
    raise AttributeError(f"module 'citewell' has no attribute {name!r}")
