"""Statements and questions on tables: lines `a | b | c` under a header line, cut to about 150
tokens.

The one rule: rows are left out only where the statement speaks of one row, so its truth value
stays.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from mirrors import Texts
from nli import read_columns
from rows import CONTRADICTED, ENTAILED, NOT_STATED, Row
from text import join_tokens, make_claim, make_question, tidy

BUDGET = 650  # characters of a table
LONGEST = 1400  # of text around one
_SEVERAL_ROWS = re.compile(
    r"\b(most|least|more|less|fewer|fewest|first|last|next|previous|after|before|only|all|every|"
    r"each|none|no|never|both|other|"
    r"another|same|different|total|sum|average|mean|than|above|below|between|times|over|under|"
    r"top|bottom|rank\w*|any|several|"
    r"multiple|majority|one|two|three|four|five|six|seven|eight|nine|ten|how "
    r"many|consecutive|earli\w+|lat\w+|\w{3,}est)\b",
    re.IGNORECASE,
)
_NEIGHBOURS = re.compile(r"\b(next|previous|after|before|above|below|consecutive)\b", re.IGNORECASE)
_COUNTED = re.compile(r"\b(how many|number of|total|difference|average|sum)\b", re.IGNORECASE)


def clean_cell(value: Any) -> str:
    return re.sub(r"\s+", " ", str(value)).replace("|", "/").strip()


def join_rows(rows: Sequence[Sequence[Any]]) -> list[str]:
    return [" | ".join(map(clean_cell, row)) for row in rows]


def split_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower()))


def measure(lines: list[str]) -> int:
    return sum(map(len, lines)) + len(lines)


def convert_tabfact(texts: Texts, chance: Random) -> Iterator[Row]:
    """Pairs of a statement and the same rewritten false; then statements with a caption."""
    pairs, *parts = (json.loads(text) for path, text in texts.items() if path.endswith(".json"))
    tables = {path.split("/")[-1]: text for path, text in texts.items() if path.endswith(".csv")}
    captions = {table: caption for part in parts for table, (_, _, caption) in part.items()}
    items = [
        (table, text, label)
        for table, *two in pairs
        for text, label in zip(two, (ENTAILED, CONTRADICTED), strict=True)
    ]
    for part in parts:
        for table, (statements, labels, _) in part.items():
            items += [
                (table, text, ENTAILED if y else CONTRADICTED)
                for text, y in zip(statements, labels, strict=True)
            ]
    known = set()
    for table, text, label in (item for item in items if item[0] in tables):
        rows = [line.split("#") for line in tables[table].strip().split("\n")]
        claim = join_tokens(re.sub(r"#[^;#]*;-?\d+,-?\d+#", "", text)).rstrip(" .") + "."
        kept = cut_table(rows, claim, chance)
        if kept and len(rows) > 2 and (claim.lower(), table) not in known:
            known.add((claim.lower(), table))
            caption = [captions[table]] if captions.get(table) else []
            yield make_claim(claim[0].upper() + claim[1:], "\n".join(caption + kept), label)


def cut_table(rows: list[list[str]], claim: str, chance: Random) -> list[str]:
    """The whole table where it fits; of a longer one the row that the claim names and others;
    nothing where that misleads.
    """
    lines = join_rows(rows)
    if measure(lines) <= BUDGET:
        return lines
    words = split_words(claim)
    shared = sorted(
        ((len(words & split_words(line)), at) for at, line in enumerate(lines) if at), reverse=True
    )
    best = [at for count, at in shared if count == shared[0][0]]
    if _SEVERAL_ROWS.search(claim) or shared[0][0] < 2 or len(best) > 2:
        return []
    kept, size = set(best), len(lines[0]) + sum(len(lines[at]) for at in best)
    others = [at for _, at in shared if at not in kept][:12]
    chance.shuffle(others)
    for at in others:
        if size + len(lines[at]) + 1 > chance.uniform(0.6, 1) * BUDGET:
            break
        kept.add(at)
        size += len(lines[at]) + 1
    return [lines[0]] + [lines[at] for at in sorted(kept)] if size <= BUDGET else []


def convert_infotabs(texts: Texts, _: Random) -> Iterator[Row]:
    """Info boxes of Wikipedia as lines `key | value`."""
    tables = {
        path.split("/")[-1].removesuffix(".json"): text
        for path, text in texts.items()
        if path.endswith(".json")
    }
    labels = {"E": ENTAILED, "N": NOT_STATED, "C": CONTRADICTED}
    for row in (
        row for path, text in texts.items() if path.endswith(".tsv") for row in read_columns(text)
    ):
        if row["table_id"] not in tables or row["label"] not in labels:
            continue
        box = json.loads(tables[row["table_id"]])
        values = [
            (key, ", ".join(value) if isinstance(value, list) else value)
            for key, value in box.items()
            if key != "title"
        ]
        title = box.get("title", "")
        kept = cut_box(join_rows(values), row["hypothesis"], labels[row["label"]])
        if kept:
            evidence = "\n".join(
                [clean_cell(" ".join(title) if isinstance(title, list) else title), *kept]
            )
            yield make_claim(row["hypothesis"].strip().strip('"'), evidence, labels[row["label"]])


def cut_box(lines: list[str], claim: str, label: int) -> list[str]:
    """The lines that share most words with the claim, if these are most of them; nothing left out
    under "not stated".
    """
    if sum(map(len, lines)) <= (1.5 * BUDGET if label == NOT_STATED else BUDGET):
        return lines
    if label == NOT_STATED:
        return []
    words, kept, size = split_words(claim), set(), 0
    for at in sorted(range(len(lines)), key=lambda at: -len(words & split_words(lines[at]))):
        if size + len(lines[at]) <= 1.5 * BUDGET:
            kept.add(at)
            size += len(lines[at])
    return [lines[at] for at in sorted(kept)] if len(kept) >= 0.7 * len(lines) else []


def find_cell(text: str, cell: str, start: int = 0) -> int:
    """Where the only cell begins that is exactly this; -1 where there is none or more than one."""
    found = [
        match.start()
        for match in re.finditer(
            rf"(?:^|(?<=\| )|(?<=\n)){re.escape(cell)}(?= \||\n|$(?!\n))", text
        )
    ]
    found = [at for at in found if at >= max(1, start)]
    return found[0] if len(found) == 1 else -1


def convert_wtq(texts: Texts, chance: Random) -> Iterator[Row]:
    """Questions whose answer is one cell of one row; some of them also on the table without that
    row.
    """
    parts = [text.splitlines()[1:] for path, text in texts.items() if path.endswith(".tsv")]
    for fields in (line.split("\t") for part in parts for line in part):
        if len(fields) != 4 or "|" in fields[3] or fields[2] not in texts:
            continue
        rows = [
            row
            for row in csv.reader(io.StringIO(texts[fields[2]]), escapechar="\\")
            if any(cell.strip() for cell in row)
        ]
        answer, question = (
            clean_cell(fields[3]),
            html.unescape(fields[1]).strip().rstrip(" ?.") + "?",
        )
        holders = [at for at, row in enumerate(rows) if at and answer in map(clean_cell, row)]
        if len(holders) != 1 or not answer or _COUNTED.search(question):
            continue
        yield from ask_table(
            join_rows(rows), holders[0], question[0].upper() + question[1:], answer, chance
        )


def ask_table(
    lines: list[str], holder: int, question: str, answer: str, chance: Random
) -> Iterator[Row]:
    kept = list(range(1, len(lines)))
    if measure(lines) > 1.3 * BUDGET:
        words, kept, size = split_words(question), [holder], len(lines[0]) + len(lines[holder])
        for at in sorted(range(1, len(lines)), key=lambda at: -len(words & split_words(lines[at]))):
            if at != holder and size + len(lines[at]) + 1 <= BUDGET:
                kept.append(at)
                size += len(lines[at]) + 1
        if size > 1.5 * BUDGET or len(kept) < 3 or _NEIGHBOURS.search(question):
            return
    passage = "\n".join([lines[0]] + [lines[at] for at in sorted(kept)])
    start = find_cell(passage, answer, len(lines[0]))
    if start >= 0:
        yield make_question(question, passage, start, answer)
    if not _SEVERAL_ROWS.search(question) and len(kept) > 3 and chance.random() < 0.8:
        rest = "\n".join([lines[0]] + [lines[at] for at in sorted(kept) if at != holder])
        if answer.lower() not in rest.lower():
            yield make_question(question, rest)


def convert_tatqa(texts: Texts, chance: Random) -> Iterator[Row]:
    """Annual reports: ranges of the text beside a table, or cells of the table."""
    for page in (page for text in texts.values() for page in json.loads(text)):
        lines = join_rows(page["table"]["table"])
        paragraphs = {str(part["order"]): tidy(part["text"]) for part in page["paragraphs"]}
        for item in page["questions"]:
            answer = (
                item["answer"][0]
                if isinstance(item["answer"], list) and len(item["answer"]) == 1
                else item["answer"]
            )
            if item["answer_type"] != "span" or not isinstance(answer, str | int | float):
                continue
            if item["answer_from"] == "text":
                yield from ask_text(paragraphs, item, tidy(str(answer)), chance)
            else:
                yield from ask_cells(lines, item["question"], clean_cell(answer), chance)


def ask_text(paragraphs: dict[str, str], item: Row, answer: str, chance: Random) -> Iterator[Row]:
    order, related = sorted(paragraphs, key=int), [str(at) for at in item.get("rel_paragraphs", [])]
    holders = [at for at in related if answer in paragraphs.get(at, "")]
    if len(holders) != 1 or paragraphs[holders[0]].count(answer) != 1:
        return
    place = order.index(holders[0])
    near = [
        at
        for n, at in enumerate(order)
        if n == place or (abs(n - place) == 1 and chance.random() < 0.5)
    ]
    passage = "\n".join(paragraphs[at] for at in near)
    passage = passage if len(passage) <= LONGEST else paragraphs[holders[0]]
    if passage.count(answer) == 1:
        yield make_question(item["question"], passage, passage.index(answer), answer)
    wrong = [
        at
        for at in order
        if at not in related and answer not in paragraphs[at] and len(paragraphs[at]) > 150
    ]
    if wrong and chance.random() < 0.7:
        yield make_question(item["question"], paragraphs[chance.choice(wrong)])


def ask_cells(lines: list[str], question: str, answer: str, chance: Random) -> Iterator[Row]:
    passage = "\n".join(lines)
    start = find_cell(passage, answer) if len(passage) <= 2 * BUDGET else -1
    if start < 0:
        return
    yield make_question(question, passage, start, answer)
    holders = [at for at, line in enumerate(lines) if answer in line.split(" | ")]
    rest = [line for at, line in enumerate(lines) if at not in holders]
    usual = (
        len(holders) == 1
        and holders[0] > 1
        and len(rest) > 3
        and not _SEVERAL_ROWS.search(question)
    )
    if usual and chance.random() < 0.6:
        yield make_question(question, "\n".join(rest))
