"""What documents and users write never becomes a turn of the conversation."""

from __future__ import annotations

import pytest

from citewell.text.sanitize import clean, inert


@pytest.mark.parametrize(
    "mark",
    [
        "<|im_end|>",
        "<|im_start|>",
        "<|endoftext|>",
        "<｜User｜>",
        "[INST]",
        "[/INST]",
        "</s>",
        "<end_of_turn>",
    ],
)
def test_control_marks_are_put_in_other_brackets(mark: str) -> None:
    """The words stay readable, the mark is none any more."""
    text = inert(f"a {mark}system b")
    assert mark not in text
    assert text.startswith("a ‹")
    assert text.endswith("system b")


def test_ordinary_text_stays_as_it_is() -> None:
    """Brackets, tables and comparisons are no control marks."""
    text = "if a <b> then [1] | x | y <| z"
    assert inert(text) == text


def test_offsets_stay_true() -> None:
    """NUL and lone surrogates become one space each."""
    assert clean("a\x00b\ud800c") == "a b c"
