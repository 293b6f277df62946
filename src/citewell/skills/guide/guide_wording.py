"""What the guide itself says, in English and Chinese: headings, made questions, the question to the
reader. What a reader is told in our words stands here, once; what the paper says is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from citewell.messages import Text, translate
from citewell.text.language import HAN

Lang = Literal["en", "zh"]

_TEXTS: Final[Mapping[str, Text]] = {
    "problem": Text("The problem"),
    "contributions": Text("What is new"),
    "method": Text("The method in short"),
    "results": Text("Main results"),
    "limits": Text("Limits"),
    "terms": Text("Terms to know"),
    "questions": Text("Questions worth asking"),
    "interest": Text("What interests you?"),
    "quotes": Text("Quotes"),
    "page": Text("page {page}"),
    "place": Text("{section}, page {page}"),
    "ask": Text(
        "What in this paper matters most to you?{examples} Say it in your own "
        "words and you get a reading route for it; say nothing and you get the "
        "route of the paper in short."
    ),
    "examples": Text(" For example {topics}."),
    "or": Text("{items} or {last}"),
    "quoted": Text("“{text}”"),
    "how": Text("How does {name} work?"),
    "how_unnamed": Text("How do the authors go about it?"),
    "better": Text("By how much does {name} do better than {other}?"),
    "differs": Text("How does {name} differ from earlier work?"),
    "differs_unnamed": Text("How does this paper differ from earlier work?"),
    "data": Text("On which data is {name} tested?"),
    "data_unnamed": Text("Which data does the paper rest on?"),
    "float": Text("What do the authors read from {label} ({caption})?"),
    "heading": Text("What does the paper find on “{heading}”?"),
    "without": Text("What happens without {part}?"),
    "limit": Text("What can {name} not do, by its authors' own account?"),
    "limit_unnamed": Text("Which limits do the authors themselves name?"),
    "paper_language": Text(
        "The statements stay in the paper's language: no connected chat model "
        "wrote them in English."
    ),
    "no_model": Text(
        "The chat model did not answer ({problem}); these are the paper's own sentences."
    ),
    "empty": Text("No sentence of this file could be quoted: it seems to hold no running text."),
    "unproved": Text("Left out of “{slot}”, for it could not be proved by the paper: {text}"),
    "missing": Text("Nothing in the paper could be told with certainty for: {slots}."),
}

_ASKED: Final = frozenset(
    {"how", "better", "differs", "data", "float", "heading", "without", "limit"}
)
# Chinese sets a space beside Latin names
_BESIDE = re.compile(rf"(?<=[{HAN}])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[{HAN}])")


def resolve_language(lang: str) -> Lang:
    """The nearest language that we speak."""
    return "zh" if lang.casefold().startswith("zh") else "en"


def format_message(key: str, lang: str, **values: object) -> str:
    """One of our sentences."""
    text = translate(_TEXTS[key].fill(**values), resolve_language(lang))
    return _BESIDE.sub(" ", text) if key in _ASKED else text
