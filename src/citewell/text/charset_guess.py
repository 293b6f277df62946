"""Which of the older encodings some bytes are in, by how much each makes them look like writing. An
encoding is scored by the share of everyday letters among what it makes of the bytes beyond ASCII,
from 0 to 1, so that encodings of different languages can be held against each other.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Final

from citewell.text.charset_letters import CYRILLIC, KOREAN, LATIN, SIMPLIFIED, THAI, TRADITIONAL

# a score from which on a guess is made; measured: right ones have 0.6 to 1, wrong ones mostly below
# 0.5
LIKELY: Final = 0.55
_SAMPLE: Final = 60_000  # bytes
_RARE: Final = 0.3  # what a letter counts that the language has but seldom uses
_UNCOMMON: Final = 0.45  # the same for a character of the level that holds the everyday ones
# above what bytes can score in scripts where nearly any byte is a letter (0.9)
_PLAIN: Final = 0.91
_ENOUGH: Final = 6  # characters
_MOSTLY: Final = 0.85
_SOME: Final = 0.1
_SIGNS: Final = frozenset(
    "，。：；！？、（）《》「」『』【】“”‘’—…·　～％／．０１２３４５６７８９①②③④⑤"
)
_LATIN_SIGNS: Final = frozenset("“”‘’„‚«»–—…€£§°·•©®™½¼¾²³ªº¿¡×±µ´¨\u00a0")
_OPENING: Final = frozenset("“‘„«»¿¡‚")
_JOINING: Final = frozenset("’\u00a0–—·")
_INSIDE_WORD = re.compile(r"(?<=[a-z])[^\x00-\x7f](?=[a-z])")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def guess_encoding(data: bytes) -> tuple[str, float]:
    """The likeliest encoding and its score."""
    sample = data[:_SAMPLE]
    if not any(byte > 0x7F for byte in sample):
        first = next(
            (at for at in range(0, len(data), _SAMPLE) if not data[at : at + _SAMPLE].isascii()), 0
        )
        sample = data[first : first + _SAMPLE]
    best, most = "", 0.0
    for encoding, (score, weight) in _CANDIDATES.items():
        text = _decode_sample(sample, encoding, whole=len(sample) == len(data))
        if text is not None and (value := weight * score(text)) > most + 1e-9:
            best, most = encoding, value
    return best, most


def score_chinese(text: str) -> float:
    """How much `text` reads as Chinese, simplified or traditional."""
    wide = _list_non_ascii(text)
    return (
        max(
            _compute_common_share(wide, letters)
            for letters in (SIMPLIFIED, SIMPLIFIED | TRADITIONAL)
        )
        if wide
        else 0.0
    )


def _score_simplified(text: str) -> float:
    """The same of GB 18030, and at least `_PLAIN` where nearly all are common characters, as in a
    list of names, and some of those that stand where Korean and Japanese have rare ones: bytes that
    pair so, word by word, are no other language's.
    """
    codes = [
        char.encode("gb2312", errors="ignore")[:1]
        for char in _list_non_ascii(text)
        if char not in _SIGNS
    ]
    common, late = (sum(first <= code <= b"\xd7" for code in codes) for first in (b"\xb0", b"\xd0"))
    plain = len(codes) >= _ENOUGH and common >= _MOSTLY * len(codes) and late >= _SOME * len(codes)
    return max(score_chinese(text), _PLAIN if plain else 0.0)


def _decode_sample(sample: bytes, encoding: str, *, whole: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(sample, final=whole)
    except UnicodeDecodeError:
        return None


def _list_non_ascii(text: str) -> list[str]:
    """The characters beyond ASCII; one that stands in the middle of a Latin word, as in d帝tat, as
    one that means nothing.
    """
    return [char for char in _INSIDE_WORD.sub("\ufffd", text) if char > "\x7f"]


def _compute_common_share(wide: list[str], letters: frozenset[str]) -> float:
    """The everyday share of Chinese text: rare characters count little, those beyond GB2312 and
    Big5's first levels nothing.
    """
    total = 0.0
    for char in wide:
        if char in letters or char in _SIGNS:
            total += 1
        elif _HAN.match(char) and _is_common_char(char):
            total += _UNCOMMON
    return total / len(wide)


def _is_common_char(char: str) -> bool:
    """Whether `char` is of the first level of GB2312 or Big5, their common characters."""
    code = char.encode("gb2312", errors="ignore")
    if len(code) == 2 and 0xB0 <= code[0] <= 0xD7:
        return True
    code = char.encode("big5", errors="ignore")
    return len(code) == 2 and 0xA4 <= code[0] <= 0xC6


def score_japanese(text: str) -> float:
    """Kana count fully, everyday Chinese characters too; half-width kana hardly, for wrong
    encodings are full of them.
    """
    wide = _list_non_ascii(text)
    total = 0.0
    for char in wide:
        if (
            "\u3041" <= char <= "\u30fe"
            or char in _SIGNS
            or char in SIMPLIFIED
            or char in TRADITIONAL
        ):
            total += 1
        elif _HAN.match(char):
            total += 0.5
    return total / len(wide) if wide else 0.0


def _score_korean(text: str) -> float:
    wide = _list_non_ascii(text)
    total = sum(
        1 if char in KOREAN or char in _SIGNS else _UNCOMMON if "\uac00" <= char <= "\ud7a3" else 0
        for char in wide
    )
    return total / len(wide) if wide else 0.0


def _build_script_scorer(
    first: str, last: str, common: frozenset[str] = frozenset()
) -> Callable[[str], float]:
    """A scorer for a script of one block. A letter beside one of another script is no word, nor is
    a capital after a small one (Cyrillic and Greek encodings differ by case); what is not in
    `common`, where that is given, counts little.
    """

    def score(text: str) -> float:
        wide, total, before = 0, 0.0, " "
        for char, after in zip(text, text[1:] + " ", strict=True):
            if char > "\x7f":
                wide += 1
                if first <= char <= last:
                    strange = (before.isalpha() and not first <= before <= last) or (
                        char.isupper() and before.islower()
                    )
                    total += 0 if strange else 1 if not common or char in common else _RARE
                elif char in _LATIN_SIGNS or char == "№":
                    total += not (before.isalpha() or after.isalpha())
            before = char
        return total / wide if wide else 0.0

    return score


def _build_latin_scorer(*groups: int) -> Callable[[str], float]:
    """A scorer for accented Latin letters: two in a row are rare, as are signs between."""

    def score(text: str) -> float:
        return max(_score_accents(text, LATIN[group]) for group in groups)

    return score


def _score_accents(text: str, letters: frozenset[str]) -> float:
    wide, total, before = 0, 0.0, " "
    for char, after in zip(text, text[1:] + " ", strict=True):
        if char > "\x7f":
            wide += 1
            alone = before < "\x80" or before in _OPENING
            if char in letters:
                total += 1 if alone else 0.5 if before in letters and after < "\x80" else 0
            elif char in _LATIN_SIGNS and (before < "\x80" or after < "\x80"):
                total += (
                    0
                    if before.isalpha() and after.isalpha() and char not in _JOINING
                    else 1
                    if alone
                    else 0.5
                )
        before = char
    return total / wide if wide else 0.0


# in order: of two that score the same the first is taken; the weight is lower where nearly any
# bytes give letters
_CANDIDATES: Final[dict[str, tuple[Callable[[str], float], float]]] = {
    "gb18030": (_score_simplified, 1.0),
    "big5hkscs": (score_chinese, 1.0),
    "cp932": (score_japanese, 1.0),
    "euc_jp": (score_japanese, 1.0),
    "cp949": (_score_korean, 1.0),
    "shift_jis_2004": (score_japanese, 0.98),
    "euc_jis_2004": (score_japanese, 0.98),
    "cp1252": (_build_latin_scorer(0), 0.97),
    "cp1250": (_build_latin_scorer(1, 2, 3, 4, 5), 0.96),
    "iso8859_2": (_build_latin_scorer(1, 2, 3, 4, 5), 0.95),
    "cp1254": (_build_latin_scorer(6), 0.96),
    "cp1251": (_build_script_scorer("\u0400", "\u045f", CYRILLIC), 0.94),
    "koi8_r": (_build_script_scorer("\u0400", "\u045f", CYRILLIC), 0.93),
    "cp866": (_build_script_scorer("\u0400", "\u045f", CYRILLIC), 0.86),
    "iso8859_5": (_build_script_scorer("\u0400", "\u045f", CYRILLIC), 0.86),
    "cp1253": (_build_script_scorer("\u0384", "\u03ce"), 0.9),
    "cp1255": (_build_script_scorer("\u05d0", "\u05ea"), 0.95),
    "cp1256": (_build_script_scorer("\u060c", "\u06d2"), 0.9),
    "cp874": (_build_script_scorer("\u0e01", "\u0e5b", THAI), 0.9),
    "cp850": (_build_latin_scorer(0), 0.85),
    "mac_roman": (_build_latin_scorer(0), 0.8),
}
