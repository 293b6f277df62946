"""Which pages the `website` agent reads next. Every page that is read has a reason that can be
told.

Nothing a page says is obeyed here: its links are compared with the question, and where they may
lead was decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import anyio.to_thread

from citewell.agents.website.website_state import Deps, SitePage, WebsiteState
from citewell.messages import Text
from citewell.retrieve.confidence import BEST
from citewell.retrieve.frontier import (
    Known,
    Promise,
    choose_links,
    label_link,
    list_branches,
    weigh_links,
)
from citewell.retrieve.link_words import Mention
from citewell.text.tokens import tokenize_for_index, tokenize_query

# links whose meaning is looked at in one round: 30 ms each; the others count by their words
LABELS = 120
NEAR = 0.6  # of the best one's promise: what has less waits for another round
# A link that promises so much is followed before the model is asked whether the answer is here
# already. Links whose words are those of the question have 0.9 and more, so the page that they lead
# to is most often the one.
STRONG = 0.75
# where the best link promises no more, none is better than the others, and as many as may be are
# read
POOR = 0.1
LEAST = -0.1  # less promises only a login or a cart
# When nothing on a site is near a question, by what is left to follow, the confidence of the
# search, and the cosine of its best passage. Chosen by a trial script on ten questions of the
# Debian FAQ and ten from elsewhere (SQuAD2, CMRC), each in English, in Chinese, and in Chinese to
# the English site, no table of contents: after one round 17 of 30 strangers are seen, after two 27,
# and none of the 30 others before its page was read. Less is never judged by: a start page may say
# little.
# (pages read beside the start pages, promise, confidence): below both
NOTHING = ((5, 0.0, 0.0), (8, 0.1, 0.08))
# Below it passages of multilingual-e5-small are about something else, in the other language too,
# where confidence says little.
FAR = {"builtin:multilingual-e5-small": 0.755}
MOST_WEIGHED = 3_000  # links weighed in one round
MOST_DISCOVERED = 20_000  # addresses remembered in one run: a calendar that never ends


def record_page(state: WebsiteState, deps: Deps, page: SitePage) -> None:
    """Write a page that was read into the state, with the links that may be followed."""
    place = state.place(page.url)
    state.place(page.uri)
    state.warnings += [each for each in page.notes if each not in state.warnings]
    if page.problem:
        state.problems[place] = page.problem
    if page.doc_id:
        state.fetched[page.doc_id] = page.fetched_at
    depth = state.depths.setdefault(place, 1)
    leads: dict[int, None] = {}
    for link in page.links:
        known = link.url in state.all_discovered_urls
        if (known or len(state.all_discovered_urls) < MOST_DISCOVERED) and deps.site.is_allowed(
            link.url
        ):
            there = state.place(link.url)
            state.depths.setdefault(there, depth + 1)
            leads[there] = None
    state.url_graph[place] = list(leads)


async def rank_by_words(state: WebsiteState, deps: Deps) -> list[Promise]:
    """Every link that was seen and not followed, best first by its words: no model is asked."""
    return await _weigh_links(state, _collect_mentions(state, deps), {})


async def rank_by_meaning(state: WebsiteState, deps: Deps) -> list[Promise]:
    """The same with the meaning of the words, and with the pages that the site's own map names."""
    mentions = _collect_mentions(state, deps)
    if deps.settings.sitemap and _can_follow(state, deps):
        open_ = build_open_check(state, deps)
        mentions += [
            Mention(link, Text("the sitemap"), 2)
            for link in await deps.site.sitemap()
            if open_(link.url)
        ]
    found = await _weigh_links(state, mentions, {})
    labels = dict.fromkeys(label_link(promise.mention.link) for promise in found)
    # other words for the same pages
    labels |= dict.fromkeys(label_link(mention.link) for mention in mentions)
    meaning = await deps.site.compare_labels(state.standalone, list(labels)[:LABELS])
    return await _weigh_links(state, mentions, meaning) if meaning else found


async def _weigh_links(
    state: WebsiteState, mentions: list[Mention], meaning: Mapping[str, float]
) -> list[Promise]:
    """In a thread: of thousands of links it takes a second, and others are served meanwhile."""
    known, led, question = _build_known(state), dict(state.led), state.standalone
    return await anyio.to_thread.run_sync(
        lambda: weigh_links(question, mentions, meaning, known, led)
    )


def _can_follow(state: WebsiteState, deps: Deps) -> bool:
    """Whether the limits let anything be followed."""
    left = deps.settings.max_pages - len(state.visited_urls)
    return left > 0 and state.current_iteration < deps.settings.max_iterations


def choose_pages(state: WebsiteState, deps: Deps, found: list[Promise]) -> list[Promise]:
    """The pages of the next round, none where no link promises enough or a limit is reached."""
    left = deps.settings.max_pages - len(state.visited_urls)
    if not found or not _can_follow(state, deps):
        return []
    least = NEAR * found[0].score if found[0].score > POOR else LEAST
    return choose_links(found, min(left, deps.settings.max_urls_per_iteration), least)


def is_off_topic(state: WebsiteState, deps: Deps, found: list[Promise]) -> bool:
    """Whether the site seems to be about something else: it is not explored further."""
    cosine = max((hit.signals.get("cosine", 0.0) for hit in state.documents[:BEST]), default=0.0)
    far = cosine < FAR.get(deps.embedder.name, -1.0)
    best = found[0].score if found else -1.0
    read = sum(
        place not in state.problems and state.depths.get(place, 1) > 0
        for place in state.visited_urls
    )
    return any(
        read >= pages and best < promise and (far or state.retrieval_confidence < sure)
        for pages, promise, sure in NOTHING
    )


def learn_page_worth(state: WebsiteState, deps: Deps, worth: dict[str, float]) -> None:
    """Note how well each page serves the question (by doc_id), for its branch of the site."""
    every = list(state.all_discovered_urls)
    sources = {
        there: every[place] for place, leads in reversed(state.url_graph.items()) for there in leads
    }
    state.led = {}
    for page in deps.site.pages.values():
        place = state.all_discovered_urls.get(page.url)
        if place is not None:
            state.worth[place] = worth.get(page.doc_id, 0.0)
            for branch in list_branches(page.uri, sources.get(place, "")):
                state.led.setdefault(branch, []).append(
                    max(state.worth[place], state.found.get(page.uri, 0.0))
                )


def _collect_mentions(state: WebsiteState, deps: Deps) -> list[Mention]:
    """The links of all pages read that were not followed yet, those of the latest pages first; one
    that many pages have alike, once. Of too many, those that have a word of the question in them.
    """
    open_, found = build_open_check(state, deps), dict[tuple[str, str, str], Mention]()
    for page in reversed(list(deps.site.pages.values())):
        depth = state.depths.get(state.all_discovered_urls.get(page.url, -1), 1)
        for link in page.links:
            key = (link.url, link.text, link.heading)
            if key not in found and len(found) < MOST_DISCOVERED and open_(link.url):
                found[key] = Mention(link, page.uri, depth + 1)
    every = list(found.values())
    if len(every) <= MOST_WEIGHED:
        return every
    begins = [token[:4] for token in tokenize_query(state.standalone)]
    every.sort(
        key=lambda mention: (
            not any(each in f"{mention.link.text} {mention.link.url}".casefold() for each in begins)
        )
    )
    return every[:MOST_WEIGHED]


def build_open_check(state: WebsiteState, deps: Deps) -> Callable[[str], bool]:
    """Tells whether a link may be followed and was not."""
    visited = set(state.visited_urls)

    def is_open(url: str) -> bool:
        return (
            not deps.site.read(url)
            and state.all_discovered_urls.get(url) not in visited
            and deps.site.is_allowed(url)
        )

    return is_open


def _build_known(state: WebsiteState) -> Known:
    every = list(state.all_discovered_urls)
    worth = {every[place]: value for place, value in state.worth.items()}
    return Known(worth, state.found, frozenset(tokenize_for_index(state.instruction)))
