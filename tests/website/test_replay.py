"""A question to a site is replayed on the pages as they are kept; nothing is fetched unless it is
asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from citewell.service.sessions.replay import replay_trace

if TYPE_CHECKING:
    from tests.website.conftest import Desk, Web

RETURNS = "Domestic orders may be returned within 14 days of delivery."
QUESTION = "Within how many days may domestic orders be returned?"


async def test_the_same_pages_give_the_same(desk: Desk, shop: Web) -> None:
    """In the same rounds, without a request; what the session asked since does not count."""
    desk.knows(RETURNS)
    answer = await desk.ask(QUESTION)
    before = len(shop.asked)
    found = await replay_trace(desk.app, answer.trace_id, "local", recorded=True)
    assert found.replayed.answer.citations[0].quote == RETURNS
    assert len(shop.asked) == before
    assert [(each.where, each.what, each.before, each.now) for each in found.differences] == []
    assert found.same
    assert any("nothing is fetched" in note for note in found.notes)


async def test_a_page_that_changed_is_seen_when_it_may_be_fetched(desk: Desk, shop: Web) -> None:
    """Not before: a replay reads what is kept. Then the new text stands in the answer, and the old
    one is told beside it.
    """
    desk.knows(RETURNS)
    answer = await desk.ask(QUESTION)
    path = answer.citations[0].uri.removeprefix(shop.url).partition("#")[0]
    page = shop.stored(path)
    page.body = page.body.replace(b"14 days", b"21 days")
    desk.knows(RETURNS.replace("14", "21"))
    assert (await replay_trace(desk.app, answer.trace_id, "local", recorded=True)).same
    late = desk.settings.website.model_copy(update={"fresh_seconds": 0.0})
    desk.app.settings = desk.settings.model_copy(update={"website": late})
    found = await replay_trace(desk.app, answer.trace_id, "local", fetch=True)
    assert ("answer", answer.citations[0].quote.replace("14", "21")) in {
        (d.where, str(d.now).removesuffix("[1]")) for d in found.differences
    }


async def test_a_page_that_is_not_kept_is_not_fetched(desk: Desk, shop: Web) -> None:
    """It is told as one that could not be read."""
    desk.knows(RETURNS)
    answer = await desk.ask(QUESTION)
    await desk.app.collections.delete(answer.route)
    await desk.app.collections.create(answer.route)
    before = len(shop.asked)
    found = await replay_trace(desk.app, answer.trace_id, "local")
    assert len(shop.asked) == before
    assert not found.same
    assert any(each.what.startswith("failed") for each in found.differences)
