"""Displayed equations, kept as text with the number that stands at the end of their line. A line is
an equation if signs outweigh words; a sentence with a formula in it is none.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

from citewell.ingest.paper.section_headings import Line, iterate_lines
from citewell.ingest.paper.shape import Equation, Float, Part
from citewell.text.language import HAN
from citewell.types import Document

_NUMBERED = re.compile(
    r"^(?P<words>.*?\S)[\s.,，。…·]*(?P<label>[(（]"
    r"(?:Eq\. )?[A-Z]?\d{1,3}(?:[.\-]\d{1,3})?[a-z]?[)）])\s*[.,]?$",
    re.DOTALL,
)
_ONLY_NUMBER = re.compile(r"[(（][A-Z]?\d{1,3}(?:[.\-]\d{1,3})?[a-z]?[)）]$")
_RELATION = re.compile(r"[=≈≤≥<>∝≡≜←→∈⊆:]|\\(?:frac|sum|le|ge|approx|propto|in)\b")
_OPERATOR = re.compile(r"[=+*/^√∑∏∫∂∇×·−≈≤≥∝∈∀∃∥‖⊙⊕Σ∆Δ_{}|]|\\[a-zA-Z]+")
_WORD = re.compile(rf"[A-Za-z]{{4,}}|[{HAN}]{{2,}}")
_NAMES = re.compile(
    r"\b(?:softmax|sigmoid|tanh|argmax|argmin|arg|exp|log|ReLU|relu|max|min|text(?:rm|bf)?|"
    r"mathrm|mathbf|loss|otherwise)\b"
)
_TEX = re.compile(
    r"\\(?:begin|end|frac|sum|mathbf|mathcal|mathrm|text\w*|left|right|lbrace|rbrace)\b"
)
_LONGEST: Final = 400
_FEWEST_OPERATORS: Final = 2


def find_equations(
    document: Document, parts: Sequence[Part], captions: Sequence[Float]
) -> tuple[Equation, ...]:
    """The equations in order; none in front matter, references, figures and tables."""
    barred = sorted(
        [(part.start, part.end) for part in parts if part.role in {"front", "references"}]
        + [(one.start, one.end) for one in captions]
        + [one.body for one in captions if one.body]
    )
    starts = [start for start, _ in barred]
    ends: list[int] = []
    for _, end in barred:
        ends.append(max(end, ends[-1] if ends else 0))
    heads = {part.start for part in parts if part.heading_path}
    every = list(iterate_lines(document.text))
    found: list[Equation] = []
    for n, line in enumerate(every):
        at = bisect_right(starts, line.start) - 1
        if (at >= 0 and line.start < ends[at]) or line.start in heads:
            continue
        read = _match_equation(every, n)
        if read:
            label, end = read
            found.append(
                Equation(
                    label=label,
                    start=line.start,
                    end=end,
                    page=document.find_page_at(line.start) or 0,
                )
            )
    return tuple(found)


def _match_equation(every: Sequence[Line], n: int) -> tuple[str, int] | None:
    """Its label and where it ends."""
    line = every[n]
    if len(line.text) > _LONGEST or " | " in line.text:
        return None
    match = _NUMBERED.match(line.text)
    if match and _is_mostly_signs(match["words"], 1):
        return match["label"], line.end
    if (
        not _is_mostly_signs(line.text, _FEWEST_OPERATORS)
        or line.text[0] in "#\"'“‘"
        or "http" in line.text
    ):
        return None
    follows = every[n + 1] if n + 1 < len(every) else None
    if follows and _ONLY_NUMBER.match(follows.text):
        return follows.text, follows.end
    return ("", line.end) if _is_unnumbered_equation(line.text) else None


def _is_mostly_signs(words: str, fewest: int) -> bool:
    """Whether signs outweigh words."""
    plain = _WORD.findall(_NAMES.sub(" ", re.sub(r"\\[a-zA-Z]+", " ", words)))
    operators = len(_OPERATOR.findall(words))
    return (
        bool(_RELATION.search(words))
        and operators >= fewest
        and len(plain) <= max(1, operators // 2)
    )


def _is_unnumbered_equation(words: str) -> bool:
    """Of one without a number more is asked: no plain word, or TeX."""
    plain = _WORD.findall(_NAMES.sub(" ", re.sub(r"\\[a-zA-Z]+", " ", words)))
    tex = len(_TEX.findall(words)) >= _FEWEST_OPERATORS and len(plain) <= _FEWEST_OPERATORS
    return (
        not plain
        and "=" in words
        and "==" not in words
        and len(words) > 6
        and bool(re.search(r"[A-Za-zα-ωΑ-Ω]", words))
    ) or tex
