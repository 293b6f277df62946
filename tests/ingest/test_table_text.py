"""Tables to lines that are evidence one by one."""

from __future__ import annotations

import pytest

from citewell.ingest.tables.header import ACROSS
from citewell.ingest.tables.table_text import format_table_lines


def table(source: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in source.strip().splitlines()]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            "项目|T300-H|T300-P\n最大载货|180公斤|200公斤\n高度|不得高于货厢|90厘米",
            "项目: 高度 | T300-H: 不得高于货厢 | T300-P: 90厘米",
        ),
        ("|2022|2023\nSales|5|6\nCost|3|4", "Cost | 2022: 3 | 2023: 4"),
        (
            "Country|Capital|Language\nFrance|Paris|French\nSpain|Madrid|Spanish",
            "Country: Spain | Capital: Madrid | Language: Spanish",
        ),
        ("部位|扭矩\n立管螺栓|10 N·m\n座管夹|9 N·m", "部位: 座管夹 | 扭矩: 9 N·m"),
        ("姓名|邮箱|在职\n李雷|a@b.cn|√\n韩梅|c@d.cn|", "姓名: 韩梅 | 邮箱: c@d.cn"),
        ("x|kg|kg\ny|net|gross\na|1|2\nb|3|4", "x y: b | kg net: 3 | kg gross: 4"),
    ],
)
def test_rows_name_their_columns(source: str, line: str) -> None:
    """A row below a header that was found says what each of its cells is; the header stands first,
    as it is.
    """
    rows = table(source)
    lines = format_table_lines(rows)
    assert lines[0] == " | ".join(filter(None, rows[0]))
    assert lines[-1] == line


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("型号|T300\n载重|120 kg\n速度|25 km/h", ["型号: T300", "载重: 120 kg", "速度: 25 km/h"]),
        ("Name|Bob\nCity:|Paris\nNote|", ["Name: Bob", "City: Paris", "Note"]),
    ],
)
def test_two_columns_are_keys_and_values(source: str, expected: list[str]) -> None:
    """Where the first of two columns names the second, each row is `key: value`."""
    assert format_table_lines(table(source)) == expected


@pytest.mark.parametrize(
    "source",
    [
        "1|2|3\n4|5|6\n7|8|9",
        "检查|是|是|服务点\n后桥|是|是|服务点",
        "1|one\n2|two",
        "Berlin|12|x\nBerlin|13|y",
        "a|b|c",
    ],
)
def test_no_name_is_invented(source: str) -> None:
    """A first row that looks like the others names nothing."""
    assert format_table_lines(table(source)) == [
        line.replace("|", " | ") for line in source.splitlines()
    ]


def test_the_caller_knows_better() -> None:
    """`header` overrides the judgement: True is one row, 0 none, 2 two; rows that are too short or
    too long are no error.
    """
    rows = table("1|2\n3|4\n5|6|7\n8")
    assert format_table_lines(rows, header=True) == [
        "1 | 2",
        "1: 3 | 2: 4",
        "1: 5 | 2: 6 | 7",
        "1: 8",
    ]
    assert format_table_lines(rows, header=2)[2:] == ["1 3: 5 | 2 4: 6 | 7", "1 3: 8"]
    assert (
        format_table_lines(table("Country|Capital|Zone\nFrance|Paris|1"), header=False)[1]
        == "France | Paris | 1"
    )
    assert format_table_lines([], header=True) == format_table_lines([["", " "]]) == []


def test_merged_cells_are_said_in_each_row() -> None:
    """A cell over several columns has all their names, or names its columns; one as wide as the
    table names the rows below.
    """
    rows = [
        ["地区", "销售额", ACROSS],
        ["地区", "2022", "2023"],
        ["华东区", ACROSS, ACROSS],
        ["杭州", "5", "6"],
        ["上海", "停业", ACROSS],
        ["以上单位为万元。", ACROSS, ACROSS],
        ["合计", "5", "6"],
    ]
    assert format_table_lines(rows) == [
        "地区 | 销售额",
        "地区 | 2022 | 2023",
        "华东区",
        "华东区 | 地区: 杭州 | 销售额 2022: 5 | 销售额 2023: 6",
        "华东区 | 地区: 上海 | 销售额 2022 / 销售额 2023: 停业",
        "以上单位为万元。",
        "地区: 合计 | 销售额 2022: 5 | 销售额 2023: 6",
    ]


def test_cells_are_put_on_one_line() -> None:
    """Line breaks in a cell go; a form's labels keep their colon."""
    assert format_table_lines([["姓\n名：", "张 \n 三", "性别：", "男"]]) == [
        "姓名： 张三 | 性别： 男"
    ]
    assert format_table_lines([["a\nb", "x"]], header=False) == ["a b: x"]
