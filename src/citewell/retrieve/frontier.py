"""Which links to follow for a question: pure functions over links that were seen and pages that
were read. Nothing that a page says changes what the rules are. Its words can only make a link of it
stand out, as the words of any other link can; where a link may lead at all was decided before.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from citewell.ingest.web.links import Link
from citewell.messages import Text
from citewell.retrieve.link_words import Mention, Words, extract_url_words, tokenize_text
from citewell.retrieve.rank import compute_coverage
from citewell.text.tokens import tokenize_for_index

# How much each figure counts; WORDS and MEANING are of one link each, the others add to it. Chosen
# by a trial script on all 120 questions of the Debian FAQ, its start page without the contents that
# repeat each question, by pages read until the right one: English, Chinese, Chinese questions to
# the English site 5.17, 5.55, 6.17 (0.55 and 0.45 from 0.78 on, with 0.08 for any link that says
# "support" or "about": 5.49, 5.86, 6.60; words only: 5.84, 5.94, 7.87). `evals/website.py --only
# order --no- toc` measures it.
WORDS, MEANING = 0.4, 0.6
# for a branch whose pages so far served the question as well as any; as much less for one whose
# pages did not
LED = 0.25
FOUND = 0.5  # for a page on which the answer to the same question was found before
# for links that say little but that they help (FAQ, help centre), and for words of the instruction
HELPFUL = 0.08
MENU = 0.05  # less for a link around the content: it stands on every page
DEPTH = 0.01  # less for each step from the start
# less for each page read whose address is of the same pattern and served nothing: calendars, long
# lists
ALIKE = 0.06
ENOUGH = 3  # words that a link shares with the question, for its meaning to be taken for granted
UNREADABLE = 0.3  # less for what is there to be done, not to be read
SENTENCE = 4  # words beside its links, of a passage that says something itself
# of the question's words in a passage: if less of them stand outside its links, it only leads there
SAYS = 0.6
# of multilingual-e5-small between short texts: unrelated, and the span to nearly the same
LEAST_COSINE, WIDE = (0.80, 0.12)

_HELPFUL = re.compile(
    r"\W*(?:(?:customer |technical )?(?:help|support)"
    r"(?: (?:cent(?:er|re)|desk|pages?))?|faqs?|frequently asked questions"
    r"|questions and answers|docs?|documentation|(?:user )?guides?|knowledge ?base|policies)\W*"
    r"|(?:帮助|支持|客服|服务)(?:中心|页面)?|常见问题(?:解答)?|问答|(?:使用)?(?:文档|指南|"
    r"手册)|政策",
    re.IGNORECASE,
)
_TO_BE_DONE = re.compile(
    r"\b(?:log[ -]?(?:in|out)|sign[ "
    r"-]?(?:in|up|out)|register|cart|checkout|basket|wishlist|account|(?:un)?subscribe|share"
    r"|print|edit|reply|comment|delete|compare|rss|feed|tweet|facebook|linkedin|wechat|"
    r"weibo)\b|登录|登陆|注册|购物车|结算|分享|打印|订阅",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(
    r"\W*(?:here|click here|more|read more|learn more|see "
    r"more|details?|view|next|previous|prev|link|this|go|continue"
    r"|详情|更多|查看|查看更多|了解更多|点击这里|这里|下一页|上一页|阅读全文|继续)\W*",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[.!。！]\W*$")
_BEFORE = re.compile(r"[:：;；(（–—|]| - ")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Promise:
    """How much following `url` promises, best near 1, and why, in words. `mention`: the one that
    promised most; `names`: words of the question in it.
    """

    url: str
    score: float
    why: str
    mention: Mention
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class Known:
    """What is known when links are weighed. `worth`: how well each page read serves the question, 0
    to 1, by address. `found`: how alike the questions are that pages answered before. `helpful`:
    words of the instruction.
    """

    worth: Mapping[str, float] = field(default_factory=dict)
    found: Mapping[str, float] = field(default_factory=dict)
    helpful: frozenset[str] = frozenset()


def label_link(link: Link) -> str:
    """What a link is about in a few words: what is compared with the question by its meaning."""
    text = link.text
    if not text or _SAYS_NOTHING.fullmatch(text):
        text = " ".join(part for part in (link.heading, link.around) if part) or extract_url_words(
            link.url
        )
    elif len(text) < 12 and link.heading and link.heading not in text:
        text = f"{link.heading}: {text}"
    return text[:160]


def get_url_pattern(url: str) -> str:
    """An address with its figures taken out: the days of a calendar have one pattern."""
    parts = urlsplit(url)
    values = [_NUMBERS.sub("#", each) for each in parts.query.split("&")]
    query = "&".join(sorted(each if "#" in each else each.partition("=")[0] for each in values))
    return f"{parts.netloc}{_NUMBERS.sub('#', parts.path)}?{query}"


def list_branches(url: str, source: str) -> list[str]:
    """What a page belongs to: the folder it lies in, and the page that leads to it."""
    parts = urlsplit(url)
    return [f"{parts.netloc}{parts.path.rpartition('/')[0]}/", f"from {source}"]


def weigh_links(
    question: str,
    mentions: Sequence[Mention],
    meaning: Mapping[str, float],
    known: Known,
    led: Mapping[str, list[float]],
) -> list[Promise]:
    """Every address once, best first. `meaning`: the cosine of each label to the question (a label
    that is not there counts by its words, twice); `led`: what pages of each branch were worth.
    """
    words = Words(question, mentions)
    seen = Counter(get_url_pattern(url) for url in known.worth)
    idle = Counter(get_url_pattern(url) for url, worth in known.worth.items() if worth < 0.2)
    usual = _compute_mean([worth for values in led.values() for worth in values])
    best: dict[str, Promise] = {}
    for mention in mentions:
        link = mention.link
        shares, named = words.score_link(link)
        cosine = meaning.get(label_link(link))
        unknown = shares * min(1.0, len(named) / ENOUGH)
        close = unknown if cosine is None else min(1.0, max(0.0, (cosine - LEAST_COSINE) / WIDE))
        score = WORDS * shares + MEANING * close
        reasons: list[str] = []
        if named:
            reasons.append(Text("it names {words}", words=", ".join(named)))
        if cosine is not None and close >= 0.5:
            reasons.append(Text("it is close in meaning"))
        if (alike := known.found.get(link.url, 0.0)) > 0:
            score += FOUND * alike
            reasons.append(Text("it answered such a question before"))
        gain = _compute_gain(link.url, mention.source, led, usual)
        score += gain
        if gain > 0.02:
            reasons.append(Text("its branch has paid"))
        kind = _score_kind(link, known.helpful)
        if kind > 0:
            reasons.append(Text("it is there to help"))
        score += kind
        score -= DEPTH * mention.depth + (MENU if link.place == "around" else 0.0)
        of_kind = get_url_pattern(link.url)
        score -= ALIKE * idle[of_kind] if seen[of_kind] else 0.0
        old = best.get(link.url)
        if old is None or score > old.score:
            best[link.url] = Promise(
                link.url,
                round(score, 4),
                Text("; ").join(reasons) or Text("nothing better is left"),
                mention,
                tuple(named),
            )
    return sorted(best.values(), key=lambda promise: -promise.score)


def _compute_gain(url: str, source: str, led: Mapping[str, list[float]], usual: float) -> float:
    """What the pages of its branches were worth, against what pages here usually are."""
    gains = [
        LED * (_compute_mean(led[branch]) - usual)
        for branch in list_branches(url, source)
        if led.get(branch)
    ]
    return max(gains, key=abs, default=0.0)


def _score_kind(link: Link, helpful: frozenset[str]) -> float:
    text = f"{link.text} {extract_url_words(link.url)}"
    gain = HELPFUL if _HELPFUL.fullmatch(link.text.strip()) else 0.0
    gain += HELPFUL if helpful & tokenize_text(text) else 0.0
    return gain - (UNREADABLE if _TO_BE_DONE.search(text) else 0.0)


def _compute_mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def choose_links(promises: Sequence[Promise], most: int, least: float = -math.inf) -> list[Promise]:
    """The best `most` with at least `least`; of one pattern with figures no more than half, so that
    no list takes all.
    """
    taken: list[Promise] = []
    of_pattern: Counter[str] = Counter()
    for promise in promises:
        if len(taken) >= most or promise.score < least:
            break
        of_kind = get_url_pattern(promise.url)
        if "#" in of_kind and of_pattern[of_kind] >= max(1, most // 2):
            continue
        of_pattern[of_kind] += 1
        taken.append(promise)
    return taken


def strip_link_lines(text: str, links: frozenset[str]) -> str:
    """A passage without the lines that are links (`links`: their words, `fold_line`), or a link and
    what is said of it.
    """
    kept = []
    for line in text.splitlines():
        words = fold_line(line)
        leads = words in links or (
            not _SENTENCE.search(line) and _BEFORE.split(words, maxsplit=1)[0].strip() in links
        )
        kept += [] if leads else [line]
    return "\n".join(kept).strip()


def is_signpost(text: str, links: frozenset[str], question: str = "") -> bool:
    """Whether a passage only leads on: all links, or the question's words are in these."""
    own = strip_link_lines(text, links)
    if own == text.strip():
        return False
    if not own or not question:
        return len(tokenize_for_index(own)) < SENTENCE
    here, alone = compute_coverage(question, [text, own])
    return alone < SAYS * here


def fold_line(text: str) -> str:
    """Words to compare a line of a page with its links: without list marks and numbers."""
    return re.sub(r"^[\W\d_]+", "", " ".join(text.split())).casefold()
