"""What is not answered, and how that is said: strange questions, sites that are not there, options
that are wrong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.replies import untold

from citewell.errors import InvalidInput, TransientError
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.website.conftest import Desk, Web

QUESTION = "Within how many days may domestic orders be returned?"
FACT = "Domestic orders may be returned within 14 days of delivery."


@pytest.mark.parametrize("llm", ["scripted", "none"])
async def test_questions_from_elsewhere(shop: Web, open_desk: Callable[..., Any], llm: str) -> None:
    """Refused without a citation, after few pages, in the question's language."""
    asked = {
        "Who won the chess championship of 1972?": "does not seem|could not find",
        "谁赢得了1972年的国际象棋冠军？": "没有找到|无关",
    }
    async with open_desk(llm=llm, embedder="builtin") as desk:
        for question, said in asked.items():
            answer = await desk.ask(question)
            assert (answer.status, answer.citations, answer.sentences) == ("refused", [], [])
            assert answer.stop_reason in {"off_site", "site_exhausted"}
            assert any(words in answer.answer for words in said.split("|"))
            assert answer.confidence < 0.3
    assert len(shop.paths()) <= 16


async def test_the_site_does_not_tell(shop: Web, open_desk: Callable[..., Any]) -> None:
    """A question about its matters is not said to be from elsewhere: the nearest passages are
    named, and the pages counted.
    """
    asked = {
        "Do you repair tents?": "Repairs",
        "How much is express shipping to Brazil?": "Shipping",
    }
    async with open_desk(embedder="builtin") as desk:
        for n, (question, nearest) in enumerate(asked.items()):
            before = len(shop.paths())
            answer = await desk.ask(question, collection=f"c{n}")
            assert (question, answer.status) == (question, "refused")
            assert answer.stop_reason in {"site_exhausted", "iterations_exhausted"}
            assert f"{len(shop.paths()) - before} pages" in answer.answer
            assert nearest in answer.answer


@pytest.mark.parametrize(
    ("said", "agreed"),
    [
        ("The pages do not tell of a hotline; returns go by post.", True),
        ("Telephones: none.", False),
    ],
)
async def test_what_the_site_lacks_is_said_in_the_models_words(
    desk: Desk, shop: Web, said: str, agreed: bool
) -> None:
    """Where the judge agrees with them, with how far the site was read; else in ours."""
    desk.llm.reply_with(lambda _: untold(said))
    answer = await desk.ask("Is there a hotline for returns?")
    assert (answer.status, answer.stop_reason) == ("refused", "site_exhausted")
    read = f"{len(shop.paths())} pages"
    assert answer.answer.startswith(
        f"{said} I read {read} of 127.0.0.1" if agreed else "I could not find the answer on"
    )
    assert read in answer.answer
    assert [sentence.text for sentence in answer.sentences] == ([said] if agreed else [])


async def test_what_was_called_missing_and_is_there_is_told(desk: Desk, shop: Web) -> None:
    """The judge does not agree that it is missing, and the repaired draft tells it."""
    desk.llm.reply_with(
        lambda messages: (
            FACT if "A check of your" in messages[-1].content else untold("Telephones: none.")
        )
    )
    answer = await desk.ask(QUESTION)
    assert (answer.status, answer.stop_reason, [s.text for s in answer.sentences]) == (
        "answered",
        "",
        [FACT],
    )


@pytest.mark.parametrize("greeting", ["Hello!", "Thanks", "你好", "谢谢"])
async def test_a_greeting(desk: Desk, shop: Web, greeting: str) -> None:
    """Is returned, without a request."""
    answer = await desk.ask(greeting)
    assert (answer.status, answer.stop_reason, answer.citations) == ("clarify", "", [])
    assert shop.asked == []
    assert answer.route in answer.answer


async def test_no_greeting(shop: Web, open_desk: Callable[..., Any]) -> None:
    """Few words that ask something are looked for on the site, with nothing said before and behind
    another question.
    """
    history = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": FACT}]
    async with open_desk(embedder="builtin") as desk:
        for said in ([], history):
            for question in ("contact", "How does it work?", "And internationally?"):
                answer = await desk.ask(
                    question, max_iterations=0, history=said, collection=f"c{len(shop.asked)}"
                )
                assert (question, answer.status) == (question, "refused")
    assert shop.paths() == ["/"] * 6


@pytest.mark.parametrize("broken", ["nobody", "500", "404", "robots", "picture", "refused"])
async def test_nothing_of_the_site_can_be_read(desk: Desk, shop: Web, broken: str) -> None:
    """It is said plainly, with the address and the reason."""
    start = shop.url
    if broken == "nobody":
        start = "http://127.0.0.1:1/"
    elif broken == "robots":
        shop.page("/robots.txt", b"User-agent: *\nDisallow: /\n", kind="text/plain")
    elif broken == "picture":
        shop.page("/", b"\x89PNG", kind="image/png")
    elif broken == "refused":
        start = "http://169.254.169.254/"
    else:
        shop.page("/", "", status=int(broken))
    answer = await desk.ask(QUESTION, start_urls=[start], max_seconds=8)
    assert (answer.status, answer.stop_reason, answer.citations) == ("refused", "unreachable", [])
    assert start in answer.answer
    assert len(answer.warnings) >= 1
    assert answer.usage.calls == 0


async def test_one_start_page_of_two_is_enough(desk: Desk, shop: Web) -> None:
    """The other one is told."""
    desk.knows(FACT)
    answer = await desk.ask(QUESTION, start_urls=["http://127.0.0.1:1/", shop.at("/help")])
    assert (answer.status, answer.citations[0].quote) == ("answered", FACT)
    assert any("127.0.0.1:1" in warning for warning in answer.warnings)


@pytest.mark.parametrize(("options", "code"), [
    ({"start_urls": ["ftp://127.0.0.1/"]}, "bad_url"),
    ({"start_urls": ["not an address"]}, "bad_url"),
    ({"start_urls": ["http://u:p@127.0.0.1/"]}, "bad_url"),
    ({"start_urls": ["http://2130706433/"]}, "bad_url"),
    ({"start_urls": [""]}, "bad_url"),
    ({"start_urls": []}, "no_site"),
    ({"start_urls": "http://127.0.0.1/"}, None),
    ({"allowed_domains": ["exa mple.com"]}, "bad_domain"),
    ({"allowed_domains": ["*.127.0.0.1"]}, "bad_domain"),
    ({"allowed_domains": [""]}, "bad_domain"),
    ({"max_pages": 0}, None),
    ({"max_pages": -3}, None),
    ({"max_pages": "many"}, None),
    ({"max_iterations": -1}, None),
    ({"max_iterations": 51}, None),
    ({"max_urls_per_iteration": 0}, None),
    ({"content_max_chars": 10}, None),
    ({"max_seconds": 0}, None),
    ({"instruction": "x" * 2_000}, None),
    ({"max_page": 3}, None),
])  # fmt: skip
async def test_options_that_are_wrong(
    desk: Desk, shop: Web, options: dict[str, Any], code: str | None
) -> None:
    """Refused by name before anything is asked for, and nothing is left behind."""
    with pytest.raises(InvalidInput) as caught:
        await desk.ask(QUESTION, **options)
    assert code is None or caught.value.code == code
    assert code == "no_site" or any(
        name.removesuffix("s") in str(caught.value) or code for name in options
    )
    assert shop.asked == []
    assert await desk.app.sites.sites() == []
    assert await desk.app.collections.list_all() == []


@pytest.mark.parametrize("question", ["", "   ", "x" * 501, "{url}", " {url} {url} "])
async def test_questions_that_ask_nothing(desk: Desk, shop: Web, question: str) -> None:
    """Refused before anything is asked for, and no collection is left behind."""
    with pytest.raises(InvalidInput):
        await desk.ask(question.format(url=shop.at("/help")))
    assert shop.asked == []
    assert await desk.app.sites.sites() == []
    assert await desk.app.collections.list_all() == []


async def test_the_address_may_stand_in_the_question(desk: Desk, shop: Web) -> None:
    """It is where the site begins, and no part of what is asked; `auto` sees that a site is
    meant.
    """
    desk.knows(FACT)
    for agent in ("website", "auto"):
        request = AskRequest(question=f"{shop.at('/help')} {QUESTION}", agent=agent)
        answer = await ask(desk.app, request)
        assert (answer.status, answer.agent, answer.citations[0].quote) == (
            "answered",
            "website",
            FACT,
        )
        assert shop.paths()[0] == "/help"
    assert not any(
        "http" in text.content.rpartition("Question:")[2]
        for call in desk.llm.calls
        for text in call.messages
    )


async def test_a_wrong_option_of_another_agent_is_told(desk: Desk, shop: Web) -> None:
    """What does not count here is a warning."""
    desk.knows(FACT)
    answer = await desk.ask(QUESTION, web=True, corrections=2)
    assert answer.status == "answered"
    assert any("corrections" in warning and "web" in warning for warning in answer.warnings)


async def test_a_model_that_fails(shop: Web, open_desk: Callable[..., Any]) -> None:
    """The page's own sentence is shown with a word of caution; never an error."""
    async with open_desk(embedder="builtin") as desk:
        desk.llm.reply_with(lambda _: (_ for _ in ()).throw(TransientError("the model is busy")))
        answer = await desk.ask("What does a repair cost?")
    assert (answer.status, answer.stop_reason) == ("fallback", "model_failed")
    assert any("the model is busy" in warning for warning in answer.warnings)
    assert "A repair costs 250 kroner" in answer.answer


async def test_a_draft_that_the_site_does_not_prove(desk: Desk, shop: Web) -> None:
    """Is not shown."""
    desk.knows(FACT)
    desk.llm.reply_with(lambda _: "Domestic orders may be returned within 99 years of delivery.")
    answer = await desk.ask(QUESTION)
    assert answer.status == "refused"
    assert "99 years" not in answer.answer
    assert any("not proved" in warning for warning in answer.warnings)


async def test_a_site_of_which_nothing_is_read_is_not_kept(desk: Desk, shop: Web) -> None:
    """A greeting, or an address that leads nowhere: no empty collection stays; one with pages
    does, also after a second question.
    """
    greeted = await desk.ask("Hello!", collection="greeted")
    assert greeted.status == "clarify"
    assert shop.paths() == []
    assert [each.name for each in await desk.app.collections.list_all()] == []
    assert await desk.app.sites.sites() == []
    await desk.ask(QUESTION, collection="read")
    await desk.ask("Hello!", collection="read")
    assert [each.name for each in await desk.app.collections.list_all()] == ["read"]
