"""What code can settle without a model: verbatim quotation and arithmetic."""

from __future__ import annotations

import ast
import operator
import re
import unicodedata
from collections.abc import Callable, Sequence
from itertools import pairwise

from citewell.skills.evidence.numbered import Unit
from citewell.text.language import CJK
from citewell.text.markup import strip_markup

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
_CHINESE_SPACE = re.compile(rf"(?<=[{CJK}]) (?=[{CJK}])")
_SEVERAL = re.compile(r"[;；\n]")


def find_quoted_unit(text: str, units: Sequence[Unit]) -> Unit | None:
    """The sentence that `text` is, word for word but for white space, Markdown and final
    punctuation; None where none is. The whole sentence: a part of it may say the opposite.
    """
    wanted = _normalize_quote(text)
    return next((unit for unit in units if wanted and _normalize_quote(unit.text) == wanted), None)


def _normalize_quote(text: str) -> str:
    flat = " ".join(unicodedata.normalize("NFKC", strip_markup(text)).split())
    return _CHINESE_SPACE.sub("", flat.strip(" .。!！;；")).casefold()


def check_equation(text: str) -> str:
    """What is wrong with equations in figures ("30 * 34 * 0.92 = 938.4", chains and several between
    semicolons); empty where they hold, and where the text cannot be read as arithmetic: then only
    the judge can tell.
    """
    for equation in _SEVERAL.split(text):
        sides = equation.replace("≈", "=").split("=")
        for left, right in pairwise(sides):
            if wrong := _compare_sides(left, right):
                return wrong
    return ""


def _compare_sides(left: str, right: str) -> str:
    try:
        computed, stated = (
            evaluate(_to_python_expression(left)),
            evaluate(_to_python_expression(right)),
        )
    except ValueError:
        return ""
    digits = _NUMBER.findall(join_thousands(right))
    half = (  # of its last digit
        0.5 * 10 ** -len(digits[-1].partition(".")[2]) / (100 if "%" in right else 1)
        if digits
        else 0.0
    )
    if abs(computed - stated) <= half * 1.0001 or (
        "%" in right and abs(computed - 100 * stated) <= half * 100.01
    ):
        return ""
    return f"{left.strip()} = {computed:,.10g} ≠ {right.strip()}"


def _to_python_expression(side: str) -> str:
    """In Python's signs, without the names of units."""
    text = unicodedata.normalize("NFKC", side)
    for sign, plain in (("×", "*"), ("·", "*"), ("÷", "/"), ("−", "-"), ("–", "-")):
        text = text.replace(sign, plain)
    text = re.sub(r"(?<=[\d)\s])x(?=[\s\d(])", "*", join_thousands(text))
    return re.sub(r"[^\W\d_]+|[€$£¥°]", " ", _PERCENT.sub(r"(\1/100)", text)).strip()


def join_thousands(text: str) -> str:
    """1,020 and 1 020 as 1020."""
    return _THOUSANDS.sub("", text)


def evaluate_equations(text: str) -> tuple[list[float], list[float]]:
    """The results of equations, one a side that can be read, and the values of all their parts."""
    results, parts = [], []
    for side in (
        side for equation in _SEVERAL.split(text) for side in equation.replace("≈", "=").split("=")
    ):
        try:
            values = _evaluate_parts(_to_python_expression(side))
        except ValueError:
            continue
        results.append(values[0])
        parts += values
    return results, parts


def evaluate(expression: str) -> float:
    """The value of figures, brackets and the four operations. Raises ValueError otherwise."""
    return _evaluate_parts(expression)[0]


def _evaluate_parts(expression: str) -> list[float]:
    """The value of an expression, then those of its parts. Raises ValueError as `evaluate`."""
    if len(expression) > LONGEST_EQUATION:
        raise ValueError("it is too long")
    try:
        whole = ast.parse(expression.strip(), mode="eval").body
        return [
            _evaluate_node(whole),
            *(_evaluate_node(part) for part in ast.walk(whole) if isinstance(part, ast.expr)),
        ]
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError("it is no arithmetic") from None
    except ZeroDivisionError:
        raise ValueError("it divides by zero") from None


def _evaluate_node(node: ast.expr) -> float:
    if (
        isinstance(node, ast.Constant)
        and isinstance(node.value, int | float)
        and not isinstance(node.value, bool)
    ):
        return float(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_evaluate_node(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_evaluate_node(node.left), _evaluate_node(node.right))
    raise ValueError("it is no arithmetic")
