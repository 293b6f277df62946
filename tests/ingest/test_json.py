"""JSON, JSON lines and notebooks to documents."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.markup import json_records

SETTINGS = IngestSettings()


def read(value: Any, name: str = "x.json") -> Any:
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    return json_records.parse(data, name, SETTINGS)


def test_records_read_as_lines() -> None:
    """Each record is a section with its title; nested keys are paths, long texts paragraphs, empty
    values left out.
    """
    document = read(
        [
            {
                "id": 1,
                "title": "First",
                "text": "Two\nlines.",
                "tags": ["a", "b"],
                "by": {"name": "Ann", "age": None},
            },
            {"id": 2, "note": ""},
        ]
    )
    assert (
        document.text
        == "id: 1\ntitle: First\n\ntext: Two\nlines.\n\ntags: a, b\nby.name: Ann\n\nid: 2"
    )
    assert [section.heading_path for section in document.sections] == [("First",), ("2",)]


def test_numbers_stay_as_written() -> None:
    """A quote says what the file says: 1.10 is no 1.1, and a number of fifty digits is not
    rounded.
    """
    digits = "7" * 50
    assert read(f'{{"price": 1.10, "big": {digits}, "ok": true, "no": null}}'.encode()).text == (
        f"price: 1.10\nbig: {digits}\nok: true\nno: null"
    )


def test_objects_become_sections() -> None:
    """Keys with objects or lists of objects under them are headings; the rest stands before
    them.
    """
    document = read(
        {
            "name": "pkg",
            "scripts": {"build": "tsc", "test": "jest", "lint": "x"},
            "items": [{"k": 1}, {"k": 2}],
        }
    )
    assert document.title == "pkg"
    assert (
        document.text
        == "name: pkg\n\nscripts\n\nbuild: tsc\ntest: jest\nlint: x\n\nitems\n\nk: 1\n\nk: 2"
    )


def test_noise_is_left_out_and_named() -> None:
    """Embeddings and base64 are counted in a warning instead of read."""
    document = read({"text": "hello", "vector": [0.5] * 200, "picture": "QUJD" * 200})
    assert document.text == "text: hello"
    assert document.warnings == (
        "1 values of encoded data (base64 and the like) left out",
        "1 lists of more than 100 numbers left out",
    )


def test_broken_lines_are_named() -> None:
    """A broken line costs itself only; a .json file of one value a line is read as such."""
    data = b'{"q": "What?"}\n{broken\n\n{"q": "Who?"}\nnot\n'
    for name in ("x.jsonl", "x.json"):
        document = read(data, name)
        assert document.text == "q: What?\n\nq: Who?"
        assert document.warnings[0].startswith(
            "left out, as they are not valid JSON: line 2 (Expecting property name"
        )
        assert "; line 5 (Expecting value)" in document.warnings[0]


def test_what_is_no_json_is_text() -> None:
    """A settings file with comments is read as it stands, with a warning that says where it is no
    JSON.
    """
    document = read(b'{ // comment\n "a": 1 }', "tsconfig.json")
    assert document.text == '{ // comment\n "a": 1 }'
    assert "not valid JSON (Expecting property name" in document.warnings[0]
    assert "line 1 column 3" in document.warnings[0]


def test_notebooks() -> None:
    """A notebook is its Markdown, its code and what that printed; pictures go."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "source": ["# Title\n", "Some *text*."]},
        {
            "cell_type": "code",
            "source": "print(1)",
            "outputs": [
                {"output_type": "stream", "text": ["1\n"]},
                {"data": {"image/png": "iVBOR", "text/plain": ["<Figure>"]}},
                {
                    "output_type": "error",
                    "ename": "KeyError",
                    "evalue": "'x'",
                    "traceback": ["noise"],
                },
            ],
        },
    ]
    document = read({"cells": cells, "nbformat": 4}, "x.ipynb")
    assert document.title == "Title"
    assert document.text == "Title\n\nSome text.\n\nprint(1)\n\n1\n\n<Figure>\n\nKeyError: 'x'"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"[" * 200_000 + b"]" * 200_000, "nests too deep"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nests too deep"),
        (b"[" + b"[]," * 5_000_000 + b"[]]", "more than 5,000,000 values"),
        (b"[[], {}]", "holds no text"),
    ],
)
def test_hostile_files(data: bytes, reason: str) -> None:
    """Depth and number of values are limited, and the refusal says which."""
    started = time.process_time()
    with pytest.raises(UnreadableFile, match=reason):
        read(data)
    assert time.process_time() - started < 20


def test_one_long_line() -> None:
    """Megabytes on one line are read in seconds."""
    started = time.process_time()
    document = read(b'{"t": "' + b"word " * 1_000_000 + b'"}')
    assert len(document.text) == 5_000_002
    assert time.process_time() - started < 20
