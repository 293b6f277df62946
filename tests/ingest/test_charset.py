"""Bytes of any usual encoding become the text that was written."""

from __future__ import annotations

import pytest

from citewell.errors import UnreadableFile
from citewell.ingest.charset import decode

SIMPLE = "数据库是按照数据结构来组织、存储和管理数据的仓库。"
TRADITIONAL = "資料庫是按照資料結構來組織、儲存和管理資料的倉庫。我們說這個"
FRENCH = "L'été où j'ai été à la forêt, le café était très cher. Ça va?"


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "gb18030", "gbk"]
)
def test_simplified_chinese(encoding: str) -> None:
    """Simplified Chinese is read with and without a byte order mark."""
    assert decode(SIMPLE.encode(encoding), "a.txt") == (SIMPLE, [])


@pytest.mark.parametrize("encoding", ["big5", "gb18030", "utf-16-be"])
def test_traditional_chinese(encoding: str) -> None:
    """Big5 is told from GB18030."""
    assert decode(TRADITIONAL.encode(encoding), "a.txt") == (TRADITIONAL, [])


@pytest.mark.parametrize(
    ("text", "encoding"), [(FRENCH, "cp1252"), ("Привет, как дела? Это русский текст о базах данных." * 3, "koi8_r")]
)
def test_a_guess_says_so(text: str, encoding: str) -> None:
    """An encoding that is only likely is named in a warning."""
    assert decode(text.encode(encoding), "a.txt") == (text, [f"its encoding was guessed as {encoding}"])


def test_wide_latin_without_a_mark() -> None:
    """UTF-16 of Latin text is known by where its NUL bytes stand."""
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-be"):
        assert decode(b"" + "plain ascii\nfoo".encode(encoding), "a.txt")[0] == "plain ascii\nfoo"


def test_damaged_utf8_stays_utf8() -> None:
    """One bad byte in UTF-8 does not turn the file into another encoding; a warning counts the places."""
    text, warnings = decode((SIMPLE * 3).encode()[:-1] + b"!", "a.txt")
    assert text.startswith(SIMPLE)
    assert warnings == ["1 places were not valid UTF-8 and are shown as \ufffd"]


def test_a_stray_nul_goes() -> None:
    """A NUL byte in text is left out rather than taken for a sign of binary."""
    assert decode(b"before\0after", "a.txt")[0] == "beforeafter"


@pytest.mark.parametrize("data", [b"\0" * 100, bytes(range(256)) * 10, b"\x01\x02\x03" * 50])
def test_binary_is_refused(data: bytes) -> None:
    """Binary data is refused with a reason, not shown as noise."""
    with pytest.raises(UnreadableFile, match=r"a\.txt is"):
        decode(data, "a.txt")
