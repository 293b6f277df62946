"""RTF files to documents."""

from __future__ import annotations

from citewell.config import IngestSettings
from citewell.ingest.markup import rtf
from citewell.types import Document

FONTS = (
    r"{\fonttbl{\f0\fcharset134 x;}{\f1\fcharset0 Arial;}{\f2\fcharset2 "
    r"Symbol;}{\f3\fcharset204 y;}}"
)
STYLES = (
    r"{\stylesheet{Normal;}{\s1\outlinelevel0 Chapter;}{\s2 heading 2;}{\s3 Title;}{\s4 toc "
    r"1;}{\*\cs9 x;}}"
)


def parse(body: str, head: str = FONTS + STYLES) -> Document:
    source = r"{\rtf1\ansi\ansicpg936\deff0" + head + body + "}"
    return rtf.parse(source.encode("latin-1"), "x.rtf", IngestSettings())


def gbk(text: str) -> str:
    return "".join(f"\\'{byte:02x}" for byte in text.encode("gbk"))


def test_characters() -> None:
    """Bytes are read in the font's character set or the file's code page, Unicode escapes as they
    are, fallbacks left out.
    """
    assert (
        parse(r"\f0 " + gbk("员工手册") + r"\f1 " + gbk("杭州") + r"\f3\'cf\'f0\par").text
        == "员工手册杭州Пр"
    )
    assert (
        parse(r"\u20320?\u22909?{\uc2\u19990\'ca\'c0\u30028\'bd\'e7}\uc0\u20320 a\par").text
        == "你好世界你a"
    )
    assert (
        parse(r"\u-10179?\u-8704? \emdash\~\ldblquote x\rdblquote\line a\_b\par").text
        == "😀 — “x”\na-b"
    )
    assert parse(r"\'81\par", head="").text == "\ufffd"


def test_what_is_not_shown() -> None:
    """Pictures, headers, field codes, hidden and deleted text, unknown destinations and tables of
    contents are left out.
    """
    body = (
        r"{\header h\par}{\*\unknown u}{\pict 89504e}{\v hidden}{\deleted gone}\bin3 {}}shown "
        r"{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}{\upr{old}{\*\ud{new}}}\par\pard\s4 "
        r"contents\tab 3\par"
    )
    assert parse(body).text == "shown linknew"


def test_headings_notes_and_lists() -> None:
    """Headings come by outline level or name of the style; notes stand below; list numbers are the
    text that is there.
    """
    info = r"{\info{\title t}{\author a}{\creatim\yr2020\mo1\dy1}{\revtim\yr2024\mo3\dy1\hr9}}"
    body = (
        r"\pard\s3 Book\par\pard\s1 One\par\pard\s2 Sub\par\pard text{\footnote \pard\chftn  a "
        r"note\par}, more\par"
        r"\pard\outlinelevel0 Own\par\pard{\listtext "
        r"1.\tab}first\par{\pntext\f2\'b7\tab}second\par after\par"
    )
    document = parse(info + body)
    assert document.text.endswith("text¹, more\n¹ a note\n\nOwn\n\n1. first\n- second\n\nafter")
    assert [s.heading_path for s in document.sections] == [(), ("One",), ("One", "Sub"), ("Own",)]
    assert (document.title, document.dated) == ("Book", 1709251200.0)


def row(
    *cells: str, first: str = "", edges: tuple[int, ...] = (1000, 2000, 3000), header: str = ""
) -> str:
    marks = "".join(("" if n else first) + rf"\cellx{edge}" for n, edge in enumerate(edges))
    return (
        rf"\trowd{header}{marks}\pard\intbl "
        + "".join(rf"{cell}\cell " for cell in cells)
        + r"\row"
    )


def test_tables() -> None:
    """Rows name their columns; cells merged downwards are said again, and wider ones cover the
    columns up to their edge.
    """
    body = (
        row("a", "b", "c", header=r"\trhdr")
        + row("1", "2", r"3\par 4", first=r"\clvmgf")
        + row("", "5", "6", first=r"\clvmrg")
    )
    document = parse(body + row("7", "8", edges=(1000, 3000)) + r"\pard after\par")
    assert (
        document.text
        == "a | b | c\na: 1 | b: 2 | c: 3 4\na: 1 | b: 5 | c: 6\na: 7 | b / c: 8\n\nafter"
    )


def test_pages_and_broken_files() -> None:
    """Explicit page ends count; a file that breaks off, or closes what was never opened, is read as
    far as it goes.
    """
    document = parse(r"one\par\page two\par")
    assert [(p.number, document.text[p.start : p.end].strip()) for p in document.pages] == [
        (1, "one"),
        (2, "two"),
    ]
    assert rtf.parse(rb"{\rtf1 one\par {two", "x.rtf", IngestSettings()).text == "one\n\ntwo"
    assert rtf.parse(rb"{\rtf1 one}}}\par two", "x.rtf", IngestSettings()).text == "one\n\ntwo"
