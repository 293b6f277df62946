"""Overviews, comparisons and "what can I ask", from whole documents without a chat model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from citewell.config import Settings
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.runtime.app import App
from citewell.service.ask.ask import ask as answer_question
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.skills.answer.overview import count_points
from citewell.skills.dialogue.foreign_language import is_foreign
from citewell.skills.dialogue.overview_request import find_overview_request

CLUB = """# Statutes of the rowing club

## Purpose
The club keeps twelve boats on the river.

## Fees
A member pays 48 euros a year in one sum. Students pay half of it.

## Guests
The club keeps twelve boats on the river.

## Boats
WARNING. Hold the oars. Each boat carries four people and one who steers.
"""
NORTH = "# Opening hours in Norden\n\nThe pool in Norden opens at eight in the morning.\n"
SOUTH = "# Opening hours in Suden\n\nThe pool in Suden opens at ten in the morning.\n"


@pytest.fixture
async def filled(settings: Settings, tmp_path: Path) -> Any:
    plain = settings.model_copy(update={"llm": "none", "embedder": "builtin"})
    async with App(plain) as app:
        for name, text in (("club", CLUB), ("north", NORTH), ("south", SOUTH)):
            (tmp_path / f"{name}.md").write_text(text, "utf-8")
            await add_paths(app, [str(tmp_path / f"{name}.md")], "default")
        await embed_pending(app)
        yield app


async def ask(app: App, question: str) -> Any:
    return await answer_question(app, AskRequest(question=question, agent="auto"))


async def test_a_document_is_named_by_its_file(filled: App, tmp_path: Path) -> None:
    """Its first heading is the firm's name."""
    (tmp_path / "expense-policy.md").write_text(
        "# Kestrel Ltd\n\nTrains are paid in second class.\n", "utf-8"
    )
    await add_paths(filled, [str(tmp_path / "expense-policy.md")], "default")
    await embed_pending(filled)
    answer = await ask(filled, "Summarise the expense policy")
    assert answer.route == "overview"
    assert {each.title for each in answer.citations} == {"Kestrel Ltd"}


async def test_the_named_document_is_summarised(filled: App) -> None:
    """A sentence of each section, each a quote; as many as are asked for."""
    answer = await ask(filled, "Summarise the statutes of the rowing club in three points")
    assert (answer.status, answer.agent) == ("answered", "qa")
    assert [each.text for each in answer.sentences] == [
        "The club keeps twelve boats on the river.",
        "A member pays 48 euros a year in one sum.",
        "Each boat carries four people and one who steers.",
    ]
    assert {each.verdict for each in answer.sentences} == {"supported"}
    assert {each.title for each in answer.citations} == {"Statutes of the rowing club"}
    for citation in answer.citations:
        text = (await filled.catalog.content(citation.doc_id)).text
        assert text[citation.start : citation.end] == citation.quote


async def test_all_documents_have_their_say(filled: App) -> None:
    answer = await ask(filled, "Give me a summary")
    assert len({each.doc_id for each in answer.citations}) == 3
    assert "**Opening hours in Norden**" in answer.answer


async def test_a_request_is_one_in_the_middle_of_a_conversation(filled: App) -> None:
    """Not hidden by what was asked before."""
    first = await ask(filled, "What does a member pay?")
    request = AskRequest(question="What can I ask you?", agent="auto", session_id=first.session_id)
    answer = await answer_question(filled, request)
    assert answer.status == "clarify"
    assert "Opening hours in Norden" in answer.answer


async def test_named_documents_are_compared(filled: App) -> None:
    """One side after the other; with one document named, it is searched as ever."""
    answer = await ask(filled, "Compare the opening hours in Norden and in Suden")
    assert [each.text for each in answer.sentences] == [
        "The pool in Suden opens at ten in the morning.",
        "The pool in Norden opens at eight in the morning.",
    ]


async def test_sides_of_unlike_titles_say_what_was_asked(filled: App, tmp_path: Path) -> None:
    """Though the question names more words of one title than of the other; short sentences too."""
    for name, text in (("choir", CHOIR), ("lease", LEASE)):
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
        await add_paths(filled, [str(tmp_path / f"{name}.md")], "default")
    await embed_pending(filled)
    answer = await ask(filled, "Compare the fee of the choir and the rent of the pottery studio")
    assert (answer.status, answer.route) == ("answered", "overview")
    said = [each.text for each in answer.sentences]
    assert "The fee is 48 pounds." in said
    assert "The rent is 640 euros a month." in said


CHOIR = (
    "# Choir of Harrow Lane\n\nThe fee is 48 pounds.\n\nRehearsals are on each Wednesday evening "
    "from seven to nine in the hall of St Bride.\n"
)
LEASE = (
    "# Lease of the pottery studio\n\nThe rent is 640 euros a month.\n\nThe gas kiln may be fired "
    "on Tuesdays and on Saturdays only, and the tenant keeps a log.\n"
)
RETURNS = "# International Returns and Warranty\n\nIn the EU a bike goes back within 30 days.\n"
RULES = "# 国内退换货与保修政策\n\n国内订单自签收次日起15天内可以无理由退货。\n"


@pytest.mark.parametrize(
    "question",
    ["比较欧盟和中国的退货规定", "Compare the return period in the EU and in China"],
)
async def test_documents_are_compared_across_languages(
    question: str, filled: App, tmp_path: Path
) -> None:
    """Though a title is in the other language, and says it in other words."""
    for name, text in (("returns", RETURNS), ("rules", RULES)):
        (tmp_path / f"{name}.md").write_text(text, "utf-8")
        await add_paths(filled, [str(tmp_path / f"{name}.md")], "default")
    await embed_pending(filled)
    answer = await ask(filled, question)
    assert {each.title for each in answer.citations} == {
        "International Returns and Warranty",
        "国内退换货与保修政策",
    }
    assert (answer.status, answer.route) == ("answered", "overview")
    searched = await ask(filled, "Compare pears with apples")
    assert searched.route != "overview"


@pytest.mark.parametrize(
    ("question", "points"),
    [("in five points", 5), ("用三点总结", 3), ("summarise it", 5), ("the 2019 report", 5)],
)
def test_how_many_points(question: str, points: int) -> None:
    assert count_points(question) == points


def test_a_figure_of_a_title_is_no_number_of_points() -> None:
    question = "Summarise the Drover 2 Owner's Manual in five points"
    assert count_points(question, ["Drover 2 Owner's Manual"]) == 5


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("What can I ask the dealer?", ""),
        ("Is that really so?", ""),
        ("你真的确定吗？", ""),
        ("What does the handbook say about pets?", ""),
        ("What's this all about?", "overview"),
        ("What is in my documents?", "overview"),
        ("这份资料主要说了些什么？", "overview"),
        ("What sort of things can I ask you about?", "offer"),
        ("我能问些什么？", "offer"),
        ("What is the load limit of the box?", ""),
        ("What is this FAQ?", ""),
        ("作者今后打算做哪些工作？", ""),
        ("那国际订单呢？", ""),
    ],
)
async def test_what_is_wanted(text: str, wanted: str, settings: Settings) -> None:
    """By the built-in embedder; they are none of those that it is fitted on."""
    embedder = BuiltinEmbedder(settings)
    try:
        found, sure = find_overview_request(await embedder.query(text), embedder.name)
        assert found == wanted
        assert (sure > 0.7) is bool(wanted)
    finally:
        await embedder.close()


@pytest.mark.parametrize(
    ("question", "foreign"),
    [
        ("¿Cuántos años dura la garantía del cuadro?", True),
        ("Wie viele Gäste darf ein Mitglied mitbringen?", True),
        ("Quel bateau est le plus lourd ?", True),
        ("Who is Señora Núñez?", False),
        ("俱乐部有几条船？", False),
        ("fees", False),
    ],
)
async def test_a_refusal_says_which_languages_are_understood(
    question: str, foreign: bool, filled: App
) -> None:
    answer = await ask(filled, question)
    told = any("English and Chinese" in str(warning) for warning in answer.warnings)
    assert told is (foreign and answer.status == "refused")
    assert is_foreign(await filled.embedder.query(question), filled.embedder.name) is foreign
