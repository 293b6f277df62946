"""What documents and users write never becomes a turn of the conversation."""

from __future__ import annotations

import pytest

from citewell.text.sanitize import escape_chat_markers, replace_unsafe_chars


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
    text = escape_chat_markers(f"a {mark}system b")
    assert mark not in text
    assert text.startswith("a ‹")
    assert text.endswith("system b")


def test_ordinary_text_stays_as_it_is() -> None:
    """Brackets, tables and comparisons are no control marks."""
    text = "if a <b> then [1] | x | y <| z"
    assert escape_chat_markers(text) == text


def test_offsets_stay_true() -> None:
    """NUL and lone surrogates become one space each."""
    assert replace_unsafe_chars("a\x00b\ud800c") == "a b c"
