"""Comparisons of two rows of a table: who is said to be faster, lower, higher must be so by the figures of both rows.

The one rule: only what the claim names is compared: two rows, a column, and a direction that figures have. Better and worse
have none, unless the evidence says which way is better.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.skills.audit_cells import VALUE
from citewell.skills.audit_words import Finding, Line, tokens

_LESS = re.compile(
    r"\b(?:lower|less|fewer|smaller|faster|quicker|shorter|cheaper|lighter)\b|低于|小于|少于|短于|快于|更[低少小快短]|比.{0,30}[低少小快短](?![大])",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"\b(?:higher|more|greater|larger|bigger|slower|longer|dearer|heavier)\b|高于|大于|多于|长于|慢于|更[高多大慢长]|比.{0,30}[高多大慢长]",
    re.IGNORECASE,
)
_BETTER = re.compile(r"\b(?:better|outperforms?|beats?)\b|优于|好于|更好|胜过", re.IGNORECASE)
_WORSE = re.compile(r"\b(?:worse|underperforms?)\b|差于|劣于|更差|不如", re.IGNORECASE)
_LOWER_WINS = re.compile(r"\blower is better\b|越[低小]越好", re.IGNORECASE)
_HIGHER_WINS = re.compile(r"\bhigher is better\b|越[高大]越好", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|no|never|nor|n['’]t)\b|不(?!如)|没有|并非", re.IGNORECASE)
_BEHIND = re.compile(
    r"(?:\bthan|\bcompared (?:with|to)|\bagainst|\bover|\bthat of|比|[低小少短快高大多长慢优好]于|不如)"
    r"\s*(?:the |that of |those of )?$",
    re.IGNORECASE,
)


def miscompared(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """A comparison that the figures of the two rows turn round."""
    rows = [row for line in evidence if " | " in line.text and (row := _row(line.text))]
    direction = _direction(claim, evidence)
    named = [row for row in rows if _at(row[0], claim) >= 0]
    if not direction or _NOT.search(claim) or len({row[0] for row in named}) != 2:
        return []
    first, second = sorted({row[0] for row in named}, key=lambda name: _at(name, claim))
    subject, other = (second, first) if _BEHIND.search(claim[: _at(first, claim)]) else (first, second)
    words = tokens(claim)
    found = []
    for mine in (cells for name, cells in named if name == subject):
        for theirs in (cells for name, cells in named if name == other):
            columns = [c for c in mine if c in theirs and tokens(c) & words]
            wrong = [c for c in columns if (mine[c] - theirs[c]) * direction < 0 or mine[c] == theirs[c]]
            if columns and len(wrong) == len(columns):
                c = wrong[0]
                found.append(Finding(f"the table has {c} {mine[c]:g} for {subject} and {theirs[c]:g} for {other}"))
    return found[:1]


def _direction(claim: str, evidence: Sequence[Line]) -> int:
    """-1 where the claim says that its subject has less, 1 more, 0 neither or both."""
    less, more = bool(_LESS.search(claim)), bool(_MORE.search(claim))
    if less != more:
        return -1 if less else 1
    text = "\n".join(line.text for line in evidence)
    low, high = bool(_LOWER_WINS.search(text)), bool(_HIGHER_WINS.search(text))
    better, worse = bool(_BETTER.search(claim)), bool(_WORSE.search(claim))
    if less or low == high or better == worse:
        return 0
    return -1 if low == better else 1


def _row(line: str) -> tuple[str, dict[str, float]] | None:
    """A row's name, which is its first cell that is no figure, and its figures by column."""
    pairs = [part.rpartition(": ")[::2] for part in line.split(" | ")]
    name = next((value.strip() for column, value in pairs if column and not VALUE.fullmatch(value.strip())), "")
    figures = {
        column.strip(): float(found[1].replace(",", ""))
        for column, value in pairs
        if column and (found := VALUE.fullmatch(value.strip()))
    }
    return (re.sub(r"\s*[(（][^)）]*[)）]$", "", name), figures) if name and figures else None


def _at(name: str, claim: str) -> int:
    return claim.casefold().find(name.casefold())
