"""One page of a PDF: its characters become lines and table rows, in the order in which a person
reads them. Text that lies another way than most of the page (a stamp in the margin, an axis) comes
last and parts nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from citewell.ingest.pdf import aligned_tables, reading_order
from citewell.ingest.pdf import tables as pdf_tables
from citewell.ingest.pdf.characters import SLANTED, Characters, Frame, get_frame
from citewell.ingest.pdf.line_rows import join_pieces
from citewell.ingest.pdf.lines import Line, find_main_turn, read_pieces
from citewell.ingest.pdf.rules import find_rules


def read_page(page: Any, number: int) -> list[Line]:
    """The lines of a pdfium page, in reading order; none where it has no text."""
    frame = get_frame(page)
    found = _read_pieces(page, frame, number)
    turn = find_main_turn(found)
    # pdfium parts words and rows well only where they are shown upright
    if turn not in {SLANTED, frame.shown}:
        page.set_rotation(90 * turn)
        found = _read_pieces(page, frame, number)
        page.set_rotation(90 * frame.shown)
    main = [line for line in found if line.turn == turn]
    aside = [line for line in found if line.turn != turn]
    across, down = find_rules(page, frame, turn) if len(main) > 2 else ([], [])
    main = pdf_tables.replace_ruled_tables(main, across, down)
    tables = max((line.row for line in main), default=0)
    ordered: list[Line] = []
    for column in reading_order.group_columns(main):
        group = aligned_tables.replace_aligned_tables(column, tables)
        tables = max([tables, *(line.row for line in group)])
        ordered += reading_order.sort_column(join_pieces(group))
    return [
        *(replace(line, words=()) for line in ordered),
        *(replace(line, words=(), aside=True) for line in join_pieces(aside)),
    ]


def _read_pieces(page: Any, frame: Frame, number: int) -> list[Line]:
    textpage = page.get_textpage()
    try:
        return read_pieces(Characters(textpage, frame), number)
    finally:
        textpage.close()
