"""What routes ask for. The one rule: the App comes from the web application's state, never from a global."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from citewell.service.app import App


def _app(request: Request) -> App:
    return cast("App", request.app.state.citewell)


Citewell = Annotated[App, Depends(_app)]
