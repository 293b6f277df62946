"""The parts of a question that asks several things, by grammar: a joint, with something asked
before it and something asked behind it. What asks nothing is no part: a condition, a relative
clause, a list of things.
"""

from __future__ import annotations

import re
from itertools import pairwise

from citewell.text.tokens import tokenize_query

MOST_PARTS = 3  # of a question that asks several things
_WH = (
    r"(?:(?:in|on|at|with|by|for|to|from|of|since|until|after|before)\s+)?"
    r"(?:who|whom|whose|what|which|when|where|why|how)\b"
)
_INVERTED = (
    r"(?:can|could|may|must|shall|should|will|would|do|does|did|is|are|was|were|has|have)\s+"
    r"(?:i|we|you|he|she|it|they|there|this|that|these|those|the|an?|any|my|our|your|its|their)\b"
)
_ZH = r"谁|什么|啥|哪|多少|多[大长高久重远宽深厚快]|怎|为何|何时|何地|如何|吗|是否"
# a comma parts questions in Chinese; in English "and" does, but not behind the dash that joins a
# follow-up to the question before it
_JOINT = re.compile(
    rf"[?;？；]\s*|，\s*|(?<![,\s—]),?\s+(?=(?:and|or|but)\s+(?:also\s+)?(?:{_WH}|{_INVERTED}))"
    r"|(?=以及|还有|并且)",
    re.IGNORECASE,
)
_ASKS = re.compile(rf"\b{_WH}|(?:^|[.!]\s+){_INVERTED}|{_ZH}", re.IGNORECASE)
ASKING = re.compile(rf"\b{_WH}|^\W*{_INVERTED}|{_ZH}|几(?!乎)", re.IGNORECASE)
# 几 asks behind a joint; before one it as often means "a few"
_GOES_ON = re.compile(rf"(?:(?:and|or|but)\s+)?(?:also\s+)?(?:{_WH}|{_INVERTED})", re.IGNORECASE)
_GOES_ON_ZH = re.compile(rf"{_ZH}|几(?!乎)")
_LEADING = re.compile(r"^(?:(?:and|or|but)\s+|以及|还有|并且)[，,\s]*", re.IGNORECASE)


def split_question(question: str) -> list[str]:
    """The parts of a question that asks several things; none where it asks one."""
    cuts = [found.span() for found in _JOINT.finditer(question)]
    edges = pairwise([(0, 0), *cuts, (len(question), len(question))])
    parts: list[tuple[int, int]] = []
    asked = False  # whether the last of the parts asks something
    for start, end in ((before[1], behind[0]) for before, behind in edges):
        clause, closed = question[start:end], question[end : end + 1] in ("?", "？")
        if start == end < len(question):
            continue  # two joints beside each other
        if parts and not (asked and _is_question(clause)):
            parts[-1] = (parts[-1][0], end)
            asked = asked or closed or bool(_ASKS.search(clause))
        else:
            asked = bool(parts or closed or _ASKS.search(clause))
            parts.append((start, end))
    texts = [_LEADING.sub("", question[a:b]).strip() for a, b in parts[:MOST_PARTS]]
    return texts if len(texts) > 1 and all(map(_has_subject, texts)) else []


def _is_question(clause: str) -> bool:
    return bool(_GOES_ON.match(clause) or _GOES_ON_ZH.search(clause))


def _has_subject(part: str) -> bool:
    """More than the words that ask: "where" in "where and when is it" is no part."""
    return bool(tokenize_query(_ASKS.sub(" ", part)))
