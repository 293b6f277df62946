"""What pdfium knows of a page's characters: their places, sizes and fonts, in the frame in which
the text is upright. Coordinates leave here turned so that lines run left to right and y grows
upwards, whatever way page or text lie.
"""

from __future__ import annotations

import ctypes
import math
import re
from dataclasses import dataclass
from typing import Any, Final

_BOLD = re.compile(
    r"bold|black|heavy|semibd|demi|cmbx|[-,_]b(?:d|old)?\b|simhei|heiti", re.IGNORECASE
)
_FIXED = re.compile(r"mono|courier|consol|cmtt|typewriter|menlo|inconsolata", re.IGNORECASE)
_BOLD_WEIGHT: Final = 600
_FIXED_FLAG: Final = 1  # bit 1 of a font descriptor's flags
_UPRIGHT: Final = 5.0  # degrees off a quarter turn that still count as one
_MOST_SHARED: Final = 50_000
_SHARED: Final[dict[float, float]] = {}
HYPHEN: Final = "\ufffe"  # pdfium's sign for a hyphen at a line's end, the line break included
_HYPHEN_CODE: Final = 2  # the same where a character is asked for by itself
SLANTED: Final = -1  # the turn of text that runs neither along nor across the page


@dataclass(frozen=True, slots=True)
class Frame:
    """The visible part of a page in its own points, and its quarter turns clockwise."""

    left: float
    bottom: float
    width: float
    height: float
    shown: int

    def to_upright(self, turn: int, x: float, y: float) -> tuple[float, float]:
        """A point of the page, with the page turned clockwise by `turn` quarters."""
        return _rotate_point(turn, x - self.left, y - self.bottom, self.width, self.height)

    def to_shares(
        self, turn: int, box: tuple[float, float, float, float]
    ) -> tuple[float, float, float, float]:
        """An upright (x0, y0, x1, y1) as shares of the page as it is shown, from its top left."""
        more = (self.shown - turn) % 4
        width, height = (self.width, self.height) if turn % 2 == 0 else (self.height, self.width)
        (ax, ay), (bx, by) = (
            _rotate_point(more, x, y, width, height) for x, y in (box[:2], box[2:])
        )
        if more % 2:
            width, height = height, width
        return (
            _to_share(min(ax, bx), width),
            _to_share(height - max(ay, by), height),
            _to_share(max(ax, bx), width),
            _to_share(height - min(ay, by), height),
        )


def _rotate_point(
    turn: int, x: float, y: float, width: float, height: float
) -> tuple[float, float]:
    return ((x, y), (y, width - x), (width - x, height - y), (height - y, x))[turn % 4]


def _to_share(part: float, whole: float) -> float:
    return intern_float(round(min(1.0, max(0.0, part / whole)), 4)) if whole > 0 else 0.0


def intern_float(value: float) -> float:
    """The same figure as one object: a book has a million of them, and few different ones."""
    if len(_SHARED) >= _MOST_SHARED:
        _SHARED.clear()
    return _SHARED.setdefault(value, value)


def get_frame(page: Any) -> Frame:
    """The frame of a pdfium page."""
    left, bottom, right, top = page.get_bbox()
    return Frame(
        left, bottom, max(right - left, 1.0), max(top - bottom, 1.0), page.get_rotation() // 90 % 4
    )


class Characters:
    """The characters of one text page. Indexes are pdfium's; places are upright for the `turn`
    asked for.

    Every figure is a call into pdfium, and a page needs thousands: what can be made once is made
    once.
    """

    def __init__(self, textpage: Any, frame: Frame) -> None:
        import pypdfium2.raw as pdfium

        self._page = textpage.raw
        self._pdfium = pdfium
        self.frame = frame
        self.text = _read_text(textpage)
        self._numbers = [ctypes.c_double() for _ in range(4)]
        self._targets = [ctypes.byref(number) for number in self._numbers]
        self._matrix = pdfium.FS_MATRIX()
        self._to_matrix = ctypes.byref(self._matrix)
        self._name = ctypes.create_string_buffer(128)
        self._fonts: dict[bytes, tuple[bool, bool]] = {}

    def turn(self, index: int) -> int:
        """How many quarter turns clockwise make the character upright, or SLANTED."""
        matrix = self._matrix
        if not self._pdfium.FPDFText_GetMatrix(self._page, index, self._to_matrix) or not (
            matrix.a or matrix.b
        ):
            return 0
        quarters = math.degrees(math.atan2(matrix.b, matrix.a)) / 90
        return round(quarters) % 4 if abs(quarters - round(quarters)) * 90 < _UPRIGHT else SLANTED

    def span(self, index: int, turn: int) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a character's ink."""
        left, right, bottom, top = self._numbers
        if not self._pdfium.FPDFText_GetCharBox(self._page, index, *self._targets):
            return 0.0, 0.0, 0.0, 0.0
        if turn == 0:
            x, y = self.frame.left, self.frame.bottom
            return left.value - x, bottom.value - y, right.value - x, top.value - y
        ax, ay = self.frame.to_upright(turn, left.value, bottom.value)
        bx, by = self.frame.to_upright(turn, right.value, top.value)
        return min(ax, bx), min(ay, by), max(ax, bx), max(ay, by)

    def get_baseline(self, index: int, turn: int) -> float:
        """The height of the line on which a character stands."""
        self._pdfium.FPDFText_GetCharOrigin(self._page, index, self._targets[0], self._targets[1])
        if turn == 0:
            return self._numbers[1].value - self.frame.bottom
        return self.frame.to_upright(turn, self._numbers[0].value, self._numbers[1].value)[1]

    def size(self, index: int) -> float:
        """The type size as shown: the font's size times the scale it is drawn at."""
        size = float(self._pdfium.FPDFText_GetFontSize(self._page, index))
        if self._pdfium.FPDFText_GetMatrix(self._page, index, self._to_matrix):
            size *= math.hypot(self._matrix.c, self._matrix.d) or 1.0
        return round(size, 1)

    def font(self, index: int) -> tuple[bool, bool]:
        """Whether a character's font is bold, and whether all its letters are equally wide."""
        flags = ctypes.c_int(0)
        length = self._pdfium.FPDFText_GetFontInfo(self._page, index, self._name, 128, flags)
        name = self._name.value if 0 < length <= 128 else b""
        if name not in self._fonts:
            shown = name.decode("utf-8", errors="replace")
            self._fonts[name] = bool(_BOLD.search(shown)), bool(_FIXED.search(shown))
        bold, fixed = self._fonts[name]
        heavy = bold or self._pdfium.FPDFText_GetFontWeight(self._page, index) >= _BOLD_WEIGHT
        return heavy, fixed or bool(flags.value & _FIXED_FLAG)

    def is_unmapped(self, index: int) -> bool:
        """Whether the font does not tell which character it shows."""
        return bool(self._pdfium.FPDFText_HasUnicodeMapError(self._page, index) == 1)


def _read_text(textpage: Any) -> str:
    """The page's text, one character for each of pdfium's, so that positions are its indexes."""
    import pypdfium2.raw as pdfium

    count = textpage.count_chars()
    text: str = textpage.get_text_range()
    if len(text) == count:
        return text
    codes = (pdfium.FPDFText_GetUnicode(textpage, n) for n in range(count))
    return "".join(
        HYPHEN if code == _HYPHEN_CODE else chr(code) if 0 < code < 0x110000 else " "
        for code in codes
    )
