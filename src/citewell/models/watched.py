"""Calls of models as whoever looks on sees them (`citewell.watch`): which model, how long, how many tokens.

The one rule: every method of a provider that asks a model carries `@call`, so each try counts, and never a word of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from citewell.models.base import Tokens
from citewell.watch import doing

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M")
SAID = ("max_tokens", "temperature")  # arguments that are told


def call(operation: str) -> Callable[[Callable[Concatenate[M, P], Awaitable[R]]], Callable[Concatenate[M, P], Coroutine[Any, Any, R]]]:
    """For a method: `operation` says what is asked of the model."""

    def declare(method: Callable[Concatenate[M, P], Awaitable[R]]) -> Callable[Concatenate[M, P], Coroutine[Any, Any, R]]:
        @wraps(method)
        async def watched(self: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
            said = {name: kwargs[name] for name in SAID if name in kwargs}
            with doing("call", operation, model=str(getattr(self, "name", "")), **said) as this:
                reply = await method(self, *args, **kwargs)
                tokens = getattr(reply, "tokens", None)
                if isinstance(tokens, Tokens):
                    this.facts.update(prompt=tokens.prompt, cached=tokens.cached, completion=tokens.completion)
                return reply

        return watched

    return declare
