"""What a question names: names, codes, quotes, figures, dates, Chinese nouns; perhaps none."""

from __future__ import annotations

import re
from dataclasses import dataclass

import rjieba

from citewell.text.facts import extract_facts, extract_names

_QUOTED = re.compile(r"[\"“「『《]([^\"”」』》]{1,60})[\"”」』》]")
# tags of jieba's own tag set
_NOUNS = frozenset({"n", "nr", "nrt", "ns", "nt", "nz", "nw", "vn", "eng", "j", "l"})
_PROPER = frozenset({"nr", "nrt", "ns", "nt", "nz"})
_ASKING = frozenset(
    {"时候", "时间", "问题", "什么", "原因", "情况", "东西", "方面", "地方", "请问", "多长时间"}
)


@dataclass(frozen=True, slots=True)
class Entity:
    """`entity` is case-folded. `type`: name, code, number, date, quoted or concept."""

    entity: str
    type: str


def extract_entities(text: str) -> list[Entity]:
    """Each entity once: quoted words, names and codes, Chinese nouns, figures."""
    found: dict[str, str] = {}
    for quoted in _QUOTED.findall(text):
        found.setdefault(quoted.strip().casefold(), "quoted")
    for name in sorted(extract_names(text)):
        found.setdefault(name, "code" if any(c.isdigit() for c in name) else "name")
    for word, tag in rjieba.tag(text):
        if tag in _NOUNS and len(word) > 1 and not word.isascii() and word not in _ASKING:
            found.setdefault(word, "name" if tag in _PROPER else "concept")
    known = extract_facts(text)
    found |= dict.fromkeys(sorted(known.numbers), "number") | dict.fromkeys(
        sorted(known.dates), "date"
    )
    return [Entity(entity, kind) for entity, kind in found.items() if entity]


def extract_search_names(text: str) -> list[str]:
    """The entities that a search looks for verbatim."""
    return [each.entity for each in extract_entities(text) if each.type not in {"number", "date"}]
