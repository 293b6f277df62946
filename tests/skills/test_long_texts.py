"""What looks at earlier messages reads the longest one that a request may bring in one pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.timing import cpu_seconds

from citewell.service.ask.run import LONGEST_MESSAGE
from citewell.skills.answer.draft import stream_texts
from citewell.skills.answer.find_answer import split_question
from citewell.skills.dialogue.reference import candidates, depends_on_history, joined, readings
from citewell.skills.dialogue.route import without_request
from citewell.skills.memory.remember import facts_told
from citewell.skills.proof.exact import check_equation
from citewell.text.dates import take_dates
from citewell.text.entities import entity_list
from citewell.text.facts import facts, names, plain_words
from citewell.types import Message

UNITS = [
    "A ",
    "a.",
    "<think>",
    "\n",
    " ",
    "(",
    "“",
    "1,",
    "may ",
    "may 1\n",
    "A和",
    "一",
    "I am ",
    "呢",
    "A-",
    "，",
]


def _history(text: str) -> list[Message]:
    return [Message(role="user", content=text), Message(role="assistant", content=text)]


READ: dict[str, Callable[[str], object]] = {
    "candidates": lambda text: candidates("How much is it?", _history(text)),
    "readings": lambda text: readings("How much is it?", _history(text)),
    "joined": lambda text: joined("How much is it?", _history(text)),
    "depends": lambda text: depends_on_history(text, _history(text)),
    "facts": facts.__wrapped__,
    "names": names,
    "plain words": plain_words,
    "dates": take_dates,
    "entities": entity_list,
    "told": facts_told,
    "request": lambda text: without_request(f"search online {text} search"),
    "questions": split_question,
    "equation": check_equation,
    "stream": lambda text: stream_texts(lambda _: None)(f'{{"sentences": [{{"text": "{text}'),
}


@pytest.mark.parametrize("reads", READ)
def test_in_one_pass(reads: str) -> None:
    """Far less than a second (all that took the square of it took seconds); 0.01 to 0.14 where they
    were measured.
    """
    for unit in UNITS:
        text = (unit * LONGEST_MESSAGE)[:LONGEST_MESSAGE]
        assert cpu_seconds(lambda text=text: READ[reads](text), tries=1) < 0.8, unit  # type: ignore[misc]


def test_an_earlier_question_is_read_from_its_beginning() -> None:
    before = [Message(role="user", content="A100 and B200: which is lighter? " + "x" * 10_000)]
    assert candidates("How much does it cost?", before) == ["A100", "B200"]
    assert len(joined("And it?", before)) < 2_100


def test_endless_figures_are_a_number() -> None:
    assert facts("一" * 5_000).numbers
