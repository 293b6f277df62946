"""A claim that is nearly a sentence of the source, word for word: what of it stands in another's place.

`X reaches 58.4, Y 71.2` for `X reaches 71.2, Y 58.4`, one name for another, a `not` more or less. The one rule: only a sentence
that holds nearly all words of the claim is compared so closely, and a paraphrase that moves its parts is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import rjieba

from citewell.skills.audit_ties import OURS, conditional, ties
from citewell.skills.audit_words import (
    NEARLY,
    Finding,
    Line,
    clauses,
    figures_in,
    names_of,
    nearest,
    nearly,
    plain,
    telling,
    tokens,
)
from citewell.skills.facts import negations

SAME_SENTENCE = 0.75  # share of the words of a claim, its names apart, that a sentence holds which says the same
MARGIN = 2  # neighbours by which a place must be more another's than its own
_WORD = re.compile(r"\d[\d,.]*\d|\d|[^\W\d_]+(?:[-.'][\w]+)*|%")


def misnamed(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """What one sentence of the source, or one clause, says word for word nearly of another name."""
    claim = plain(claim)
    rows = [line for line in evidence if " | " not in line.text]
    parts = [Line(part, line.text, line.source) for line in rows for part in clauses(line.text)]
    spoken = {name for line in evidence for name in names_of(line.text)}
    text = "\n".join(line.text for line in evidence).casefold()
    spoken |= {name for name in names_of(claim) if name in text}  # in a cell it begins like a sentence
    found = [_misnamed(claim, rows, spoken), *(_misnamed(part, parts, spoken) for part in clauses(claim))]
    return [Finding(problem) for problem in dict.fromkeys(found) if problem]


def _misnamed(claim: str, rows: Sequence[Line], spoken: set[str]) -> str:
    first = re.match(r"\w[\w-]*", claim)
    own = names_of(claim) | ({first.group().casefold()} & spoken if first else set())
    wanted = _others(claim, own)
    near = nearest(wanted, [(line.text, _others(line.text, names_of(line.text))) for line in rows], SAME_SENTENCE)
    near = [text for text in near if {f.plain for f in figures_in(claim)} <= {f.plain for f in figures_in(text)}]
    if len(wanted) < 3 or not near or not own:
        return ""
    swapped = [_exchanged(claim, own, next(line for line in rows if line.text == text), spoken) for text in near]
    return swapped[0] if all(swapped) else ""


def _others(text: str, names: frozenset[str]) -> frozenset[str]:
    """Words and figures that are no part of a name."""
    return (telling(text) - {word for name in names for word in tokens(name)}) | {f.plain for f in figures_in(text)}


def _exchanged(claim: str, own: frozenset[str], line: Line, spoken: set[str]) -> str:
    """What is exchanged, in words, or nothing. Conditions (on HotpotQA) are held against conditions."""
    there = names_of(line.text)
    extra, missing = {name for name in own - there if name in spoken}, there - own
    for new in sorted(extra):
        for old in sorted(missing):
            if _same_place(claim, new, line.text, old):
                return f"the source says this of {old}, not of {new}"
    if OURS.search(line.text) or OURS.search(claim):
        return ""  # `it` or `our method` may be the name
    for kind in (False, True):
        added = {name for name in extra if conditional(name, claim) is kind}
        left = {name for name in missing if conditional(name, line.text) is kind}
        if added and left:
            return f"the source says this of {', '.join(sorted(left))}, not of {', '.join(sorted(added))}"
    return ""


def _same_place(claim: str, new: str, text: str, old: str) -> bool:
    """Whether both names stand between the same two words."""
    mine, theirs = claim.casefold().find(new), text.casefold().find(old)
    if mine < 0 or theirs < 0:
        return False
    before = [_words(part)[-1:] for part in (claim[:mine], text[:theirs])]
    behind = [_words(part)[:1] for part in (claim[mine + len(new) :], text[theirs + len(old) :])]
    return before[0] == before[1] and behind[0] == behind[1] and bool(before[0] or behind[0])


def displaced(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """Figures that stand where the sentence of the source has another of its figures."""
    claim = plain(claim)
    found = []
    for line in nearly(claim, evidence, SAME_SENTENCE):
        own = {tie.plain: tie.head for tie in ties(claim, "")}
        theirs = {tie.plain: tie.head for tie in ties(line.text, line.before)}
        mine, there = _places(claim), _places(line.text)
        for number, place in mine.items():
            if number in there and any(_moved(number, other, place, there, own, theirs) for other in there if other != number):
                found.append(Finding(f"{number} stands in another's place"))
            elif number not in there and (other := _holder(place, there, mine)):
                found.append(Finding(f"the source has {other} there, not {number}"))
    return found


def _holder(place: frozenset[str], there: dict[str, frozenset[str]], mine: dict[str, frozenset[str]]) -> str:
    """The figure of the source whose place it is, and which the claim does not have."""
    alike = [n for n in there if n not in mine and len(place & there[n]) >= max(MARGIN + 1, SAME_SENTENCE * len(there[n]))]
    return alike[0] if len(alike) == 1 else ""


def _moved(
    number: str,
    other: str,
    place: frozenset[str],
    there: dict[str, frozenset[str]],
    own: dict[str, frozenset[str]],
    theirs: dict[str, frozenset[str]],
) -> bool:
    """Whether the place is that of `other`, and no subject says that the figure is its own all the same."""
    head = own.get(number, frozenset())
    only = theirs.get(number, frozenset()) - theirs.get(other, frozenset())
    return not head & only and len(place & there[other]) >= len(place & there[number]) + MARGIN


def _places(text: str) -> dict[str, frozenset[str]]:
    """The two words before and the three behind each figure that stands once; the near ones count twice."""
    words = _words(text)
    found: dict[str, frozenset[str]] = {}
    for at, word in enumerate(words):
        if word[0].isdigit() and words.count(word) == 1:
            before, behind = words[max(0, at - 2) : at], words[at + 1 : at + 4]
            sides = {f"-{w}" for w in before if not w[0].isdigit()} | {f"+{w}" for w in behind if not w[0].isdigit()}
            beside = {f"-1{w}" for w in before[-1:]} | {f"+1{w}" for w in behind[:1]}
            found[word.replace(",", "")] = frozenset(sides | {w for w in beside if not w[2:3].isdigit()})
    return found


def _words(text: str) -> list[str]:
    """All words in order, small, Chinese as a dictionary cuts it."""
    words = [] if text.isascii() else [w for w in rjieba.cut(text) if re.search(r"\w|%", w)]
    return [w.casefold() for w in words] if words else [m.group().casefold() for m in _WORD.finditer(text)]


def redenied(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """A denial more or less than the sentence that the claim otherwise is."""
    claim = plain(claim)
    near = nearly(claim, evidence, NEARLY)
    differ = near and all(negations(line.text) % 2 != negations(claim) % 2 for line in near)
    return [Finding("it denies what the source affirms, or the other way round")] if differ else []
