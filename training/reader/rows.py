"""What the reader learns from: rows, and hand-written passages turned into groups of rows.

A row is one JSON object a line:
    {"task": "qa", "q": question, "p": passage,
     "s": first character of the answer or -1, "e": one beyond its last or -1}
    {"task": "sup", "q": claim, "p": evidence, "y": 0 entailed | 1 not stated | 2 contradicted,
     "bad": [[start, end], ...] of the claim's characters that the evidence does not back;
     missing where nobody said}
with `lang`, `src`, and `coarse` where 2 only says "not entailed". The one rule: rows that differ by
a word or two (twins) are one group, and a group is never parted between two batches.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

Row = dict[str, Any]
Group = list[Row]
Passage = dict[str, Any]  # a line of a hand-written file: FORMAT.md

ENTAILED, NOT_STATED, CONTRADICTED = 0, 1, 2
CJK = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[\u3400-\u9fff]|\w+")
GROUP = 4  # rows about one passage that go together
SHORTEST = 3  # characters of a sentence
FEWEST = 4  # sentences of a passage that can be shortened
CELL = " | "
_END = re.compile(r"[。！？!?]+[”」』）\"]*\s*|\.(?=\s)[\"”)]*\s*|\n+")
_FIGURE_OR_WORD = re.compile(r"[a-z]+|\d[\d.,:]*\d|\d|[\u3400-\u9fff]")


def lines(path: Path) -> Iterator[Row]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def groups(path: Path, *, by_passage: bool = False) -> list[Group]:
    """The rows of a file; those of one passage together where its rows are twins."""
    if not by_passage:
        return [[row] for row in lines(path)]
    found: dict[str, Group] = {}
    for row in lines(path):
        found.setdefault(row["p"], []).append(row)
    return [rows[at : at + GROUP] for rows in found.values() for at in range(0, len(rows), GROUP)]


def passages(path: Path, start: float = 0.0, end: float = 1.0) -> list[Passage]:
    """The part of a hand-written file from `start` to `end` (shares of it, by id)."""
    found = sorted(lines(path), key=lambda passage: str(passage["id"]))
    return found[round(len(found) * start) : round(len(found) * end)]


def groups_of(passage: Passage) -> list[Group]:
    """The twins of one hand-written passage, in its own language and in the other (`kind` then
    begins with "x-").
    """
    found: list[Group] = []
    for block, mark in ((passage, ""), (passage.get("cross") or {}, "x-")):
        found += [_question_twins(passage, item, mark) for item in block.get("questions", ())]
        found += [_claim_twins(passage, item, mark) for item in block.get("claims", ())]
    return found


def _question_twins(passage: Passage, item: Passage, mark: str) -> Group:
    """An empty answer: the passage, a table of contents, answers neither twin."""
    text = passage["passage"]
    start = (
        text.index(item["answer"], max(0, text.find(item.get("sentence", ""))))
        if item["answer"]
        else -1
    )
    end, kind = (start + len(item["answer"]), "answer") if item["answer"] else (-1, "no answer")
    base = {"task": "qa", "p": text, "lang": passage["lang"], "src": passage["id"]}
    group = [base | {"q": item["q"], "s": start, "e": end, "kind": f"{mark}{kind}"}]
    if item.get("twin"):
        group.append(base | {"q": item["twin"], "s": -1, "e": -1, "kind": f"{mark}no answer"})
    return group


def _claim_twins(passage: Passage, item: Passage, mark: str) -> Group:
    base = {
        "task": "sup",
        "p": passage["passage"],
        "lang": passage["lang"],
        "src": passage["id"],
        "words": item.get("words", ""),
    }
    label = CONTRADICTED if item["label"] == "contradicted" else NOT_STATED
    kind, changed = f"{mark}{item['kind']}", changed_range(item["true"], item["false"])
    if base["words"] == "same" and not mark:
        base["near"] = item["true"]  # whose sentences may stand for the passage: `nearest`
    true = base | {"q": item["true"], "y": ENTAILED, "kind": f"{kind} (true)", "bad": []}
    return [true, base | {"q": item["false"], "y": label, "kind": kind, "bad": changed}]


def sentences(text: str) -> list[str]:
    """Sentences and lines, each with the space behind it; a dot inside a number or a word ends
    none.
    """
    found, start = [], 0
    for end in _END.finditer(text):
        if end.end() - start > SHORTEST:
            found.append(text[start : end.end()])
            start = end.end()
    return [*found, text[start:]] if text[start:].strip() else found


def nearest(passage: str, claim: str, chance: Random) -> str:
    """The two to four sentences that share most words with a claim, rare words before common ones;
    of a table its head too.
    """
    parts = sentences(passage)
    if len(parts) < FEWEST:
        return passage
    words = [set(_FIGURE_OR_WORD.findall(part.lower())) for part in parts]
    common = Counter(word for part in words for word in part)
    wanted = set(_FIGURE_OR_WORD.findall(claim.lower()))
    order = sorted(
        range(len(parts)), key=lambda at: -sum(1 / common[word] for word in wanted & words[at])
    )
    best, drawn = order[0], chance.random()
    kept = (
        {best, order[1]}
        | ({order[2]} if drawn < 0.5 else set())
        | ({max(0, best - 1)} if drawn < 0.7 else set())
    )
    row = best
    while CELL in parts[best] and row > 0 and CELL in parts[row - 1]:
        row -= 1
    return "".join(parts[at] for at in sorted(kept | {row})).strip()


def changed_range(before: str, after: str) -> list[list[int]]:
    """The one range of `after` that `before` has not, widened to whole words; where a word was only
    left out, the next one.
    """
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    same = 0
    while same < min(len(before), len(after)) - start and before[-1 - same] == after[-1 - same]:
        same += 1
    end = len(after) - same
    while 0 < start < len(after) and _joined(after[start - 1], after[start]):
        start -= 1
    while 0 < end < len(after) and _joined(after[end - 1], after[end]):
        end += 1
    if end > start:
        return [[start, end]]
    word = _WORD.search(after, start)
    return [list(word.span())] if word else []


def _joined(left: str, right: str) -> bool:
    """Whether two characters belong to one word."""
    return left.isalnum() and right.isalnum() and not CJK.match(left) and not CJK.match(right)
