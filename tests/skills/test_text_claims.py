"""The statements of a text, without the marks of Markdown around them."""

from __future__ import annotations

import pytest

from citewell.text.claims import find_statement_spans, strip_statement_markup


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("It is red. It is old.", ["It is red.", "It is old."]),
        ("水泵重 12 公斤。它运行八小时[2]。", ["水泵重 12 公斤。", "它运行八小时。"]),
        ("# Title\n\nHead\n----\n\nIt **is** *red*.[1]", ["It is red."]),
        (
            "- It is red.\n2. See [the page](http://a.example/b).\n> `x_y` holds.",
            ["It is red.", "See the page.", "x_y holds."],
        ),
        ("Before.\n\n```sh\nrun this. now.\n```\nAfter.", ["Before.", "After."]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| 1 | 2 |"]),
        ("It stays 2 * 3.\n---\n***\n", ["It stays 2 * 3."]),
        ("", []),
    ],
)
def test_statements(text: str, statements: list[str]) -> None:
    """Offsets are those of the text as it was given."""
    assert [
        strip_statement_markup(text[start:end]) for start, end in find_statement_spans(text)
    ] == statements


@pytest.mark.parametrize(
    "text",
    ["|-" * 10_000, "[(" * 10_000, "[" * 20_000, "|" * 10_000 + "\n" + "|" * 9_000, "*" * 20_000],
)
def test_no_text_takes_long(text: str) -> None:
    assert len(find_statement_spans(text)) <= 2
