"""What a figure counts: 180 ms are not 180 s, 7B not 7M, 3.2 points not 3.2 %.

The one rule: two units differ only where both are known; a bare figure, as in a table, agrees with any.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.skills.audit_words import Finding, Line, figures_in, plain, tokens

_UNITS: tuple[tuple[str, str], ...] = (
    ("percentage points", r"percentage\s+points?\b|points?\b|pp\b|个?百分点"),
    ("%", r"%|per\s?cent\b"),
    ("ms", r"ms\b|milliseconds?\b|毫秒"),
    ("µs", r"[µμ]s\b|microseconds?\b|微秒"),
    ("s", r"s\b|secs?\b|seconds?\b|秒"),
    ("min", r"min\b|minutes?\b|分钟"),
    ("h", r"h\b|hours?\b|个?小时"),
    ("days", r"days?\b|天"),
    ("weeks", r"weeks?\b|周"),
    ("months", r"months?\b|个月"),
    ("years", r"years?\b|年(?!代)"),
    ("KB", r"KB\b"),
    ("MB", r"MB\b"),
    ("GB", r"GB\b"),
    ("TB", r"TB\b"),
    ("thousand", r"k\b|K\b|thousand\b|千(?!米|克)"),
    ("ten thousand", r"万"),
    ("million", r"M\b|million\b|百万"),
    ("billion", r"B\b|billion\b|十亿"),
    ("hundred million", r"亿"),
    ("mm", r"mm\b|毫米"),
    ("cm", r"cm\b|厘米"),
    ("km", r"km\b|公里|千米"),
    ("m", r"m\b|met(?:er|re)s?\b|米"),
    ("mg", r"mg\b|毫克"),
    ("kg", r"kg\b|公斤|千克"),
    ("g", r"g\b|grams?\b|克"),
    ("Hz", r"Hz\b"),
    ("kHz", r"kHz\b"),
    ("MHz", r"MHz\b"),
    ("tokens", r"tokens?\b|词元"),
    ("words", r"words?\b|词(?!元)"),
    ("characters", r"characters?\b|字符?(?!节)"),
    ("epochs", r"epochs?\b|轮"),
    ("steps", r"steps?\b|步"),
    ("times", r"times\b|[x×]|倍"),
)
_BEHIND = tuple((name, re.compile(rf"[\s-]*(?:{pattern})")) for name, pattern in _UNITS)
_GLUED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)(?=[A-Za-zµμ×])")


def units(text: str) -> dict[str, set[str]]:
    """The units that each number of a text stands with; an empty one where none is known."""
    found: dict[str, set[str]] = {}
    spans = {
        (f.number.rstrip("%万亿"), f.start + len(f.number.rstrip("%万亿"))) for f in figures_in(text) if "," not in f.number
    }
    spans |= {(m[1], m.end(1)) for m in _GLUED.finditer(text)}
    for number, at in spans:
        name = next((name for name, pattern in _BEHIND if pattern.match(text, at)), "")
        found.setdefault(number, set()).add(name)
    return found


def mismeasured(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Figures of the claim that the sentences nearest to it have with another unit."""
    claim = plain(claim)
    words = tokens(claim)
    known = [(len(words & tokens(line.text)), units(line.text)) for line in evidence]
    found = []
    for number, names in units(claim).items():
        holding = [(n, there[number]) for n, there in known if number in there]
        most = max((n for n, _ in holding), default=0)
        theirs = {name for n, each in holding if n == most for name in each}
        if theirs and "" not in names | theirs and not names & theirs:
            found.append(Finding(f"the source has {number} {' or '.join(sorted(theirs))}, not {' or '.join(sorted(names))}"))
    return found
