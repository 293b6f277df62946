"""Errors of PostgreSQL in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from citewell.errors import CitewellError, StatementFailed
from citewell.messages import Text
from citewell.sql.engines import mask_url
from citewell.sql.engines.worker_process import (
    format_engine_error,
    make_memory_error,
    make_timeout_error,
    make_unavailable_error,
)

if TYPE_CHECKING:
    import psycopg

# SQLSTATEs, from errcodes-appendix.html
UNAVAILABLE = ("08", "28", "3D", "57P01", "57P02", "57P03", "53300")
TOO_LARGE = ("53100", "53200", "53400", "54000")


def translate_error(
    error: psycopg.Error, url: str, seconds: float, connection: psycopg.Connection[Any] | None
) -> CitewellError:
    state = error.sqlstate or ""
    said = mask_secrets(_extract_message(error), url)
    if connection is None or state.startswith(UNAVAILABLE):
        return make_unavailable_error(mask_url(url), said, _suggest_hint(said))
    if state in {"57014", "55P03", "25P03"}:
        return make_timeout_error(seconds)
    if state in TOO_LARGE:
        return StatementFailed(
            said, hint=Text("ask for less at once, or raise data.memory_mib"), code="memory"
        )
    if not state and "memory" in said:  # the driver's own: a row larger than a worker may hold
        return make_memory_error()
    if not state and connection.closed:
        return make_unavailable_error(mask_url(url), said, "is the server still up?")
    return StatementFailed(said)


def _extract_message(error: psycopg.Error) -> str:
    """Not with its LINE, which would show the cursor around the statement."""
    if not error.diag.message_primary:
        return format_engine_error(error)
    more = error.diag.message_hint or error.diag.message_detail
    return format_engine_error("\n".join(filter(None, (error.diag.message_primary, more))))


def _suggest_hint(said: str) -> str:
    if re.search("password|authentication|pg_hba", said):
        return Text("look at user and password, and whether the server lets them in from here")
    if re.search("database .* does not exist", said):
        return Text("look at the name of the database")
    return Text("is the server up, and are host and port right?")


def mask_secrets(text: str, url: str) -> str:
    """The driver quotes what it cannot read, passwords too: no word of the URL is told that
    `mask_url` would not show.
    """
    seen = mask_url(url)
    for secret in re.split(r"[/?&#@:;=]", url):
        for said in (secret, unquote(secret)):
            if said and secret not in seen:
                text = text.replace(said, "***")
    return text
