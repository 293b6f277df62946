"""What is computed from the cells of a paper's tables: how much one row has more than another, or
both together; the row with the most or least; how many rows there are, or fit. What is to be done
is the nearest of labelled questions, what they name masked; nothing is computed unless the question
names all that it takes, and the rows are cited.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from citewell.messages import Text, translate
from citewell.models.base import Embedder
from citewell.skills.paper.nearest_example import find_nearest
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.paper.table_rows import (
    NAMED,
    Row,
    find_column,
    find_number,
    find_value,
    is_named,
    mask_names,
    measure_named,
    parse_figure,
    read_rows,
    remove_totals,
)
from citewell.text.sentences import detect_language
from citewell.types import Kind

Job = Literal[
    "difference", "sum", "highest", "lowest", "count", "holding", "above", "below", "none"
]
# Cosine of the nearest example, and by how much it has to be nearer than any of another job: chosen
# on s01 to s26 and f01 to f18 of `evals/paper_sums.jsonl` and the papers' other questions.
CLOSE: Final = 0.86
SURELY: Final = 0.01
MOST_CITED: Final = 12  # rows that are cited one by one; of more, the stretch that they stand in
# Nothing of these is from a paper or a set of questions: what is asked, about what it may be. A and
# B are rows, C a column, K what the rows are, V what a cell says, N a figure.
EXAMPLES: Final[Mapping[Job, str]] = {
    "difference": (
        "How much lower is the C of A than that of B? | By how many points does A exceed B in C?"
        " | How many more C had A than B? | What is the difference in C between A and B?"
        " | How much longer does A take than B? | A比B的C高多少？ | A的C比B低多少？"
        " | A和B的C相差多少？ | A比B多多少个C？"
    ),
    "sum": (
        "How many C do A and B have together? | How many C have A and B in total?"
        " | What is the sum of the C of A and B? | A和B一共有多少C？ | A与B的C合计是多少？"
    ),
    "highest": (
        "Which K has the highest C? | Which K has the most C? | Which K has the largest C?"
        " | Which K has the longest C? | On which K is C highest? | 哪个K的C最高？"
        " | 哪种K的C最多？ | 哪个K的C最大？ | 哪个K的C最长？"
    ),
    "lowest": (
        "Which K has the lowest C? | Which K has the fewest C? | Which K has the smallest C?"
        " | Which K has the shortest C? | On which K is C lowest? | 哪个K的C最低？"
        " | 哪种K的C最少？ | 哪个K的C最小？ | 哪个K的C最短？"
    ),
    "count": (
        "How many K are listed? | How many K are there? | How many K does it compare?"
        " | 列出了几个K？ | 一共有几种K？ | 比较了多少种K？"
    ),
    "holding": (
        "How many K use V? | How many K are V? | How many K have V as C? | 有几个K采用V？"
        " | C为V的K有几个？"
    ),
    "above": (
        "How many K have a C above N? | How many K have more than N C?"
        " | On how many K does C exceed N? | 有几个K的C超过N？ | C高于N的K有几个？"
    ),
    "below": (
        "How many K have a C below N? | How many K have fewer than N C?"
        " | On how many K is C less than N? | 有几个K的C低于N？ | C不到N的K有几个？"
    ),
    "none": (
        "What is the C of A? | What are A and B? | How does A compare with B in C?"
        " | Which C do A and B have? | What are the C of A and of B?"
        " | Why is the C of A lower than that of B? | How is A computed? | How many C has A?"
        " | What do A and B do? | Is A better than B in C? | Which K is used?"
        " | Why is the C of the K so high? | How is the C of a K measured? | What do the K show?"
        " | A的C是多少？ | A和B的C分别是多少？ | A与B的C各是多少？ | 为什么A的C比B低？"
        " | A是怎样计算的？ | A与B有什么变化？ | 采用了哪种K？ | K的C是怎样测量的？"
    ),
}
_HIGHEST = Text("Of {of} rows by {kind}, {label} has the highest {column}: {figure}.")
_LOWEST = Text("Of {of} rows by {kind}, {label} has the lowest {column}: {figure}.")
_COUNT = Text("The table has {n} rows by {kind}.")
_HOLDING = Text("{n} of {of} rows by {kind} have {value} as {column}.")
_ABOVE = Text("{n} of {of} rows by {kind} have a {column} above {figure}.")
_BELOW = Text("{n} of {of} rows by {kind} have a {column} below {figure}.")


@dataclass(frozen=True, slots=True)
class Calculation:
    """What was computed, in the table's words, and its rows. `equation`: of arithmetic."""

    text: str
    spans: tuple[tuple[int, int], ...]
    equation: str = ""

    @property
    def kind(self) -> Kind:
        return "calculation" if self.equation else "fact"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question over one table: what it wants done if it is `question`, masked, and how."""

    question: str
    ways: Mapping[Job, Callable[[], Calculation | None]]


async def calculate_from_tables(
    question: str, book: OpenPaper, named: Sequence[int], embedder: Embedder, rest: str = ""
) -> Calculation | None:
    """None where no table has what the question names, or nothing is to be computed. `named`: the
    floats that it points to, else every table is looked at; `rest`: the question without these
    words.
    """
    floats = [book.paper.floats[i] for i in named] or book.paper.floats
    tables = [rows for each in floats if (rows := read_rows(each, book.document.text))]
    matched = [_match_table(rest or question, rows, pointed=bool(named)) for rows in tables]
    asked = [each for each in matched if each is not None]
    if not asked:
        return None
    made = []
    for each in asked:
        job = await find_nearest(each.question, EXAMPLES, embedder, close=CLOSE, surely=SURELY)
        if job is not None and job in each.ways and (found := each.ways[job]()):
            made.append(found)
    # what two tables give differently is not known
    return made[0] if len({found.text for found in made}) == 1 else None


def _match_table(question: str, table: Sequence[Row], *, pointed: bool) -> _Asked | None:
    """What can be computed of a table by what the question names of it."""
    shares = measure_named([row.label for row in table], question)
    two = [row for row in table if shares[row.label] >= NAMED]
    column, lang = find_column(question, table), detect_language(question)
    if len(two) == 2 and column:
        asked = mask_names(question, {"A": two[0].label, "B": two[1].label, "C": column})
        return _Asked(
            asked, {job: partial(_compute_pair, job, two, column) for job in ("difference", "sum")}
        )
    rows, kind = remove_totals(table), table[0].kind
    kind_named = is_named(kind, question)
    number = find_number(question, column) if column else ""
    where, value = find_value(question, rows)
    masked = mask_names(question, {"K": kind, "C": column, "V": value, "N": number})
    ways: dict[Job, Callable[[], Calculation | None]] = {}
    if kind_named and column and not two:
        ways["highest"] = partial(_find_extreme, _HIGHEST, 1, rows, column, lang)
        ways["lowest"] = partial(_find_extreme, _LOWEST, -1, rows, column, lang)
    if kind_named and column and number:
        ways["above"] = partial(_count_beyond, _ABOVE, 1, rows, column, number, lang)
        ways["below"] = partial(_count_beyond, _BELOW, -1, rows, column, number, lang)
    if value and (kind_named or pointed):
        ways["holding"] = partial(_count_holding, rows, where, value, lang)
    if kind_named and pointed and not (column or value):
        ways["count"] = partial(_count_rows, _COUNT, rows, rows, lang)
    return _Asked(masked, ways) if ways else None


def _compute_pair(job: Job, rows: Sequence[Row], column: str) -> Calculation:
    high, low = rows = sorted(rows, key=lambda row: -row.get_value(column))
    value = high.get_value(column) + (1 if job == "sum" else -1) * low.get_value(column)
    sign, figures = "-" if job == "difference" else "+", [r.find_figure(column) for r in rows]
    digits = max(len(text.partition(".")[2]) for text in figures)
    equation = f"{figures[0]} {sign} {figures[1]} = {value:,.{digits}f}"
    text = f"{column}, {high.label} {sign} {low.label}: {equation}"
    return Calculation(text, ((high.start, high.end), (low.start, low.end)), equation)


def _find_extreme(
    text: Text, sign: int, rows: Sequence[Row], column: str, lang: str
) -> Calculation | None:
    """None where several rows share it."""
    best = max(sign * row.get_value(column) for row in rows)
    there = [row for row in rows if sign * row.get_value(column) == best]
    if len(there) > 1:
        return None
    figure = there[0].cells[column]
    told = {"column": column, "kind": rows[0].kind, "label": there[0].label, "figure": figure}
    return Calculation(translate(text.fill(of=str(len(rows)), **told), lang), _cite_rows(rows))


def _count_beyond(
    text: Text, sign: int, rows: Sequence[Row], column: str, number: str, lang: str
) -> Calculation:
    least = sign * parse_figure(number)
    fitting = [row for row in rows if sign * row.get_value(column) > least]
    return _count_rows(text, fitting, rows, lang, column=column, figure=number)


def _count_holding(rows: Sequence[Row], column: str, value: str, lang: str) -> Calculation:
    fitting = [row for row in rows if row.cells.get(column, "").casefold() == value]
    said = fitting[0].cells[column]
    return _count_rows(_HOLDING, fitting, rows, lang, column=column, value=said)


def _count_rows(
    text: Text, fitting: Sequence[Row], rows: Sequence[Row], lang: str, **told: str
) -> Calculation:
    """`rows`: all that were looked at, which prove it where none fits."""
    numbers = {"n": str(len(fitting)), "of": str(len(rows))}
    counted = text.fill(kind=rows[0].kind, **numbers, **told)
    return Calculation(translate(counted, lang), _cite_rows(fitting or rows))


def _cite_rows(rows: Sequence[Row]) -> tuple[tuple[int, int], ...]:
    if len(rows) > MOST_CITED:
        return ((rows[0].start, rows[-1].end),)
    return tuple((row.start, row.end) for row in rows)
