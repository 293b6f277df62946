"""PostgreSQL's text holds no NUL, and documents may."""

from __future__ import annotations

from typing import Any


def replace_nul_characters(connection: Any, _: Any) -> None:
    """Of a new connection: text that is sent has U+FFFD in their place."""
    from psycopg.types.string import StrDumperUnknown

    class CleanText(StrDumperUnknown):
        def dump(self, obj: str) -> Any:
            return super().dump(obj.replace("\x00", "\ufffd") if "\x00" in obj else obj)

    connection.adapters.register_dumper(str, CleanText)
