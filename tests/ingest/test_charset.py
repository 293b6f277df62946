"""Bytes of any usual encoding become the text that was written."""

from __future__ import annotations

import pytest

from citewell.errors import UnreadableFile
from citewell.text.charset import decode_text, guess_filename_encoding

SIMPLE = "数据库是按照数据结构来组织、存储和管理数据的仓库。"
TRADITIONAL = "資料庫是按照資料結構來組織、儲存和管理資料的倉庫。我們說這個"
FRENCH = "L'été où j'ai été à la forêt, le café était très cher. Ça va?"


@pytest.mark.parametrize(
    "encoding",
    [
        "utf-8",
        "utf-8-sig",
        "utf-16",
        "utf-16-le",
        "utf-16-be",
        "utf-32",
        "utf-32-le",
        "gb18030",
        "gbk",
    ],
)
def test_simplified_chinese(encoding: str) -> None:
    """Simplified Chinese is read with and without a byte order mark."""
    assert decode_text(SIMPLE.encode(encoding), "a.txt") == (SIMPLE, [])


@pytest.mark.parametrize("encoding", ["big5", "gb18030", "utf-16-be"])
def test_traditional_chinese(encoding: str) -> None:
    """Big5 is told from GB18030."""
    assert decode_text(TRADITIONAL.encode(encoding), "a.txt") == (TRADITIONAL, [])


@pytest.mark.parametrize(
    ("text", "encoding"),
    [(FRENCH, "cp1252"), ("Привет, как дела? Это русский текст о базах данных." * 3, "koi8_r")],
)
def test_a_guess_says_so(text: str, encoding: str) -> None:
    """An encoding that is only likely is named in a warning."""
    assert decode_text(text.encode(encoding), "a.txt") == (
        text,
        [f"its encoding was guessed as {encoding}"],
    )


def test_lists_of_names() -> None:
    """Common characters, though few of them are frequent, are not Arabic; Korean names are not
    Chinese.
    """
    for text, encoding in (
        ("张伟\n李娜\n王芳\n刘洋\n", "gbk"),
        ("김철수\n이영희\n박민수\n최지우\n", "euc_kr"),
    ):
        assert decode_text(text.encode(encoding), "a.txt")[0] == text


def test_wide_latin_without_a_mark() -> None:
    """UTF-16 of Latin text is known by where its NUL bytes stand."""
    for encoding in ("utf-16-le", "utf-16-be", "utf-32-be"):
        assert (
            decode_text(b"" + "plain ascii\nfoo".encode(encoding), "a.txt")[0] == "plain ascii\nfoo"
        )


def test_damaged_utf8_stays_utf8() -> None:
    """One bad byte in UTF-8 does not turn the file into another encoding; a warning counts the
    places.
    """
    text, warnings = decode_text((SIMPLE * 3).encode()[:-1] + b"!", "a.txt")
    assert text.startswith(SIMPLE)
    assert warnings == ["1 places were not valid UTF-8 and are shown as \ufffd"]


def test_a_stray_nul_goes() -> None:
    """A NUL byte in text is left out rather than taken for a sign of binary."""
    assert decode_text(b"before\0after", "a.txt")[0] == "beforeafter"


@pytest.mark.parametrize("data", [b"\0" * 100, bytes(range(256)) * 10, b"\x01\x02\x03" * 50])
def test_binary_is_refused(data: bytes) -> None:
    """Binary data is refused with a reason, not shown as noise."""
    with pytest.raises(UnreadableFile, match=r"a\.txt is"):
        decode_text(data, "a.txt")


ASIAN = [
    (
        "合同编号为第三号，甲方应当付清全部货款。",
        ["gbk", "gb18030", "utf-16-le", "utf-16-be", "utf-32-le", "hz"],
    ),
    ("付款方式", ["gbk", "utf-16-le", "utf-16-be", "utf-32-be"]),
    ("姓名,电话,地址\n张三,13800000000,北京市海淀区\n", ["gbk", "utf-16-le", "hz"]),
    ("本公司應於收到貨物後三十日內付清全部貨款。", ["big5", "cp950", "gb18030"]),
    (
        "会議のメモ：カタログをご覧ください。",
        ["shift_jis", "cp932", "euc_jp", "iso2022_jp", "utf-16-le"],
    ),
    ("東京都千代田区", ["shift_jis", "euc_jp", "iso2022_jp"]),
    ("결제 방법 안내: 대금 전액을 지급하여야 한다.", ["euc_kr", "cp949", "utf-16-be"]),
    ("회의록 작성", ["euc_kr", "iso2022_kr"]),
]
EUROPEAN = [
    (
        "Покупатель обязан оплатить товар. Привет, мир!",
        ["cp1251", "koi8_r", "cp866", "iso8859_5", "utf-16-le"],
    ),
    (
        "Der Käufer muß die Ware bezahlen. Schöne Grüße aus Köln.",
        ["cp1252", "latin-1", "cp850", "utf-32-le"],
    ),
    ("L’acheteur doit payer après réception. Ça coûte très cher.", ["cp1252"]),
    ("Kupujący jest zobowiązany zapłacić. Zażółć gęślą jaźń.", ["cp1250", "iso8859_2"]),
    ("Kupující je povinen zaplatit. Příliš žluťoučký kůň.", ["cp1250", "iso8859_2"]),
    ("Alıcı malı otuz gün içinde ödemek zorundadır. Güneşli.", ["cp1254"]),
    ("Ο αγοραστής οφείλει να πληρώσει. Καλημέρα κόσμε.", ["cp1253"]),
    ("הקונה חייב לשלם עבור הסחורה בתוך שלושים יום.", ["cp1255", "utf-16-le"]),
    ("يجب على المشتري دفع ثمن البضاعة خلال ثلاثين يوما.", ["cp1256", "utf-16-be"]),
    ("ผู้ซื้อต้องชำระค่าสินค้าภายในสามสิบวัน", ["cp874", "utf-16-le"]),
]
LANGUAGES = [(text, encoding) for text, encodings in ASIAN + EUROPEAN for encoding in encodings]


@pytest.mark.parametrize(("text", "encoding"), LANGUAGES, ids=lambda value: value[:12])
def test_encodings_of_the_world(text: str, encoding: str) -> None:
    """Short texts and long ones come out as written, in the encodings that their countries use."""
    for times in (1, 30):
        assert decode_text((text * times).encode(encoding), "a.txt")[0] == text * times


def test_tildes_and_braces_are_no_chinese() -> None:
    """Program text with the signs that switch HZ stays as it is."""
    assert decode_text(b"x = ~{abcd~} + {1: 2}", "a.txt")[0] == "x = ~{abcd~} + {1: 2}"


def test_a_long_latin_part_first() -> None:
    """The bytes that tell are found wherever they stand in a long file."""
    text = "plain words " * 20_000 + "甲方应当在收到货物之后三十日内付清全部货款。"
    assert decode_text(text.encode("gbk"), "a.txt")[0] == text


def test_names_in_archives() -> None:
    """A few names are enough to tell an Asian encoding; Latin ones are left to their archive."""
    assert guess_filename_encoding("合同付款.txt".encode("gbk")) == "gb18030"
    assert guess_filename_encoding("résumé.txt".encode("cp437")) == ""
