"""What thinks and what embeds. One provider a file, one table that names them.

The one rule: building is cheap. A provider's libraries are imported when it is built, its model is loaded on first use.
"""

from __future__ import annotations

from collections.abc import Callable

from citewell.config import Settings
from citewell.models.base import LLM, Embedder


def _builtin_llm(settings: Settings) -> LLM:
    from citewell.models.builtin_llm import BuiltinLLM

    return BuiltinLLM(settings)


def _openai_llm(settings: Settings) -> LLM:
    from citewell.models.openai import OpenAILLM
    from citewell.models.retry import RetryingLLM

    return RetryingLLM(OpenAILLM(settings))


def _scripted_llm(settings: Settings) -> LLM:
    from citewell.models.scripted import ScriptedLLM

    return ScriptedLLM.from_settings(settings)


def _builtin_embedder(settings: Settings) -> Embedder:
    from citewell.models.builtin_embed import BuiltinEmbedder

    return BuiltinEmbedder(settings)


def _openai_embedder(settings: Settings) -> Embedder:
    from citewell.models.openai import OpenAIEmbedder
    from citewell.models.retry import RetryingEmbedder

    return RetryingEmbedder(OpenAIEmbedder(settings))


def _scripted_embedder(_: Settings) -> Embedder:
    from citewell.models.scripted import ScriptedEmbedder

    return ScriptedEmbedder()


LLMS: dict[str, Callable[[Settings], LLM | None]] = {
    "builtin": _builtin_llm,
    "openai": _openai_llm,
    "scripted": _scripted_llm,
    "none": lambda _: None,
}
EMBEDDERS: dict[str, Callable[[Settings], Embedder]] = {
    "builtin": _builtin_embedder,
    "openai": _openai_embedder,
    "scripted": _scripted_embedder,
}


def build_llm(settings: Settings) -> LLM | None:
    """The chat model of the settings; None where they want none."""
    return LLMS[settings.llm](settings)


def build_embedder(settings: Settings) -> Embedder:
    return EMBEDDERS[settings.embedder](settings)
