"""What a claim turns round or leaves out: rises for falls, largest for smallest, is for is not, may help for helps.

The one rule: a clause is compared with the clauses of the source that say the same words, and with no others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from citewell.skills.audit_order import orders
from citewell.skills.audit_words import (
    DENIALS,
    GENERIC,
    NEARLY,
    Finding,
    Line,
    clauses,
    figures_in,
    names_of,
    nearly,
    plain,
    telling,
    tokens,
)
from citewell.skills.facts import negations

SAME = 0.6  # share of a clause's words that a clause of the source must hold to speak of the same: that of verify.SAME_CLAUSE
# each axis with its words for more and for less
_AXES: dict[str, tuple[str, str]] = {
    "amount": (
        r"\b(?:increas\w*|ris(?:es?|ing)|rose|rais(?:es?|ed|ing)|grow\w*|grew|climbs?|higher|larger|greater)\b|提高|提升|上升|升高|升至|升到|增加|增大|增长|增至|上涨|增多",
        r"\b(?:decreas\w*|reduc\w*|drop\w*|f[ae]lls?|fallen|fell|lower\w*|declin\w*|shr[iaun]+k\w*|diminish\w*|smaller)\b|降低|下降|降至|降到|减少|减小|缩小|下跌|减至|下滑|减低",
    ),
    "extreme": (
        r"\b(?:highest|largest|greatest|biggest|maxim\w+|longest)\b|最高|最大|最多|最长",
        r"\b(?:lowest|smallest|fewest|minim(?:um|al)|shortest)\b|最低|最小|最少|最短",
    ),
    "best": (
        r"\b(?:best|strongest|fastest|easiest)\b|最好|最优|最佳|最强|最快",
        r"\b(?:worst|weakest|slowest|hardest)\b|最差|最弱|最慢",
    ),
    "quality": (
        r"\b(?:improv\w*|better|benefit\w*|helps?|enhanc\w*)\b|改善|改进|更好|增强",
        r"\b(?:degrad\w*|worse\w*|hurts?|harm\w*|deteriorat\w*|impair\w*)\b|恶化|变差|更差|减弱|损害",
    ),
    "speed": (r"\b(?:faster|quick\w*|accelerat\w*|speeds?\s+up)\b|更快|加快|加速", r"\b(?:slow(?:s|er|ly)?)\b|更慢|变慢|减慢"),
    "length": (r"\blonger\b|更长|较长", r"\bshorter\b|更短|较短"),
    "time": (r"\b(?:before|prior\s+to)\b|之前|以前", r"\bafter\b|之后|以后"),
    "place": (r"\babove\b|\bover\b|以上", r"\bbelow\b|以下"),
    "rank": (r"\bfirst\b|第一", r"\b(?:second|last)\b|第二|最后"),
    "share": (r"\b(?:most|majority)\b|大多数?|多数", r"\b(?:few|minority)\b|少数"),
    "bound": (
        r"\bat\s+least\b|\bmore\s+than\b|至少|超过|不少于|不低于",
        r"\bat\s+most\b|\bup\s+to\b|\bless\s+than\b|至多|最多|不超过|不足",
    ),
    "outcome": (r"\b(?:succe\w+|manag(?:es|ed)\s+to)\b|成功", r"\bfail\w*\b|失败|未能"),
    "sign": (r"\bpositive\w*\b|正相关|积极", r"\bnegative\w*\b|负相关|消极"),
    "state": (r"\b(?:frozen|fixed)\b|冻结", r"\b(?:trainable|unfrozen)\b|可训练"),
}
_SIGNS = {axis: (re.compile(up, re.IGNORECASE), re.compile(down, re.IGNORECASE)) for axis, (up, down) in _AXES.items()}
_REMOVED = re.compile(
    r"\b(?:remov\w*|without|omit\w*|ablat\w*|disabl\w*|no\s+longer)\b|去掉|去除|移除|删除|没有|不使用|取消", re.IGNORECASE
)
_WEIGHTLESS = re.compile("|".join(p for pair in _AXES.values() for p in pair) + "|" + _REMOVED.pattern, re.IGNORECASE)

_CONTRAST = re.compile(r"(?:而不是|而非|而并非|不是|not\b|rather\s+than\b|instead\s+of\b)", re.IGNORECASE)
_MAYBE = re.compile(
    r"\b(?:may|might|could|possibl[ey]|perhaps|probabl[ey]|likely|potential(?:ly)?|seems?|appears?|suggests?|tends?|hypothesi[sz]e\w*|"
    r"speculat\w*|conjectur\w*)\b|可能|也许|或许|似乎|大概|有望|推测|倾向于",
    re.IGNORECASE,
)
_SOME = re.compile(
    r"\bin\s+(?:some|certain|many|most)\s+(?:cases|settings|situations)\b|\b(?:some|sometimes|often|usually|generally|typically|mostly|"
    r"partly|partially|occasionally|several|certain)\b|部分|某些|有些|有时|通常|一般(?:来说|而言|情况)|往往|少数|在一些|偶尔|一定程度",
    re.IGNORECASE,
)
_ALL = re.compile(
    r"\b(?:all|always|every|each|never|any|entirely|completely|fully|without\s+exception)\b|所有|全部|总是|始终|任何|完全|一律|每个|均|都",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"\b(?:all|always|every|never|entirely|completely)\b|所有|全部|总是|始终|任何|完全|一律", re.IGNORECASE)
_ONLY = re.compile(r"\b(?:only|solely|exclusively|merely|just)\b|仅|只(?!要)|唯一|限于", re.IGNORECASE)
_ONLY_ONE = re.compile(
    r"^\s*only\b(?!\s+\d)|\bonly\s+(?:on|in|for|with|by|the|when|if)\b|\b(?:solely|exclusively)\b|只有|[仅只][在对限]|唯一",
    re.IGNORECASE,
)
RESERVED = re.compile("|".join(p.pattern for p in (_MAYBE, _SOME, _ALL, _ONLY)), re.IGNORECASE)
_NOT_SHOWN = re.compile(r"\bnot\s+(?:statistically\s+)?significant(?:ly)?\b|不显著|未达到?显著", re.IGNORECASE)
_SHOWN = re.compile(r"\bsignificant(?:ly)?\b|显著", re.IGNORECASE)


def turned(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Directions and denials of the claim that its nearest clauses in the source have the other way round."""
    theirs = [part for line in evidence for part in _spans(line.text)]
    known = frozenset(name for line in evidence for name in names_of(line.text))
    found = []
    for clause in _spans(plain(claim)):
        near = [] if _CONTRAST.match(clause) else _near(clause, theirs)
        near = [other for other in near if not _apart(_known(clause, known), _known(other, known))]
        if orders(clause, "") and any(orders(other, "") for other in near):
            continue  # who is above whom is for the order of the two
        if near and all(_opposed(clause, other) for other in near):
            found.append(Finding("it turns round what the source says"))
    return found


def _spans(text: str) -> list[str]:
    """Clauses; one of hardly a word together with the next, a short `which is not` with the one before."""
    found: list[str] = []
    for clause in clauses(text):
        if found and len(still(found[-1])) < 2:
            found[-1] += f", {clause}"
        else:
            found.append(clause)
    if len(found) > 1 and found[-1].startswith("which ") and len(still(found[-1]) - DENIALS) < 2:
        found[-2:] = [", ".join(found[-2:])]
    return found


def _near(clause: str, theirs: Sequence[str]) -> list[str]:
    words = still(clause)
    if len(words) < 2:
        return []
    scored = [(len(words & still(other)), len(still(other) - words), other) for other in theirs]
    most = max((n for n, _, _ in scored), default=0)
    least = min((more for n, more, _ in scored if n == most), default=0)
    return [other for n, more, other in scored if n == most >= SAME * len(words) and more <= least + 2]


def _known(clause: str, known: frozenset[str]) -> frozenset[str]:
    """The names of the passages that a clause holds, at its beginning too."""
    return frozenset(re.findall(r"[\w-]+", clause.casefold())) & known


def _apart(mine: frozenset[str], theirs: frozenset[str]) -> bool:
    """They speak of other things by name."""
    return bool(mine and theirs) and not mine & theirs


def still(clause: str) -> frozenset[str]:
    """The words of a clause that no turn changes, its figures among them."""
    return telling(_WEIGHTLESS.sub(" ", clause)) | {figure.plain for figure in figures_in(clause)}


def _opposed(mine: str, theirs: str) -> bool:
    """An odd number of turns: `without it F1 falls` says what `with it F1 rises` says."""
    turns = any(_flipped(mine, theirs, up, down) for up, down in _SIGNS.values())
    removed = bool(_REMOVED.search(mine)) != bool(_REMOVED.search(theirs))
    denied = bool(negations(_REMOVED.sub(" ", mine))) != bool(negations(_REMOVED.sub(" ", theirs)))
    if turns:
        return not (removed or denied)
    both = still(mine) & still(theirs)
    return denied and not removed and len(both) >= max(2, SAME * len(still(theirs)))


def _flipped(mine: str, theirs: str, up: re.Pattern[str], down: re.Pattern[str]) -> bool:
    """As many words of the axis, and not the same share of them upwards."""
    own, other = (len(up.findall(mine)), len(down.findall(mine))), (len(up.findall(theirs)), len(down.findall(theirs)))
    return 0 < sum(own) == sum(other) and own != other


def overstated(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Reservations of the source that the claim leaves out, and `all` or `only` that it adds."""
    theirs = [(part, line.text) for line in evidence for part in clauses(line.text)]
    alike = nearly(plain(claim), evidence, NEARLY)
    strict = [_beyond(plain(claim), line.text, line.text, strict=True) for line in alike]
    found = strict[0] if strict and all(strict) else []
    before = ""
    for clause in clauses(plain(claim)):
        wanted = _wording(clause)
        scored = [(len(wanted & _wording(other)), other, line) for other, line in theirs] if len(wanted) >= 2 else []
        most = max((n for n, _, _ in scored), default=0)
        near = [(other, line) for n, other, line in scored if n == most >= SAME * len(wanted)]
        said = f"{before} {clause}" if len(tokens(before)) < 2 else clause  # `Possibly, it helps`
        verdicts = [_beyond(said, other, line) for other, line in near]
        found += verdicts[0] if verdicts and all(verdicts) else []
        before = clause
    return found


def _wording(clause: str) -> frozenset[str]:
    reserved = _MAYBE.sub(" ", _SOME.sub(" ", _ALL.sub(" ", _ONLY.sub(" ", clause))))
    return (tokens(reserved) - (GENERIC - {"help", "better"})) | {figure.plain for figure in figures_in(clause)}


def _beyond(clause: str, source: str, line: str, *, strict: bool = False) -> list[Finding]:
    """What the clause says beyond its counterpart in a `line`. `Only` left out says less, and is no fault. One reservation may
    stand for another, but not where it is otherwise the same sentence (`strict`).
    """
    found = []
    maybe, some = (len(p.findall(source)) > len(p.findall(clause)) for p in (_MAYBE, _SOME))
    if _WHOLE.search(clause) and not _WHOLE.search(source):
        found.append(Finding("the source does not say this of all", fatal=some))
    elif (maybe and (strict or not _SOME.search(clause))) or (some and (strict or not _MAYBE.search(clause))):
        pattern = _MAYBE if maybe else _SOME
        found.append(Finding(f"the source says this with a reservation ({_said(pattern, source)})", fatal=False))
    if _ONLY_ONE.search(clause) and not _ONLY.search(line) and not negations(line):
        found.append(Finding("the source does not say that it is the only one", fatal=False))
    if _NOT_SHOWN.search(source) and not _SHOWN.search(clause):
        found.append(Finding("the source says that it is not significant", fatal=False))
    return found


def _said(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match.group() if match else ""
