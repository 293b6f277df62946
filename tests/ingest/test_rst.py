"""reStructuredText to documents."""

from __future__ import annotations

from typing import Any

from citewell.config import IngestSettings
from citewell.ingest.markup import rst

SETTINGS = IngestSettings()
TEXT = """
=====
Title
=====

:Author: Ann

Intro with :func:`~a.b.go`, :ref:`the guide <guide>` and ``code``. Broken *emph.

.. note:: Beware.

.. code-block:: python
   :emphasize-lines: 1

   def x():
       pass

.. py:function:: foo(x, y)
   :noindex:

   Does foo.

Section
-------

* one

  * nested
* two

3. first
4. second

term
  Definition.

===== =====
Name  Price
===== =====
apple 3
===== =====

.. figure:: x.png
   :alt: A chart

   The caption.

Footnote [1]_.

.. [1] The note.

| line one
| line two
"""


def read(text: str) -> Any:
    return rst.parse(text.encode(), "x.rst", SETTINGS)


def test_text_reads_as_shown() -> None:
    """Structure stays; roles and directives of Sphinx are read for their words; no message of
    docutils gets in.
    """
    document = read(TEXT)
    assert document.title == "Title"
    assert document.text == (
        "Title\n\nAuthor:\nAnn\n\nIntro with a.b.go, the guide and code. Broken *emph.\n\n"
        "Note\n\nBeware.\n\n"
        "def x():\n    pass\n\n"
        "foo(x, y)\n\nDoes foo.\n\nSection\n\n- one\n  - nested\n- two\n\n3. first\n4. "
        "second\n\nterm\nDefinition.\n\n"
        "Name | Price\nName: apple | Price: 3\n\nA chart\n\nThe caption.\n\nFootnote [1].\n\n"
        "[1]\n\nThe note.\n\nline one\n\nline two"
    )
    assert [(s.heading_path, s.anchor) for s in document.sections] == [
        (("Title",), "title"),
        (("Title", "Section"), "section"),
    ]


def test_nothing_is_inserted() -> None:
    """Files are not read in, raw HTML is not passed on, and what is refused does not show."""
    document = read(
        "Before.\n\n.. include:: /etc/hostname\n\n.. raw:: html\n\n   <b>raw</b>\n\n"
        ".. csv-table::\n   :file: /etc/hostname\n\n.. toctree::\n\n   a\n\nAfter.\n"
    )
    assert document.text == "Before.\n\nAfter."


def test_what_cannot_be_understood_stays() -> None:
    """A broken table is kept as it stands rather than lost."""
    assert "| broken" in read("Text.\n\n+---+---+\n| broken\n+---+\n\nMore.\n").text


def test_hostile_text_is_plain() -> None:
    """What would take docutils minutes or too deep is read as plain text, with a warning."""
    for text in ("`a " * 60_000, "".join("  " * n + "* x\n\n" for n in range(600))):
        document = read(text)
        assert document.warnings == (
            "it could not be read as reStructuredText, only as plain text",
        )
