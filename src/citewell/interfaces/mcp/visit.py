"""A call of a tool: who calls, and where the tools are used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver import Context

from citewell.runtime.app import App

Say = Context[Any, Any]


@dataclass(frozen=True, slots=True)
class Visit:
    """A call: the App as its callers see it, who they are, and the server's address, if any."""

    app: App
    user_id: str
    base: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tools are used. `local`: on the machine of the user, whose files are read, and
    where nobody else does jobs. `tell`: what is told of an error's texts.
    """

    local: bool
    visit: Callable[[Say], Visit]
    tell: Callable[[str], str] = str
