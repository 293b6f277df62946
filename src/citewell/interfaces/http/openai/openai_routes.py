"""The OpenAI-compatible interface under `/v1`: chat completions, responses, models, embeddings.
What a client of OpenAI's would take for something else than it is, is refused; the rest is ignored
or answered.
"""

from __future__ import annotations

from fastapi import APIRouter

from citewell.interfaces.http.openai import (
    openai_chat,
    openai_embeddings,
    openai_models,
    openai_responses,
)

router = APIRouter()
router.include_router(openai_chat.router)
router.include_router(openai_embeddings.router)
router.include_router(openai_models.router)
router.include_router(openai_responses.router)
