"""PDFs: columns, tables, rotated and cropped pages, and where each line stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from citewell.config import IngestSettings
from citewell.errors import UnreadableFile
from citewell.ingest import parse
from citewell.ingest.pdf import parse as pdf
from citewell.ingest.pdf.properties import parse_pdf_date
from citewell.types import Document

Maker = Callable[..., bytes]
PdfLine = tuple[float, float, float, str]
SETTINGS = IngestSettings()
LEFT = [
    "The left column holds running text that",
    "goes down to the foot of its column and",
    "breaks its lines where they are full, as",
    "every column of a paper does, so that a",
    "reader goes on at the top of the next one",
    "with the sentence that the foot cut right",
]
RIGHT = [
    "through its middle, although on the page",
    "each of its lines stands beside a line of",
    "the other column. Then the right column",
    "tells of other things, at some length and",
    "in lines that are about as wide as those",
    "of the left column, and it ends down here.",
]
ROWS = [
    ["Model", "Load", "Price"],
    ["T300", "120 kg", "4500"],
    ["T500", "310 kg", "7200"],
    ["T900", "640 kg", "9800"],
]


def column(x: float, texts: Sequence[str], top: float = 600) -> list[PdfLine]:
    return [(x, top - 14 * n, 11, text) for n, text in enumerate(texts)]


def across(texts: Sequence[str], top: float) -> list[PdfLine]:
    return [(50, top - 14 * n, 11, text) for n, text in enumerate(texts)]


def interleaved() -> list[PdfLine]:
    """Two columns written row by row, as scanners' text layers and some programs do."""
    return [
        line for pair in zip(column(50, LEFT), column(320, RIGHT), strict=True) for line in pair
    ]


def table(rows: Sequence[Sequence[str]], top: float = 600) -> list[PdfLine]:
    return [
        (60 + 150 * k, top - 16 * n, 11, cell)
        for n, row in enumerate(rows)
        for k, cell in enumerate(row)
        if cell
    ]


def rules(*heights: float, left: float = 50, right: float = 450) -> bytes:
    return b"\n".join(b"%g %g m %g %g l S" % (left, y, right, y) for y in heights)


def where(document: Document, words: str) -> list[tuple[int, float, float, float, float]]:
    start = document.text.index(words)
    boxes = [box for box in document.boxes if box.start < start + len(words) and box.end > start]
    return [(box.page, box.x0, box.y0, box.x1, box.y1) for box in boxes]


def test_columns_one_after_the_other(make_pdf: Maker) -> None:
    """Rows across two columns are parted; the title above both comes first, what spans both below
    them last.
    """
    wide = (
        "This line runs over the whole width of the page, from the left column's edge to the "
        "right column's."
    )
    page = [(50, 700, 20, "A title over both columns of text"), *interleaved(), (50, 400, 11, wide)]
    text = pdf.parse(make_pdf([page]), "x.pdf", SETTINGS).text
    flowing = " ".join([*LEFT, *RIGHT])
    assert text == f"A title over both columns of text\n\n{flowing}\n\n{wide}"


def test_three_columns(make_pdf: Maker) -> None:
    """The same for three."""
    short = [
        [f"{name} column, line {n} of it here" for n in range(6)]
        for name in ("First", "Second", "Third")
    ]
    page = [
        line
        for row in zip(*(column(40 + 185 * k, texts) for k, texts in enumerate(short)), strict=True)
        for line in row
    ]
    text = pdf.parse(make_pdf([page]), "x.pdf", SETTINGS).text
    assert text.index("First column, line 5") < text.index("Second column, line 0")
    assert text.index("Second column, line 5") < text.index("Third column, line 0")


def test_forms_and_lists_stay_in_rows(make_pdf: Maker) -> None:
    """Short labels beside their values, and numbers before list items, are no columns."""
    form = [
        ("Name", "Ada Lovelace"),
        ("Born", "10 December 1815"),
        ("Place", "London"),
        ("Field", "Mathematics"),
        ("Died", "1852"),
    ]
    page = [
        line
        for n, (a, b) in enumerate(form)
        for line in [(50, 600 - 14 * n, 11, a), (250, 600 - 14 * n, 11, b)]
    ]
    text = pdf.parse(make_pdf([page]), "x.pdf", SETTINGS).text
    assert [text.index(b) - text.index(a) < 20 for a, b in form] == [True] * len(form)


def test_a_note_at_the_foot_does_not_cut_a_sentence(make_pdf: Maker) -> None:
    """A paragraph that goes on in the next column, or on the next page, is one; the note comes
    before it.
    """
    note = (50, 490, 8, "1 The data are available from the authors.")
    [*first, last] = column(50, LEFT)
    one = make_pdf([[*first, last, note, *column(320, RIGHT)]])
    two = make_pdf([[*first, last, note], column(50, RIGHT)])
    for data in (one, two):
        document = pdf.parse(data, "x.pdf", SETTINGS)
        assert f"{LEFT[-1]} {RIGHT[0]}" in document.text
        assert document.text.index("1 The data") < document.text.index(LEFT[0])
    assert [page.number for page in document.pages] == [1, 2]
    assert document.find_page_at(document.text.index(RIGHT[0])) == 2


def test_tables_between_rules(make_pdf: Maker) -> None:
    """Under a header set off by rules each row says its columns' names; text around stays text."""
    page = [*across(["Table 1: What the models carry."], 630), *table(ROWS), *across(LEFT, 480)]
    text = pdf.parse(make_pdf([page], drawn=rules(615, 595, 545)), "x.pdf", SETTINGS).text
    assert "Model | Load | Price\nModel: T300 | Load: 120 kg | Price: 4500\n" in text
    assert text.startswith("Table 1: What the models carry.\n\n")
    assert text.endswith(" ".join(LEFT))


def test_tables_in_a_grid(make_pdf: Maker) -> None:
    """Between rules both ways the lines of a cell are one cell."""
    cells = [
        (60, 600, 11, "Part"),
        (260, 600, 11, "Use"),
        (60, 570, 11, "Lamp"),
        (260, 576, 11, "It shows ships"),
        (260, 562, 11, "the way"),
    ]
    cells += [(60, 535, 11, "Horn"), (260, 541, 11, "It warns them"), (260, 527, 11, "in fog")]
    upright = b"\n".join(b"%g 520 m %g 615 l S" % (x, x) for x in (50, 250, 450))
    text = pdf.parse(
        make_pdf([cells], drawn=rules(615, 592, 556, 520) + b"\n" + upright), "x.pdf", SETTINGS
    ).text
    assert "Lamp" in text
    [row] = [line for line in text.split("\n") if "Lamp" in line]
    assert "It shows ships the way" in row


def test_tables_without_rules(make_pdf: Maker) -> None:
    """Columns that several rows keep are a table too."""
    text = pdf.parse(make_pdf([[*table(ROWS), *across(LEFT, 480)]]), "x.pdf", SETTINGS).text
    assert "Model: T500 | Load: 310 kg | Price: 7200" in text


def test_text_between_rules_is_no_table(make_pdf: Maker) -> None:
    """A framed paragraph stays a paragraph."""
    text = pdf.parse(
        make_pdf(
            [across([f"{line} and some more words" for line in LEFT], 600)], drawn=rules(615, 510)
        ),
        "x.pdf",
        SETTINGS,
    ).text
    assert " | " not in text


def test_boxes_are_exact(make_pdf: Maker) -> None:
    """Each line's span is its words, and its box where they stand; boxes do not overlap in the
    text.
    """
    document = pdf.parse(
        make_pdf([interleaved(), [(60, 100, 10, "The last words.")]]), "x.pdf", SETTINGS
    )
    spans = [document.text[box.start : box.end] for box in document.boxes]
    assert spans == [*LEFT, *RIGHT, "The last words."]
    assert all(
        box.end <= following.start
        for box, following in zip(document.boxes, document.boxes[1:], strict=False)
    )
    [(page, x0, y0, x1, y1)] = where(document, "The last words.")
    assert (page, round(x0, 2), round(y0, 2), round(y1, 2)) == (2, 0.1, 0.87, 0.88)
    assert 0.2 < x1 < 0.25


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_rotated_pages(make_pdf: Maker, turn: int) -> None:
    """A page that is shown turned says the same, and its boxes are where it is shown."""
    upright = pdf.parse(make_pdf([interleaved()]), "x.pdf", SETTINGS)
    turned = pdf.parse(make_pdf([interleaved()], entries=b"/Rotate %d" % turn), "x.pdf", SETTINGS)
    assert turned.text == upright.text
    [(_, x0, y0, x1, y1)] = where(upright, LEFT[0])
    expected = {
        90: (1 - y1, x0, 1 - y0, x1),
        180: (1 - x1, 1 - y1, 1 - x0, 1 - y0),
        270: (y0, 1 - x1, y1, 1 - x0),
    }[turn]
    assert where(turned, LEFT[0]) == [(1, *(pytest.approx(part, abs=0.001) for part in expected))]


def test_cropped_pages(make_pdf: Maker) -> None:
    """Boxes count from the corner of what is shown."""
    document = pdf.parse(
        make_pdf([column(50, LEFT)], entries=b"/CropBox [40 400 340 700]"), "x.pdf", SETTINGS
    )
    [(_, x0, y0, _, y1)] = where(document, LEFT[0])
    assert [x0, y0, y1] == pytest.approx([0.035, 0.305, 0.34], abs=0.005)


def test_dates() -> None:
    """A PDF's date with its zone; none where it is not credible."""
    assert parse_pdf_date("D:20240501093000+08'00'") == 1714527000.0
    assert parse_pdf_date("20240501") == 1714521600.0
    assert parse_pdf_date("D:2024") == 1704067200.0
    assert [
        parse_pdf_date(text) for text in ("", "yesterday", "D:19010101", "D:20241399", "D:29990101")
    ] == [None] * 5


def test_date_of_the_file(make_pdf: Maker) -> None:
    assert (
        pdf.parse(make_pdf([column(50, LEFT)], date="D:20240501093000Z"), "x.pdf", SETTINGS).dated
        == 1714555800.0
    )


async def test_every_file_of_the_robustness_set_ends(shared_data: Path) -> None:
    """Hostile and broken PDFs are read, or refused with a reason that names the file; boxes lie
    within page and text.
    """
    refused: list[tuple[str, str]] = []
    for path in sorted((shared_data / "robustness" / "pdf").glob("*.pdf")):
        try:
            document = await parse(path.read_bytes(), path.name, SETTINGS)
        except UnreadableFile as error:
            refused.append((path.name, error.message))
            continue
        assert document.text.strip()
        for box in document.boxes:
            assert 0 <= box.start < box.end <= len(document.text)
            assert all(0 <= part <= 1 for part in (box.x0, box.y0, box.x1, box.y1))
    assert [message for name, message in refused if not message.startswith(name)] == []


def test_a_heading_between_a_box_and_a_table(make_pdf: Maker) -> None:
    """Whose edges are as wide as the table: it is a heading, not the table's first row."""
    page = [*across(["A box with a note."], 650), (60, 618, 15, "7.2 Faults"), *table(ROWS)]
    document = pdf.parse(
        make_pdf([page], drawn=rules(670, 640, 612, 595, 579, 563, 547)), "x.pdf", SETTINGS
    )
    assert (
        "7.2 Faults\n\nModel | Load | Price\nModel: T300 | Load: 120 kg | Price: 4500\n"
        in document.text
    )


def test_cells_that_run_on_in_a_table_with_a_rule_below_each_row(make_pdf: Maker) -> None:
    """A second line of two cells out of three is no row of its own."""
    rows = [
        *table(ROWS[:3]),
        (60, 552, 11, "T700"),
        (210, 552, 11, "500 kg or"),
        (360, 552, 11, "8000, less"),
    ]
    rows += [
        (210, 539, 11, "so"),
        (360, 539, 11, "if used"),
        (60, 520, 11, "T900"),
        (210, 520, 11, "640 kg"),
        (360, 520, 11, "9800"),
    ]
    upright = b"\n".join(b"%g 515 m %g 612 l S" % (x, x) for x in (50, 200, 350, 450))
    drawn = rules(612, 595, 579, 563, 533, 515) + b"\n" + upright
    text = pdf.parse(make_pdf([rows], drawn=drawn), "x.pdf", SETTINGS).text
    assert "Model: T700 | Load: 500 kg or so | Price: 8000, less if used" in text
