"""Whether the first rows of a table name its columns, judged by what its cells look like. A row
that looks like those below it is no header.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

# a cell that the one to its left covers; what covers several rows, the caller says in each
ACROSS: Final = "\0"
LONGEST_NAME: Final = 40  # characters; longer cells are text, not the name of a column
SAMPLE: Final = 200  # rows looked at
_MOST_ROWS: Final = 3  # a header has no more
_NUMBER = re.compile(r"[-+(（<>≤≥≈~±]?\s*[¥￥$€£]?\s*[-+]?\d")
_DIGITS = re.compile(r"[\d.,\s]+")
_YEAR = re.compile(
    r"(?:FY\s?)?(?:19|20)\d\d(?:年度?|[-/.]\d{1,2}|\s?Q[1-4]|[EA])?|Q[1-4]|[1-4]季度|1?\d月份?",
    re.IGNORECASE,
)
_MARK_LIST: Final = "√ × ✓ ✔ ✗ ✘ ● ○ — - – / yes no y n true false 是 否 有 无"
_NAME_LIST: Final = """
    id no. nr # index item items name title type kind category class code key field attribute
    property parameter variable value values amount quantity qty unit units price cost total rate
    date time year month day period start end from to description comment comments note notes remark
    remarks status result score rank role person author owner contact email phone address city
    country region department team size weight length model version language first last gender age
    symptom cause remedy action default required example meaning source option chapter part subject
    page place feature plan fee limit 序号 编号 代码 代号 名称 姓名 项目 类别 类型 种类 型号 规格
    参数 数值 值 单位 数量 金额 单价 价格 费用 合计 日期 时间 年份 月份 期限 说明 描述 内容 备注
    注释 状态 结果 等级 级别 职务 岗位 部门 负责人 联系人 电话 邮箱 地址 城市 地区 国家 区域 门店
    客户 产品 性别 年龄 标准 要求 条件 原因 处理方法 措施 含义 位置 部位 模式 版本 语言 公司 来源
    字段 默认值 章 节 品名 品牌
"""
_MARKS: Final = frozenset(_MARK_LIST.split())
_NAMES: Final = frozenset(_NAME_LIST.split())


def count_header_rows(rows: Sequence[Sequence[str]], *, usual: bool = False) -> int:
    """How many of the first `rows` name the columns; 0 where none does. Cells are on one line,
    covered ones filled in.

    `usual`: tables of this kind mostly have a header, so that only a row that looks like the others
    is none (spreadsheets).
    """
    width = max(map(len, rows[:SAMPLE]), default=0)
    for depth in range(1, min(_MOST_ROWS, len(rows) - 1) + 1):
        top = _stack_columns(rows[:depth], width)
        named = [name for name in top if name] if usual else top
        if len(set(named)) == len(named):
            return depth if _is_header_row(top, rows[depth:SAMPLE], usual=usual) else 0
        if any(_NUMBER.match(cell) and not _YEAR.fullmatch(cell) for cell in rows[depth - 1]):
            return 0
    return 0


def _stack_columns(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Each column's cells from top to bottom as one word, set apart by what no cell holds."""
    return [
        ACROSS.join(row[n].casefold() if n < len(row) else "" for row in rows).strip(ACROSS)
        for n in range(width)
    ]


def _is_header_row(top: list[str], body: Sequence[Sequence[str]], *, usual: bool) -> bool:
    missing = sum(not cell for cell in top[1:])
    if (
        len(top) < 2
        or missing > (0.4 * len(top) if usual else 0)
        or any(len(cell) > LONGEST_NAME for cell in top)
    ):
        return False
    labels = sum(cell.endswith((":", "：")) for cell in top)
    if 0 < labels < 0.6 * len(top) or any(
        cell.endswith(("。", "；", ";", "！", "!")) for cell in top
    ):
        return False  # a form, whose labels stand beside what they label; a sentence
    if len(top) == 2 and not _is_second_column_name(
        top[1], [row[1] for row in body if len(row) > 1]
    ):
        return False
    columns = [[row[n] for row in body if n < len(row) and row[n]] for n in range(len(top))]
    votes = [_score_name(cell, column) for cell, column in zip(top, columns, strict=True) if cell]
    if min(votes) < 0 and sum(votes) <= 1:
        return False
    # words all over: the first row of a table of some size names its columns more often than not
    if sum(votes) == 0:
        return len(top) > 2 and (usual or len(body) > 1) and max(map(len, top)) <= LONGEST_NAME / 2
    return sum(votes) > 0


def _is_second_column_name(name: str, cells: list[str]) -> bool:
    """Whether a second of two columns is headed by `name`. If not, the first column names the
    second, row by row.

    A column has one unit; what stands behind the names of a first column (weight, speed, colour)
    has many.
    """
    if _is_common_name(name) or _YEAR.fullmatch(name):
        return True
    units = {_DIGITS.sub("", cell) for cell in cells if cell and _classify_cell(cell) != "mark"}
    return (
        _classify_cell(name) == "words"
        and len(units) == 1
        and all(_classify_cell(cell) in {"number", "mark"} for cell in cells if cell)
    )


def _is_common_name(name: str) -> bool:
    """Whether the lowest of the names stacked in `name` is one that columns often have."""
    return name.rpartition(ACROSS)[2] in _NAMES


def _score_name(name: str, cells: list[str]) -> float:
    """How much `name` looks like a header of `cells` (positive) or like a cell (negative)."""
    folded = [cell.casefold() for cell in cells]
    if name in folded:
        return -2
    vote = 1.0 if _is_common_name(name) else 0.0
    if not cells:
        return vote
    shape, count = Counter(map(_classify_cell, cells)).most_common(1)[0]
    mine = _classify_cell(name)
    if _YEAR.fullmatch(name):
        return vote + (1 if not any(map(_YEAR.fullmatch, cells)) else -1)
    if count >= 0.7 * len(cells):
        if shape != mine:
            return vote + (1 if shape in {"number", "mark", "link"} or mine == "number" else 0.5)
        if shape in {"number", "mark"}:
            return vote - 1
    repeated = len(cells) > 3 and len(set(folded)) <= len(cells) / 2
    longer = sum(map(len, cells)) >= max(12, 2 * len(name)) * len(cells)
    return vote + 0.5 * (repeated + longer)


def _classify_cell(cell: str) -> str:
    folded = cell.casefold()
    if folded in _MARKS:
        return "mark"
    if _NUMBER.match(cell):
        return "number"
    if "@" in cell or "://" in cell:
        return "link"
    return "code" if any(map(str.isdigit, cell)) else "words"
