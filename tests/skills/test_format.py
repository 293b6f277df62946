"""How an answer is written down."""

from __future__ import annotations

from citewell.skills.answer.format import format_with_markers
from citewell.types import Sentence


def test_rows_of_a_table_stand_on_lines_of_their_own() -> None:
    """No full stop ends a row: in one line with what follows, two rows would read as one."""
    texts = [
        "Leave is agreed.",
        "Leave | Oslo: 27 days",
        "At most | Oslo: 30 days",
        "Ask early.",
        "Ask in writing.",
    ]
    shown = format_with_markers(
        [
            Sentence(text=text, citations=[n], verdict="supported")
            for n, text in enumerate(texts, 1)
        ],
        "en",
    )
    assert shown == (
        "Leave is agreed.[1]\n\n- Leave | Oslo: 27 days[2]\n- At most | Oslo: 30 days[3]\n\nAsk "
        "early.[4] Ask in writing.[5]"
    )


def test_items_of_a_list_stand_apart() -> None:
    texts = ["You need:", "a) a passport", "b) a ticket", "Nothing else."]
    sentences = [Sentence(text=each, citations=[1], verdict="supported") for each in texts]
    shown = format_with_markers(sentences, "en")
    assert shown == "You need:[1]\n\na) a passport[1]\n\nb) a ticket[1]\n\nNothing else.[1]"
