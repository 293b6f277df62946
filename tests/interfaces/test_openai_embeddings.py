"""`/v1/embeddings` as the official client uses it."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import openai
import pytest

from citewell.interfaces.http.openai.openai_embeddings import MOST_TEXTS
from citewell.runtime.app import App


async def test_vectors_of_texts(ai: openai.AsyncOpenAI, app: App) -> None:
    """One text or several, as numbers or base64: the same unit vectors, in order, as the embedder
    itself makes.
    """
    texts = ["A lighthouse.", "灯塔建于1857年。", "A lighthouse."]
    right = await app.embedder.passages(texts)
    for form in ("float", "base64"):
        reply = await ai.embeddings.create(
            model=app.embedder.name, input=texts, encoding_format=form
        )
        assert [item.index for item in reply.data] == [0, 1, 2]
        vectors = [
            np.frombuffer(base64.b64decode(item.embedding), "<f4")
            if isinstance(item.embedding, str)
            else item.embedding
            for item in reply.data
        ]
        assert np.allclose(vectors, right, atol=1e-6)
    default = await ai.embeddings.create(
        model=app.embedder.name, input=texts[0], dimensions=app.embedder.dim
    )
    assert np.allclose(default.data[0].embedding, right[0], atol=1e-6)
    assert default.usage.prompt_tokens == default.usage.total_tokens > 0


async def test_a_query_has_its_own_vector(
    ai: openai.AsyncOpenAI, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the model tells them apart, `input_type` says what a text is for."""
    asked: list[str] = []
    made = app.embedder.query

    async def query(text: str) -> Any:
        asked.append(text)
        return await made(text)

    monkeypatch.setattr(app.embedder, "query", query)
    await ai.embeddings.create(
        model=app.embedder.name, input=["a", "b"], extra_body={"input_type": "query"}
    )
    assert asked == ["a", "b"]


REFUSED: list[tuple[dict[str, Any], int, str | None, str]] = [
    ({"model": "text-embedding-3-small"}, 404, "model", "model_not_found"),
    ({"input": [1, 2, 3]}, 400, "input", "unsupported_value"),
    ({"input": [[1, 2], [3]]}, 400, "input", "unsupported_value"),
    ({"input": []}, 400, None, "invalid_input"),
    ({"input": ["a", " "]}, 400, None, "invalid_input"),
    ({"input": ["a"] * (MOST_TEXTS + 1)}, 400, None, "invalid_input"),
    ({"input": "a" * 100_001}, 400, None, "invalid_input"),
    ({"dimensions": 17}, 400, "dimensions", "unsupported_parameter"),
    ({"encoding_format": "hex"}, 400, "encoding_format", "invalid_value"),
]


async def test_what_is_refused(ai: openai.AsyncOpenAI, app: App) -> None:
    for changes, status, param, code in REFUSED:
        given: dict[str, Any] = {"model": app.embedder.name, "input": "a"} | changes
        with pytest.raises(openai.APIStatusError) as caught:
            await ai.embeddings.create(**given)
        assert (caught.value.status_code, caught.value.param, caught.value.code) == (
            status,
            param,
            code,
        )
