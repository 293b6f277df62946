"""Plain text and Markdown to documents."""

from __future__ import annotations

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest.markup import markdown
from citewell.ingest.markup import plain_text as text
from citewell.types import Document

SETTINGS = IngestSettings()


def sections(document: Document) -> list[tuple[tuple[str, ...], str]]:
    return [(s.heading_path, document.text[s.start : s.end].strip()) for s in document.sections]


def test_plain_text_stands_as_it_is() -> None:
    """Text is not reflowed; line ends become line feeds, NUL and controls go."""
    document = text.parse(
        "\ufeffone\r\ntwo\x00\x01\rthree\u2028four".encode(), "notes.txt", SETTINGS
    )
    assert document.text == "one\ntwothree\nfour".replace("twothree", "two\nthree")
    assert (document.title, document.media_type, document.lang) == ("notes", "text/plain", "en")


def test_chapters_of_plain_text() -> None:
    """Chapter lines and underlined lines become sections; a sentence about a chapter does not."""
    document = text.parse(
        "序\n\n第一章 总则\n第一章的内容是总则。\n第一节 范围\n适用。\n第二章 "
        "细则\n好。\n\nNotes\n=====\nEnd.\n".encode(),
        "法.txt",
        SETTINGS,
    )
    assert [path for path, _ in sections(document)] == [
        (),
        ("第一章 总则",),
        ("第一章 总则", "第一节 范围"),
        ("第二章 细则",),
        ("Notes",),
    ]
    assert document.lang == "zh"


def test_text_without_text() -> None:
    """White space alone is no document."""
    with pytest.raises(UnreadableFile, match=r"blank\.txt holds no text"):
        text.parse(b" \n\t\n", "blank.txt", SETTINGS)


MARKDOWN = """---
title: "手册 A"
date: 2024-01-01
---
<h1 align="center">Big</h1>

# First **bold** `code`

soft
wrap 中文
接着 [link](http://x.y/z) ![picture](a.png) <b>raw</b><br>next

1. one
   - sub
2. two

> quoted

| a | b |
|---|---|
| 1 | **2** |

```python
def f():
    return 1
```

Second
------
end
"""


def test_markdown_reads_as_shown() -> None:
    """Marks and link targets go; tables, lists and code keep their lines; front matter stays and
    gives the title.
    """
    document = markdown.parse(MARKDOWN.encode(), "x.md", SETTINGS)
    assert document.title == "手册 A"
    assert document.text.startswith(
        'title: "手册 A"\ndate: 2024-01-01\n\nBig\n\nFirst bold code\n\n'
    )
    for part in (
        "soft wrap 中文接着 link picture raw\nnext",
        "1. one\n  - sub\n2. two",
        "a | b\na: 1 | b: 2",
        "def f():\n    return 1",
        "quoted",
    ):
        assert f"\n\n{part}\n\n" in document.text
    assert [path for path, _ in sections(document)] == [
        (),
        ("Big",),
        ("First bold code",),
        ("First bold code", "Second"),
    ]


def test_front_matter_tells_the_day() -> None:
    """The day of the last change, where it says one."""
    dated = b"---\ntitle: Notes\ndate: 2023-11-02\nlastmod: '2024-05-01'\n---\nBake.\n"
    assert markdown.parse(dated, "a.md", SETTINGS).dated == 1714521600.0
    assert markdown.parse(b"---\ndate: soon\n---\nBake.\n", "a.md", SETTINGS).dated is None


def test_a_rule_is_not_front_matter() -> None:
    """A file that begins with a rule keeps its text."""
    document = markdown.parse(b"---\n\nNot a key\n\n---\n\nbody\n", "x.md", SETTINGS)
    assert document.text == "Not a key\n\nbody"


def test_deep_markdown() -> None:
    """Hostile nesting neither recurses to death nor hangs."""
    for source in ("> " * 5000 + "x", "- " * 5000 + "x", "[" * 5000, "*a " * 3000):
        try:
            document = markdown.parse(source.encode(), "x.md", SETTINGS)
        except UnreadableFile:
            continue
        assert document.sections[-1].end == len(document.text)
