"""Which figure belongs to whom: the subject beside a figure in the claim held against the subject beside it in the source.

`BERT reaches 68.4, PROGRAMFC 71.2` gives 71.2 to PROGRAMFC, and `A 和 B 分别为 1 和 2` gives 2 to B. The one rule: a figure is
wrongly given only where the source gives it to another and the claim's own subject stands elsewhere in the passages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.skills.audit_turns import still
from citewell.skills.audit_words import GENERIC, Figure, Finding, Line, figures_in, names_of, plain, telling, tokens

_CUT = re.compile(
    r"[;；。!?！？\n]+|(?<!\d)[,，]|[,，](?!\d{3}(?!\d))|\b(?:and|but|while|whereas|however|compared\s+(?:with|to)|versus|vs\.?|against|than)\b|但是?(?!于)|然而|不过|而(?!且|非|不是)",
    re.IGNORECASE,
)
_ALIKE = re.compile(r"\brespectively\b|分别", re.IGNORECASE)
_LIST_NUMBER = r"[∼~≈]?\d[\d,]*(?:\.\d+)?\s*(?:%|[A-Za-z]{1,3}\b|个百分点|毫秒|秒|个|次|万|亿)?"
_LIST = re.compile(rf"{_LIST_NUMBER}(?:\s*(?:,\s*and|，|、|,|and|和|与|及|以及)\s*{_LIST_NUMBER})+")
_JOINED = re.compile(r"\s+and\s+|\s*(?:、|以及|和|与|及)\s*")
_ITEMS = re.compile(r"\s*,\s*and\s+|\s*,\s*|\s+and\s+|\s*[、，]\s*|\s*(?:以及|和|与|及)\s*")
_IT = re.compile(r"\b(?:it|its|they|their)\b|其|它", re.IGNORECASE)
_OPENING = re.compile(
    r"[\s,]*(?:(?:on|in|for|with|without|at|when|under)\s|在|对于?|当|针对|去掉)([^,，:]{2,60}?)(?:上|中|时|后)?\s*[,，]",
    re.IGNORECASE,
)
_COMPARED = re.compile(r"(?:比|较|低于|高于|优于)([^,，。]{2,20}?)(?:[高低多少快慢长短]|\s*$)")
_BOTH = re.compile(r"两者|二者|the\s+(?:two|former|latter)\b|\bboth\b", re.IGNORECASE)
OURS = re.compile(
    r"\b(?:we|our|it|its|this|these|they|the\s+(?:model|method|system|approach))\b|我们|本文|该|其|它|两者|二者", re.IGNORECASE
)
_CONDITION = re.compile(
    r"\b(?:on|in|for|with|at|using|under|across|from|over|to|by|via|within)\s+(?:the\s+|an?\s+|each\s+|both\s+)?$",
    re.IGNORECASE,
)
_HAN_CONDITION = re.compile(r"(?:在|对|用|采用|使用|基于|以|通过|针对)\s*$")


_HAN_PLACE = re.compile(r"(?:在|对)[^，,。在]{1,24}?(?:上|中|里|内|而言)")


@dataclass(frozen=True, slots=True)
class Tie:
    """A figure, the words near it (`scope`), those that head them (`head`), under which `condition`, and the sentence."""

    number: str
    head: frozenset[str]
    scope: frozenset[str]
    where: str
    condition: frozenset[str] = frozenset()
    lent: frozenset[str] = frozenset()  # the subjects in front of it, where it names none
    listed: bool = False

    @property
    def plain(self) -> str:
        return self.number.rstrip("%")


def misgiven(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Figures of the claim that the source gives to another subject."""
    claim = plain(claim)
    theirs = [tie for line in evidence if " | " not in line.text for tie in ties(line.text, line.before)]
    known = {word for tie in theirs for word in tie.head} | {w for line in evidence for w in telling(line.text)}
    found = []
    for mine in ties(claim, ""):
        same = _held([tie for tie in theirs if tie.plain == mine.plain], mine, theirs)
        if same and mine.head and all(_another(mine, tie, theirs) for tie in same) and mine.head & known:
            found.append(Finding(f"the source gives {mine.number} to another"))
    return found


def _held(same: Sequence[Tie], mine: Tie, all_: Sequence[Tie]) -> list[Tie]:
    """Without those of nobody (`the error fell from 7.9 to 4.1`) that are further from the claim than one that is another's."""
    words = tokens(mine.where)
    near = max((len(words & tokens(tie.where)) for tie in same if tie.head and _another(mine, tie, all_)), default=0)
    return [tie for tie in same if tie.head or tie.lent or tie.condition or len(words & tokens(tie.where)) >= near]


def _another(mine: Tie, theirs: Tie, all_: Sequence[Tie]) -> bool:
    """The source's subject is not in the claim, and the claim's is that of another figure beside it; or so with conditions."""
    beside = [tie for tie in all_ if tie.plain != theirs.plain]
    if theirs.listed and not theirs.head & mine.scope and any(t.head & mine.scope for t in beside if t.where == theirs.where):
        return True
    for own, other in ((mine.head, theirs.head), (mine.condition, theirs.condition)):
        foreign = other and not other & mine.scope and not own & (theirs.scope | theirs.lent)
        if foreign and any(own & (tie.head | tie.condition) for tie in beside):
            return True
    return False


def ties(text: str, before: str) -> list[Tie]:
    """Each figure of a sentence with its subject."""
    listed = _listed(text, before)
    if listed:
        return listed
    found: list[Tie] = []
    lent: frozenset[str] = frozenset()
    for part, numbers in _segments(text):
        front = part[: numbers[0].start]
        head, named = _head(part, numbers[0].start)
        if _IT.search(front) and not named:
            head = frozenset(w for name in core_names(before) for w in tokens(name)) - GENERIC
        condition = _condition(front)
        scope = (tokens(part) - GENERIC) | head
        found += [
            Tie(f.number, head - condition or head, scope, text, condition, frozenset() if head else lent) for f in numbers
        ]
        lent |= head
    return found


def _condition(front: str) -> frozenset[str]:
    """The words of `On new bikes,` or 对标准名称， at the head of a part, and of what it is compared with."""
    found = [m[1] for m in (_OPENING.match(front), _COMPARED.search(front)) if m]
    return telling(" ".join(found))


def _segments(text: str) -> list[tuple[str, list[Figure]]]:
    """Parts of a sentence with figures; a part without any belongs to the one behind it, the last to the one before."""
    parts, at = [], 0
    for m in [*_CUT.finditer(text), None]:
        end = m.start() if m else len(text)
        parts.append(text[at:end])
        at = m.end() if m else end
    grown: list[str] = []
    waiting = ""
    for part in parts:
        waiting += part + ", "
        if figures_in(part):
            grown.append(waiting)
            waiting = ""
    if grown:
        grown[-1] += waiting
    return [(part, figures_in(part)) for part in grown if figures_in(part)]


def _head(part: str, at: int) -> tuple[frozenset[str], bool]:
    """Names before the figure that are no conditions (on HotpotQA), and that it is names; else all words there; else what
    follows `for` or `by`.
    """
    before, behind = part[:at], part[at:]
    for text in (before, behind):
        core = frozenset(word for name in core_names(text) for word in tokens(name)) - GENERIC
        if core:
            return core, True
    return _subject(before) or _subject(behind), False


def _subject(text: str) -> frozenset[str]:
    """The words that no turn changes, without conditions and figures."""
    text = _HAN_PLACE.sub(" ", text)
    conditions = frozenset(word for name in names_of(text) if conditional(name, text) for word in tokens(name))
    return frozenset(word for word in still(text) - conditions if not word[0].isdigit())


def core_names(text: str) -> frozenset[str]:
    """Names that are neither where nor with what it was done."""
    return frozenset(name for name in names_of(text) if not conditional(name, text))


def conditional(name: str, text: str) -> bool:
    at = text.casefold().find(name)
    return at >= 0 and (_CONDITION.search(text[:at]) is not None or _HAN_CONDITION.search(text[:at]) is not None)


def _listed(text: str, before: str) -> list[Tie]:
    """`1, 2, and 3 on A, B, and C, respectively`; A 和 B 分别为 1 和 2. Empty where the two lists do not match."""
    if not _ALIKE.search(text):
        return []
    numbers = max(_LIST.finditer(text), key=lambda m: m.end() - m.start(), default=None)
    figures = figures_in(numbers.group()) if numbers else []
    if not numbers or len(figures) < 2:
        return []
    items = _items(text, numbers, len(figures), before)
    if not items:
        return []
    longest = max(len(item.split()) for item in items[:-1])
    items[-1] = " ".join(items[-1].split()[:longest])  # of `two-hop and four-hop claims` the claims belong to both
    own = [tokens(item) for item in items]
    shared = frozenset.intersection(*own)  # `standard prompting` and `CoT prompting` differ in one word
    own = [words - shared or words for words in own]
    context = tokens(text) - GENERIC - frozenset.union(*own)
    return [Tie(f.number, words, context | words, text, listed=True) for f, words in zip(figures, own, strict=True)]


def _items(text: str, numbers: re.Match[str], n: int, before: str) -> list[str]:
    behind = _ALIKE.split(text[numbers.end() :])[0].strip(" ,，.。")
    behind = re.sub(r"^(?:on|for|in|of|with|by|at)\s+(?:the\s+)?", "", behind, flags=re.IGNORECASE)
    front = text[: numbers.start()]
    front = re.sub(r"(?:的[^，,。的]*)?分别[^，,。]*$", "", front)
    front = re.sub(r"^(?:在[^，,]*|[Oo]n\s[^,]*)[,，]", "", front)
    for part in reversed(re.split(r"[,，;；]", front)):  # 对俗称和故障描述，X 分别
        items = [item for item in _JOINED.split(part) if item.strip()]
        if len(items) == n and telling(items[-1]) and not telling(behind):
            return items
    for text_ in (behind, front):
        items = [item for item in _ITEMS.split(text_) if item.strip()]
        if len(items) >= n and telling(items[-1]):
            return items[:n] if text_ is behind else items[-n:]
    if _BOTH.search(front):
        heads = [part[: numbers_[0].start] for part, numbers_ in _segments(before)]
        return heads if len(heads) == n else []
    return []
