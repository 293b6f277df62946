"""One page of a PDF as lines with their place and type, in pdfium's reading order.

The one rule: characters are made plain here (ligatures, radicals, spread-out Chinese), before any offset is taken.
"""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from citewell.ingest.script import CJK

HYPHEN: Final = "\ufffe"  # pdfium's sign for a hyphen at a line's end, the line break included
_LINE = re.compile(rf"[^\r\n{HYPHEN}]+{HYPHEN}?")
# ligatures and look-alike radicals; NFKC of anything else could change what is said (², ①, full-width signs)
_PLAIN = re.compile(r"[\ufb00-\ufb06\u2e80-\u2fdf\uf900-\ufaff]")
# radicals of simplified Chinese, which some programs write for the characters they look like; NFKC leaves or mistakes these
_RADICALS = dict(
    zip(
        "⼾⺠⻁⻄⻅⻆⻉⻋⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳⻑⻗",
        "户民虎西见角贝车长门青韦页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟長雨",
        strict=True,
    )
)
_SPREAD = re.compile(rf"(?<=[{CJK}…])\s+(?=[{CJK}…])")
_CJK_PAIR = re.compile(rf"[{CJK}…](?=\s*[{CJK}…])")
_LEADERS = re.compile(r"\s*(?:[.·…]\s*){5,}")  # the dots of a table of contents
_SPACES = re.compile(r"[ \t\u00a0]+")
_BOLD = re.compile(r"bold|black|heavy|semibd|demi|cmbx|[-,_]b(?:d|old)?\b|simhei|heiti", re.IGNORECASE)
_FIXED = re.compile(r"mono|courier|consol|cmtt|typewriter|menlo|inconsolata", re.IGNORECASE)
_BOLD_WEIGHT: Final = 600
_FIXED_FLAG: Final = 1  # bit 1 of a font descriptor's flags


@dataclass(frozen=True, slots=True)
class Line:
    """`x0`, `x1`, `y0` (bottom), `y1` (top) and `size` are in points, y upwards. `hyphen`: a word goes on in the
    next line. `unmapped`: the font does not tell which characters it shows.
    """

    page: int
    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    end: float  # y0 of its last row: pdfium gives two rows as one line where a sentence ends between them
    size: float
    bold: bool  # throughout
    starts_bold: bool
    fixed: bool
    hyphen: bool = False
    unmapped: bool = False


def body_size(lines: Sequence[Line]) -> float:
    """The size in which most characters are set."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def read_page(textpage: Any, number: int) -> list[Line]:
    """The lines of page `number`; none where it has no text."""
    text = _text(textpage)
    lines: list[Line] = []
    for match in _LINE.finditer(text):
        line = _line(textpage, number, match.group(), match.start())
        if line is None:
            continue
        if lines and _same_row(lines[-1], line):
            line = _merged(lines.pop(), line)
        lines.append(line)
    return lines


def _text(textpage: Any) -> str:
    """The page's text, one character for each of pdfium's, so that positions in it are pdfium's indexes."""
    import pypdfium2.raw as pdfium

    count = textpage.count_chars()
    text: str = textpage.get_text_range()
    if len(text) == count:
        return text
    codes = (pdfium.FPDFText_GetUnicode(textpage, n) for n in range(count))
    return "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)


def _line(textpage: Any, number: int, raw: str, start: int) -> Line | None:
    import pypdfium2.raw as pdfium

    shown = raw.strip().rstrip(HYPHEN)
    if not shown.strip():
        return None
    first = start + len(raw) - len(raw.lstrip())
    last = first + len(shown) - 1
    left, right = _box(textpage, first), _box(textpage, last)
    samples = [first + (last - first) * quarter // 4 for quarter in range(5)]
    fonts = [_font(textpage, n) for n in samples]
    return Line(
        page=number,
        text=plain(shown),
        x0=left[0],
        x1=right[2],
        y0=left[1],
        y1=left[3],
        end=right[1] if left[1] - right[1] > 0.8 * (left[3] - left[1]) else left[1],
        size=sorted(_size(textpage, n) for n in samples[::2])[1],  # a bullet or a note's mark at either end does not count
        bold=all(bold for bold, _ in fonts),
        starts_bold=fonts[0][0],
        fixed=all(fixed for _, fixed in fonts),
        hyphen=raw.endswith(HYPHEN),
        unmapped=pdfium.FPDFText_HasUnicodeMapError(textpage, first) == 1,
    )


def plain(text: str) -> str:
    """`text` with ligatures taken apart, and spaces taken out where every character of a Chinese line is set apart."""
    text = _PLAIN.sub(lambda match: _RADICALS.get(match.group()) or unicodedata.normalize("NFKC", match.group()), text)
    spread = len(_SPREAD.findall(text))
    if spread >= 3 and 2 * spread > len(_CJK_PAIR.findall(text)):
        text = _SPREAD.sub("", text)
    return _SPACES.sub(" ", _LEADERS.sub(" … ", text)).strip()


def _box(textpage: Any, index: int) -> tuple[float, float, float, float]:
    """left, bottom, right, top of a character, as high as its font."""
    import pypdfium2.raw as pdfium

    rectangle = pdfium.FS_RECTF()
    pdfium.FPDFText_GetLooseCharBox(textpage, index, rectangle)
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _size(textpage: Any, index: int) -> float:
    """The type size as shown: the font's size times the scale it is drawn at."""
    import pypdfium2.raw as pdfium

    matrix = pdfium.FS_MATRIX()
    size = float(pdfium.FPDFText_GetFontSize(textpage, index))
    if pdfium.FPDFText_GetMatrix(textpage, index, matrix):
        size *= math.hypot(matrix.c, matrix.d) or 1.0
    return round(size, 1)


def _font(textpage: Any, index: int) -> tuple[bool, bool]:
    """Whether a character's font is bold, and whether all its letters are equally wide."""
    import pypdfium2.raw as pdfium

    name = ctypes.create_string_buffer(128)
    flags = ctypes.c_int(0)
    length = pdfium.FPDFText_GetFontInfo(textpage, index, name, 128, flags)
    shown = name.value.decode("utf-8", errors="replace") if 0 < length <= 128 else ""
    bold = bool(_BOLD.search(shown)) or pdfium.FPDFText_GetFontWeight(textpage, index) >= _BOLD_WEIGHT
    return bold, bool(flags.value & _FIXED_FLAG) or bool(_FIXED.search(shown))


def _same_row(before: Line, line: Line) -> bool:
    """Whether pdfium broke one row in two, as it does around raised and lowered characters."""
    overlap = min(before.y1 - before.y0 + before.end, line.y1) - max(before.end, line.y0)
    lower = min(before.y1 - before.y0, line.y1 - line.y0)
    gap = line.x0 - before.x1
    return not before.hyphen and overlap > 0.5 * lower > 0 and -0.5 * before.size < gap < 1.5 * before.size


def _merged(before: Line, line: Line) -> Line:
    close = line.x0 - before.x1 < 0.12 * before.size or line.text[0] in ",.;:)]，。；：）"
    larger = before if len(before.text) >= len(line.text) else line
    return replace(
        larger,
        text=before.text + ("" if close else " ") + line.text,
        x0=before.x0,
        x1=line.x1,
        end=line.end if line.end < line.y0 else before.end,
        bold=before.bold and line.bold,
        starts_bold=before.starts_bold,
        fixed=before.fixed and line.fixed,
        hyphen=line.hyphen,
    )
