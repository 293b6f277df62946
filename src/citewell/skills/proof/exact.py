"""What code can settle without a model: verbatim quotation and arithmetic."""

from __future__ import annotations

import ast
import operator
import re
import unicodedata
from collections.abc import Callable, Sequence

from citewell.skills.facts import facts
from citewell.skills.numbered import Unit

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_THOUSANDS = re.compile(r"(?<=\d)[,\u2009\u202f ](?=\d{3}(?!\d))")
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
LONGEST_EQUATION = 300  # characters


def is_quoted(text: str, units: Sequence[Unit]) -> Unit | None:
    """The sentence that `text` is, word for word but for white space and final punctuation; None where none is. The whole
    sentence: a part of it may say the opposite.
    """
    wanted = _plain(text)
    return next((unit for unit in units if wanted and _plain(unit.text) == wanted), None)


def _plain(text: str) -> str:
    flat = " ".join(unicodedata.normalize("NFKC", text).split())
    return flat.strip(" .。!！;；").casefold()


def check_equation(equation: str) -> str:
    """What is wrong with an equation in figures ("30 * 34 * 0.92 = 938.4"); empty where it holds. What cannot be read as one
    is wrong too: nobody can vouch for it.
    """
    left, sign, right = _readable(equation).partition("=")
    if not sign or "=" in right:
        return f"“{equation}” is no equation in figures"
    try:
        computed, stated = evaluate(left), evaluate(right)
    except ValueError as error:
        return f"“{equation}” cannot be computed: {error}"
    digits = _NUMBER.findall(right)
    half = 0.5 * 10 ** -len(digits[-1].partition(".")[2]) if digits else 0.0  # of the last digit that is given
    if abs(computed - stated) <= half * 1.0001:
        return ""
    return f"{left.strip()} is {computed:,.10g}, not {right.strip()}"


def missing_operands(equation: str, units: Sequence[Unit], question: str) -> list[str]:
    """Figures of an equation's left side that stand neither in the evidence nor in the question, but for small whole numbers
    that count things or convert units.
    """
    there = " ".join([question, *(f"{unit.passage.heading} {unit.text}" for unit in units)])
    known = {float(figure) for figure in _NUMBER.findall(_readable(there))}
    known |= {float(number) for number in facts(there).numbers if _NUMBER.fullmatch(number)}
    known |= {value / 100 for value in known} | {1 - value / 100 for value in known if value < 100}
    known |= {1 + value / 100 for value in known} | {1.0, 2.0, 7.0, 10.0, 12.0, 24.0, 30.0, 52.0, 60.0, 100.0, 365.0, 1000.0}
    figures = _NUMBER.findall(_readable(equation).partition("=")[0])
    return [figure for figure in figures if not any(abs(float(figure) - value) < 1e-9 for value in known)]


def _readable(equation: str) -> str:
    """In Python's signs."""
    text = unicodedata.normalize("NFKC", equation)
    for sign, plain in (("×", "*"), ("·", "*"), ("÷", "/"), ("−", "-"), ("–", "-"), ("≈", "="), ("^", "**")):
        text = text.replace(sign, plain)
    text = re.sub(r"(?<=[\d)\s])x(?=[\s\d(])", "*", text)
    text = re.sub(r"[€$£¥]", "", _THOUSANDS.sub("", text))
    return _PERCENT.sub(r"(\1/100)", text)


def evaluate(expression: str) -> float:
    """The value of an expression of figures, brackets and the four operations. Raises ValueError for anything else."""
    if len(expression) > LONGEST_EQUATION:
        raise ValueError("it is too long")
    try:
        return _value(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError("it is no arithmetic") from None
    except ZeroDivisionError:
        raise ValueError("it divides by zero") from None


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("it is no arithmetic")
