"""What an RTF file is read into: paragraphs, cells, and the signs and words that make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from citewell.ingest.office.page_breaks import PAGE

SIGNS: Final = {
    b"line": "\n",
    b"lbr": "\n",
    b"tab": "\t",
    b"page": PAGE,
    b"softpage": PAGE,
    b"emdash": "—",
    b"endash": "–",
    b"bullet": "•",
    b"lquote": "‘",
    b"rquote": "’",
    b"ldblquote": "“",
    b"rdblquote": "”",
    b"emspace": " ",
    b"enspace": " ",
    b"qmspace": " ",
    b"nestcell": " ",
    b"nestrow": "\n",
}

MARKS: Final = {b"~": "\u00a0", b"_": "-", b"-": "", b"\t": "\t"}

HIDDEN: Final = frozenset(  # destinations without a star that are not part of the text
    b"""
        colortbl header headerl headerr headerf footer footerl footerr footerf pict annotation atnid
        atnauthor xe tc rxe
        private bkmkstart bkmkend filetbl nonshppict listpicture fldinst shprslt sp objdata
        nonesttables ftnsep ftnsepc ftncn
        aftnsep aftnsepc aftncn revtbl themedata pgdsctbl
""".split()
)

SHOWN: Final = frozenset(
    [b"shpinst", b"shptxt", b"fldrslt", b"ud", b"nesttableprops", b"listtext", b"pntext", b"result"]
)

INFO: Final = frozenset([b"title", b"creatim", b"revtim"])


@dataclass(slots=True)
class Paragraph:
    """How a paragraph is set. `outline`: its heading level, if any; `style`: its style's number."""

    style: int = 0
    outline: int | None = None
    in_table: bool = False
    page_before: bool = False


@dataclass(slots=True)
class State:
    """What a group sets. `into`: `body`, `note`, `fonts`, `styles`, `title`, or nowhere."""

    into: str = "body"
    font: int = 0
    skip: int = 1  # bytes that stand for a Unicode character, for programs that know none
    hidden: bool = False


@dataclass(slots=True)
class Cell:
    """A cell of a row's definition: `right` edge in twips, and whether it goes on from above."""

    right: int
    from_above: bool = False


class Writer(Protocol):
    """Takes what the reader finds, in order."""

    def paragraph(self, text: str, how: Paragraph, notes: list[str]) -> None: ...

    def add_cell(self, text: str, notes: list[str]) -> None: ...

    def row(self, cells: list[Cell], *, header: bool) -> None: ...
