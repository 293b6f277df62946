"""The attacks of `evals/attack.py` in their short form: none gets through; and one that does is
found.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "evals"))
import attack
from attack_lists import body_of, operations
from attack_server import SECRET, Attacked, attacked


@pytest.fixture(scope="module")
def there() -> Iterator[Attacked]:
    with attacked() as server:
        yield server


@pytest.mark.parametrize("name", attack.LISTS)
def test_no_attack_gets_through(there: Attacked, name: str) -> None:
    tally = attack.run(there, name, short=True)
    assert tally.hits == []
    assert tally.tried > 40, attack.table([tally])
    assert tally.refused > 0.8 * tally.tried, attack.table([tally])


def test_an_attack_that_gets_through_is_found(there: Attacked) -> None:
    """Ann herself, as if she were a stranger, is told of her own things: each of those replies is a
    hit.
    """
    tally = attack.Tally("crossing")
    there.tokens["bob"], kept = there.tokens["ann"], there.tokens["bob"]
    try:
        attack.crossing(there, tally, short=True, callers=("bob",), methods=("GET",))
    finally:
        there.tokens["bob"] = kept
    assert len(tally.hits) > 15
    assert any(SECRET in each for each in tally.hits)


@pytest.mark.parametrize(
    ("status", "content", "found"),
    [
        (200, b"a lamp", ""),
        (404, b"no lamp", ""),
        (200, f"the {SECRET} lamp".encode(), f"200 tells {SECRET!r}"),
        (404, f"the {SECRET} lamp".encode(), f"404 tells {SECRET!r}"),
        (500, b"internal", "500 internal"),
        (422, b"x" * 100_000, "422 with 100,000 bytes"),
    ],
)
def test_what_a_hit_is(status: int, content: bytes, found: str) -> None:
    with httpx.Client(
        transport=httpx.MockTransport(lambda _: httpx.Response(status, content=content))
    ) as client:
        reply = client.get("http://x/")
    reply.elapsed = timedelta(seconds=1)
    assert attack.wrong_with(reply, forbidden=(SECRET,)) == found
    assert attack.wrong_with(reply, forbidden=(SECRET,), sent=SECRET) == (
        found if SECRET not in found else ""
    )


def test_a_body_is_made_of_what_is_described() -> None:
    """References are followed, required fields are there, and a text goes into each field that
    takes one.
    """
    described = {
        "paths": {
            "/a/{id}": {
                "post": {
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/s/A"}}}}
                },
                "get": {},
            }
        },
        "s": {
            "A": {
                "properties": {
                    "q": {"type": "string"},
                    "n": {"type": "integer"},
                    "o": {"anyOf": [{"type": "null"}, {"$ref": "#/s/B"}]},
                    "doc_ids": {"type": "array", "items": {"type": "string"}},
                    "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                },
                "required": ["q", "n", "o"],
            },
            "B": {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"]},
        },
    }
    get, post = operations(described)
    assert (get.method, get.schema, str(post)) == ("GET", None, "POST /a/{id}")
    assert post.schema is not None
    assert body_of(post.schema, described, {}) == {"q": "lamps", "n": 1, "o": {"t": "lamps"}}
    made = body_of(post.schema, described, {"doc_ids": "d1"}, "x")
    assert made == {"q": "x", "n": 1, "o": {"t": "x"}, "doc_ids": ["d1"], "note": "x"}
