"""Claims planted mechanically on the sentences of a parsed paper: each true in several wordings, and false in one way a kind.

The one rule: a false claim differs from its sentence in the one thing that its kind names, and in nothing else.
"""

# ruff: noqa: E501 - a claim, a pattern with its change, is read on one line
from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from citewell.ingest.sentences import language, sentences
from citewell.skills.audit_words import names_of, tokens
from citewell.skills.evidence import Passage
from citewell.types import Document, Hit

SHORTEST, LONGEST = 40, 320  # characters of an English sentence; a Chinese one has a third of them
OTHERS = 2  # passages beside the one that holds the sentence
_NUMBER = re.compile(r"(?<![\w.\-\[@=])(?<!\[\d, )(?<!\[\d\d, )\d+(?:,\d{3})*(?:\.\d+)?(?![\w\-])")
_TURNS = (
    ("outperforms", "underperforms"), ("outperform", "underperform"), ("better than", "worse than"), ("higher than", "lower than"),
    ("larger than", "smaller than"), ("faster than", "slower than"), ("longer than", "shorter than"), ("increases", "decreases"),
    ("increased", "decreased"), ("increase", "decrease"), ("improves", "degrades"), ("improved", "degraded"), ("drops", "rises"),
    ("reduces", "increases"), ("rises", "falls"), ("rose", "fell"), ("falls", "rises"), ("highest", "lowest"), ("largest", "smallest"),
    ("best", "worst"), ("fewer", "more"), ("优于", "不如"), ("高于", "低于"), ("低于", "高于"), ("提高", "降低"), ("降低", "提高"),
    ("下降", "上升"), ("上升", "下降"), ("增加", "减少"), ("减少", "增加"), ("最高", "最低"), ("最低", "最高"), ("最大", "最小"), ("更好", "更差"),
    ("更快", "更慢"),
)  # fmt: skip
_UNITS = (
    (r"(?<=\d)\s?%", " seconds"), (r"\bpercentage points\b", "percent"), (r"(?<=\d) points\b", "%"), (r"\bmilliseconds\b", "seconds"),
    (r"(?<=\d) ms\b", " s"), (r"\bminutes\b", "hours"), (r"\bhours\b", "minutes"), (r"\bdays\b", "weeks"), (r"(?<=\d) GB\b", " MB"),
    (r"\bmillion\b", "billion"), (r"(?<=\d)B\b", "M"), (r"(?<=\d)M\b", "B"), (r"\bepochs\b", "steps"), (r"(?<=\d) km\b", " m"),
    ("毫秒", "秒"), ("个百分点", "%"), ("小时", "分钟"), ("分钟", "小时"), ("天", "周"), ("万", "亿"), ("公里", "米"),
)  # fmt: skip
_HEDGES = (
    (r"\bmay be\b", "is"), (r"\bmight be\b", "is"), (r"\bmay\s+|\bmight\s+", ""), (r"\b(?:in (?:some|many|certain) cases|possibly|likely|sometimes|often|usually|typically|generally|partly),?\s+", ""), (r"\b[Ss]ome\b", "all"), (r"\bmost\b", "all"),
    (r"\bsuggests? that\b", "proves that"), ("可能会?|或许|也许|大概", ""), ("部分", "全部"), ("通常|一般|往往|有时", ""), ("大多数?", "全部"),
)  # fmt: skip
_DENY = re.compile(r"\b(is|are|was|were|can|does|do|did|has|have|will|could|should|would)\b(?! not)")
_DENY_ZH = re.compile(r"(?=能够?|会|是(?!否)|可以|需要|优于|采用|使用)")
_DENIED = re.compile(r"\b(is|are|was|were|can|does|do|did|has|have|will|could|should|would) not\b|\b(can)not\b")
_DENIED_ZH = re.compile(
    r"并?不(?=能|会|是|需|再|参与|显著|使用|采用|依赖|包含|同意|超过)|并?没有(?=使用|采用|测试|比较|考虑|观察|发现)|未(?=使用|采用|测试|比较|考虑|能|作|做)"
)


@dataclass(frozen=True)
class Planted:
    """`kind`: `true` or `true, passive` and the like, or what is wrong with it."""

    kind: str
    text: str
    passages: tuple[Passage, ...]

    @property
    def true(self) -> bool:
        return self.kind.startswith("true")


@dataclass(frozen=True)
class Window:
    """A sentence with its neighbours."""

    document: Document
    spans: tuple[tuple[int, int], ...]
    own: str

    @property
    def words(self) -> frozenset[str]:
        return tokens(self.document.text[self.spans[0][0] : self.spans[-1][1]])

    @property
    def text(self) -> str:
        return self.document.text[self.spans[0][0] : self.spans[-1][1]]

    def evidence(self, others: Sequence[Window]) -> tuple[Passage, ...]:
        """The window and the two most alike of those that do not overlap it."""
        start, end = self.spans[0][0], self.spans[-1][1]
        apart = [w for w in others if w.spans[-1][1] <= start or w.spans[0][0] >= end]
        chosen: list[Window] = []
        for each in sorted(apart, key=lambda w: -len(w.words & self.words) / (1 + len(w.words))):
            if all(each.spans[0][0] >= w.spans[-1][1] or each.spans[-1][1] <= w.spans[0][0] for w in chosen):
                chosen.append(each)
            if len(chosen) == OTHERS:
                break
        return tuple(w.passage(n) for n, w in enumerate((self, *chosen), 1))

    def passage(self, n: int) -> Passage:
        start, end = self.spans[0][0], self.spans[-1][1]
        text = self.document.text[start:end]
        page = self.document.page_at(start)
        hit = Hit(n, "paper", "eval", self.document.title, "", (), page, start, end, text, self.document.lang)
        return Passage(n, hit, self.spans, text)


def planted(document: Document, limit: int, seed: int) -> list[Planted]:
    """Claims on up to `limit` sentences and as many cells of tables."""
    draw = random.Random(seed)
    whole = _windows(document)
    told = [w for w in whole if _usable(w.own)]
    draw.shuffle(told)
    found: list[Planted] = []
    for window in told[:limit]:
        evidence = window.evidence(whole)
        found += [Planted(kind, text, evidence) for kind, text in (*_true(window.own), *_false(window, draw))]
    rows = [w for w in whole if w.own.count(" | ") >= 2]
    draw.shuffle(rows)
    for window in rows[:limit]:
        evidence = window.evidence(whole)
        found += [Planted(kind, text, evidence) for kind, text in _cells(window, document)]
    return found


def paragraphs(document: Document) -> list[Window]:
    """The paragraphs and tables of a paper as windows."""
    text, found, at = document.text, [], 0
    for block in text.split("\n\n"):
        spans = tuple((at + a, at + b) for a, b in sentences(block))
        found += [Window(document, spans, block)] if spans and len(block) > SHORTEST else []
        at += len(block) + 2
    return found


def _windows(document: Document) -> list[Window]:
    spans = sentences(document.text)
    text = document.text
    references = text.rfind("\nReferences\n") if "\nReferences\n" in text else text.rfind("参考文献")
    stop = references if references > len(text) // 3 else len(text)
    return [Window(document, tuple(spans[max(0, i - 1) : i + 2]), text[a:b]) for i, (a, b) in enumerate(spans) if b < stop]


def _usable(text: str) -> bool:
    scale = 1 if language(text) == "en" else 3
    whole = SHORTEST <= len(text) * scale <= LONGEST and text.endswith((".", "。")) and " | " not in text and "\n" not in text
    starts = re.match(r"[A-Z\u4e00-\u9fff]", text) is not None
    return whole and starts and text.count("(") == text.count(")") and len(tokens(text)) >= 5 and "et al" not in text[:20]


def _true(text: str) -> Iterator[tuple[str, str]]:
    yield "true, verbatim", text
    if language(text) == "zh":
        yield "true, lead-in", f"论文指出，{text}"
        if m := re.fullmatch(r"([^，。]{4,20})，([^，。]+)。", text):
            yield "true, order", f"{m[2]}，{m[1]}。" if not m[1].startswith(("但", "而", "因", "由", "如")) else text
        if m := re.search(r"([^，。]+?)(优于|高于)([^，。、]+)。", text):
            yield "true, passive", f"{m[3]}{'不如' if m[2] == '优于' else '低于'}{m[1]}。"
        return
    yield "true, lead-in", f"According to the paper, {text[0].lower() if text[1:2].islower() else text[0]}{text[1:]}"
    if m := re.fullmatch(r"((?:In|On|For|With|At|Under|Among)\s[^,;]{4,60}), (?!so\b|and\b|but\b)([^,;]+)\.", text):
        yield "true, order", f"{m[2][0].upper()}{m[2][1:]} {m[1][0].lower()}{m[1][1:]}."
    if m := re.search(r"(?:^|, |that )([A-Z][\w-]*(?:\s[\w-]+)?) outperforms ([A-Z][\w.-]*\w)\b([^,;]*)\.$", text):
        yield "true, passive", f"{m[2]} is outperformed by {m[1]}{m[3]}."


def _false(window: Window, draw: random.Random) -> Iterator[tuple[str, str]]:
    text = window.own
    makers: dict[str, Callable[[], str]] = {
        "number": lambda: _number(text, draw),
        "numbers swapped": lambda: _swapped(text, [m.group() for m in _NUMBER.finditer(text)], draw),
        "name": lambda: _name(window, draw),
        "denied": lambda: _first(text, [(_DENY, r"\1 not")] if language(text) == "en" else [(_DENY_ZH, "不")]),
        "denial dropped": lambda: _undenied(text),
        "turned": lambda: _first(text, [(re.compile(rf"(?<![\w]){a}(?![a-z])" if a.isascii() else a), b) for a, b in _TURNS]),
        "unit": lambda: _first(text, [(re.compile(a), b) for a, b in _UNITS], after_number=True),
        "hedge": lambda: _first(text, [(re.compile(a), b) for a, b in _HEDGES]),
    }  # fmt: skip
    for kind, make in makers.items():
        made = make()
        if made and made != text:
            yield kind, made


def _number(text: str, draw: random.Random) -> str:
    spans = [
        m.span() for m in _NUMBER.finditer(text) if not re.search(r"(?:Table|Figure|Section|表|图)\s*$", text[: m.start()])
    ]
    if not spans:
        return ""
    start, end = draw.choice(spans)
    digit = draw.choice([i for i in range(start, end) if text[i].isdigit()])
    other = draw.choice([d for d in "123456789" if d != text[digit]])
    return text[:digit] + other + text[digit + 1 :]


def _swapped(text: str, parts: Sequence[str], draw: random.Random) -> str:
    """Two different figures of one kind exchanged."""
    pairs = [
        (a, b) for a in parts for b in parts if a != b and ("." in a) == ("." in b) and text.count(a) == text.count(b) == 1
    ]
    if not pairs:
        return ""
    a, b = draw.choice(pairs)
    return text.replace(a, "\0").replace(b, a).replace("\0", b)


def _name(window: Window, draw: random.Random) -> str:
    """A name for another of the same passage, both written like names (PROGRAMFC, FLAN-T5)."""
    text, around = window.own, window.document.text[window.spans[0][0] : window.spans[-1][1]]
    like = re.compile(r"\b[A-Za-z]*[A-Z][A-Za-z]*[A-Z0-9][\w-]*\b")
    own = sorted({m.group() for m in like.finditer(text)})
    others = sorted({m.group() for m in like.finditer(around)} - set(own))
    pairs = [
        (a, b) for a in own for b in others if {a.casefold(), b.casefold()} <= names_of(around) and a.casefold() != b.casefold()
    ]
    pairs = [(a, b) for a, b in pairs if a.casefold() not in b.casefold() and b.casefold() not in a.casefold()]
    if not pairs:
        return ""
    a, b = draw.choice(pairs)
    return re.sub(rf"\b{re.escape(a)}\b", b, text)


def _undenied(text: str) -> str:
    return _first(text, [(_DENIED, lambda m: m[1] or m[2])] if language(text) == "en" else [(_DENIED_ZH, "")])  # fmt: skip


def _first(
    text: str, pairs: Sequence[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]], *, after_number: bool = False
) -> str:
    for pattern, other in pairs:
        for m in pattern.finditer(text):
            if after_number and not re.search(r"\d[\d,.]*\s?$|\d[\d,.]* ?\S{0,12}$", text[: m.start()]):
                continue
            return text[: m.start()] + pattern.sub(other, text[m.start() :], count=1)
    return ""


def _cells(window: Window, document: Document) -> Iterator[tuple[str, str]]:
    """A cell told in a sentence: true, and with the figure of the next column."""
    pairs = [part.rpartition(": ")[::2] for part in window.own.split(" | ")]
    labels = [
        value
        for column, value in pairs
        if column and not re.search(r"\d\.\d|^\W*$", value) and re.search("[A-Za-z\u4e00-\u9fff]", value)
    ]
    figures = [(column, value) for column, value in pairs if column and re.fullmatch(r"\d+(?:\.\d+)?", value)]
    if not labels or len(figures) < 2 or len({c for c, _ in figures}) < 2:
        return
    (first, value), (_, other) = figures[0], figures[1]
    label = labels[-1]
    line = "{label} 在 {column} 上为 {value}。" if document.lang == "zh" else "{label} scores {value} on {column}."
    yield "true, cell", line.format(label=label, column=first, value=value)
    if value != other:
        yield "cell", line.format(label=label, column=first, value=other)
