"""Files of questions and corpora: what is read, what is named, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from citewell.errors import InvalidInput
from citewell.measure.dataset import format_troubles, read_corpus, read_questions


def lines(path: Path, *records: object) -> Path:
    text = "\n".join(
        r if isinstance(r, str) else json.dumps(r, ensure_ascii=False) for r in records
    )
    path.write_text(text + "\n", "utf-8")
    return path


def test_all_fields(tmp_path: Path) -> None:
    """Grades make gold; a lone answer is a list; the language is found where it is not given."""
    path = lines(
        tmp_path / "q.jsonl",
        {
            "id": 7,
            "question": " 多少天？ ",
            "answers": 15,
            "gold": {"a": 3, "b": 0},
            "gold_pages": [2],
        },
        {"question": "Why?", "answerable": False, "gold_doc_ids": "a.pdf", "lang": None},
    )
    read = read_questions(path)
    first, second = read.records
    assert read.troubles == []
    assert (first.id, first.question, first.answers, first.lang) == ("7", "多少天？", ["15"], "zh")
    assert first.grades == {"a": 3}
    assert (second.id, second.answerable, second.grades, second.lang) == (
        "2",
        False,
        {"a.pdf": 1},
        "en",
    )


def test_turns_are_history(tmp_path: Path) -> None:
    """`turns` and `text` are read as `history` and `content`; without a question, the last turn
    asks.
    """
    turns = [
        {"role": "user", "text": "Who?"},
        {"role": "assistant", "text": "Ann."},
        {"role": "user", "text": "When?"},
    ]
    path = lines(
        tmp_path / "q.jsonl", {"turns": turns}, {"question": "And you?", "turns": turns[:2]}
    )
    one, two = read_questions(path).records
    assert (one.question, [m.content for m in one.history]) == ("When?", ["Who?", "Ann."])
    assert (two.question, len(two.history)) == ("And you?", 2)


def test_broken_lines_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    """Each with its number and what is wrong with it; an unknown field with the nearest known one,
    once.
    """
    path = lines(
        tmp_path / "q.jsonl",
        {"id": "a", "question": "Who?", "anwsers": ["Ann"]},
        "{broken",
        '["a list"]',
        {"id": "b"},
        {"id": "c", "question": "  "},
        {"id": "d", "question": "When?", "anwsers": ["now"], "note": "x", "gold_pages": ["one"]},
        {"id": "a", "question": "Where?", "anwsers": []},
    )
    with path.open("ab") as file:
        file.write(b'{"question": "\xff"}\n')
    read = read_questions(path)
    assert [q.id for q in read.records] == ["a", "a#2"]
    assert read.broken == 6
    messages = [str(trouble) for trouble in read.troubles]
    assert messages[0].startswith("q.jsonl, line 2: is no JSON: ")
    assert "line 3: is no JSON object" in messages[1]
    assert messages[2] == "q.jsonl, line 4: question is missing"
    assert messages[3] == "q.jsonl, line 5: question is empty"
    assert "line 6: gold_pages.0" in messages[4]
    assert messages[5] == "q.jsonl, line 8: is not UTF-8"
    assert any(
        "unknown field 'anwsers' (and 1 more lines); did you mean 'answers'?" in m for m in messages
    )
    assert any("id 'a' stands there already" in m for m in messages)
    assert "1 more broken lines" in format_troubles(read.troubles)[5]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"question": "pump \\ud800 oil"}', "holds half a character"),
        ('{"question": ' + "[" * 100_000, "nests too deep"),
        ('{"question": 5}', "question Input should be a valid string"),
        ('{"question": "x", "gold": {"b": Infinity}}', "gold.b"),
    ],
)
def test_lines_that_would_break_what_comes_after(tmp_path: Path, line: str, reason: str) -> None:
    """They are left out and named like any broken line."""
    read = read_questions(lines(tmp_path / "q.jsonl", {"question": "fine?"}, line))
    assert len(read.records) == 1
    assert f"line 2: {reason}" in str(read.troubles[0])


def test_names_given_to_repeated_ids_are_new(tmp_path: Path) -> None:
    """Whatever names the file uses itself."""
    read = read_questions(
        lines(
            tmp_path / "q.jsonl",
            *({"id": name, "question": "x"} for name in ("1", "1#2", "1", "1")),
        )
    )
    assert [q.id for q in read.records] == ["1", "1#2", "1#3", "1#4"]


@pytest.mark.parametrize("text", ["", "\n\n", "{}\n", "no\n"])
def test_nothing_usable_is_an_error(tmp_path: Path, text: str) -> None:
    """It says so, and what a line should be."""
    path = tmp_path / "q.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(InvalidInput, match="no usable line") as error:
        read_questions(path)
    assert "gold_doc_ids" in error.value.hint
    with pytest.raises(InvalidInput, match="No such file"):
        read_questions(tmp_path / "absent.jsonl")


def test_byte_order_mark(tmp_path: Path) -> None:
    """Files that Windows wrote are read."""
    path = tmp_path / "q.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"question": "Who?"}\r\n')
    assert [q.question for q in read_questions(path).records] == ["Who?"]


def test_corpus(tmp_path: Path) -> None:
    """A document is text, or a file; one without either is named."""
    path = lines(
        tmp_path / "c.jsonl",
        {"doc_id": "a", "text": "One.", "title": "A", "page": 2},
        {"doc_id": "b", "file": "b.pdf"},
        {"doc_id": "c", "title": "empty", "text": " "},
        {"doc_id": "d", "text": "x", "page": 0},
    )
    read = read_corpus(path)
    assert [(d.doc_id, d.page, d.file) for d in read.records] == [
        ("a", 2, ""),
        ("b", None, "b.pdf"),
    ]
    assert [(t.line, t.message.split(" ")[0]) for t in read.troubles] == [(3, "has"), (4, "page")]
