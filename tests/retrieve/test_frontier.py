"""Which links promise most, with cases that leave no doubt, in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from citewell.ingest.web.links import Link, Place
from citewell.retrieve.frontier import (
    Known,
    Promise,
    choose_links,
    fold_line,
    get_url_pattern,
    is_signpost,
    label_link,
    list_branches,
    weigh_links,
)
from citewell.retrieve.link_words import Mention, extract_url_words

HOME = "http://shop.example"
ASKED = "How many days do I have to return a lamp?"
ZH = "国际订单多少天内可以退货？"


def link(
    path: str, text: str = "", *, around: str = "", heading: str = "", place: Place = "content"
) -> Link:
    return Link(HOME + path, text, around, heading, place=place)


def order(question: str, links: Sequence[Link | Mention], **more: Any) -> list[str]:
    """The paths, best first. `more`: `meaning` and `led`, and the fields of Known."""
    return [promise.url.removeprefix(HOME) for promise in weighed(question, links, **more)]


def weighed(question: str, links: Sequence[Link | Mention], **more: Any) -> list[Promise]:
    mentions = [each if isinstance(each, Mention) else Mention(each, HOME + "/") for each in links]
    meaning, led = more.pop("meaning", {}), more.pop("led", {})
    return weigh_links(question, mentions, meaning, Known(**more), led)


# ---------------------------------------------------------------- what a link says


@pytest.mark.parametrize(("question", "right"), [
    (ASKED, link("/x", "Returns")),
    (ASKED, link("/help/return-a-lamp", "here")),
    (ASKED, link("/x", "more", heading="Returns")),
    (ASKED, link("/x", "details", around="how to return what you bought")),
    (ZH, link("/x", "退货与退款")),
    (ZH, link("/x", "更多", heading="国际订单")),
    (ZH, link("/%E9%80%80%E8%B4%A7", "这里")),
])  # fmt: skip
def test_words_of_the_question_come_first(question: str, right: Link) -> None:
    """In the link's text, its address, its heading or beside it; and the reason names them."""
    others = [
        link("/journal", "Journal"),
        link("/team", "The people"),
        link("/zh/team", "团队"),
        link("/news", "新闻"),
    ]
    found = weighed(question, [*others, right])
    assert found[0].mention.link is right
    assert found[0].score > found[1].score + 0.05
    assert found[0].why.startswith("it names ")


def test_reasons_show_words_as_the_question_has_them() -> None:
    """Stems are for comparing, not for showing."""
    why = weighed("Which batteries are returned?", [link("/a", "Return of battery packs")])[0].why
    assert sorted(why.removeprefix("it names ").split(", ")) == ["batteries", "returned"]


def test_the_text_of_a_link_counts_more_than_what_is_around() -> None:
    """Text, then address, then heading, then the words beside it."""
    links = [
        link("/a", "one", around="a return"),
        link("/b", "two", heading="Return"),
        link("/return", "three"),
        link("/d", "Return"),
    ]
    assert order("return?", links) == ["/d", "/return", "/b", "/a"]


def test_a_word_that_every_link_has_weighs_little() -> None:
    """The rare word decides."""
    links = [
        *[link(f"/l{c}", f"Lamp {c}") for c in "abcdefgh"],
        link("/w", "Warranty"),
        link("/l", "Lamp lamp"),
    ]
    assert order("How long is the warranty of a lamp?", links)[0] == "/w"


def test_meaning_stands_in_for_words() -> None:
    """A link without one word of the question is first where its label is near; a low cosine adds
    nothing.
    """
    links = [link("/a", "Sending something back"), link("/b", "The people")]
    near = {label_link(links[0]): 0.90, label_link(links[1]): 0.78}
    first, second = weighed(ASKED, links, meaning=near)
    assert (first.url, first.why) == (HOME + "/a", "it is close in meaning")
    assert second.score == weighed(ASKED, links[1:])[0].score


def test_menus_stand_below_the_content() -> None:
    """The same words around the content promise a little less."""
    links = [link("/menu", "Returns", place="around"), link("/content", "Returns")]
    assert order(ASKED, links) == ["/content", "/menu"]
    assert order(ASKED, [*links, link("/other", "The people")])[-1] == "/other"


@pytest.mark.parametrize(
    "text",
    [
        "Log in",
        "Sign up",
        "Shopping cart",
        "Checkout",
        "Share on Facebook",
        "登录",
        "注册",
        "购物车",
    ],
)
def test_what_is_to_be_done_is_never_first(text: str) -> None:
    """Behind every page that can be read; and of two with the words of the question, behind the one
    that is a page.
    """
    links = [link("/x", text), link("/a", "The people"), link("/b", "Journal", place="around")]
    assert order("lamp?", links)[-1] == "/x"
    assert order("lamp?", [link("/x", f"{text}: lamp"), link("/a", "Lamp", place="around")]) == [
        "/a",
        "/x",
    ]


@pytest.mark.parametrize("text", ["Help", "FAQ", "Support", "常见问题", "帮助中心"])
def test_pages_of_help_come_before_others(text: str) -> None:
    """Where no link has a word of the question."""
    assert order("zzz", [link("/a", "Journal"), link("/b", text), link("/c", "新闻")])[0] == "/b"


def test_words_of_the_instruction_help() -> None:
    """A hint of who runs the site, not a rule."""
    links = [link("/a", "Journal"), link("/b", "Workshop notes"), link("/c", "Returns")]
    assert order(ASKED, links, helpful=frozenset({"workshop"})) == ["/c", "/b", "/a"]


def test_deeper_is_a_little_worse() -> None:
    """Of two that promise the same, the one nearer to the start."""
    near, far = Mention(link("/n", "Lamp"), HOME, 1), Mention(link("/f", "Lamp"), HOME, 4)
    assert order("lamp?", [far, near]) == ["/n", "/f"]


def test_an_address_counts_once_with_its_best_words() -> None:
    """However often it is linked."""
    both = [link("/a", "here", place="around"), link("/a", "Return a lamp"), link("/a", "more")]
    (only,) = weighed(ASKED, both)
    assert only.mention.link.text == "Return a lamp"


def test_nothing_to_weigh() -> None:
    """No links, no words: no error."""
    assert weighed(ASKED, []) == []
    assert len(weighed("", [link("/a", "")])) == 1
    assert len(weighed("？？", [link("/%FF%00", "\x00")])) == 1


# ---------------------------------------------------------------- what is learned on the way


def test_a_branch_that_paid_comes_first_and_one_that_did_not_last() -> None:
    """By the folder a page lies in."""
    links = [link("/news/x", "A"), link("/help/x", "A"), link("/else/x", "A")]
    led = {"shop.example/help/": [0.9], "shop.example/news/": [0.0], "other": [0.3]}
    assert order("zzz", links, led=led) == ["/help/x", "/else/x", "/news/x"]
    assert "its branch has paid" in weighed("zzz", links, led=led)[0].why


def test_a_page_whose_links_paid_makes_its_other_links_better() -> None:
    """By the page that leads there; and worse where they did not."""
    links = [
        Mention(link("/a", "A"), HOME + "/good"),
        Mention(link("/b", "A"), HOME + "/bad"),
        Mention(link("/c", "A"), HOME),
    ]
    led = {f"from {HOME}/good": [1.0, 0.8], f"from {HOME}/bad": [0.0, 0.0]}
    assert order("zzz", links, led=led) == ["/a", "/c", "/b"]


def test_a_page_that_answered_before_comes_first() -> None:
    """The same question: before links that have words of it; one hardly like it: not."""
    links = [link("/a", "Return a lamp"), link("/found", "Misc")]
    assert order(ASKED, links)[0] == "/a"
    found = weighed(ASKED, [link("/a", "Lamp"), links[1]], found={HOME + "/found": 1.0})
    assert found[0].url == HOME + "/found"
    assert "it answered such a question before" in found[0].why
    assert order(ASKED, links, found={HOME + "/found": 0.05})[0] == "/a"


@pytest.mark.parametrize("day", ["/cal/{}", "/cal?day={}"])
def test_a_calendar_sinks_as_its_days_give_nothing(day: str) -> None:
    """Each idle day makes the next one worse, until what was behind it comes first; days that
    served do no harm.
    """
    links = [link(day.format(99), "Lamp of the day"), link("/shelf", "Shelf")]
    assert order("lamp of the sea?", links)[0] == day.format(99)
    days = [{HOME + day.format(n): 0.0 for n in range(most)} for most in (3, 20)]
    scores = [
        next(p.score for p in weighed("lamp of the sea?", links, worth=worth) if "cal" in p.url)
        for worth in days
    ]
    assert scores[1] < scores[0] - 0.5
    assert order("lamp of the sea?", links, worth=days[1])[0] == "/shelf"
    assert order("lamp of the sea?", links, worth=dict.fromkeys(days[1], 0.9))[0] == day.format(99)


# ---------------------------------------------------------------- what is taken


def promises(*paths: str) -> list[Promise]:
    return [
        Promise(HOME + path, 1.0 - n / 100, "", Mention(link(path), HOME))
        for n, path in enumerate(paths)
    ]


def taken(found: list[Promise], most: int, **more: float) -> list[str]:
    return [promise.url.removeprefix(HOME) for promise in choose_links(found, most, **more)]


def test_the_best_and_no_more() -> None:
    """At most so many, none below the least."""
    found = promises("/a", "/b", "/c")
    assert taken(found, 2) == ["/a", "/b"]
    assert taken(found, 5, least=0.99) == ["/a", "/b"]
    assert taken(found, 5, least=2.0) == taken([], 5) == []


@pytest.mark.parametrize(
    "day", ["/cal/2024/05/{}", "/cal?day={}", "/cal?year=2024&day={}", "/p{}.html"]
)
def test_a_list_takes_half_at_most(day: str) -> None:
    """Of addresses that differ in figures only; the others have the rest, in their order."""
    found = promises(*[day.format(n) for n in range(6)], "/a", "/b", "/c", "/d")
    assert taken(found, 4) == [day.format(0), day.format(1), "/a", "/b"]
    assert len(taken(promises(*[day.format(n) for n in range(6)]), 1)) == 1


@pytest.mark.parametrize(("one", "other", "same"), [
    ("/cal?day=1", "/cal?day=22", True),
    ("/2024/05/01", "/2023/12/31", True),
    ("/a?x=1&y=2", "/a?y=3&x=4", True),
    ("/a", "/b", False),
    ("/a?x=1", "/a?y=1", False),
    ("/a?x=1", "/a", False),
    ("/p1", "/q1", False),
])  # fmt: skip
def test_pattern(one: str, other: str, same: bool) -> None:
    """Addresses that differ in figures or in what a parameter says have one pattern."""
    assert (get_url_pattern(HOME + one) == get_url_pattern(HOME + other)) is same


def test_patterns_of_two_hosts_differ() -> None:
    assert get_url_pattern("http://a.example/1") != get_url_pattern("http://b.example/1")


def test_branches() -> None:
    """The folder on its host, and the page that leads there."""
    assert list_branches(HOME + "/help/a.html?x=1", HOME) == ["shop.example/help/", f"from {HOME}"]
    assert list_branches(HOME + "/", HOME)[0] == "shop.example/"


# ---------------------------------------------------------------- words


@pytest.mark.parametrize(("url", "words"), [
    ("/help/return-policy.html", "help return policy"),
    ("/index.php?topic=gift_cards", "topic gift cards"),
    ("/%E9%80%80%E8%B4%A7", "退货"),
    ("/", ""),
    ("/giftCards", "gift Cards"),
    ("/a%20b", "a b"),
])  # fmt: skip
def test_words_of(url: str, words: str) -> None:
    """What an address says, without what every address has."""
    assert extract_url_words(HOME + url).split() == words.split()


@pytest.mark.parametrize(("given", "shown"), [
    (link("/a", "Opening hours of the shop"), "Opening hours of the shop"),
    (link("/a", "here", heading="Returns"), "Returns"),
    (link("/a", "更多", heading="退货", around="七天内"), "退货 七天内"),
    (link("/return-policy", "click here"), "return policy"),
    (link("/a", "Europe", heading="Shipping"), "Shipping: Europe"),
    (link("/gift_cards"), "gift cards"),
    (link("/a", "Shipping", heading="Shipping"), "Shipping"),
])  # fmt: skip
def test_label(given: Link, shown: str) -> None:
    """Words that say nothing by themselves are replaced by what stands around them; short ones are
    put under their heading.
    """
    assert label_link(given) == shown


def test_labels_are_short() -> None:
    assert len(label_link(link("/a", "word " * 100))) <= 160


def test_signpost() -> None:
    """A list of links leads to answers and is none; a text with a link in it is one."""
    links = frozenset(
        fold_line(text) for text in ("Returns and refunds", "Shipping costs", "保修", "付款方式")
    )
    assert is_signpost("Help\n\n- Returns and refunds\n- Shipping costs", links)
    assert is_signpost("1. 保修\n2. 付款方式", links)
    assert not is_signpost(
        "Orders may be returned within 14 days of delivery.\n\n- Shipping costs", links
    )
    assert not is_signpost("可以在签收后十四天内申请退货，详情见下。\n- 保修", links)
    assert not is_signpost(
        "Valid for three years.\n\n- Returns and refunds\n- Shipping costs\n- 保修", links
    )
    assert not is_signpost("有效期三年。\n- 保修\n- 付款方式", links)
    assert not is_signpost("", links)
    assert not is_signpost("- Returns and refunds", frozenset())


def test_folded() -> None:
    """Without list marks and numbers, in small letters."""
    assert (
        fold_line(" 1.2)  Returns   AND refunds ")
        == fold_line("- returns and refunds")
        == "returns and refunds"
    )
    assert fold_line("三、保修") == "三、保修"
