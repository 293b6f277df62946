"""What a client says that it has (`If-None-Match`). RFC 9110, 13.1.2: tags are compared without
their `W/`, and `*` means whatever there is.
"""

from __future__ import annotations

from fastapi import Request


def is_cached_by_client(request: Request, tag: str) -> bool:
    """Whether the client has this already, so that 304 is the reply. `tag` is in its quotes."""
    known = request.headers.get("if-none-match", "")
    return known.strip() == "*" or tag in (
        each.strip().removeprefix("W/") for each in known.split(",")
    )
