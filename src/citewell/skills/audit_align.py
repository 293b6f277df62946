"""A claim laid word by word beside the sentence it nearly is: `flat` where the source says `hilly`, subjects traded.

The one rule: a word that only stands in another's place says less than the source (`partly`); that the source says otherwise is
found only where the two exclude each other, or where the same words are shared out among the clauses in another way.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

import rjieba

from citewell.knowledge.words import STOP_ZH, query_tokens
from citewell.skills.audit_pairs import HEADS, SAME_WORDS, exclude
from citewell.skills.audit_ties import OURS
from citewell.skills.audit_turns import RESERVED, still
from citewell.skills.audit_words import Finding, Line, clauses, figures_in, plain, tokens

ALIKE = 0.6  # share of the claim's words, and HALF of the source's, from which the two are laid side by side
HALF = 0.5
AND_OTHERS = frozenset(("et", "al"))
LEAST_OF_CLAUSE = 3  # words of a clause that must be shared: `to verify complex claims` is not yet `verifying simple claims`
MOST_NEW, MOST_OLD = 2, 3  # words that stand in place of others; more of them are another wording
_WORD = re.compile(r"\d[\d,.]*\d|\d|[^\W\d_]+(?:[-.'][\w]+)*")
_JOIN = re.compile(r"\b(?:and|but|while|whereas)\b|[;；,，。]|而(?!且|非|是|不是)|但是?", re.IGNORECASE)
_MEANT = re.compile(r"^\s*(?:the|this|these|those|such|it|they|he|she|一?[该此这其它]|上述)", re.IGNORECASE)
# They join words or say how sure it is, and other rules judge them; in another's place they are another wording.
_JOINING = """
while whereas without with rather than not instead compar although though becaus due then accord among within when where which
onli just also remov first other per each both still even about around via through between such under after befor if how
more less most least at up very much well so too same zero one two three four five six seven eight nine ten
经过 然后 其中 通过 进行 其他 并且 由于 因此 之后 以后 同时 以及 分别 为了 相比 比较 此外 这些 这种
该 时候 情况 方面 当中 左右 大约 先
"""
_SMALL = frozenset(_JOINING.split())
_BESIDE = frozenset(("we", "us", "our", "我们", "本文", "作者", "需要"))  # they tell one from another
_SUPPOSED = re.compile(r"\b(?:would|本应|本会)\b|本应|本会|将会", re.IGNORECASE)
_OPEN = re.compile(
    r"\b(?:would|could|may|might|can|will|shall|should|expect\w*|likely|if|suggest\w*|possibl\w+|potential\w*|hypothesi\w+)\b|"
    r"[会将若]|可能|预计|有望|如果",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word in its place: as written, in the form that is compared, and whether it says anything by itself."""

    text: str
    stem: str
    content: bool


@lru_cache(maxsize=4096)
def in_order(text: str) -> tuple[Word, ...]:
    """All words of a text; a single capital that does not begin it is a name (Method B)."""
    found = rjieba.cut(text) if not text.isascii() else [m.group() for m in _WORD.finditer(text)]
    words: list[Word] = []
    for each in found:
        if not re.search(r"\w", each):
            continue
        stem = (query_tokens(each) or [each.casefold()])[-1] if each.isascii() else each
        letter = bool(words) and re.fullmatch("[A-Z]", each) is not None
        words.append(Word(each, f"^{each}" if letter else stem, letter or bool(tokens(each)) or stem in _BESIDE))
    return tuple(words)


def exchanged(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """What a claim says where the sentence that it otherwise is has another word."""
    claim = plain(claim)
    found: list[Finding] = []
    for part in dict.fromkeys([claim, *clauses(claim)]):
        near = _nearest(part, evidence, 2 if part == claim else LEAST_OF_CLAUSE)
        judged = [_exchanges(part, piece, line) for piece, line in near]
        if judged and all(judged):
            found.append(min(judged[0], key=lambda f: not f.fatal))
    return list({f.problem: f for f in found}.values())


def _nearest(claim: str, evidence: Sequence[Line], least: int) -> list[tuple[str, Line]]:
    """The sentences, or their clauses, that share most of the claim's words and all its figures."""
    mine = _content(claim) - AND_OTHERS
    figures = {f.plain for f in figures_in(claim)}
    best: dict[str, tuple[int, str, Line]] = {}
    for line in evidence:
        pieces = [] if " | " in line.text else dict.fromkeys([line.text, *clauses(line.text)])
        for piece in pieces:
            theirs = _content(piece) - AND_OTHERS
            shared = len(mine & theirs)
            enough = shared >= max(least, ALIKE * len(mine)) and shared >= HALF * len(theirs)
            if (
                enough
                and figures <= {f.plain for f in figures_in(line.text)}
                and shared > best.get(line.text, (0, "", line))[0]
            ):
                best[line.text] = (shared, piece, line)
    most = max((n for n, _, _ in best.values()), default=0)
    return [(piece, line) for n, piece, line in best.values() if n == most]


def _content(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in in_order(text) if word.content and not word.text[0].isdigit())


def _exchanges(claim: str, piece: str, line: Line) -> list[Finding]:
    """Words of the claim in place of words of the source, each not in the other sentence."""
    passage = line.source.passage
    around = _content(plain(f"{passage.heading}\n{passage.text}"))
    has, own = _content(line.text), _content(claim)
    found = []
    for mine, theirs, subject in _replaced(in_order(claim), in_order(piece)):
        new = [w for w in mine if _tells(w) and w.stem not in has]
        old = [w for w in theirs if _tells(w) and w.stem not in own]
        if not new or not old or len(new) > MOST_NEW or len(old) > MOST_OLD:
            continue
        said = f"the source says {_told(old)}, not {_told(new)}"
        if any(exclude(a.stem, b.stem) for a in new for b in old):
            found.append(Finding(said))
        elif _same(new, old) or _meant(theirs, piece) or _meant(mine, claim):
            continue
        elif _in_step(claim, piece, new, _content(line.before)) and (subject or not all(w.stem in around for w in new)):
            found.append(Finding(said, fatal=False))
    return found


def _tells(word: Word) -> bool:
    judged_elsewhere = word.stem in _SMALL or RESERVED.fullmatch(word.text) is not None
    return word.content and not judged_elsewhere and not word.text[0].isdigit()


def _in_step(claim: str, piece: str, new: Sequence[Word], before: frozenset[str]) -> bool:
    """Whether all else that the claim tells stands in the source, in the same order, or may be what its `it` speaks of."""
    theirs = [w.stem for w in in_order(piece) if _tells(w)]
    rest = [w.stem for w in in_order(claim) if _tells(w) and w not in new]
    rest = [stem for stem in rest if stem in theirs or not (stem in before and OURS.search(piece))]
    there = iter(theirs)
    return all(any(stem == other for other in there) for stem in rest)


def _replaced(mine: Sequence[Word], theirs: Sequence[Word]) -> Iterator[tuple[Sequence[Word], Sequence[Word], bool]]:
    """Runs of words that differ between words that agree, and whether the run is what the sentence begins with."""
    codes = SequenceMatcher(None, [w.stem for w in mine], [w.stem for w in theirs], autojunk=False).get_opcodes()
    for tag, a, b, c, d in codes:
        if tag == "replace":
            yield mine[a:b], theirs[c:d], a == 0 and c == 0


def _told(words: Sequence[Word]) -> str:
    return (" " if words[0].text.isascii() else "").join(w.text for w in words)


def _same(new: Sequence[Word], old: Sequence[Word]) -> bool:
    """Other words for one thing: of one group, of one root, or of one character."""
    for a in new:
        for b in old:
            if any(a.stem in group and b.stem in group for group in SAME_WORDS):
                return True
            if a.text.isascii() and b.text.isascii() and len(a.stem) > 3 and a.stem[:4] == b.stem[:4]:
                return True
            if not a.text.isascii() and set(a.text) & set(b.text):
                return not (a.text[-1] == b.text[-1] and a.text[-1] in HEADS)
    return False


def _meant(words: Sequence[Word], sentence: str) -> bool:
    """`The model`, `our method`, `it` at the head: another name for what was named before."""
    run = " ".join(w.text for w in words)
    return (
        OURS.search(run) is not None
        or _MEANT.match(run) is not None
        or (bool(words) and words[0] == in_order(sentence)[0] and _MEANT.match(sentence) is not None)
    )


def crossed(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """The same words shared out among the clauses in another way: `the decoder is frozen and the encoder is trained`."""
    mine = _clausal(plain(claim))
    if len(mine) < 2:
        return []
    for line in evidence:
        theirs = [] if " | " in line.text else _clausal(line.text)
        runs = [theirs[at : at + len(mine)] for at in range(len(theirs) - len(mine) + 1)]
        if any(_same_words(mine, run) and _mixed(mine, run) for run in runs):
            return [Finding("the source says of the one what this says of the other")]
    return []


def _clausal(text: str) -> list[list[str]]:
    parts = [[w.stem for w in in_order(part) if _tells(w) or _short_han(w)] for part in _JOIN.split(text)]
    return [part for part in parts if len(part) > 1]


def _short_han(word: Word) -> bool:
    """难, 气: a word of one character, which nothing is searched by."""
    return len(word.text) == 1 and not word.text.isascii() and word.text not in STOP_ZH


def _same_words(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> bool:
    """But for one word of each."""
    own, other = Counter(w for part in mine for w in part), Counter(w for part in theirs for w in part)
    return max(sum((own - other).values()), sum((other - own).values())) <= (1 if sum(own.values()) > 5 else 0)


def _mixed(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> bool:
    """Whether two clauses both take from each of two clauses of the source what only that one has."""
    for i, first in enumerate(theirs):
        for second in theirs[i + 1 :]:
            one, two = _marked(first, second), _marked(second, first)
            only_one, only_two = one - two, two - one
            both = [_marked(part, next((other for other in mine if other is not part), [])) for part in mine]
            if sum(bool(part & only_one) and bool(part & only_two) for part in both) > 1:
                return True
    return False


def _marked(part: Sequence[str], other: Sequence[str]) -> frozenset[str]:
    """The words of a clause, and which of those that both have comes first in it where the two begin otherwise."""
    first = next((a for a, b in zip(part, other, strict=False) if a != b), "")
    return frozenset(part) | ({f"1:{first}"} if first and first in other else frozenset())


def supposed(claim: str, evidence: Sequence[Line]) -> list[Finding]:
    """`It would be lower in winter` where no sentence that has these words supposes anything."""
    claim = plain(claim)
    if not _SUPPOSED.search(claim):
        return []
    words = still(claim)
    open_ = any(len(words & still(line.text)) >= HALF * len(words) and _OPEN.search(line.text) for line in evidence)
    whole = any(words <= still(line.text) for line in evidence)
    return [] if open_ or whole else [Finding("the source supposes no such thing", fatal=False)]
