"""Separated values to documents."""

from __future__ import annotations

import pytest

from citewell.config import IngestSettings
from citewell.ingest.markup import delimited
from citewell.types import Document

ROWS = "门店,城市,销售额\n西湖店,杭州,1234.5\n锦里店,成都,980\n"
READ = (
    "门店 | 城市 | 销售额\n门店: 西湖店 | 城市: 杭州 | 销售额: 1234.5\n门店: 锦里店 | 城市: "
    "成都 | 销售额: 980"
)


def parse(data: bytes, name: str = "x.csv", cells: int = 200_000) -> Document:
    return delimited.parse(data, name, IngestSettings(max_cells=cells))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
def test_encodings_and_separators(encoding: str, sign: str) -> None:
    """Chinese tables are read in each usual encoding, whatever separates their fields."""
    document = parse(ROWS.replace(",", sign).encode(encoding))
    assert document.text == READ
    assert document.media_type == ("text/tab-separated-values" if sign == "\t" else "text/csv")


def test_decimal_commas_do_not_separate() -> None:
    """What cuts every row alike separates, not what is most frequent; Excel's own hint decides."""
    assert (
        parse(b"Name;Preis;Alt\nA;1,50;2,50\nB;2,30;3,10\n").text.splitlines()[1]
        == "Name: A | Preis: 1,50 | Alt: 2,50"
    )
    assert (
        parse(b"sep=;\na,x;b\n1,5;2\n3,5;4\n").text == "a,x | b\na,x: 1,5 | b: 2\na,x: 3,5 | b: 4"
    )


def test_quotes() -> None:
    """A quoted field may hold the separator and line breaks; a quote that is never closed does not
    swallow the file.
    """
    assert parse(b'a,b,c\n1,"x, y\nz",2\n3,p,4\n').text.splitlines()[1] == "a: 1 | b: x, y z | c: 2"
    document = parse(b'a,b,c\n1,"open,2\n' + b"3,p,4\n" * 300)
    assert len(document.text.replace("\n\n", "\n").splitlines()) == 302


def test_tables_in_one_file() -> None:
    """Lines above a header are a title; an empty line ends a table; rows may be short or long."""
    text = (
        "2024年销售表,,\n单位：元,,\n"
        + ROWS
        + "武侯店,成都\n\n负责人,李雷\n电话,0571-88\n部门,销售\n"
    )
    document = parse(text.encode())
    title, unit, table, people = document.text.split("\n\n")
    assert (title, unit) == ("2024年销售表", "单位：元")
    assert table == READ + "\n门店: 武侯店 | 城市: 成都"
    assert people == "负责人: 李雷\n电话: 0571-88\n部门: 销售"
    assert document.sections[0].heading_path == ("2024年销售表",)


def test_what_is_left_out_is_said() -> None:
    """Only so many cells are read, and how many rows that leaves is a warning."""
    document = parse(b"a,b,c\n" + b"1,2,3\n" * 50, cells=30)
    assert document.warnings == ("10 of 51 rows are read; raise ingest.max_cells for more",)
    assert document.text.count("a: 1 | b: 2 | c: 3") == 9
