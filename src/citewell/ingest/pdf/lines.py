"""One page of a PDF as pieces of lines with their place and type, in the order in which pdfium
gives them. A piece holds no wide gap and no second row, so what stands in two columns or cells is
never one piece. Characters are made plain here (ligatures, radicals, spread-out Chinese), before
any offset is taken.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.ingest.assemble import clean_text
from citewell.ingest.pdf.characters import HYPHEN, Characters, intern_float
from citewell.text.language import CJK

_LINE = re.compile(rf"[^\r\n{HYPHEN}]+{HYPHEN}?")
_WORD = re.compile(rf"[^\s{HYPHEN}]+")
# ligatures and look-alike radicals; NFKC of anything else could change what is said (², ①,
# full-width signs)
_PLAIN = re.compile(r"[\ufb00-\ufb06\u2e80-\u2fdf\uf900-\ufaff]")
# radicals of simplified Chinese, which some programs write for the characters they look like; NFKC
# leaves or mistakes these
_RADICALS = dict(
    zip(
        "⼾⺠⻁⻄⻅⻆⻉⻋⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳⻑⻗",
        "户民虎西见角贝车长门青韦页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟長雨",
        strict=True,
    )
)
_SPREAD = re.compile(rf"(?<=[{CJK}…])\s+(?=[{CJK}…])")
_CJK_PAIR = re.compile(rf"[{CJK}…](?=\s*[{CJK}…])")
_BREAKABLE = re.compile(rf"[{CJK}\uac00-\ud7a3]|[^\w\s]\w")  # where a row may end inside a word
_LEADERS = re.compile(r"\s*(?:[.·…]\s*){5,}")  # the dots of a table of contents
_SPACES = re.compile(r"[ \t\u00a0]+")
# type sizes between two words that may be of two columns; spaces of justified text stay below
WIDE_GAP: Final = 0.9
WIDE_GAP_FIXED: Final = 1.6  # the same where all letters are equally wide, and spaces too
_SAME_ROW: Final = 3  # words close together, after which the next is taken to stand in the same row
_BELOW: Final = 0.22  # type sizes that letters reach below the baseline, and those above
_ABOVE: Final = 0.78


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a piece and where it begins and ends across the page."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Line:
    """`x0`, `x1`, `y0` (bottom), `y1` (top) and `size` are in points, upright, y upwards. `box`:
    the same as shares of the page as shown. `hyphen`: a word goes on in the next line. `unmapped`:
    the font does not tell which characters it shows.
    """

    page: int
    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool = False  # throughout
    starts_bold: bool = False
    fixed: bool = False
    hyphen: bool = False
    unmapped: bool = False
    turn: int = 0  # quarter turns that make it upright
    aside: bool = False  # it lies another way than most of its page, so that places do not compare
    row: int = 0  # of a table: its number on the page, from 1
    box: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    words: tuple[Word, ...] = ()  # only until the page is laid out
    goes_on: bool = False  # pdfium gives it as one line with the piece before


def compute_body_size(lines: Sequence[Line]) -> float:
    """The size in which most characters are set; tables count only where there is nothing else."""
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += 0 if line.row else len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def read_pieces(characters: Characters, number: int) -> list[Line]:
    """The pieces of page `number`; none where it has no text."""
    found: list[Line] = []
    for match in _LINE.finditer(characters.text):
        raw, start = match.group(), match.start()
        first = next(
            (n for n, char in enumerate(raw) if not char.isspace() and char != HYPHEN), None
        )
        if first is None:
            continue
        turn = characters.turn(start + first)
        goes_on = False
        for part in _split_parts(characters, raw, start, turn):
            line = _make_piece(
                characters,
                part,
                turn,
                number,
                goes_on=goes_on,
                hyphen=characters.text.startswith(HYPHEN, part[-1][1]),
            )
            goes_on = True
            if line.text:
                found.append(line)
    return found


def find_main_turn(lines: Sequence[Line]) -> int:
    """The turn of most characters."""
    turns: Counter[int] = Counter()
    for line in lines:
        turns[line.turn] += len(line.text)
    return turns.most_common(1)[0][0] if turns else 0


# first character, one after the last, left, right, baseline
_Spot = tuple[int, int, float, float, float]


def _split_parts(characters: Characters, raw: str, start: int, turn: int) -> Iterator[list[_Spot]]:
    """The words of one of pdfium's lines, in groups that stand in one row without a wide gap."""
    size = gap = 0.0
    group: list[_Spot] = []
    for match in _WORD.finditer(raw):
        first, after = start + match.start(), start + match.end()
        breakable = _BREAKABLE.search(match.group())
        for spot in (
            _split_spots(characters, first, after, turn)
            if breakable
            else [_make_spot(characters, first, after, turn, group, size)]
        ):
            if group and _is_apart(group[-1], spot, size, gap):
                yield group
                group = []
            if not group:
                size = characters.size(spot[0]) or 1.0
                gap = size * (WIDE_GAP_FIXED if characters.font(spot[0])[1] else WIDE_GAP)
            group.append(spot)
    if group:
        yield group


def _make_spot(
    characters: Characters, first: int, after: int, turn: int, group: list[_Spot], size: float
) -> _Spot:
    """A word. One close behind several others stands on their baseline; asking takes time."""
    left, right = characters.span(first, turn)[0], characters.span(after - 1, turn)[2]
    if len(group) >= _SAME_ROW and 0 < left - group[-1][3] < 0.5 * size:
        return first, after, left, right, group[-1][4]
    return first, after, left, right, characters.get_baseline(first, turn)


def _split_spots(characters: Characters, first: int, after: int, turn: int) -> Iterator[_Spot]:
    """Chinese, or words joined by signs, parted at a new row, where pdfium joins rows."""
    base, end = characters.get_baseline(first, turn), characters.get_baseline(after - 1, turn)
    if after - first > 1 and abs(base - end) > 0.7 * (characters.size(first) or 1.0):
        # the first stands in the row of the beginning, the second in another
        low, high = (first, after - 1)
        while high - low > 1:
            middle = (low + high) // 2
            near = abs(characters.get_baseline(middle, turn) - base) < abs(
                characters.get_baseline(middle, turn) - end
            )
            low, high = (middle, high) if near else (low, middle)
        yield from _split_spots(characters, first, high, turn)
        yield from _split_spots(characters, high, after, turn)
        return
    yield first, after, characters.span(first, turn)[0], characters.span(after - 1, turn)[2], base


def _is_apart(before: _Spot, spot: _Spot, size: float, widest: float) -> bool:
    gap = spot[2] - before[3]
    return abs(spot[4] - before[4]) > 0.7 * size or gap > widest or gap < -size


def _make_piece(
    characters: Characters,
    part: list[_Spot],
    turn: int,
    number: int,
    *,
    goes_on: bool,
    hyphen: bool,
) -> Line:
    first, last = part[0][0], part[-1][1] - 1
    samples = [
        _find_inked_char(part, first + (last - first) * quarter // 4) for quarter in range(5)
    ]
    fonts = [characters.font(n) for n in samples[::2]]
    # marks, bullets and lowered letters do not count
    size = sorted(characters.size(n) for n in samples)[3]
    _, low, _, high = characters.span(first, turn)
    size = size if size > 0.5 * (high - low) else round(high - low, 1)
    bases = sorted(spot[4] for spot in part)
    base = bases[len(bases) // 2]
    words = tuple(Word(characters.text[a:b], x0, x1) for a, b, x0, x1, _ in part)
    place = (part[0][2], base - _BELOW * size, max(spot[3] for spot in part), base + _ABOVE * size)
    x0, y0, x1, y1 = (intern_float(round(at, 1)) for at in place)
    return Line(
        page=number,
        text=normalize_text(" ".join(word.text for word in words)),
        x0=x0,
        y0=y0,
        x1=x1,
        y1=y1,
        size=intern_float(size),
        bold=all(bold for bold, _ in fonts),
        starts_bold=fonts[0][0],
        fixed=all(fixed for _, fixed in fonts),
        hyphen=hyphen,
        unmapped=characters.is_unmapped(first),
        turn=turn,
        box=characters.frame.to_shares(max(turn, 0), place),
        words=words,
        goes_on=goes_on,
    )


def _find_inked_char(part: list[_Spot], index: int) -> int:
    """The character at `index`, or the end of the word before it: a space that pdfium puts in has a
    size of its own.
    """
    return next(
        (min(index, after - 1) for first, after, *_ in reversed(part) if first <= index), index
    )


def normalize_text(text: str) -> str:
    """`text` without ligatures, and without spaces between all characters of a Chinese line."""
    text = _PLAIN.sub(
        lambda match: _RADICALS.get(match.group()) or unicodedata.normalize("NFKC", match.group()),
        clean_text(text),
    )
    spread = len(_SPREAD.findall(text))
    if spread >= 3 and 2 * spread > len(_CJK_PAIR.findall(text)):
        text = _SPREAD.sub("", text)
    return _SPACES.sub(" ", _LEADERS.sub(" … ", text)).strip()
