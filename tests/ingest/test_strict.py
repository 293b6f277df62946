"""Office files in the strict form of their standard are read as the usual ones are."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

import docx
import pytest
from tests.ingest.test_presentation import shape, slides
from tests.ingest.test_spreadsheet import Maker, data, workbook

from citewell.config import IngestSettings
from citewell.ingest import PARSERS

NAMES = re.compile(
    rb"http://schemas\.openxmlformats\.org/(wordprocessingml|spreadsheetml|presentationml|"
    rb"drawingml|officeDocument)/2006/"
)


def strict(usual: bytes) -> bytes:
    """As Office writes it where it is told to: other names for the same."""
    made = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(usual)) as source,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            other = NAMES.sub(rb"http://purl.oclc.org/ooxml/\1/", source.read(name))
            target.writestr(
                name,
                other.replace(
                    b'Type="x/', b'Type="http://purl.oclc.org/ooxml/officeDocument/relationships/'
                ),
            )
    return made.getvalue()


def word() -> bytes:
    made, out = docx.Document(), io.BytesIO()
    made.add_heading("Lighthouse", 1)
    made.add_paragraph("It was built in 1857; see http://purl.oclc.org/ooxml/ for its form.")
    table = made.add_table(2, 2)
    for cell, text in zip(
        (cell for row in table.rows for cell in row.cells),
        ("part", "year", "lamp", "1902"),
        strict=True,
    ):
        cell.text = text
    made.save(out)
    return out.getvalue()


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pptx"])
def test_the_strict_form_says_the_same(make_zip: Maker, name: str) -> None:
    """Text, sections and title, to the letter."""
    makers: dict[str, Callable[[], bytes]] = {
        "a.docx": word,
        "a.xlsx": lambda: make_zip(
            workbook({"Costs": data(("service", "cost"), ("Hosting", 12.5))})
        ),
        "a.pptx": lambda: make_zip(slides(shape("The harbour is deep"))),
    }
    usual = makers[name]()
    other = strict(usual)
    assert b"purl.oclc.org" in zipfile.ZipFile(io.BytesIO(other)).read("_rels/.rels")
    one, two = (PARSERS[name[1:]](each, name, IngestSettings()) for each in (usual, other))
    assert (two.text, two.sections, two.title) == (one.text, one.sections, one.title)
    assert one.text
