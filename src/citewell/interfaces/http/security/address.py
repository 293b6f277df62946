"""Under which address this server is asked just now: for links that somebody else's program shows.
They lead back the way that the request came.
"""

from __future__ import annotations

from typing import cast

from fastapi import Request

from citewell.interfaces.http.security.request_headers import is_https
from citewell.runtime.app import App


def get_base_url(request: Request) -> str:
    """With a slash at its end. `https` where a proxy that we believe says so."""
    app = cast("App", request.app.state.citewell)
    scheme = "https" if is_https(request.scope, app.settings.access.proxies) else "http"
    return str(request.base_url.replace(scheme=scheme))
