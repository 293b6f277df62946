"""The answer is found from the first page of a site, in English and Chinese, and proved by page and
sentence.
"""

from __future__ import annotations

import io
import time
from typing import TYPE_CHECKING, Any

import docx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.website.conftest import Desk, Web

RETURNS = "Domestic orders may be returned within 14 days of delivery."
RETURNS_ZH = "国内订单在签收后十四天内可以退货。"
QUESTION = "Within how many days may domestic orders be returned?"


async def test_two_clicks_from_the_start(desk: Desk, shop: Web) -> None:
    """Home, help, the page; the citation has its address, its title, and a sentence that stands
    there to the letter.
    """
    desk.knows(RETURNS)
    answer = await desk.ask(QUESTION)
    assert (answer.status, answer.answer, answer.stop_reason) == ("answered", RETURNS + "[1]", "")
    (citation,) = answer.citations
    assert (citation.uri, citation.title) == (shop.at("/help/returns"), "Returns and refunds")
    assert (citation.origin, citation.status, citation.quote) == ("web", "verified", RETURNS)
    document = await desk.app.catalog.content(citation.doc_id)
    assert document.text[citation.start : citation.end] == citation.quote
    assert citation.fetched_at is not None
    assert abs(citation.fetched_at - time.time()) < 60
    assert [event.data for event in desk.events if event.kind == "citation"] == answer.citations
    assert (answer.agent, answer.route, answer.warnings) == (
        "website",
        f"127.0.0.1:{shop.port}",
        [],
    )
    assert shop.paths()[0] == "/"
    assert len(shop.paths()) == len(set(shop.paths())) < 12


async def test_questions_about_many_pages(shop: Web, open_desk: Callable[..., Any]) -> None:
    """Each is answered from its own page, and no page is asked for twice."""
    asked = {
        "/help/warranty": (
            "How long does the warranty of a stove last?",
            "The warranty of every stove lasts for ten years.",
        ),
        "/help/gift-cards": (
            "How long is a gift card valid?",
            "A gift card is valid for three years.",
        ),
        "/help/hours": (
            "When does the shop open?",
            "The shop opens at nine in the morning and closes at six in the evening.",
        ),
        "/help/repairs": (
            "What does a repair cost?",
            "A repair costs 250 kroner and takes about three weeks.",
        ),
    }
    async with open_desk(embedder="builtin") as desk:
        for path, (question, sentence) in asked.items():
            desk.knows(sentence)
            answer = await desk.ask(question)
            assert (answer.answer, [citation.uri for citation in answer.citations]) == (
                sentence + "[1]",
                [shop.at(path)],
            )
    assert len(shop.paths()) == len(set(shop.paths()))


async def test_the_chinese_part(shop: Web, open_desk: Callable[..., Any]) -> None:
    """A Chinese question finds the Chinese page from the English first page, by the meaning of the
    links.
    """
    async with open_desk(embedder="builtin") as desk:
        desk.knows(RETURNS_ZH)
        answer = await desk.ask("国内订单签收后几天内可以退货？")
        assert (answer.status, answer.answer) == ("answered", RETURNS_ZH + "[1]")
        (citation,) = answer.citations
        assert (citation.uri, citation.quote) == (shop.at("/zh/help/returns"), RETURNS_ZH)
        document = await desk.app.catalog.content(citation.doc_id)
        assert document.text[citation.start : citation.end] == RETURNS_ZH
        desk.knows()
        refused = await desk.ask("谁赢得了1972年的国际象棋冠军？")
    assert (refused.status, refused.citations) == ("refused", [])
    assert "没有找到" in refused.answer or "无关" in refused.answer


async def test_no_link_of_the_first_page_promises_anything(
    shop: Web, make_page: Callable[..., bytes], open_desk: Callable[..., Any]
) -> None:
    """Then several are followed: a site is not given up after one page that did not tell."""
    shop.page(
        "/",
        make_page(
            "/",
            "Lantern and Tide",
            ["We make lamps and stoves."],
            {"/journal/night-walks": "Walking at night"},
        ),
    )
    asked = {
        "How long does the warranty of a stove last?": "The warranty of every stove lasts for "
        "ten years.",
        "How long does the cartridge of the bottle last?": "Its cartridge lasts for 300 litres.",
    }
    async with open_desk(embedder="builtin") as desk:
        for n, (question, sentence) in enumerate(asked.items()):
            desk.knows(sentence)
            answer = await desk.ask(question, collection=f"c{n}")
            assert (answer.status, [citation.quote for citation in answer.citations]) == (
                "answered",
                [sentence],
            )


async def test_a_short_answer_above_many_links(
    desk: Desk, shop: Web, make_page: Callable[..., bytes]
) -> None:
    """A page of one sentence and a list of other questions is no list of links."""
    sentence = "A gift card is valid for three years."
    names = [
        "returns",
        "shipping",
        "international",
        "warranty",
        "payment",
        "hours",
        "care",
        "repairs",
    ]
    others = {
        f"/help/{name}": f"What should I know about {name} and everything around it?"
        for name in names
    }
    shop.page("/help/gift-cards", make_page("/help/gift-cards", "Gift cards", [sentence], others))
    desk.knows(sentence)
    answer = await desk.ask(
        "How long is a gift card valid?", start_urls=[shop.at("/help/gift-cards")]
    )
    assert (answer.status, answer.answer, shop.paths()) == (
        "answered",
        sentence + "[1]",
        ["/help/gift-cards"],
    )


async def test_without_a_chat_model(shop: Web, open_desk: Callable[..., Any]) -> None:
    """Tier none: the evidence itself is the answer."""
    async with open_desk(llm="none", embedder="builtin") as plain:
        answer = await plain.ask("What does a repair cost?")
    assert (answer.status, answer.usage.calls) == ("answered", 0)
    assert "A repair costs 250 kroner and takes about three weeks." in answer.answer
    assert answer.citations[0].uri == shop.at("/help/repairs")


async def test_start_pages_are_fetched_together(desk: Desk, shop: Web) -> None:
    """All under way at once, each once however it is spelled, before anything else."""
    for path in ("/help", "/about"):
        shop.stored(path).slow = 0.3
    starts = ["/help", "/about/", "/about#team", "/help?utm_source=mail", "/help/"]
    desk.knows("Ines Marlow draws the lamps.")
    answer = await desk.ask(
        "Who are the people that draw the lamps?", start_urls=[shop.at(path) for path in starts]
    )
    assert sorted(path.rstrip("/") for path in shop.paths()[:2]) == ["/about", "/help"]
    assert shop.most["all"] == 2
    assert [page["why"] for page in desk.visited[:2]] == ["a start page"] * 2
    assert desk.visited[2]["iteration"] == 1
    assert answer.citations[0].uri == shop.at("/about/team")


@pytest.mark.parametrize("kind", ["text", "word"])
async def test_files_are_read_like_pages(desk: Desk, web: Web, kind: str) -> None:
    """A link to a text or a Word file leads to its sentences."""
    sentence = "The battery of the lamp has to be charged for five hours."
    web.page("/", '<p>Welcome.</p><a href="/manual">Manual: how long to charge the battery</a>')
    if kind == "text":
        web.page("/manual", f"Manual\n\n{sentence}\n".encode(), kind="text/plain")
    else:
        document, data = docx.Document(), io.BytesIO()
        document.add_paragraph(sentence)
        document.save(data)
        office = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        web.page("/manual", data.getvalue(), kind=office)
    desk.knows(sentence)
    answer = await desk.ask("How long has the battery to be charged?")
    assert (answer.status, answer.citations[0].quote, answer.citations[0].uri) == (
        "answered",
        sentence,
        web.at("/manual"),
    )


async def test_pages_that_only_the_sitemap_names(
    desk: Desk, web: Web, open_desk: Callable[..., Any]
) -> None:
    """They are candidates like any link, and not where the settings say no."""
    web.page("/", "<p>Welcome to the harbour.</p>")
    web.page("/gift-cards-valid", "<p>A gift card is valid for three years.</p>")
    web.pages["/sitemap.xml"] = web.pages["/"]
    listed = "".join(
        f"<url><loc>{web.at(path)}</loc></url>" for path in ("/", "/other", "/gift-cards-valid")
    )
    web.page(
        "/sitemap.xml",
        f'<?xml version="1.0"?><urlset>{listed}</urlset>'.encode(),
        kind="application/xml",
    )
    desk.knows("A gift card is valid for three years.")
    async with open_desk({"sitemap": False}) as without:
        refused = await without.ask("How long is a gift card valid?", collection="elsewhere")
        assert (refused.status, web.paths()) == ("refused", ["/"])
    answer = await desk.ask("How long is a gift card valid?", max_urls_per_iteration=1)
    assert (answer.status, answer.citations[0].uri) == ("answered", web.at("/gift-cards-valid"))
    assert "/other" not in web.paths()
    assert "the sitemap" in desk.visited[-1]["why"]


async def test_the_instruction_turns_to_pages(desk: Desk, web: Web) -> None:
    """Where no link has words of the question, one that has words of the instruction is first."""
    web.page(
        "/",
        "".join(
            f'<p><a href="/{name}">The {name} pages</a></p>'
            for name in ("tide", "quarry", "net", "pier")
        ),
    )
    for name in ("tide", "quarry", "net", "pier"):
        web.page(f"/{name}", f"<p>About the {name}.</p>")
    await desk.ask("What does it weigh?", max_iterations=1, max_urls_per_iteration=1)
    assert web.paths() == ["/", "/tide"]
    await desk.ask(
        "What does it weigh?",
        max_iterations=1,
        max_urls_per_iteration=1,
        instruction="Prefer what the quarry says.",
    )
    assert web.paths()[2:] == ["/quarry"]


async def test_the_settings_of_a_site_are_kept(desk: Desk, shop: Web) -> None:
    """A session, and a collection by its name, know where the site begins, and how far it goes."""
    desk.knows(RETURNS)
    first = await desk.ask(
        QUESTION, collection="lamps", allowed_domains=["127.0.0.1"], instruction="Be brief."
    )
    (site,) = await desk.app.sites.sites()
    assert (site.collection, site.start_urls) == ("lamps", (shop.at("/"),))
    assert (site.allowed_domains, site.instruction) == (
        ("127.0.0.1",),
        "",
    )  # what a user wants of answers is the user's
    again = await desk.ask(QUESTION, session_id=first.session_id)
    named = await desk.ask(QUESTION, collection="lamps", start_urls=[])
    assert [a.route for a in (first, again, named)] == ["lamps"] * 3
    assert [a.answer for a in (again, named)] == [first.answer] * 2
    assert (await desk.app.sessions.data(first.session_id))["website"]["instruction"] == "Be brief."
    (site,) = await desk.app.sites.sites()
    assert (site.allowed_domains, site.instruction) == (("127.0.0.1",), "")
