"""Errors of MySQL and MariaDB in words."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from citewell.errors import CitewellError, SourceUnavailable, StatementFailed
from citewell.messages import Text
from citewell.sql.engines import mask_url
from citewell.sql.engines.worker_process import (
    format_engine_error,
    make_timeout_error,
    make_unavailable_error,
)

if TYPE_CHECKING:
    import pymysql

LATE = {1317, 1969, 3024, 1205}  # interrupted; max_statement_time; max_execution_time; lock wait
TOO_LARGE = {1037, 1038, 1041, 1114, 1153}
UNAVAILABLE = {
    1040,
    1044,
    1045,
    1049,
    1053,
    1129,
    1130,
    1203,
    1226,
    2002,
    2003,
    2005,
    2006,
    2013,
    2055,
}


def translate_error(
    error: pymysql.Error, url: str, seconds: float, *, connected: bool
) -> CitewellError:
    code = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    said = format_engine_error(str(error.args[-1]) if error.args else str(error))
    if password := unquote(urlsplit(url).password or ""):
        said = said.replace(password, "***")
    if code in LATE or (connected and "timed out" in said):
        return make_timeout_error(seconds)
    if not connected or code in UNAVAILABLE:
        return _make_unreachable_error(url, code, said)
    if code in TOO_LARGE or (code == 1290 and "max-session-mem" in said):
        return StatementFailed(
            said, hint=Text("ask for less at once, or raise data.memory_mib"), code="memory"
        )
    return StatementFailed(said)


def _make_unreachable_error(url: str, code: int, said: str) -> SourceUnavailable:
    hints = {
        1045: "look at user and password",
        1044: "may this user read that database?",
        1049: "look at the name of the database",
    }
    return make_unavailable_error(
        mask_url(url), said, hints.get(code, "is the server up, and are host and port right?")
    )
