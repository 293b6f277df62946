"""Calls of models as whoever looks on sees them (`citewell.instrumentation`): which model, how
long, how many tokens. Every method of a provider that asks a model carries `@call`, so each try
counts, and never a word of it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from citewell.instrumentation import observe_operation
from citewell.models.base import Tokens

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M")
SAID = ("max_tokens", "temperature")  # arguments that are told

Method = Callable[Concatenate[M, P], Coroutine[Any, Any, R]]


def observe_call(operation: str) -> Callable[[Method[M, P, R]], Method[M, P, R]]:
    """For a method: `operation` says what is asked of the model."""

    def declare(method: Method[M, P, R]) -> Method[M, P, R]:
        @wraps(method)
        async def call_observed(self: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
            facts: dict[str, Any] = {name: kwargs[name] for name in SAID if name in kwargs}
            with observe_operation(
                "call", operation, facts={"model": _get_model_name(self), **facts}
            ) as this:
                reply = await method(self, *args, **kwargs)
                tokens = getattr(reply, "tokens", None)
                if isinstance(tokens, Tokens):
                    this.facts.update(
                        prompt=tokens.prompt, cached=tokens.cached, completion=tokens.completion
                    )
                return reply

        return call_observed

    return declare


def _get_model_name(provider: Any) -> str:
    """Its name, or for an address just what it is called by: an address may hold a key."""
    name = str(getattr(provider, "name", ""))
    return name.partition(":")[0] if "://" in name else name
