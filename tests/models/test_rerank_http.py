"""The client of rerank endpoints, against a real server on the loopback."""

from __future__ import annotations

import json
import math
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import stamina
from pydantic import SecretStr

from citewell.config import Settings
from citewell.errors import ConfigError, PermanentError, TransientError
from citewell.models.base import Reranker
from citewell.models.providers import build_reranker
from citewell.models.rerank_http import SURE, HTTPReranker, to_log_odds
from citewell.models.retry import ATTEMPTS, RetryingReranker

KEY = "sk-made-up-for-a-test"
TEXTS = ["Leeds is a town.", "Rivers flow."]


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with stamina.set_testing(True, attempts=ATTEMPTS):
        yield


def connected(server: Any, **more: Any) -> Settings:
    values = {"rerank_url": server.url, "rerank_model": "m", "rerank_key": SecretStr(KEY), **more}
    return Settings(reranker="http", **values)


@pytest.fixture
async def reranker(server: Any) -> AsyncIterator[Reranker]:
    built = build_reranker(connected(server), None)
    assert isinstance(built, RetryingReranker)
    yield built
    await built.close()


async def test_request_and_reply_of_cohere_jina_and_vllm(reranker: Reranker, server: Any) -> None:
    """Sent: model, query, documents, top_n, the key. Read: relevance by index, in whatever order,
    as log-odds.
    """
    server.then(
        {
            "results": [
                {"index": 1, "relevance_score": 0.1},
                {"index": 0, "relevance_score": 0.9, "document": {}},
            ]
        }
    )
    assert await reranker.scores("Which town?\x00", TEXTS) == pytest.approx(
        [math.log(9), -math.log(9)]
    )
    assert server.requests == [
        {"model": "m", "query": "Which town? ", "documents": TEXTS, "top_n": 2}
    ]
    assert server.keys == [f"bearer {KEY}"]


@pytest.mark.parametrize("reply", [
    [{"index": 0, "score": 0.9}, {"index": 1, "score": 0.1}],  # TEI
    # Voyage
    {"data": [{"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1}]},
    # DashScope
    {"output": {"results": [
        {"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1},
    ]}},
    {"id": "x", "results": [
        {"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1},
    ], "meta": {}},
])  # fmt: skip
async def test_other_shapes_of_the_reply(reranker: Reranker, server: Any, reply: Any) -> None:
    """Servers differ in how they wrap the results; all of these are read."""
    server.then(json.dumps(reply).encode())
    assert (await reranker.scores("Which town?", TEXTS))[0] == pytest.approx(math.log(9))


async def test_server_that_calls_documents_texts(reranker: Reranker, server: Any) -> None:
    """TEI refuses `documents`; it is asked again with `texts`, and at once the next time."""
    server.then({"error": "missing field `texts` at line 1", "error_type": "validation"}, 422)
    for _ in range(2):
        server.then(b'[{"index": 1, "score": 0.2}, {"index": 0, "score": 0.8}]')
    for _ in range(2):
        assert (await reranker.scores("Which town?", TEXTS))[0] == pytest.approx(math.log(4))
    assert ["texts" in sent for sent in server.requests] == [False, True, True]
    assert server.requests[1] == {"model": "m", "query": "Which town?", "texts": TEXTS}


def test_scale() -> None:
    """Probabilities become log-odds with an end; anything outside 0 to 1 tells that they are
    log-odds already.
    """
    assert to_log_odds([0.5, 1.0, 0.0]) == [0.0, pytest.approx(SURE), pytest.approx(-SURE)]
    assert to_log_odds([0.5, -3.2, 7.0]) == [0.5, -3.2, 7.0]


@pytest.mark.parametrize(("reply", "words"), [
    ({"results": [{"index": 0, "relevance_score": 0.9}]}, "1 results for 2 passages"),
    ({"results": [{"index": 0, "relevance_score": 0.9}] * 2}, "index 0"),
    ({"results": [{"index": 0, "relevance_score": 0.9}, {"index": 2, "relevance_score": 0.9}]},
     "index 2"),
    ({"results": [{"index": 0, "relevance_score": 0.9}, {"index": 1}]}, "score None"),
    ({"results": [
        {"index": 0, "relevance_score": 0.9}, {"index": 1, "relevance_score": float("nan")},
    ]}, "score nan"),
    ({"results": ["a", "b"]}, "index None"),
    ({"message": "hello"}, "no list of results"),
    (b"<html>not found</html>", "not JSON"),
    (b'{"results": [{"ind', "not JSON"),
])  # fmt: skip
async def test_half_or_malformed_replies(
    reranker: Reranker, server: Any, reply: Any, words: str
) -> None:
    """A reply counts whole or not at all; the error names the endpoint and what was wrong, and is
    not tried again.
    """
    server.then(reply)
    with pytest.raises(PermanentError, match=words) as caught:
        await reranker.scores("Which town?", TEXTS)
    assert server.url in caught.value.message
    assert len(server.requests) == 1


async def test_busy_server_is_asked_again(reranker: Reranker, server: Any) -> None:
    """429 and 5xx are tried again; the last failure is raised."""
    server.then({"error": "slow down"}, 429)
    server.then({"results": [{"index": 0, "relevance_score": 0.5}]})
    assert await reranker.scores("Which town?", TEXTS[:1]) == [0.0]
    for _ in range(ATTEMPTS):
        server.then({"error": "loading"}, 503)
    with pytest.raises(TransientError, match=r"status 503: .*loading"):
        await reranker.scores("Which town?", TEXTS)


@pytest.mark.parametrize(("status", "code"), [(401, "unauthorised"), (404, "permanent")])
async def test_refusals(reranker: Reranker, server: Any, status: int, code: str) -> None:
    """A wrong key and a wrong path are told apart, and the key stands in no message."""
    server.then({"error": f"no {KEY} here"}, status)
    with pytest.raises(PermanentError, match=f"status {status}") as caught:
        await reranker.scores("Which town?", TEXTS)
    assert caught.value.code == code
    assert KEY not in caught.value.message


async def test_server_that_hangs_or_is_not_there(server: Any) -> None:
    """The time limit of the settings holds, and no connection is an error of the transient kind."""
    slow = HTTPReranker(connected(server, rerank_timeout=0.2))
    server.then(None)
    with pytest.raises(TransientError, match=r"no reply within 0\.2 seconds"):
        await slow.scores("Which town?", TEXTS)
    await slow.close()
    away = HTTPReranker(connected(server, rerank_url="http://127.0.0.1:9"))
    with pytest.raises(TransientError, match=r"127\.0\.0\.1:9/rerank"):
        await away.scores("Which town?", TEXTS)
    await away.close()


def test_url(server: Any) -> None:
    """It must be given; with or without its last part it means the same."""
    with pytest.raises(ConfigError, match="rerank_url is empty"):
        build_reranker(Settings(reranker="http"), None)
    for url in ("http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/rerank"):
        assert HTTPReranker(connected(server, rerank_url=url))._url == "http://h:1/v1/rerank"


async def test_nothing_to_rank(reranker: Reranker, server: Any) -> None:
    """Without passages nobody is asked."""
    assert await reranker.scores("Which town?", []) == []
    assert server.requests == []
