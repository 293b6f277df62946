"""The terminals of `statement_grammar`, and what a statement may hold columns against: words of the
question, days, months. A month or a year is no day: a date is held against one day only where the
question says the day's number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from citewell.sql.engines.engine import Dialect

TERMINALS = r"""%llguidance {}
JOIN: " JOIN " | " LEFT JOIN "
COMPARE: " = " | " != " | " < " | " > " | " <= " | " >= "
RANGE: " < " | " > " | " <= " | " >= "
SAME: " = " | " != "
SETS: " INTERSECT " | " EXCEPT " | " UNION "
ALSO: " AND " | " OR "
AMONG: " IN (" | " NOT IN ("
NULLS: " IS NULL" | " IS NOT NULL"
WAY: " ASC" | " DESC"
LIMIT: " LIMIT " /[1-9][0-9]{0,3}/ (" OFFSET " /[1-9][0-9]{0,2}/)?
FIRST: " LIMIT 1" (" OFFSET " /[1-9][0-9]{0,2}/)?
NUMBER: /-?[0-9]{1,12}(\.[0-9]{1,6})?/
FACTOR: /[0-9]{1,4}(\.[0-9]{1,4})?/
DAY: "'" /[12][0-9]{3}/ "-" (LONG | SHORT | /02-(0[1-9]|1[0-9]|2[0-8])/) "'"
LONG: /(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])/
SHORT: /(0[469]|11)-(0[1-9]|[12][0-9]|30)/
PART: /'[0-9]{2,4}'/
YES: "TRUE" | "FALSE"
YES_LITE: /TRUE|FALSE|0|1|'([TFYNtfyn]|true|false|yes|no)'/
NAMED: " AS " /[a-z]{2,16}_[a-z_]{2,24}/
SIGN: " + " | " - " | " * " | " / "
AS: /( AS)? [Tt][1-9]/
ALIAS: /[Tt][1-9]\./
"""

# The year, the month and both of a date, as each engine writes them.
DATE_PARTS: dict[Dialect, tuple[tuple[str, str], tuple[str, str], tuple[str, str]]] = {
    "duckdb": (("year(", ")"), ("month(", ")"), ("strftime(", ", '%Y-%m')")),
    "sqlite": (("strftime('%Y', ", ")"), ("strftime('%m', ", ")"), ("strftime('%Y-%m', ", ")")),
    "postgres": (
        ("extract(year from ", ")"),
        ("extract(month from ", ")"),
        ("to_char(", ", 'YYYY-MM')"),
    ),
    "mysql": (("year(", ")"), ("month(", ")"), ("date_format(", ", '%Y-%m')")),
}

_MONTHS = re.compile(r"(?<!\d)\d{1,2}\s*月|(?<!\d)[12]\d{3}[-/]\d{1,2}(?![-/]?\d)")
_DAYS = re.compile(r"(?<!\d)\d{1,2}(?!\d)")


def write_date_conditions(text: str, dialect: Dialect) -> list[str]:
    """Conditions on the year and the month of a date, which `text` writes: apart, so that no year
    needs to be invented for a month.
    """
    year, month, _ = (
        f"{json.dumps(one)} {text} {json.dumps(other)}" for one, other in DATE_PARTS[dialect]
    )
    return [f"({year} | {month}) COMPARE {'PART' if dialect == 'sqlite' else 'NUMBER'}"]


def name_dates(column: str, dialect: Dialect) -> dict[str, str]:
    """What a prompt's examples say of a date: `month`, `in_may` (any year), `in_march` of 2024."""
    year, month, both = (f"{before}{column}{after}" for before, after in DATE_PARTS[dialect])
    may, march, y2024 = ("'05'", "'03'", "'2024'") if dialect == "sqlite" else ("5", "3", "2024")
    in_march = f"{year} = {y2024} AND {month} = {march}"
    return {"month": both, "in_may": f"{month} = {may}", "in_march": in_march}


def list_days(question: str) -> list[str]:
    """Patterns of the month and the day of each day whose number stands in the question, which no
    number of a month is (5月, 2024-05).
    """
    said = {int(each) for each in _DAYS.findall(_MONTHS.sub(" ", question))}
    months = {day: "(0[1-9]|1[0-2])" if day < 29 else "(0[13-9]|1[0-2])" for day in range(1, 31)}
    months[31] = "(0[13578]|1[02])"
    return [f"{months[day]}-{day:02}" for day in sorted(said & set(months))]


def write_question_words(question: str, stored: Iterable[str]) -> list[str]:
    """Words of the question that follow each other, in Chinese characters: `SAID` all, `REST` those
    that are not of a value that is `stored`, for columns of which all values are known.
    """
    whole = [_write_words("SAID", question)]
    pieces = [re.escape(each) for each in sorted(set(stored), key=len, reverse=True)]
    apart = re.split("|".join(pieces), question, flags=re.IGNORECASE) if pieces else [question]
    rest = [each for each in apart if each.strip()] or ["?"]
    names = [f"REST{at}" for at in range(len(rest))]
    whole += [_write_words(name, part) for name, part in zip(names, rest, strict=True)]
    return [*whole, f"REST: {' | '.join(names)}"]


def _write_words(name: str, text: str) -> str:
    chunks = re.findall(r"[\u3400-\u9fff]|[^\W\u3400-\u9fff]+|\s+|.", text)
    said = [chunk.replace("'", "''") for chunk in chunks if chunk not in "%_\\"]
    return f"{name}: %regex {json.dumps({'substring_chunks': said or ['?']})}"
