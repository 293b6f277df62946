"""Measures the reader as it is shipped: every gate, with n and 95 % intervals.

    python training/reader/evaluate.py --data DIR --hand FILE... [--same FILE] [--part 0.85]
        [--weights FILE] [--json FILE]

`--data` holds questions of others in Citewell's evaluation form (SQuAD 2.0, ClapNQ, RGB, CMRC 2018,
XQuAD); `--hand` are hand-written twins: the part behind `--part` is asked, which training held
back; `--same` are pairs of questions. Nothing that is asked here may teach: leaks.py. The one rule:
figures come from `builtin_reader`'s own functions, so what is measured is what runs.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from balance import elsewhere, is_true
from figures import auc, auc_margin, match
from rows import Row, groups_of, lines, passages

from citewell.models.builtin.e5_file import load_e5
from citewell.models.builtin.reader import (
    compute_same_odds,
    compute_same_share,
    judge_claim,
    read_passage,
)
from citewell.models.builtin.reader_network import WEIGHTS, Network
from citewell.models.reader_base import Judgement, Reading
from citewell.text import sentences

DOUBTED = 0.10  # share of true claims that may be doubted
Report = dict[str, Any]


class Asked:
    """A reader that counts pairs and CPU seconds."""

    def __init__(self, weights: Path) -> None:
        self.net = Network(*load_e5(), weights)
        self.pairs, self.seconds = 0, 0.0

    def read(self, question: str, passage: str) -> Reading:
        return self._timed(read_passage, question, passage)

    def judge(self, claim: str, evidence: str) -> Judgement:
        return self._timed(judge_claim, claim, evidence)

    def same_odds(self, one: str, other: str) -> float:
        return self._timed(compute_same_odds, one, other)

    def _timed(self, ask: Callable[[Network, str, str], Any], first: str, second: str) -> Any:
        began = time.process_time()
        said = ask(self.net, first, second)
        self.seconds += time.process_time() - began
        self.pairs += 1
        return said


def sample(rows: Sequence[Row], number: int) -> list[Row]:
    chosen = list(rows)
    random.Random(5).shuffle(chosen)
    return chosen[:number]


def texts(file: Path) -> dict[str, str]:
    return {row["doc_id"]: row["text"] for row in lines(file)}


def told_apart(true: Sequence[float], false: Sequence[float]) -> Report:
    value = auc(true, false)
    return {
        "n": len(true) + len(false),
        "auc": value,
        "margin": auc_margin(value, len(true), len(false)),
    }


def spans(readings: Sequence[tuple[Reading, str, Sequence[str]]], language: str) -> Report:
    """Exact match and F1 of (reading, passage, answers), in percent."""
    found = [
        match(passage[said.start : said.end], answers, language)
        for said, passage, answers in readings
    ]
    exact, f1 = np.mean(found, axis=0)
    margin = 1.96 * np.std([one for _, one in found]) / len(found) ** 0.5
    return {"n": len(found), "exact": 100 * exact, "f1": 100 * f1, "margin": 100 * margin}


def squad(reader: Asked, data: Path, number: int) -> Report:
    corpus, folder = texts(data / "qa_refusal_en/squad2_corpus.jsonl"), data / "qa_refusal_en"
    asked = sample(list(lines(folder / "squad2_questions.jsonl")), number)
    said = [(reader.read(row["question"], corpus[row["gold_doc_ids"][0]]), row) for row in asked]
    scores = {
        wanted: [one.answerable for one, row in said if row["answerable"] is wanted]
        for wanted in (True, False)
    }
    answered = [
        (one, corpus[row["gold_doc_ids"][0]], row["answers"])
        for one, row in said
        if row["answerable"]
    ]
    return {
        "SQuAD2 answerable": told_apart(scores[True], scores[False]),
        "SQuAD2 span": spans(answered, "en"),
    }


def clapnq(reader: Asked, data: Path, number: int) -> Report:
    corpus = texts(data / "qa_refusal_en/clapnq_corpus.jsonl")
    asked = sample(list(lines(data / "qa_refusal_en/clapnq_questions.jsonl")), number)
    scores: dict[bool, list[float]] = {True: [], False: []}
    for row in asked:
        scores[row["answerable"]].append(
            reader.read(row["question"], corpus[row["gold_doc_ids"][0]]).answerable
        )
    return {"ClapNQ answerable": told_apart(scores[True], scores[False])}


def rgb(reader: Asked, data: Path, number: int) -> Report:
    """One passage with the answer and one without, for each question."""
    chance = random.Random(3)
    rows = [
        row
        for row in lines(data / "qa_refusal_zh/rgb_zh_refine.jsonl")
        if row["positive"] and row["negative"]
    ][:number]
    pairs = [
        (row["question"], chance.choice(row["positive"]), chance.choice(row["negative"]))
        for row in rows
    ]
    true = [reader.read(question, passage).answerable for question, passage, _ in pairs]
    return {
        "RGB answerable": told_apart(
            true, [reader.read(question, passage).answerable for question, _, passage in pairs]
        )
    }


def cmrc(reader: Asked, data: Path, number: int) -> Report:
    corpus = texts(data / "retrieval_zh/cmrc_corpus.jsonl")
    asked = sample(list(lines(data / "retrieval_zh/cmrc_questions.jsonl")), number)
    found = [(row, corpus[row["gold_doc_ids"][0]]) for row in asked]
    return {
        "CMRC span": spans(
            [(reader.read(row["question"], text), text, row["answers"]) for row, text in found],
            "zh",
        )
    }


def xquad(reader: Asked, data: Path, number: int) -> Report:
    """Chinese questions on English passages."""
    folder = data / "retrieval_xlingual"
    corpus, rows = (
        texts(folder / "xquad_corpus.jsonl"),
        list(lines(folder / "xquad_questions.jsonl")),
    )
    english = {row["id"].split(":")[0]: row for row in rows if row["lang"] == "en"}
    asked = sample(
        [row for row in rows if row["lang"] == "zh" and row["id"].split(":")[0] in english], number
    )
    found = [
        (row, corpus[row["gold_parallel"][0]], english[row["id"].split(":")[0]]["answers"])
        for row in asked
    ]
    return {
        "XQuAD zh on en span": spans(
            [(reader.read(row["question"], text), text, answers) for row, text, answers in found],
            "en",
        )
    }


def questions(reader: Asked, rows: Sequence[Row]) -> Report:
    said = [(reader.read(row["q"], row["p"]), row) for row in rows]
    scores = {
        wanted: [one.answerable for one, row in said if is_true(row) is wanted]
        for wanted in (True, False)
    }
    report = {"hand-written questions answerable": told_apart(scores[True], scores[False])}
    for language in ("en", "zh"):
        answered = [
            (one, row["p"], [row["p"][row["s"] : row["e"]]])
            for one, row in said
            if is_true(row) and row["lang"] == language
        ]
        report[f"hand-written questions span {language}"] = spans(answered, language)
    return report


def claims(reader: Asked, rows: Sequence[Row]) -> Report:
    """Told apart in all, by language, by label, without their passage and beside a wrong one; then
    each kind of false claim.
    """
    scores = np.array([reader.judge(row["q"], row["p"]).entailed for row in rows])
    true = np.array([is_true(row) for row in rows])
    report = {"claims": told_apart(scores[true], scores[~true])}
    marks = {
        "en": [row["lang"] == "en" for row in rows],
        "zh": [row["lang"] == "zh" for row in rows],
    }
    marks["across languages"] = [row["kind"].startswith("x-") for row in rows]
    marks |= {
        f"words {words}": [row.get("words") == words for row in rows] for words in ("same", "other")
    }
    marks |= {
        name: [row["y"] in (0, label) for row in rows]
        for name, label in (("not stated", 1), ("contradicted", 2))
    }
    for name, mark in marks.items():
        chosen = np.array(mark)
        if (chosen & true).any() and (chosen & ~true).any():
            report[f"claims, {name}"] = told_apart(scores[chosen & true], scores[chosen & ~true])
    for name, others in (("no evidence", [""] * len(rows)), ("wrong evidence", elsewhere(rows))):
        beside = np.array(
            [
                reader.judge(row["q"], other).entailed
                for row, other in zip(rows, others, strict=True)
            ]
        )
        report[f"claims, {name}"] = told_apart(beside[true], beside[~true])
    report["false claims caught"] = caught(rows, scores, float(np.quantile(scores[true], DOUBTED)))
    return report


def same(reader: Asked, rows: Sequence[Row]) -> Report:
    """Pairs of questions told apart, in all and by language; then which share passes the
    threshold.
    """
    odds = np.array([reader.same_odds(row["one"], row["other"]) for row in rows])
    true = np.array([row["same"] for row in rows])
    languages = [
        "/".join(
            sorted({sentences.detect_language(row["one"]), sentences.detect_language(row["other"])})
        )
        for row in rows
    ]
    report = {"same question": told_apart(odds[true], odds[~true])}
    for name in sorted(set(languages)):
        chosen = np.array(languages) == name
        report[f"same question, {name}"] = told_apart(odds[chosen & true], odds[chosen & ~true])
    if constants := reader.net.constants.get("same"):
        passing = np.array(
            [compute_same_share(each, constants) >= constants["threshold"] for each in odds]
        )
        for name, chosen in (("same", true), ("different", ~true)):
            report[f"same question, {name} ones passing"] = {
                "n": int(chosen.sum()),
                "share": float(passing[chosen].mean()),
            }
    return report


def caught(rows: Sequence[Row], scores: Sequence[float], least: float) -> Report:
    """Share of each kind below the score that a tenth of the true ones do not reach."""
    kinds = defaultdict(list)
    for row, score in zip(rows, scores, strict=True):
        if not is_true(row):
            kinds[row["kind"].removeprefix("x-")].append(score < least)
            kinds["all"].append(score < least)
    return {
        kind: {"n": len(found), "caught": float(np.mean(found))}
        for kind, found in sorted(kinds.items())
    }


SETS = (squad, clapnq, rgb, cmrc, xquad)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of the evaluation sets of others")
    parser.add_argument("--hand", type=Path, nargs="*", default=[], help="hand-written files")
    parser.add_argument(
        "--same", type=Path, help="pairs of questions, other ones than calibrate.py was given"
    )
    parser.add_argument(
        "--part", type=float, default=0.85, help="where the part that is asked begins"
    )
    parser.add_argument("--weights", type=Path, default=WEIGHTS)
    parser.add_argument("--number", type=int, default=300, help="questions of each set")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    reader, report = Asked(options.weights), Report()
    for measure in SETS if options.data else ():
        report |= measure(reader, options.data, options.number)
    rows = [
        row
        for file in options.hand
        for one in passages(file, options.part)
        for group in groups_of(one)
        for row in group
    ]
    if rows:
        report |= questions(reader, [row for row in rows if row["task"] == "qa"])
        report |= claims(reader, [row for row in rows if row["task"] == "sup"])
    if options.same:
        report |= same(reader, list(lines(options.same)))
    report["pairs a CPU second"] = reader.pairs / reader.seconds
    text = json.dumps(report, indent=1, ensure_ascii=False, default=float)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
