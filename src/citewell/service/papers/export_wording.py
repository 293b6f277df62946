"""The words around report, route and conversation, in both languages; none of the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from citewell.messages import Text, translate

WORDS: Final[Mapping[str, Text]] = {
    "problem": Text("Problem"),
    "contributions": Text("Contributions"),
    "method": Text("Method"),
    "results": Text("Results"),
    "limits": Text("Limits"),
    "report": Text("Report"),
    "terms": Text("Words to know"),
    "questions": Text("Questions worth asking"),
    "quotes": Text("Quotes"),
    "plan": Text("Reading route"),
    "interest": Text("Interest: {}"),
    "all": Text("The paper in short."),
    "left": Text("{:g} of {:g} minutes left"),
    "minutes": Text("{:g} min"),
    "answers": Text("Conversation"),
    "page": Text("p. {}"),
    "pages": Text("pp. {}–{}"),
    "unsupported": Text("not supported by the paper"),
    "partly": Text("only partly supported by the paper"),
    "refused": Text("no answer from the paper"),
    "made": Text("Made with Citewell {} from {}; session {}, last changed {}."),
    "next": Text("next to read"),
    "last": Text("asked last"),
    "tick": Text("[route] read: {}"),
    "untick": Text("[route] not read yet: {}"),
    "remove": Text("[route] left out: {}"),
    "move": Text("[route] moved to place {}: {}"),
    "add": Text("[route] added: {}"),
    "report_missing": Text("The report has not been made yet."),
    "paper": Text("Paper"),
    "unsure": Text("Not sure; nearest: "),
}


def get_words(lang: str) -> dict[str, str]:
    """English where a language is not known."""
    return {key: translate(text, lang) for key, text in WORDS.items()}


def format_place(section: str, page: int | None, words: dict[str, str]) -> str:
    """Where a quote stands; empty where that is not known."""
    return ", ".join(filter(None, [words["page"].format(page) if page else "", section]))


def format_pages(first: int, last: int, words: dict[str, str]) -> str:
    """Pages from first to last; empty where there are none."""
    if not first:
        return ""
    return words["page"].format(first) if last in {0, first} else words["pages"].format(first, last)
