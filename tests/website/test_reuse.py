"""What was read is not read again: follow-ups, other sessions, other processes; and what is old is
asked about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.website.conftest import Desk, Web

RETURNS = "Domestic orders may be returned within 14 days of delivery."
ABROAD = "International orders may be returned within 30 days of delivery."
QUESTION = "Within how many days may domestic orders be returned?"
FOLLOW_UP = "And for international orders?"


async def first_turn(desk: Desk) -> str:
    desk.knows(RETURNS)
    answer = await desk.ask(QUESTION)
    assert answer.citations[0].quote == RETURNS
    return answer.session_id


async def test_a_follow_up_on_pages_that_were_read(desk: Desk, shop: Web) -> None:
    """No request at all, and the answer is the other page's."""
    session = await first_turn(desk)
    assert "/help/international" in shop.paths()
    before = len(shop.asked)
    desk.knows(ABROAD)
    answer = await desk.ask(FOLLOW_UP, session_id=session)
    assert (answer.status, answer.citations[0].quote, answer.citations[0].uri) == (
        "answered",
        ABROAD,
        shop.at("/help/international"),
    )
    assert len(shop.asked) == before
    assert {page["how"] for page in desk.visited} <= {"reused"}
    assert len(await desk.app.sessions.history(session)) == 4


async def test_a_follow_up_that_needs_more(desk: Desk, shop: Web) -> None:
    """Only pages that were not read yet."""
    session = await first_turn(desk)
    before = shop.paths()
    sentence = "The warranty of every stove lasts for ten years."
    desk.knows(sentence)
    answer = await desk.ask("And how long does the warranty of a stove last?", session_id=session)
    assert answer.citations[0].quote == sentence
    new = shop.paths()[len(before) :]
    assert "/help/warranty" in new
    assert not set(new) & set(before)


async def test_another_session_and_another_process_reuse_too(
    desk: Desk, shop: Web, open_desk: Callable[..., Any]
) -> None:
    """Pages belong to the site, not to who asked."""
    await first_turn(desk)
    before = len(shop.asked)
    answer = await desk.ask(QUESTION)
    assert (answer.citations[0].quote, len(shop.asked)) == (RETURNS, before)
    async with open_desk() as later:
        later.knows(RETURNS)
        answer = await later.ask(QUESTION)
        assert (answer.citations[0].quote, len(shop.asked)) == (RETURNS, before)
        assert answer.citations[0].uri == shop.at("/help/returns")


@pytest.mark.parametrize("known_by", ["etag", "modified"])
async def test_what_is_old_is_asked_about(
    desk: Desk, shop: Web, open_desk: Callable[..., Any], known_by: str
) -> None:
    """The start page and the pages that the evidence stands in, with what is known of them; 304 is
    enough.
    """
    for page in map(shop.stored, shop.pages):
        page.etag, page.modified = (
            ('"v1"', "") if known_by == "etag" else ("", "Mon, 01 Jan 2024 00:00:00 GMT")
        )
    await first_turn(desk)
    before = len(shop.asked)
    async with open_desk({"fresh_seconds": 0.0}) as later:
        later.knows(RETURNS)
        answer = await later.ask(QUESTION)
    again = [asked for asked in shop.asked[before:] if asked.path != "/robots.txt"]
    assert {"/", "/help/returns"} <= {asked.path for asked in again}
    name = "if-none-match" if known_by == "etag" else "if-modified-since"
    assert all(asked.headers.get(name) for asked in again)
    assert len(again) == len({asked.path for asked in again})
    assert answer.citations[0].quote == RETURNS
    assert {page["how"] for page in later.visited} == {"unchanged"}
    assert "read some time ago" in next(
        p["why"] for p in later.visited if p["url"].endswith("/help/returns")
    )


async def test_a_page_that_has_changed(
    desk: Desk, shop: Web, make_page: Callable[..., bytes], open_desk: Callable[..., Any]
) -> None:
    """The answer is the new one, the quote stands on the page as it is now."""
    await first_turn(desk)
    new = "Domestic orders may be returned within 60 days of delivery."
    shop.stored("/help/returns").body = make_page("/help/returns", "Returns and refunds", [new], {})
    async with open_desk({"fresh_seconds": 0.0}) as later:
        later.knows(RETURNS, new)
        answer = await later.ask(QUESTION)
        document = await later.app.catalog.content(answer.citations[0].doc_id)
    assert answer.answer == new + "[1]"
    assert RETURNS not in document.text


async def test_a_page_that_has_gone_since(
    desk: Desk, shop: Web, open_desk: Callable[..., Any]
) -> None:
    """What was read of it is used, and the answer says of when that is."""
    await first_turn(desk)
    shop.page("/help/returns", "gone", status=500)
    async with open_desk({"fresh_seconds": 0.0}) as later:
        later.knows(RETURNS)
        answer = await later.ask(QUESTION)
    assert answer.citations[0].quote == RETURNS
    assert any(
        "/help/returns" in warning and "status 500" in warning and "is used" in warning
        for warning in answer.warnings
    )


async def test_limits_hold_for_what_is_old(
    desk: Desk, shop: Web, open_desk: Callable[..., Any]
) -> None:
    """Asking about old pages is exploring: not a round more than allowed, not a page more than
    allowed.
    """
    await first_turn(desk)
    for limit in ({"max_iterations": 0}, {"max_pages": 1}):
        before = len(shop.paths())
        async with open_desk({"fresh_seconds": 0.0}) as later:
            later.knows(RETURNS)
            answer = await later.ask(QUESTION, **limit)
        assert shop.paths()[before:] == ["/"]
        assert answer.citations[0].quote == RETURNS


async def test_a_missing_page_is_not_asked_for_again(desk: Desk, shop: Web) -> None:
    """As long as what its site said is fresh; it is told all the same."""
    shop.page("/help/returns", "", status=404)
    for _ in range(2):
        answer = await desk.ask(QUESTION)
        assert answer.status == "refused"
        assert any("/help/returns" in warning and "404" in warning for warning in answer.warnings)
    assert shop.paths().count("/help/returns") == 1


async def test_where_an_answer_was_found_is_noted(desk: Desk, shop: Web) -> None:
    """Once for each question; not for one that is not to be kept, nor for a refusal."""
    desk.knows(RETURNS)
    site = f"127.0.0.1:{shop.port}"
    await desk.ask(QUESTION, keep=False)
    desk.knows()
    assert (await desk.ask("How deep is the harbour?")).status == "refused"
    assert await desk.app.sites.finds(site, desk.app.embedder.name) == []
    desk.knows(RETURNS)
    for _ in range(2):
        await desk.ask(QUESTION)
    (found,) = await desk.app.sites.finds(site, desk.app.embedder.name)
    assert found.uri == shop.at("/help/returns")
