"""The models that there are, by their names in the settings: one table a kind. Building is cheap. A
model and its libraries are loaded on first use.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from citewell.config import Settings
from citewell.models.base import LLM, Embedder, Reranker
from citewell.models.builtin.chat import BuiltinLLM
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.models.builtin.reader import BuiltinReader
from citewell.models.openai import OpenAIEmbedder, OpenAILLM
from citewell.models.reader_base import Reader
from citewell.models.remote import RemoteEmbedder, RemoteReader, split_addresses
from citewell.models.rerank_http import HTTPReranker
from citewell.models.rerank_llm import LLMReranker
from citewell.models.retry import RetryingEmbedder, RetryingLLM, RetryingReranker
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader


def _build_openai_llm(settings: Settings, named: Literal["llm", "judge"] = "llm") -> LLM:
    """One model a named address; several are used as one."""
    members = [
        OpenAILLM(settings.model_copy(update={f"{named}_url": url}), named)
        for url in split_addresses(getattr(settings, f"{named}_url")) or [""]
    ]
    return RetryingLLM(*members, seconds=settings.llm_timeout)


def _build_openai_embedder(settings: Settings) -> Embedder:
    members = [
        OpenAIEmbedder(settings.model_copy(update={"embed_url": url}))
        for url in split_addresses(settings.embed_url) or [""]
    ]
    return RetryingEmbedder(*members)


LLMS: dict[str, Callable[[Settings], LLM | None]] = {
    "builtin": BuiltinLLM,
    "openai": _build_openai_llm,
    "scripted": ScriptedLLM.from_settings,
    "none": lambda _: None,
}
EMBEDDERS: dict[str, Callable[[Settings], Embedder]] = {
    "builtin": lambda settings: (
        RemoteEmbedder(settings) if settings.models_url else BuiltinEmbedder(settings)
    ),
    "openai": _build_openai_embedder,
    "scripted": lambda _: ScriptedEmbedder(),
}
READERS: dict[str, Callable[[Settings], Reader | None]] = {
    "builtin": lambda settings: (
        RemoteReader(settings) if settings.models_url else BuiltinReader(settings)
    ),
    "scripted": lambda _: ScriptedReader(),
    "none": lambda _: None,
}
RERANKERS: dict[str, Callable[[Settings, LLM | None], Reranker | None]] = {
    "none": lambda _, __: None,
    "llm": lambda _, llm: None if llm is None else LLMReranker(llm),
    "http": lambda settings, _: RetryingReranker(
        HTTPReranker(settings), seconds=settings.rerank_timeout
    ),
}


def build_llm(settings: Settings) -> LLM | None:
    """The chat model of the settings; None where they want none."""
    return LLMS[settings.llm](settings)


def build_judge_llm(settings: Settings) -> LLM | None:
    """The model that the settings name to judge answers; None where the writer does."""
    if not settings.judge_url:
        return None
    return _build_openai_llm(settings, "judge")


def build_embedder(settings: Settings) -> Embedder:
    return EMBEDDERS[settings.embedder](settings)


def build_reader(settings: Settings) -> Reader | None:
    """The reader of the settings; None where they want none."""
    return READERS[settings.reader](settings)


def build_reranker(settings: Settings, llm: LLM | None) -> Reranker | None:
    """What looks again at the best passages; None where the settings want none, or it needs a chat
    model and `llm` is None.

    Raises ConfigError where its endpoint is not named.
    """
    return RERANKERS[settings.reranker](settings, llm)
