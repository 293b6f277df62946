"""Formulas of Word (OMML) and OpenDocument (MathML) as one line that reads: `x = (-b ± √(b² -
4ac))/(2a)`.

The one rule: every sign of the formula is there once; brackets are added only where the line would
else say something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from citewell.ingest.office.package import local

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

    def chosen(self, properties: str, name: str, default: str) -> str:
        """A character that the function's properties choose, such as the bracket of a delimiter."""
        for holder in self.element:
            if local(holder) == properties:
                for child in holder:
                    if local(child) == name:
                        return next(
                            (value for key, value in child.attrib.items() if key.endswith("val")),
                            "",
                        )
        return default


def omml(element: Any, depth: int = 0) -> str:
    """What an `m:oMath`, or any part of one, says."""
    kind = local(element)
    if depth > _DEEPEST or kind.endswith("Pr"):
        return ""
    if kind == "t":
        return element.text or ""
    write = _OMML.get(kind)
    if write is None:
        return "".join(omml(child, depth + 1) for child in element)
    written: dict[str, list[str]] = {}
    for child in element:
        written.setdefault(local(child), []).append(omml(child, depth + 1))
    return write(_Parts(element, written))


def fraction(above: str, below: str) -> str:
    return f"{_bound(above)}/{_bound(below)}"


def raised(base: str, power: str) -> str:
    return f"{_bound(base)}{_power(power)}" if power else base


def _power(text: str) -> str:
    return text.translate(_SUPERSCRIPT) if _RAISED.fullmatch(text) else f"^{_bound(text)}"


def lowered(base: str, index: str) -> str:
    short = index.translate(_SUBSCRIPT) if _LOWERED.fullmatch(index) else f"_{_bound(index)}"
    return f"{base}{short}" if index else base


def root(radicand: str, degree: str = "") -> str:
    return (
        f"{degree.translate(_SUPERSCRIPT) if _RAISED.fullmatch(degree) else degree}√"
        f"{_bound(radicand)}"
    )


def _bound(text: str) -> str:
    """`text`, in brackets unless it is one thing."""
    text = text.strip()
    return text if _ATOM.fullmatch(text) else f"({text})"


def _delimited(parts: _Parts) -> str:
    begin, end, between = (
        parts.chosen("dPr", name, default)
        for name, default in (("begChr", "("), ("endChr", ")"), ("sepChr", "|"))
    )
    return f"{begin}{between.join(parts.written.get('e', []))}{end}"


def _nary(parts: _Parts) -> str:
    below, above = parts.get("sub"), parts.get("sup")
    limits = (f"_{_bound(below)}" if below else "") + (f"^{_bound(above)}" if above else "")
    return f"{parts.chosen('naryPr', 'chr', '∫')}{limits} {parts.get('e')}"


def _matrix(parts: _Parts) -> str:
    rows = [
        [omml(cell) for cell in row if local(cell) == "e"]
        for row in parts.element
        if local(row) == "mr"
    ]
    return "[" + "; ".join(", ".join(row) for row in rows) + "]"


_OMML: Final[dict[str, Callable[[_Parts], str]]] = {
    "f": lambda parts: fraction(parts.get("num"), parts.get("den")),
    "sSup": lambda parts: raised(parts.get("e"), parts.get("sup")),
    "sSub": lambda parts: lowered(parts.get("e"), parts.get("sub")),
    "sSubSup": lambda parts: raised(lowered(parts.get("e"), parts.get("sub")), parts.get("sup")),
    "sPre": lambda parts: lowered("", parts.get("sub")) + _power(parts.get("sup")) + parts.get("e"),
    "rad": lambda parts: root(parts.get("e"), parts.get("deg")),
    "limLow": lambda parts: lowered(parts.get("e"), parts.get("lim")),
    "limUpp": lambda parts: raised(parts.get("e"), parts.get("lim")),
    "func": lambda parts: f"{parts.get('fName')} {parts.get('e')}".strip(),
    "eqArr": lambda parts: "; ".join(parts.written.get("e", [])),
    "d": _delimited,
    "nary": _nary,
    "m": _matrix,
}


def mathml(element: Any, depth: int = 0) -> str:
    """What a MathML formula, or any part of one, says."""
    kind = local(element)
    if depth > _DEEPEST or kind.startswith("annotation"):
        return ""
    parts = [mathml(child, depth + 1) for child in element if isinstance(child.tag, str)]
    if not parts:
        return " ".join((element.text or "").split())
    if kind == "mfrac" and len(parts) == 2:
        return fraction(*parts)
    if kind in {"msup", "mover"} and len(parts) == 2:
        return raised(*parts)
    if kind in {"msub", "munder"} and len(parts) == 2:
        return lowered(*parts)
    if kind in {"msubsup", "munderover"} and len(parts) == 3:
        return raised(lowered(parts[0], parts[1]), parts[2])
    if kind == "msqrt":
        return root("".join(parts))
    if kind == "mroot" and len(parts) == 2:
        return root(*parts)
    if kind == "mtr":
        return ", ".join(parts)
    return ("; " if kind == "mtable" else "").join(parts)
