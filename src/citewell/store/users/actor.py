"""Who acts: told once where a command or a request comes in, and read where the audit log is
written. It is what the interface found out (access.py, the machine's own account), never what a
request says of itself.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Literal, NamedTuple

Channel = Literal["cli", "http", "server"]


class Actor(NamedTuple):
    """`name`: a user, `os:` and an account of the machine, or empty (nobody, `server`)."""

    name: str = ""
    channel: Channel = "server"


NOBODY = Actor()
ACTOR: ContextVar[Actor] = ContextVar("citewell_actor", default=NOBODY)
