"""Where a site's pages are kept, and what is asked of it. The one rule: documents and a site's
pages are never mixed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from citewell.service.ask.ask import ask
from citewell.service.ask.ask_website import _remove_addresses
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.sites.sites import list_sites

if TYPE_CHECKING:
    from pathlib import Path

    from tests.website.conftest import Desk, Web

RETURNS = "Domestic orders may be returned within 14 days of delivery."
QUESTION = "Within how many days may domestic orders be returned?"


async def _documents(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "handbook.md").write_text("# Handbook\n\nThe office opens at nine.\n", "utf-8")
    await add_paths(desk.app, [str(tmp_path / "handbook.md")], "samples")


@pytest.mark.parametrize("agent", ["auto", "website"])
async def test_documents_stay_among_themselves(
    desk: Desk, shop: Web, tmp_path: Path, agent: str
) -> None:
    """A question that names an address, asked with a collection of documents selected: the site is
    kept by its host. So is a follow-up in its session.
    """
    desk.knows(RETURNS)
    await _documents(desk, tmp_path)
    host = shop.url.split("/")[2]
    request = AskRequest(
        question=f"{QUESTION[:-1]} of {shop.url} ?", agent=agent, collection="samples"
    )
    answer = await ask(desk.app, request)
    assert (answer.agent, answer.route, answer.status) == ("website", host, "answered")
    again = AskRequest(
        question=QUESTION, agent=agent, collection="samples", session_id=answer.session_id
    )
    assert (await ask(desk.app, again)).route == host
    assert (await desk.app.collections.get("samples")).documents == 1
    assert [site.collection for site in await list_sites(desk.app)] == [host]


async def test_auto_makes_no_site_of_a_collection_it_was_given(desk: Desk, shop: Web) -> None:
    """An empty one is for documents too; one that holds a site's pages is that site, but of no
    other.
    """
    desk.knows(RETURNS)
    await desk.app.collections.create("empty")
    asked = f"{QUESTION[:-1]} of {shop.url} ?"
    host = shop.url.split("/")[2]
    assert (
        await ask(desk.app, AskRequest(question=asked, agent="auto", collection="empty"))
    ).route == host
    await desk.ask(QUESTION, collection="lamps")
    assert (
        await ask(desk.app, AskRequest(question=asked, agent="auto", collection="lamps"))
    ).route == "lamps"
    other = AskRequest(
        question=f"{QUESTION[:-1]} of http://127.0.0.2:9/ ?", agent="auto", collection="lamps"
    )
    assert (await ask(desk.app, other)).route == "127.0.0.2:9"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("What is the return policy of http://a.example/ ?", "What is the return policy?"),
        ("What is sold at http://a.example and http://b.example?", "What is sold?"),
        ("When was the lighthouse of http://a.example/ built?", "When was the lighthouse built?"),
        ("According to http://a.example, how long is it valid?", "how long is it valid?"),
        ("How do I use .NET on http://a.example/ ?", "How do I use .NET?"),
        ("请问 http://a.example/ 的退货政策是什么？", "请问退货政策是什么？"),
        ("在 http://a.example/ 上，退货政策是什么？", "退货政策是什么？"),
        ("我想知道 http://a.example/ 中国区的价格", "我想知道中国区的价格"),
    ],
)
def test_an_address_leaves_no_gap(question: str, asked: str) -> None:
    assert _remove_addresses(question) == asked
