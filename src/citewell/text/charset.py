"""Bytes to text: byte order mark, UTF-8, UTF-16 without a mark, seven-bit Asian encodings, then the
likeliest older one. A decoding counts only if what comes out looks like writing, for GB18030 and
UTF-16 accept nearly any bytes.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

from citewell.errors import UnreadableFile
from citewell.messages import Text
from citewell.text.charset_guess import LIKELY, guess_encoding, score_chinese, score_japanese

_MARKS = (  # UTF-32 first: its mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 200_000
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_CONTROLS = re.compile(_CONTROL.pattern.encode())
_USUAL = re.compile(
    r"[\n\r\t -~\u00a0-\u024f\u0370-\u052f\u0590-\u06ff\u0e00-\u0e5b\u1e00-\u1eff\u2010-\u2026"
    r"\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uff65]"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3041-\u30fe]")
_ESCAPES = (  # encodings of seven bits, by what switches to their second set
    (re.compile(rb"\x1b\$\)C"), "iso2022_kr"),
    (re.compile(rb"\x1b\$[@B(]"), "iso2022_jp_2"),
    (re.compile(rb"~\{(?:[\x21-\x7d][\x21-\x7e])+~\}"), "hz"),
)
_ASIAN = frozenset({"gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"})
_SHOWN = {"cp932": "shift_jis", "cp949": "euc_kr"}  # the names that people know
_CHANCE = 0.4  # of the score of Chinese: what bytes that happen to be Chinese characters stay below
# encodings that are read without a warning: Chinese reads as Chinese or not at all
_QUIET = frozenset({"gb18030", "big5hkscs"})


def decode_text(data: bytes, name: str) -> tuple[str, list[str]]:
    """The text of `data` and warnings. Raises UnreadableFile where it is not text."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace").removeprefix("\ufeff"), []
    if data.isascii() and (text := _decode_seven_bit(data)) is not None:
        return text, []
    if b"\0" in data[:_SAMPLE] or len(_CONTROLS.findall(data, 0, _SAMPLE)) * 20 > len(
        data[:_SAMPLE]
    ):
        return _decode_wide(data, name), []
    try:
        return _require_text(data.decode("utf-8"), name), []
    except UnicodeDecodeError:
        return _decode_legacy(data, name)


def _require_text(text: str, name: str) -> str:
    """`text`, unless more than one in twenty characters is a control: then it is binary."""
    sample = text[:_SAMPLE]
    if len(_CONTROL.findall(sample)) * 20 > len(sample):
        raise UnreadableFile(Text("{name} is binary, not text", name=name))
    return text


def _decode_wide(data: bytes, name: str) -> str:
    """UTF-16 or UTF-32 without a mark: NULs at fixed places, hardly any controls in the text."""
    for encoding, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % width:
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _is_plausible_text(text[:_SAMPLE]):
            return text
    if len(_CONTROL.findall(data[:_SAMPLE].decode("latin-1"))) <= max(
        1, len(data[:_SAMPLE]) // 100
    ):
        return _decode_legacy(data.replace(b"\0", b""), name)[0]  # text with a stray NUL
    raise UnreadableFile(Text("{name} is binary, not text", name=name))


def _is_plausible_text(text: str) -> bool:
    """Whether nine in ten characters are of the scripts people write in, hardly any is a control,
    and Chinese is no chance.
    """
    if (
        not text
        or len(_USUAL.findall(text)) < 0.9 * len(text)
        or len(_CONTROL.findall(text)) * 100 > len(text)
    ):
        return False
    han = _HAN.findall(text)
    return (
        2 * len(han) < len(text)
        or bool(_KANA.search(text))
        or score_chinese("".join(han)) >= _CHANCE
    )


def _decode_seven_bit(data: bytes) -> str | None:
    """ISO-2022 and HZ: ASCII bytes that switch to CJK. None for just ASCII."""
    for switch, encoding in _ESCAPES:
        if switch.search(data, 0, _SAMPLE):
            with suppress(UnicodeDecodeError):
                text = data.decode(encoding)
                if encoding != "hz" or score_chinese(text) >= LIKELY:
                    return text
    return None


def _decode_legacy(data: bytes, name: str) -> tuple[str, list[str]]:
    text = data.decode("utf-8", errors="replace")
    lost = text.count("\ufffd")
    good = sum(1 for char in text[:_SAMPLE] if char > "\x7f" and char != "\ufffd")
    if good >= 10 * lost or not lost:
        return _require_text(text, name), [
            Text("{lost} places were not valid UTF-8 and are shown as �", lost=lost)
        ] if lost else []
    wide = _detect_wide_asian(data)
    if wide:
        return _require_text(data.decode(wide, errors="replace"), name), []
    encoding, score = guess_encoding(data)
    if score < LIKELY:
        return _decode_with_fallback(data, name)
    warnings: list[str] = (
        []
        if encoding in _QUIET
        else [Text("its encoding was guessed as {shown}", shown=_SHOWN.get(encoding, encoding))]
    )
    return _require_text(data.decode(encoding, errors="replace"), name), warnings


def _detect_wide_asian(data: bytes) -> str:
    """UTF-16 without mark or NUL: Chinese or Japanese, no Latin letter or line break."""
    for encoding in ("utf-16-le", "utf-16-be"):
        if len(data) % 2 == 0:
            with suppress(UnicodeDecodeError):
                text = data[:_SAMPLE].decode(encoding)
                if max(score_chinese(text), score_japanese(text)) >= max(
                    LIKELY, guess_encoding(data)[1]
                ):
                    return encoding
    return ""


def _decode_with_fallback(data: bytes, name: str) -> tuple[str, list[str]]:
    """What charset-normalizer makes of the rest, with a warning that it is a guess."""
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE]).best()
    if best is None:
        raise UnreadableFile(
            Text("{name} is not text in any known encoding", name=name),
            hint=Text("save it as UTF-8 and add it again"),
        )
    text = data.decode(best.encoding, errors="replace")
    return _require_text(text, name), [
        Text("its encoding was guessed as {encoding}", encoding=best.encoding)
    ]


def guess_filename_encoding(data: bytes) -> str:
    """The encoding of file names in an archive, empty where no Asian one reads them."""
    encoding, score = guess_encoding(data)
    return encoding if score >= LIKELY and encoding in _ASIAN else ""
