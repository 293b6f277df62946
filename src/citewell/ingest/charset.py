"""Bytes to text: byte order mark, UTF-8, UTF-16 without a mark, GB18030 and Big5 where they read as Chinese, then a guess.

The one rule: a decoding counts only if what comes out looks like writing, for GB18030 and UTF-16 accept nearly any bytes.
"""

from __future__ import annotations

import codecs
import re

from citewell.errors import UnreadableFile

_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESSED = ["cp1252", "cp1250", "cp1251", "koi8_r", "shift_jis", "cp932", "euc_jp", "euc_kr", "cp949", "cp1253", "cp1255"]
_SAMPLE = 200_000
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_USUAL = re.compile(r"[\n\r\t -~\u00a0-\u024f\u0370-\u052f\u2010-\u2026\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uff65]")
# the most frequent characters of Chinese prose, simplified and traditional
_FREQUENT = frozenset(
    "的一是不了在人有我他这这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年这個們來為國說時會對於著這"
)


def decode(data: bytes, name: str) -> tuple[str, list[str]]:
    """The text of `data` and warnings. Raises UnreadableFile where it is not text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").removeprefix("\ufeff"), []
    if b"\0" in data[:_SAMPLE]:
        return _wide(data, name), []
    try:
        return _writing(data.decode("utf-8"), name), []
    except UnicodeDecodeError:
        return _legacy(data, name)


def _writing(text: str, name: str) -> str:
    """`text`, unless more than one in twenty characters is a control: then it is binary."""
    sample = text[:_SAMPLE]
    if len(_CONTROL.findall(sample)) * 20 > len(sample):
        raise UnreadableFile(f"{name} is binary, not text")
    return text


def _wide(data: bytes, name: str) -> str:
    """UTF-16 or UTF-32 without a mark: NUL bytes sit at fixed places, and what comes out has hardly any controls."""
    for encoding, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % width:
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _plausible(text[:_SAMPLE]):
            return text
    if len(_CONTROL.findall(data[:_SAMPLE].decode("latin-1"))) <= max(1, len(data[:_SAMPLE]) // 100):
        return _legacy(data.replace(b"\0", b""), name)[0]  # text with a stray NUL
    raise UnreadableFile(f"{name} is binary, not text")


def _plausible(text: str) -> bool:
    """Whether nine in ten characters are of the scripts people write in, hardly any is a control, and Chinese is no chance."""
    if not text or len(_USUAL.findall(text)) < 0.9 * len(text) or len(_CONTROL.findall(text)) * 100 > len(text):
        return False
    han = [char for char in text if "\u4e00" <= char <= "\u9fff"]
    return 2 * len(han) < len(text) or sum(char in _FREQUENT for char in han) >= 0.03 * len(han)


def _legacy(data: bytes, name: str) -> tuple[str, list[str]]:
    text = data.decode("utf-8", errors="replace")
    lost = text.count("\ufffd")
    good = sum(1 for char in text[:_SAMPLE] if char > "\x7f" and char != "\ufffd")
    if good >= 10 * lost or not lost:
        return _writing(text, name), [f"{lost} places were not valid UTF-8 and are shown as \ufffd"] if lost else []
    scores = {encoding: _chinese(data, encoding) for encoding in ("gb18030", "big5hkscs", "utf-16-le", "utf-16-be")}
    best = max(scores, key=lambda encoding: scores[encoding])
    if scores[best] >= 0.6:
        return _writing(data.decode(best, errors="replace"), name), []
    return _guess(data, name)


def _chinese(data: bytes, encoding: str) -> float:
    """How much `data` reads as Chinese in `encoding`: the share of everyday characters plus that of the most frequent ones.

    The second part tells apart what the first cannot: Latin bytes taken for UTF-16, Korean taken for GB18030.
    """
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(data[:_SAMPLE], final=len(data) <= _SAMPLE)
    except UnicodeDecodeError:
        return 0.0
    wide = [char for char in text if char > "\x7f"]
    han = [char for char in wide if "\u4e00" <= char <= "\u9fff"]
    frequent = sum(char in _FREQUENT for char in han)
    if sum("\u3040" <= char <= "\u30ff" for char in wide) > 0.1 * len(wide):
        return 0.0  # Japanese
    if not han or ((encoding.startswith("utf") or len(han) >= 50) and frequent < 0.03 * len(han)):
        return 0.0
    return sum(map(_everyday, wide)) / len(wide) + frequent / len(han)


def _everyday(char: str) -> bool:
    """Whether `char` is of the first level of GB2312 or Big5 (their common characters), or a sign that goes with Chinese."""
    code = char.encode("gb2312", errors="ignore")
    if len(code) == 2 and (0xB0 <= code[0] <= 0xD7 or 0xA1 <= code[0] <= 0xA3):
        return True
    code = char.encode("big5", errors="ignore")
    return len(code) == 2 and 0xA1 <= code[0] <= 0xC6


def _guess(data: bytes, name: str) -> tuple[str, list[str]]:
    """What charset-normalizer makes of the rest, with a warning that it is a guess."""
    from charset_normalizer import from_bytes

    best = from_bytes(data, cp_isolation=_GUESSED).best()
    if best is None:
        raise UnreadableFile(f"{name} is not text in any known encoding", hint="save it as UTF-8 and add it again")
    return _writing(str(best), name), [f"its encoding was guessed as {best.encoding}"]
