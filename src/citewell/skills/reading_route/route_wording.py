"""What a reading route says in our own words, in English and Chinese, all here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from citewell.messages import Text, translate
from citewell.skills.guide.guide_wording import resolve_language

_TEXTS: Final[Mapping[str, Text]] = {
    "open": Text(
        "The paper in short: what it sets out to do, before the parts that serve your interest."
    ),
    "open_general": Text("The paper in short: what it sets out to do, and what it claims."),
    "near": Text("It comes near to your interest: it says “{said}”."),
    "asked": Text("It belongs to the part that you ask for: “{said}”."),
    "results": Text("The results that bear on it: “{said}”."),
    "discussion": Text("What the authors make of it: “{said}”."),
    "beside": Text("What stands beside it: “{said}”."),
    "limits": Text("Where it stops: “{said}”."),
    "general_introduction": Text("Why the paper was written, and what is new in it."),
    "general_related_work": Text("What was there before."),
    "general_method": Text("How it is done: “{said}”."),
    "general_results": Text("What came out: “{said}”."),
    "general_discussion": Text("What the authors make of it, and where it stops."),
    "general_other": Text("What it says: “{said}”."),
    "general_unsaid": Text("One of the sections that the paper has."),
    "unrelated": Text(
        "The paper seems to say nothing of “{interest}”; this is its route in short. {why}"
    ),
    "added": Text("You put this section in."),
    "title": Text("Reading route"),
    "for": Text("Reading route: {interest}"),
    "left": Text("{minutes} minutes of reading left"),
    "all_done": Text("All of it is read."),
    "page": Text("page {first}"),
    "pages": Text("pages {first}–{last}"),
    "minutes": Text("{minutes} min"),
}


def format_message(key: str, lang: str, **values: object) -> str:
    """One of our sentences."""
    return translate(_TEXTS[key].fill(**values), resolve_language(lang))
