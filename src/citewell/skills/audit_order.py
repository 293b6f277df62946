"""Who is better than whom: the comparisons of a claim held against those of the passages, in both languages.

`A outperforms B`, `B is outperformed by A`, `A 优于 B`, `B 不如 A` are one order. The one rule: a comparison is wrong only
where both its sides are found in the source, the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from citewell.skills.audit_words import Finding, Line, clauses, plain, telling, tokens
from citewell.skills.facts import negations

_BETTER = (
    r"outperform(?:s|ed|ing)?|surpass(?:es|ed|ing)?|exceed(?:s|ed|ing)?|beat(?:s|ing)?|outstrip(?:s|ped)?|outrank(?:s|ed)?"
)
_BEATEN = r"outperformed|surpassed|exceeded|beaten|outstripped|outranked"
_WORSE = (
    r"underperform(?:s|ed|ing)?|trail(?:s|ed|ing)?(?:\s+behind)?|lag(?:s|ged|ging)?\s+behind|falls?\s+(?:short\s+of|behind)"
)
_NEAR = r"(?:\s+(?!than\b)[\w%.,-]+){0,6}?"
# (pattern with sides around it, axis, sign): sign + means that the left side has more of the axis
_ADJECTIVES = {
    "good": (
        "better|superior|stronger|more\\s+effective|more\\s+accurate",
        "worse|inferior|weaker|less\\s+effective|less\\s+accurate|poorer",
    ),
    "high": ("higher|larger|greater|bigger|more|exceeding", "lower|smaller|less|fewer"),
    "fast": ("faster|quicker", "slower"),
    "long": ("longer", "shorter"),
    "cheap": ("cheaper", "costlier|more\\s+expensive"),
}
_HAN = {
    "good": ("优于|好于|强于|胜过|领先于?|超过|超越|优|好|强", "不如|劣于|差于|弱于|逊于|逊色于|落后于?|不及|比不上|差|弱"),
    "high": ("高于|大于|多于|高|大|多", "低于|小于|少于|低|小|少"),
    "fast": ("快于|快", "慢于|慢"),
    "long": ("长于|长", "短于|短"),
}
_PREDICATE = re.compile(
    rf"\d+\.\d+|为|是|比|被|{'|'.join(w for up, down in _HAN.values() for w in (up + '|' + down).split('|') if len(w) > 1)}|"
    rf"\b(?:is|are|was|were|has|have|reaches|achieves|scores|{_BETTER})\b",
    re.IGNORECASE,
)
_RATHER = re.compile(
    r"\s*,?\s*(?:\brather\s+than\b|\binstead\s+of\b|,\s*(?:and\s+)?not\b|[,，]?\s*(?:而不是|而非|而并非|不是))\s*",
    re.IGNORECASE,
)
_STOP_RIGHT = re.compile(
    r"\b(?:on|in|for|across|at|by|with|over|under|when|where|which|that|because|although|if|from|and\s+(?:is|was|the)|to|as)\b|"
    r"[,，;；(（。]|(?:在|的|上|方面)|(?<![\w-])[\d.]+",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"[,，]\s*(?:which|who|whose|where)\b[^,，]*[,，]|\([^)]*\)|（[^）]*）")
_PLACE = re.compile(r"在[^，。在]{1,24}?(?:上|中|里|下|时|方面)")
_GOOD_MEASURE = re.compile(
    r"accura|f1|score|perform|precision|recall|bleu|rouge|quality|准确|性能|得分|效果|精度|召回|质量", re.IGNORECASE
)
_BAD_MEASURE = re.compile(r"error|loss|latency|perplexity|误差|错误|损失|延迟|困惑度", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Order:
    """`left` has more of `axis` than `right`, or less where `sign` is -1."""

    left: frozenset[str]
    right: frozenset[str]
    axis: str
    sign: int
    where: str


def misordered(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Comparisons of the claim that the source has the other way round."""
    known = [order for line in evidence for order in orders(line.text, line.before)]
    return [
        Finding("the source compares them the other way round")
        for order in orders(plain(claim), "")
        if _contradicted(order, plain(claim), known)
    ]


def _contradicted(mine: Order, claim: str, known: Sequence[Order]) -> bool:
    judged = []
    for theirs in known:
        turn = _turned(mine, theirs)
        if turn is not None and (mine.axis == theirs.axis):
            agrees = (mine.sign == theirs.sign) != turn
            judged.append((len(tokens(claim) & tokens(theirs.where)), agrees))
    nearest = max((n for n, _ in judged), default=0)
    return bool(judged) and not any(agrees for n, agrees in judged if n >= nearest)


def _turned(mine: Order, theirs: Order) -> bool | None:
    """Whether the sides are exchanged; None where they are others."""
    only_left, only_right = theirs.left - theirs.right, theirs.right - theirs.left
    cross = (_share(mine.right, only_left), _share(mine.left, only_right))
    same = (_share(mine.right, only_right), _share(mine.left, only_left))
    if min(cross) > 0 and sum(cross) > sum(same):
        return True
    if not any(same) and mine.right and mine.right <= theirs.left and mine.left and mine.left <= telling(theirs.where):
        return True  # `outperforms the baseline of checking with T5`: the other side is in what follows
    if same[0] > 0 and (same[1] > 0 or not theirs.left or not mine.left) and sum(same) > sum(cross):
        return False
    return None


def _share(side: frozenset[str], other: frozenset[str]) -> float:
    return len(side & other) / len(side) if side else 0.0


def orders(text: str, before: str) -> list[Order]:
    """The comparisons of a sentence. `before`: the sentence in front, for a left side that is only a pronoun."""
    text = _ASIDE.sub(" ", text)
    found = []
    last = before
    for clause in _parts(text):
        made = _english(clause, last) + _chinese(clause, last) + _chosen(clause)
        found += [order if order.left else _measured(replace(order, left=telling(_subject(last))), last) for order in made]
        last = clause if telling(clause) else last
    found += _chosen(text) if not any(order.axis == "chosen" for order in found) else []
    return [order for order in found if order.right]


def _parts(text: str) -> list[str]:
    """Clauses, but `Compared with B, A is better` in one piece."""
    parts = clauses(text)
    joined: list[str] = []
    for part in parts:
        if joined and re.match(r"(?:compared|in comparison|relative)\b|与.*相比$|相比|较", joined[-1], re.IGNORECASE):
            joined[-1] += ", " + part
        else:
            joined.append(part)
    return joined


def _english(clause: str, before: str) -> list[Order]:
    found = []
    denied = -1 if negations(clause) % 2 else 1
    if m := re.search(rf"\b(?:{_BEATEN})\s+by\b", clause, re.IGNORECASE):
        return [_order(clause, m, "good", -denied, before)]
    if m := re.search(rf"\b(?:(?P<up>{_BETTER})|(?P<down>{_WORSE}))\b", clause, re.IGNORECASE):
        return [_order(clause, m, "good", denied if m["up"] else -denied, before)]
    for axis, (up, down) in _ADJECTIVES.items():
        if m := re.search(rf"\b(?:(?P<up>{up})|(?P<down>{down}))\b{_NEAR}\s+than\b", clause, re.IGNORECASE):
            order = _order(clause, m, axis, denied if m["up"] else -denied, before)
            found.append(_measured(order, clause[: m.end()]))
            break
    return found


def _chinese(clause: str, before: str) -> list[Order]:
    denied = -1 if negations(re.sub("不如|不及|比不上|显著", "", clause)) % 2 else 1
    for axis, (up, down) in _HAN.items():
        long_up, long_down = (f"(?:{'|'.join(w for w in side.split('|') if len(w) > 1)})" for side in (up, down))
        if m := re.search(rf"被(?P<r>[^，,。]+?)(?:{long_up})", clause):
            return [Order(_side(clause[: m.start()], before), _right(m["r"]), axis, -denied, clause)]
        if m := re.search(rf"(?:(?P<up>{long_up})|(?P<down>{long_down}))", clause):
            return [_measured(_order(clause, m, axis, denied if m["up"] else -denied, before), clause)]
        short = re.compile(
            rf"(?:比|较|与|相比于?|相较于?)\s*(?P<r>[^，,。比]+?)(?:相比[，,]?\s*(?P<l>[^，,。]*?))?(?:还|更|要|略|稍|显著|明显|均|都|的[^，,。]*?)*\s*"
            rf"(?:(?P<up>[{up.replace('|', '')}])|(?P<down>[{down.replace('|', '')}]))(?![于过])"
        )
        if axis != "good" and (m := short.search(clause)):
            left = m["l"] or clause[: m.start()]
            order = Order(_side(left, before), _right(m["r"]), axis, denied if m["up"] else -denied, clause)
            return [_measured(order, clause)]
    return []


def _chosen(clause: str) -> list[Order]:
    """`from A rather than B`, `A, not B`, A 而不是 B."""
    m = _RATHER.search(clause)
    if not m or not clause[: m.start()].strip():
        return []
    right = _right(re.sub(r"^(?:from|by|with|on|in|the)\s+", "", clause[m.end() :]))
    return [Order(telling(clause[: m.start()]), right, "chosen", 1, clause)]


def _order(clause: str, m: re.Match[str], axis: str, sign: int, before: str) -> Order:
    return Order(_side(clause[: m.start()], before), _right(clause[m.end() :]), axis, sign, clause)


def _measured(order: Order, text: str) -> Order:
    """A higher score is better, and so is a lower error."""
    if order.axis == "high" and _BAD_MEASURE.search(text):
        return Order(order.left, order.right, "good", -order.sign, order.where)
    if order.axis == "high" and _GOOD_MEASURE.search(text):
        return Order(order.left, order.right, "good", order.sign, order.where)
    return order


def _side(text: str, before: str) -> frozenset[str]:
    """The words of the left side; of what stands before where it is but a pronoun."""
    own = telling(_PLACE.sub(" ", re.sub(r"^(?:on|in|for|with|at)\s[^,]*,", " ", text, flags=re.IGNORECASE)))
    pronoun = re.match(r"\s*(?:it|they|this|these|its|其|它|该|这)", text, re.IGNORECASE) is not None
    return own | telling(_subject(before)) if pronoun else own


def _subject(clause: str) -> str:
    """What a clause begins with, up to its first figure, comparison or verb of being: `X 的 Recall@1 为 64.0%`."""
    return _PREDICATE.split(clause, maxsplit=1)[0]


def _right(text: str) -> frozenset[str]:
    text = re.sub(r"^\s*(?:(?:that|those)\s+(?:of|for|from)|on|in|for|the|both|all)\s+", " ", text, flags=re.IGNORECASE)
    stop = _STOP_RIGHT.search(text, 1)
    return telling(text[: stop.start()] if stop and text[: stop.start()].strip() else text)
