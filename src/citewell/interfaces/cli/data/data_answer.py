"""What stands under the sentence of a `data` answer: rows, chart, the statement that ran, what it
followed. The statement is printed so that it can be copied: lines are broken where SQL does not
mind.
"""

from __future__ import annotations

import re
import shlex
import time

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from citewell.interfaces.cli.output.bars import show_chart
from citewell.interfaces.cli.output.rows import as_rows, show_rows
from citewell.interfaces.cli.output.terminal import strip_controls, style_text, write_paragraph
from citewell.types import Answer, Followed, TableData

WORDS = {
    "en": {
        "sql": "[1] {source} ({dialect})",
        "tried": "{n} tried before",
        "follows": "follows {id}: confirmed by {who} on {day}",
        "rule": "follows {id}: a correction that {who} approved on {day}",
        "like": "({how}: “{question}”)",
        "nobody": "nobody named",
        "say": "right or wrong? {command}",
    },
    "zh": {
        "sql": "[1] {source}（{dialect}）",
        "tried": "此前试过 {n} 条",
        "follows": "依据 {id}：{who} 于 {day} 确认",
        "rule": "依据 {id}：{who} 于 {day} 批准的更正",
        "like": "（{how}：“{question}”）",
        "nobody": "未署名",
        "say": "对还是错？{command}",
    },
}
HOW = {
    "en": {
        "reused": "as it stands",
        "adapted": "with other values",
        "example": "as an example",
        "rule": "rule",
    },
    "zh": {"reused": "原样沿用", "adapted": "换了参数", "example": "作为示例", "rule": "规则"},
}
LEAST_LINE = 16  # characters of a line of SQL in the narrowest window
# a quoted text or name with its doubled quotes, a comment, white space, or a run of anything else
_PIECES = re.compile(
    r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|\s+|[^\s'\"`]+|.", re.DOTALL
)


def show_data(console: Console, answer: Answer, lang: str) -> None:
    """Everything but the sentence and the small print."""
    if answer.data is None:
        return
    data = TableData.model_validate(answer.data)
    rows = as_rows(data)
    if rows.rows and not _is_single_value(data):
        console.print()
        show_rows(console, rows, lang)
    if data.chart is not None and console.is_terminal:
        console.print()
        show_chart(console, data.chart, rows, lang)
    if data.sql:
        console.print()
        head = WORDS[lang]["sql"].format(source=data.source, dialect=data.dialect)
        tried = " · " + WORDS[lang]["tried"].format(n=len(data.tried)) if data.tried else ""
        write_paragraph(console, style_text(head, "bold") + style_text(tried, "dim"))
        for line in wrap_sql(data.sql, console.width - 2 if console.is_terminal else 0):
            console.print(Text("  ") + style_text(line), soft_wrap=True)


def show_followed(console: Console, answer: Answer, lang: str) -> None:
    """Who stands behind it."""
    if answer.followed:
        console.print()
    for each in answer.followed:
        write_paragraph(console, _format_followed(each, lang), "green")


def format_feedback_hint(answer: Answer, lang: str) -> str:
    """What to type."""
    return WORDS[lang]["say"].format(
        command=f"citewell feedback {shlex.quote(answer.trace_id)} --correct|--wrong"
    )


def _is_single_value(data: TableData) -> bool:
    """One value alone is in the sentence already."""
    return len(data.rows) == 1 and len(data.columns) == 1


def _format_followed(each: Followed, lang: str) -> str:
    words, joint = WORDS[lang], "、" if lang == "zh" else ", "
    day = time.strftime("%Y-%m-%d", time.localtime(each.confirmed_at)) if each.confirmed_at else "?"
    who = joint.join(each.confirmed_by) or words["nobody"]
    text = words["rule" if each.kind == "rule" else "follows"].format(
        id=each.item_id, who=who, day=day
    )
    how = words["like"].format(
        how=HOW[lang].get(each.how, each.how), question=" ".join(each.question.split())
    )
    return text + (" " if lang != "zh" else "") + how


def wrap_sql(sql: str, width: int) -> list[str]:
    """A statement in lines of at most `width` (0: its own lines), broken only where white space
    stands outside of quotes.
    """
    lines = []
    for own in _split_sql_lines(strip_controls(sql).strip()):
        at = ""
        for word in own:
            if width and at and cell_len(at) + 1 + cell_len(word) > max(width, LEAST_LINE):
                lines.append(at)
                at = "  " + word
            else:
                at = f"{at} {word}" if at else word
        lines.append(at)
    return lines


def _split_sql_lines(sql: str) -> list[list[str]]:
    """Words of each line; a quoted text is within one word, whatever it holds."""
    lines: list[list[str]] = [[]]
    glued = False
    for piece in _PIECES.findall(sql):
        if piece.isspace():
            glued = False
            if "\n" in piece and lines[-1]:
                lines.append([])
        elif glued:
            lines[-1][-1] += piece
        else:
            lines[-1].append(piece)
            glued = True
    return [line for line in lines if line]
