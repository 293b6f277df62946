"""What thinks and what embeds. One provider a file, one table that names them.

The one rule: building is cheap. A provider's libraries are imported when it is built, its model is
loaded on first use.
"""

from __future__ import annotations

from collections.abc import Callable

from citewell.config import Settings
from citewell.models.base import LLM, Embedder, Reranker


def _build_builtin_llm(settings: Settings) -> LLM:
    from citewell.models.builtin.chat import BuiltinLLM

    return BuiltinLLM(settings)


def _build_openai_llm(settings: Settings) -> LLM:
    from citewell.models.openai import OpenAILLM
    from citewell.models.retry import RetryingLLM

    return RetryingLLM(OpenAILLM(settings), seconds=settings.llm_timeout)


def _build_scripted_llm(settings: Settings) -> LLM:
    from citewell.models.scripted import ScriptedLLM

    return ScriptedLLM.from_settings(settings)


def _build_builtin_embedder(settings: Settings) -> Embedder:
    from citewell.models.builtin.embedder import BuiltinEmbedder

    return BuiltinEmbedder(settings)


def _build_openai_embedder(settings: Settings) -> Embedder:
    from citewell.models.openai import OpenAIEmbedder
    from citewell.models.retry import RetryingEmbedder

    return RetryingEmbedder(OpenAIEmbedder(settings))


def _build_scripted_embedder(_: Settings) -> Embedder:
    from citewell.models.scripted import ScriptedEmbedder

    return ScriptedEmbedder()


def _build_llm_reranker(_: Settings, llm: LLM | None) -> Reranker | None:
    from citewell.models.rerank_llm import LLMReranker

    return None if llm is None else LLMReranker(llm)


def _build_http_reranker(settings: Settings, _: LLM | None) -> Reranker:
    from citewell.models.rerank_http import HTTPReranker
    from citewell.models.retry import RetryingReranker

    return RetryingReranker(HTTPReranker(settings), seconds=settings.rerank_timeout)


LLMS: dict[str, Callable[[Settings], LLM | None]] = {
    "builtin": _build_builtin_llm,
    "openai": _build_openai_llm,
    "scripted": _build_scripted_llm,
    "none": lambda _: None,
}
EMBEDDERS: dict[str, Callable[[Settings], Embedder]] = {
    "builtin": _build_builtin_embedder,
    "openai": _build_openai_embedder,
    "scripted": _build_scripted_embedder,
}
RERANKERS: dict[str, Callable[[Settings, LLM | None], Reranker | None]] = {
    "none": lambda _, __: None,
    "llm": _build_llm_reranker,
    "http": _build_http_reranker,
}


def build_llm(settings: Settings) -> LLM | None:
    """The chat model of the settings; None where they want none."""
    return LLMS[settings.llm](settings)


def build_judge_llm(settings: Settings) -> LLM | None:
    """The model that the settings name to judge answers; None where the one that writes them
    does.
    """
    if not settings.judge_url:
        return None
    from citewell.models.openai import OpenAILLM
    from citewell.models.retry import RetryingLLM

    return RetryingLLM(OpenAILLM(settings, "judge"), seconds=settings.llm_timeout)


def build_embedder(settings: Settings) -> Embedder:
    return EMBEDDERS[settings.embedder](settings)


def build_reranker(settings: Settings, llm: LLM | None) -> Reranker | None:
    """What looks again at the best passages; None where the settings want none, or it needs a chat
    model and `llm` is None.

    Raises ConfigError where its endpoint is not named.
    """
    return RERANKERS[settings.reranker](settings, llm)
