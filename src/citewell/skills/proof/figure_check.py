"""Does a sentence state the figure that its own equation gives, and do rows of a database hold the
figures told from them? A veto of code, only where it is sure. A figure is the same when it is
rounded, in thousands, in percent, in 万, in words, in another unit of time; dates and times of day
are no figures.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from citewell.messages import Text
from citewell.skills.evidence.numbered import Unit
from citewell.skills.proof.exact import evaluate_equations, join_thousands
from citewell.text.dates import extract_dates
from citewell.text.numbers import find_measures

DATABASE = "table:"  # begins the address of rows that a statement gave
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_CLOCK = re.compile(
    r"\d{1,2}\s*:\s*\d{2}|\d{1,2}\s*(?:[ap]\.?\s?m\b|o['’]clock|[点时])", re.IGNORECASE
)
_SCALES = (1, 100, 1_000, 10**4, 10**6, 10**8, 10**9)  # percent, thousand, 万, million, 亿, billion
_SPANS = (7, 12, 24, 30, 52, 60, 365, 1_440, 3_600, 86_400)  # units of time in one another
_TIMES = {"second", "minute", "hour", "day", "working day", "week", "month", "year"}
_ALIKE = 0.01  # how far a share told as two figures ("2 of 3") may be from the quotient


@dataclass(frozen=True, slots=True)
class _Figure:
    """`half`: of the last digit that counts: 1,500 may stand for 1,490."""

    text: str
    value: float
    half: float
    unit: str


def check_result(text: str, calculation: str, question: str, evidence: Sequence[Unit]) -> str:
    """What is wrong where a sentence states another figure than its equation gives; empty where
    nothing surely is. It is wrong where it does not state the result, and states a figure that
    neither equation, question nor `evidence` has.
    """
    results, parts = evaluate_equations(calculation)
    told = list(_find_figures(text))
    if (
        not results
        or any(_is_result(value, figure) for figure in told for value in results)
        or _has_quotient(told, results)
    ):
        return ""
    known = _read_values(
        [question, *{unit.passage.heading for unit in evidence}, *(unit.text for unit in evidence)]
    )
    strange = _find_unknown_figure(told, [*parts, *known])
    return f"{calculation.strip()} ≠ {strange.text}" if strange else ""


def check_rows(text: str, calculation: str, question: str, evidence: Sequence[Unit]) -> str:
    """The same of what is told from rows of a database, where code can read them: it is wrong where
    no figure is one of a row or of the equation, and one is neither of the question nor of the
    statement, and cannot be a count of rows.
    """
    if not evidence or not all(unit.passage.hit.uri.startswith(DATABASE) for unit in evidence):
        return ""
    asked = list(_read_values([question, *(unit.passage.heading for unit in evidence[:1])]))
    given = [*evaluate_equations(calculation)[1], *_read_values([unit.text for unit in evidence])]
    told = [
        figure
        for figure in _find_figures(text)
        if not any(_has_value(figure, value) for value in asked)
    ]
    if any(_has_value(figure, value) for figure in told for value in given):
        return ""
    strange = _find_unknown_figure(
        [each for each in told if not each.value.is_integer() or each.value > len(evidence)], given
    )
    return (
        Text("{text} is in no row, and no equation gives it", text=strange.text) if strange else ""
    )


def _find_figures(text: str) -> Iterator[_Figure]:
    """Of a text without dates and times of day."""
    plain = _CLOCK.sub(" ", extract_dates(unicodedata.normalize("NFKC", text))[1])
    for read in dict.fromkeys((plain, join_thousands(plain))):
        for number, unit in find_measures(read):
            digits = Decimal(number.rstrip("%s")).normalize()
            exponent = digits.as_tuple().exponent
            assert isinstance(exponent, int), "figures are finite"
            yield _Figure(number, float(digits), 0.5 * 10.0**exponent, unit)


def _read_values(texts: Iterable[str]) -> Iterator[float]:
    """Every figure of the texts, parts of dates and names too."""
    for text in texts:
        yield from (figure.value for figure in _find_figures(text))
        yield from (
            float(digits) for digits in _DIGITS.findall(unicodedata.normalize("NFKC", text))
        )


def _find_unknown_figure(told: Sequence[_Figure], known: Sequence[float]) -> _Figure | None:
    """A figure that is none of the known; several in a row may be one ("1 hour 30 minutes")."""
    several = sum(figure.unit in _TIMES for figure in told) > 1
    sure = (figure for figure in told if not (several and figure.unit in _TIMES))
    return next(
        (figure for figure in sure if not any(_has_value(figure, value) for value in known)), None
    )


def _is_result(value: float, figure: _Figure) -> bool:
    """Whether a result is the figure, in another unit of time perhaps."""
    return _has_value(figure, value, (*_SCALES, *_SPANS) if figure.unit in _TIMES else _SCALES)


def _has_value(figure: _Figure, value: float, scales: Sequence[int] = _SCALES) -> bool:
    told, value, half = abs(figure.value), abs(value), figure.half * 1.0001
    return any(
        abs(told - value * scale) <= half or abs(told - value / scale) <= half for scale in scales
    )


def _has_quotient(told: Sequence[_Figure], results: Sequence[float]) -> bool:
    """Whether two neighbouring figures tell a quotient: 1/3, two of three; not a lone `one`."""
    pairs = [
        *((1.0, figure.value) for figure in told),
        *((a.value, b.value) for a, b in pairwise(told)),
    ]
    shares = [first / second for first, second in pairs if second]
    return any(abs(share - value) <= _ALIKE * abs(value) for share in shares for value in results)
