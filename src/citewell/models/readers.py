"""The readers that there are, by the name in the settings."""

from __future__ import annotations

from collections.abc import Callable

from citewell.config import Settings
from citewell.models.reader_base import Reader


def _build_builtin_reader(settings: Settings) -> Reader:
    from citewell.models.builtin.reader import BuiltinReader

    return BuiltinReader(settings)


def _build_scripted_reader(_: Settings) -> Reader:
    from citewell.models.scripted_reader import ScriptedReader

    return ScriptedReader()


READERS: dict[str, Callable[[Settings], Reader | None]] = {
    "builtin": _build_builtin_reader,
    "scripted": _build_scripted_reader,
    "none": lambda _: None,
}


def build_reader(settings: Settings) -> Reader | None:
    """The reader of the settings; None where they want none."""
    return READERS[settings.reader](settings)
