"""Reranking by an endpoint: `POST {url}/rerank` in the manner of Cohere, Jina and vLLM, or of
text-embeddings-inference (TEI). A reply counts whole or not at all. Every document has one finite
score, or the reply is an error that names the endpoint; what is sent is a question and passages,
and the key is in no message.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import anyio

from citewell.config import Settings
from citewell.errors import CitewellError, ConfigError, PermanentError, TransientError
from citewell.messages import Text
from citewell.models.observed import observe_call
from citewell.text.sanitize import replace_unsafe_chars

PASSAGE_TOKENS = 480  # most such models read 512 tokens of question and passage
WEIGHT = 2.0  # whoever connects such a model means its order to count; set by hand
SURE = 8.0  # log-odds of a probability that is rounded to 0 or 1
AGAIN = {408, 409, 429}  # and every 5xx
HINT = Text("is rerank_url complete (often with its /v1), and does this server have /rerank?")


class HTTPReranker:
    """Implements `Reranker`. Relevance between 0 and 1 is taken as a probability; with any score
    outside, all are log-odds.

    Raises ConfigError where the url is missing.
    """

    passage_tokens = PASSAGE_TOKENS
    weight = WEIGHT
    reach = math.inf

    def __init__(self, settings: Settings) -> None:
        if not settings.rerank_url:
            raise ConfigError(
                Text("setting rerank_url is empty"),
                hint=Text('reranker = "http" needs an endpoint with /rerank'),
            )
        base = settings.rerank_url.rstrip("/")
        self._url = base if base.endswith("/rerank") else f"{base}/rerank"
        self._model = settings.rerank_model
        self._key = settings.rerank_key.get_secret_value()
        self._seconds = settings.rerank_timeout
        self._texts = False  # TEI: the documents are called texts
        self._client: Any = None
        self.name = f"http:{self._model or self._url}"

    @observe_call("rerank")
    async def scores(self, question: str, texts: Sequence[str]) -> list[float | None]:
        if not texts:
            return []
        documents = [replace_unsafe_chars(text) for text in texts]
        response = await self._post_documents(replace_unsafe_chars(question), documents)
        if response.status_code in {400, 422} and not self._texts and "texts" in response.text:
            self._texts = True
            response = await self._post_documents(replace_unsafe_chars(question), documents)
        if response.status_code != 200:
            raise self._build_status_error(response.status_code, response.text)
        try:
            reply = json.loads(response.content)
        except ValueError:
            raise self._build_reply_error(Text("the reply is not JSON")) from None
        return list(to_log_odds(self._parse_relevance(reply, len(texts))))

    async def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _post_documents(self, question: str, documents: list[str]) -> Any:
        import httpx2

        if self._client is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            self._client = httpx2.AsyncClient(headers=headers, timeout=self._seconds)
        body: dict[str, Any] = {"query": question}
        body |= (
            {"texts": documents}
            if self._texts
            else {"documents": documents, "top_n": len(documents)}
        )
        if self._model:
            body["model"] = self._model
        try:
            with anyio.fail_after(self._seconds):
                return await self._client.post(self._url, json=body)
        except TimeoutError:
            raise TransientError(
                Text(
                    "{url}: no reply within {seconds:g} seconds",
                    url=self._url,
                    seconds=self._seconds,
                ),
                hint=Text("a longer rerank_timeout gives it more time"),
            ) from None
        except httpx2.InvalidURL as error:
            raise PermanentError(
                Text("{url}: {error}", url=self._url, error=error), hint=HINT
            ) from None
        except httpx2.HTTPError as error:
            reason = self._redact_key(str(error) or type(error).__name__)
            raise TransientError(
                Text("{url}: {reason}", url=self._url, reason=reason),
                hint=Text("is the server running?"),
            ) from None

    def _parse_relevance(self, reply: Any, count: int) -> list[float]:
        """The scores in the order of the documents, from any of the shapes in use."""
        rows = reply
        # DashScope wraps the results, Voyage calls them data, TEI sends them bare
        for name in ("output", "results", "data"):
            if isinstance(rows, dict) and name in rows:
                rows = rows[name]
        if not isinstance(rows, list) or len(rows) != count:
            got = (
                f"{len(rows)} results for {count} passages"
                if isinstance(rows, list)
                else "no list of results"
            )
            raise self._build_reply_error(Text("{got} in the reply", got=got))
        found: dict[int, float] = {}
        for row in rows:
            place = row.get("index") if isinstance(row, dict) else None
            score = row.get("relevance_score", row.get("score")) if isinstance(row, dict) else None
            if (
                isinstance(place, bool)
                or not isinstance(place, int)
                or not 0 <= place < count
                or place in found
            ):
                raise self._build_reply_error(
                    Text("a result with the index {place!r}", place=place)
                )
            if (
                isinstance(score, bool)
                or not isinstance(score, int | float)
                or not math.isfinite(score)
            ):
                raise self._build_reply_error(
                    Text("a result with the score {score!r}", score=score)
                )
            found[place] = float(score)
        return [found[place] for place in range(count)]

    def _build_status_error(self, status: int, message: str) -> CitewellError:
        unsaid = status in {401, 403}  # servers quote part of the key in these
        text = Text(
            "{url}: status {status}{key}",
            url=self._url,
            status=status,
            key="" if unsaid else f": {self._redact_key(message)}",
        )
        if status in AGAIN or status >= 500:
            return TransientError(text, hint=Text("the server is busy or failing; try again later"))
        if unsaid:
            return PermanentError(
                text, hint=Text("see that rerank_key is right for this server"), code="unauthorised"
            )
        return PermanentError(text, hint=HINT)

    def _build_reply_error(self, what: str) -> PermanentError:
        return PermanentError(
            Text("{url}: {key}", url=self._url, key=self._redact_key(what)), hint=HINT
        )

    def _redact_key(self, text: str) -> str:
        return (text.replace(self._key, "[key]") if self._key else text)[:300]


def to_log_odds(relevance: Sequence[float]) -> list[float]:
    """Probabilities as log-odds of at most `SURE`; given log-odds (outside 0 to 1) stand."""
    if any(not 0.0 <= value <= 1.0 for value in relevance):
        return list(relevance)
    least = 1 / (1 + math.exp(SURE))
    shares = [min(max(value, least), 1 - least) for value in relevance]
    return [math.log(share / (1 - share)) for share in shares]
