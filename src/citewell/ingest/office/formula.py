"""Formulas of Word (OMML) and OpenDocument (MathML) as one line that reads: `x = (-b ± √(b² -
4ac))/(2a)`. Every sign of the formula is there once; brackets are added only where the line would
else say something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from citewell.ingest.office.package import get_local_name

_SUPERSCRIPT: Final = str.maketrans("0123456789+-=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ")
_SUBSCRIPT: Final = str.maketrans("0123456789+-=()", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎")
_RAISED = re.compile(r"[0-9+\-=()ni]+")
_LOWERED = re.compile(r"[0-9+\-=()]+")
_ATOM = re.compile(r"[\w.√∞′'\u0300-\u036f\u2070-\u209f²³¹]+|\([^()]*\)|\[[^\[\]]*\]")
_DEEPEST: Final = 60


@dataclass(frozen=True, slots=True)
class _Parts:
    """The arguments of a function such as a fraction, written already, by their names."""

    element: Any
    written: dict[str, list[str]]

    def get(self, name: str) -> str:
        return "".join(self.written.get(name, [])[:1])

    def get_property(self, properties: str, name: str, default: str) -> str:
        """A character that the function's properties choose, such as the bracket of a delimiter."""
        for holder in self.element:
            if get_local_name(holder) == properties:
                for child in holder:
                    if get_local_name(child) == name:
                        return next(
                            (value for key, value in child.attrib.items() if key.endswith("val")),
                            "",
                        )
        return default


def format_omml(element: Any, depth: int = 0) -> str:
    """What an `m:oMath`, or any part of one, says."""
    kind = get_local_name(element)
    if depth > _DEEPEST or kind.endswith("Pr"):
        return ""
    if kind == "t":
        return element.text or ""
    write = _OMML.get(kind)
    if write is None:
        return "".join(format_omml(child, depth + 1) for child in element)
    written: dict[str, list[str]] = {}
    for child in element:
        written.setdefault(get_local_name(child), []).append(format_omml(child, depth + 1))
    return write(_Parts(element, written))


def format_fraction(above: str, below: str) -> str:
    return f"{_wrap_in_brackets(above)}/{_wrap_in_brackets(below)}"


def format_superscript(base: str, power: str) -> str:
    return f"{_wrap_in_brackets(base)}{_format_power(power)}" if power else base


def _format_power(text: str) -> str:
    return (
        text.translate(_SUPERSCRIPT) if _RAISED.fullmatch(text) else f"^{_wrap_in_brackets(text)}"
    )


def format_subscript(base: str, index: str) -> str:
    short = (
        index.translate(_SUBSCRIPT) if _LOWERED.fullmatch(index) else f"_{_wrap_in_brackets(index)}"
    )
    return f"{base}{short}" if index else base


def format_root(radicand: str, degree: str = "") -> str:
    return (
        f"{degree.translate(_SUPERSCRIPT) if _RAISED.fullmatch(degree) else degree}√"
        f"{_wrap_in_brackets(radicand)}"
    )


def _wrap_in_brackets(text: str) -> str:
    """`text`, in brackets unless it is one thing."""
    text = text.strip()
    return text if _ATOM.fullmatch(text) else f"({text})"


def _format_delimiter(parts: _Parts) -> str:
    begin, end, between = (
        parts.get_property("dPr", name, default)
        for name, default in (("begChr", "("), ("endChr", ")"), ("sepChr", "|"))
    )
    return f"{begin}{between.join(parts.written.get('e', []))}{end}"


def _format_nary(parts: _Parts) -> str:
    below, above = parts.get("sub"), parts.get("sup")
    limits = (f"_{_wrap_in_brackets(below)}" if below else "") + (
        f"^{_wrap_in_brackets(above)}" if above else ""
    )
    return f"{parts.get_property('naryPr', 'chr', '∫')}{limits} {parts.get('e')}"


def _format_matrix(parts: _Parts) -> str:
    rows = [
        [format_omml(cell) for cell in row if get_local_name(cell) == "e"]
        for row in parts.element
        if get_local_name(row) == "mr"
    ]
    return "[" + "; ".join(", ".join(row) for row in rows) + "]"


_OMML: Final[dict[str, Callable[[_Parts], str]]] = {
    "f": lambda parts: format_fraction(parts.get("num"), parts.get("den")),
    "sSup": lambda parts: format_superscript(parts.get("e"), parts.get("sup")),
    "sSub": lambda parts: format_subscript(parts.get("e"), parts.get("sub")),
    "sSubSup": lambda parts: format_superscript(
        format_subscript(parts.get("e"), parts.get("sub")), parts.get("sup")
    ),
    "sPre": lambda parts: (
        format_subscript("", parts.get("sub")) + _format_power(parts.get("sup")) + parts.get("e")
    ),
    "rad": lambda parts: format_root(parts.get("e"), parts.get("deg")),
    "limLow": lambda parts: format_subscript(parts.get("e"), parts.get("lim")),
    "limUpp": lambda parts: format_superscript(parts.get("e"), parts.get("lim")),
    "func": lambda parts: f"{parts.get('fName')} {parts.get('e')}".strip(),
    "eqArr": lambda parts: "; ".join(parts.written.get("e", [])),
    "d": _format_delimiter,
    "nary": _format_nary,
    "m": _format_matrix,
}


def format_mathml(element: Any, depth: int = 0) -> str:
    """What a MathML formula, or any part of one, says."""
    kind = get_local_name(element)
    if depth > _DEEPEST or kind.startswith("annotation"):
        return ""
    parts = [format_mathml(child, depth + 1) for child in element if isinstance(child.tag, str)]
    if not parts:
        return " ".join((element.text or "").split())
    if kind == "mfrac" and len(parts) == 2:
        return format_fraction(*parts)
    if kind in {"msup", "mover"} and len(parts) == 2:
        return format_superscript(*parts)
    if kind in {"msub", "munder"} and len(parts) == 2:
        return format_subscript(*parts)
    if kind in {"msubsup", "munderover"} and len(parts) == 3:
        return format_superscript(format_subscript(parts[0], parts[1]), parts[2])
    if kind == "msqrt":
        return format_root("".join(parts))
    if kind == "mroot" and len(parts) == 2:
        return format_root(*parts)
    if kind == "mtr":
        return ", ".join(parts)
    return ("; " if kind == "mtable" else "").join(parts)
