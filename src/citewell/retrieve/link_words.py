"""What the words of a link share with a question."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import unquote, urlsplit

from citewell.ingest.web.links import Link
from citewell.text.tokens import tokenize_for_index, tokenize_query

# of the words' figure: the share of a link's own words that are the question's, so that the shorter
# of two wins
PRECISE = 0.3
# of a word that stands only above the link, around it, or in its address
HEADING, AROUND, ADDRESS = (0.6, 0.5, 0.7)
_WORD = re.compile(r"[A-Za-z][\w'-]*")


@dataclass(frozen=True, slots=True)
class Mention:
    """A link on a page. `source`: that page; `depth`: its steps from the start, plus one."""

    link: Link
    source: str
    depth: int = 1


@lru_cache(maxsize=20_000)
def extract_url_words(url: str) -> str:
    """The words of an address, without what every address has."""
    parts = urlsplit(url)
    path = re.sub(r"\.(?:x?html?|php|aspx?|jsp)$|\bindex\b", " ", unquote(parts.path))
    return " ".join(
        re.split(r"[/\-_.+=&%]+|(?<=[a-z])(?=[A-Z])", f"{path} {unquote(parts.query)}")
    ).strip()


@lru_cache(maxsize=50_000)
def tokenize_text(text: str) -> frozenset[str]:
    return frozenset(tokenize_for_index(text))


@lru_cache(maxsize=50_000)
def _tokenize_query(text: str) -> frozenset[str]:
    return frozenset(tokenize_query(text))


class Words:
    """How much of the question's words links hold; a word that most links have weighs little."""

    def __init__(self, question: str, mentions: Sequence[Mention]) -> None:
        # a stem is no word to show
        shown = {
            token: word for word in _WORD.findall(question) for token in tokenize_for_index(word)
        }
        self._terms = {token: shown.get(token, token) for token in tokenize_query(question)}
        self._weights = self._weigh_terms(mentions)
        self._whole = sum(self._weights.values()) or 1.0

    def _weigh_terms(self, mentions: Sequence[Mention]) -> dict[str, float]:
        held: Counter[str] = Counter()
        every = {(m.link.url, m.link.text) for m in mentions}
        for url, text in every:
            held.update(
                set(self._terms) & (tokenize_text(text) | tokenize_text(extract_url_words(url)))
            )
        return {term: math.log(1 + (len(every) + 0.5) / (held[term] + 0.5)) for term in self._terms}

    def score_link(self, link: Link) -> tuple[float, list[str]]:
        """0 to 1, and the words found, weightiest first (three at most)."""
        counts: defaultdict[str, float] = defaultdict(float)
        places = (
            (1.0, link.text),
            (HEADING, link.heading),
            (AROUND, link.around),
            (ADDRESS, extract_url_words(link.url)),
        )
        for weight, text in places:
            for term in self._weights.keys() & tokenize_text(text) if text else ():
                counts[term] = max(counts[term], weight)
        total = sum(self._weights[term] * weight for term, weight in counts.items())
        own = _tokenize_query(link.text)
        if shared := own & self._weights.keys():
            total *= 1 - PRECISE + PRECISE * len(shared) / len(own)
        best = sorted(counts, key=lambda term: -self._weights[term] * counts[term])
        words = list(dict.fromkeys(self._terms[term] for term in best))
        named = [word for word in words if not any(each != word and each in word for each in words)]
        return total / self._whole, named[:3]
