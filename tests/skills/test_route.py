"""Where to look first, and what is left to try."""

from __future__ import annotations

import pytest

from citewell.skills.dialogue.route import (
    choose_search_route,
    get_next_search,
    is_same_query,
    is_web_request,
    strip_web_request,
)

DIRECT, SECTIONS, WEB = "direct_chunk_search", "hierarchical_search", "web_search"


@pytest.mark.parametrize(
    ("question", "intent", "more", "route"),
    [
        ("How long is the warranty?", "fact", {}, DIRECT),
        ("How long is the warranty?", "fact", {"preferred": SECTIONS}, SECTIONS),
        ("How long is the warranty?", "fact", {"preferred": "words_only"}, DIRECT),
        ("How long is the warranty?", "fact", {"settled_by": [SECTIONS]}, SECTIONS),
        ("How long is the warranty?", "fact", {"settled_by": [WEB], "web": False}, DIRECT),
        ("Summarise the handbook", "summary", {}, SECTIONS),
        ("How long is the warranty?", "fact", {"settled_by": [WEB]}, DIRECT),
        ("Which part number fits the pump?", "fact", {}, DIRECT),
        ("Summarise the handbook", "summary", {"forced": True}, DIRECT),
        ("What does chapter 3 say?", "fact", {}, SECTIONS),
        ("第三章讲了什么？", "fact", {}, SECTIONS),
        ("Search the web for the newest release", "fact", {"web": True}, WEB),
        ("上网查一下最新版本", "fact", {"web": True}, WEB),
        ("Search the web for the newest release", "fact", {"web": False}, DIRECT),
        ("What is the latest news about the merger?", "fact", {"web": True}, WEB),
    ],
)
def test_the_first_route(question: str, intent: str, more: dict[str, object], route: str) -> None:
    ways = {"preferred": DIRECT, "settled_by": [], "web": True} | more
    chosen = choose_search_route(question, intent, **ways)  # type: ignore[arg-type]
    assert chosen.name == route
    assert chosen.reason


@pytest.mark.parametrize(
    "question",
    [
        "How do I find the port of the web server in the manual?",
        "Which web browsers are supported?",
        "How do I find my invoices on the web portal?",
        "Where can I find the online form for leave?",
        "Does the plan integrate with Google Workspace?",
        "What weather conditions stop the crane?",
        "怎么开通网上银行？",
        "上网课需要什么设备？",
        "新闻稿由谁审批？",
    ],
)
def test_a_question_about_the_web_is_not_one_for_it(question: str) -> None:
    assert not is_web_request(question)


@pytest.mark.parametrize(
    ("tried", "web", "left"),
    [
        ([], True, SECTIONS),
        ([SECTIONS], True, DIRECT),
        ([DIRECT], False, SECTIONS),
        ([DIRECT, SECTIONS], True, WEB),
        ([DIRECT, SECTIONS], False, None),
        ([DIRECT, SECTIONS, WEB], True, None),
    ],
)
def test_what_is_left_to_try(tried: list[str], web: bool, left: str | None) -> None:
    assert get_next_search(tried, web=web) == left


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("return period of orders", "orders return period", True),
        ("How long is the warranty?", "how long is the warranty", True),
        ("退货 期限", "期限 退货", True),
        ("return period of orders", "return period of foreign orders", False),
    ],
)
def test_queries_that_look_for_the_same_words(one: str, other: str, same: bool) -> None:
    assert is_same_query(one, other) is same


@pytest.mark.parametrize(
    "question",
    [
        "Search the web for the height of the tower",
        "Could you look this up on the internet?",
        "Please google it",
        "How tall is the tower? Look it up online.",
        "上网查一下铁塔有多高",
        "在网上找找铁塔的高度",
    ],
)
def test_a_request_for_the_web(question: str) -> None:
    assert is_web_request(question)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("Search the web for the capital of Mongolia", "the capital of Mongolia"),
        (
            "Can you please search the internet for the height of the tower?",
            "the height of the tower?",
        ),
        ("How tall is the tower? Look it up online.", "How tall is the tower?"),
        ("上网查一下蒙古国的首都是哪里？", "蒙古国的首都是哪里？"),
        (
            "How do I look up my invoices on the web portal?",
            "How do I look up my invoices on the web portal?",
        ),
        ("Search the web", "Search the web"),
    ],
)
def test_the_question_without_the_request(question: str, left: str) -> None:
    """What is searched for is what is asked, not that it is to be searched."""
    assert strip_web_request(question) == left
