"""Claims beside their evidence: inference, fact checking, contracts, science, and yes/no questions.

The one rule: a label is one that people gave; only "not stated" is in part made by pairing a claim
with other evidence.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from random import Random

from mirrors import Texts
from rows import CONTRADICTED, ENTAILED, NOT_STATED, Row
from text import Ranking, fold, join_tokens, make_claim, tidy

LABELS = {
    "entailment": ENTAILED,
    "neutral": NOT_STATED,
    "contradiction": CONTRADICTED,
    "not_entailment": NOT_STATED,
}
COARSE = {"entailment": ENTAILED, "not_entailment": CONTRADICTED}
FEVER = {"SUPPORTS": ENTAILED, "REFUTES": CONTRADICTED, "NOT ENOUGH INFO": NOT_STATED}
CONTRACT = {"Entailment": ENTAILED, "NotMentioned": NOT_STATED, "Contradiction": CONTRADICTED}
SHORTEST, LONGEST = 40, 1400  # characters of evidence put together here
csv.field_size_limit(10**9)


def read_columns(text: str, delimiter: str = "\t") -> Iterator[dict[str, str]]:
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    yield from csv.DictReader(
        io.StringIO(text.lstrip("\ufeff")), delimiter=delimiter, quoting=quoting
    )


def read_lines(text: str) -> Iterator[Row]:
    yield from (json.loads(line) for line in text.splitlines())


def make_pair(claim: str, evidence: str, label: int) -> Row:
    return make_claim(claim, tidy(evidence), label)


def convert_columns(
    texts: Texts,
    _: Random,
    columns: tuple[str, str, str],
    labels: Mapping[str, int] = LABELS,
    coarse: bool = False,
) -> Iterator[Row]:
    """Tables with a column each for claim, evidence and label. `coarse`: contradicted only means
    not entailed.
    """
    claim, evidence, label = columns
    for path, text in texts.items():
        for row in read_columns(text, "," if path.endswith(".csv") else "\t"):
            found = labels.get((row[label] or "").strip())
            if (
                found is not None
                and row[claim] not in ("", "NS")
                and row[evidence] not in ("", "NS")
            ):
                yield make_pair(row[claim], row[evidence], found) | (
                    {"coarse": True} if coarse else {}
                )


def convert_condaqa(texts: Texts, _: Random) -> Iterator[Row]:
    """Yes/no questions about what a negation in the passage implies, asked of it and of three
    versions of it.
    """
    labels = {"YES": ENTAILED, "NO": CONTRADICTED, "DON'T KNOW": NOT_STATED}
    for row in (row for text in texts.values() for row in read_lines(text)):
        if row["label"] in labels:
            yield make_pair(row["sentence2"], row["sentence1"], labels[row["label"]])


def convert_snli(texts: Texts, _: Random) -> Iterator[Row]:
    """Two parts without a head, labelled by number, and one with a head."""
    *parts, headed = texts.values()
    labels = {"1": NOT_STATED, "2": CONTRADICTED, "3": ENTAILED}
    for fields in (line.split("\t") for part in parts for line in part.splitlines()):
        if len(fields) == 4 and fields[0] in labels:
            yield make_pair(fields[3], fields[2], labels[fields[0]])
    yield from convert_columns({"dev.csv": headed}, _, ("hypothesis", "premise", "label"))


def convert_mnli(texts: Texts, _: Random) -> Iterator[Row]:
    """Parts of three repositories. The last gives one annotator's label, so the others' (by
    majority) go before it.
    """
    *parts, asked_train, asked_dev, single = texts.values()
    majority: dict[tuple[str, str], int | None] = {}
    held_out: list[Row] = []
    for at, part in enumerate(parts):
        for row in json.loads(part):
            if found := re.match(r"sentence 1: (.*)\nsentence 2: (.*)", row["sentence"], re.DOTALL):
                label = majority[fold(found[2]), fold(found[1])] = LABELS.get(row["label"])
                if label is not None:
                    pair = make_pair(found[2], found[1], label)
                    held_out += [pair] if at else []
                    yield from [] if at else [pair]
    for part in (asked_train, asked_dev):
        for evidence, claim, label in read_asked_mnli(part):
            majority.setdefault((fold(claim), fold(evidence)), label)
            if part is asked_train:
                yield make_pair(end_sentence(claim), end_sentence(evidence), label)
    yield from held_out
    for row in read_columns(single, ","):
        if row["label"] in LABELS:
            label = majority.get(
                (fold(row["hypothesis"]), fold(row["premise"])), LABELS[row["label"]]
            )
            if label is not None:
                yield make_pair(row["hypothesis"], row["premise"], label)


def read_asked_mnli(text: str) -> Iterator[tuple[str, str, int]]:
    """Evidence, claim and label out of a question about both."""
    pattern = re.compile(
        r'For the statement, "(.*)", does the hypothesis "(.*)" represent entailment', re.DOTALL
    )
    for row in read_columns(text, ","):
        found = pattern.match(row["Question"])
        if found and row["Answer"] in LABELS and found[1].strip() and found[2].strip():
            yield found[1].strip(), found[2].strip(), LABELS[row["Answer"]]


def end_sentence(text: str) -> str:
    return text if text[-1:] in ".?!\"'" else text + "."


def convert_boolq(texts: Texts, _: Random) -> Iterator[Row]:
    """Yes/no questions of search users on a Wikipedia paragraph; yes is entailed, no is
    contradicted.
    """
    for row in (row for text in texts.values() for row in json.loads(text)):
        found = re.match(r"question: (.*?)\npassage: (.*)", row["sentence"], re.DOTALL)
        if found and row["label"] in ("True", "False"):
            question = found[1].strip()
            passage = re.sub(r"^.{1,80}? -- ", "", found[2].replace("``", '"').replace("''", '"'))
            label = ENTAILED if row["label"] == "True" else CONTRADICTED
            yield make_pair(question[0].upper() + question[1:] + "?", passage, label)


def convert_fever(texts: Texts, chance: Random) -> Iterator[Row]:
    """Claims with their sentences; a claim that Wikipedia does not settle with sentences on the
    same subject.
    """
    *parts, labels, premises, claims = texts.values()
    unsettled, subjects = list[str](), defaultdict[tuple[str, ...], set[str]](set)
    for row in (row for part in parts for row in read_columns(part, ",")):
        claim, evidence = (
            join_tokens(row["claim"]),
            [join_tokens(text) for text in ast.literal_eval(row["evidence"])][:3],
        )
        if row["label"] == "0":
            unsettled.append(claim)
        elif evidence:
            chance.shuffle(evidence)
            subjects[name_subject(claim)].update(evidence)
            yield make_pair(
                claim, " ".join(evidence), {"1": ENTAILED, "2": CONTRADICTED}[row["label"]]
            )
    for word, premise, text in zip(
        labels.splitlines(), premises.splitlines(), claims.splitlines(), strict=True
    ):
        claim, sentence = join_tokens(text), join_tokens(premise)
        subjects[name_subject(claim)].add(sentence)
        yield make_pair(claim, sentence, COARSE[word])
    for claim in unsettled:
        if known := sorted(subjects.get(name_subject(claim), ())):
            yield make_pair(
                claim,
                " ".join(chance.sample(known, min(len(known), chance.choice((1, 1, 2))))),
                NOT_STATED,
            )


def name_subject(claim: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", claim)[:2])


def convert_fever_symmetric(texts: Texts, _: Random) -> Iterator[Row]:
    """Twins: each claim is true on one sentence and false on another."""
    for row in (row for text in texts.values() for row in read_lines(text)):
        evidence, label = (
            row.get("evidence") or row.get("evidence_sentence"),
            row.get("gold_label") or row.get("label"),
        )
        if row.get("claim") and evidence and label in FEVER:
            yield make_pair(join_tokens(row["claim"]), join_tokens(evidence), FEVER[label])


def convert_fm2(texts: Texts, chance: Random) -> Iterator[Row]:
    """Claims written to deceive; beside half of them a sentence more, and two other sentences for
    "not stated".
    """
    for row in (row for text in texts.values() for row in read_lines(text)):
        evidence = " ".join(part["text"].strip() for part in row["gold_evidence"])
        others = [
            part["text"].strip()
            for part in row["retrieved_evidence"]
            if part["text"].strip() not in evidence
        ]
        if others and chance.random() < 0.5:
            other = chance.choice(others)
            evidence = f"{other} {evidence}" if chance.random() < 0.5 else f"{evidence} {other}"
        yield make_pair(
            row["text"], evidence, ENTAILED if row["label"] == "SUPPORTS" else CONTRADICTED
        )
        if len(others) >= 2 and chance.random() < 0.4:
            yield make_pair(row["text"], " ".join(chance.sample(others, 2)), NOT_STATED)


def convert_contractnli(texts: Texts, chance: Random) -> Iterator[Row]:
    """Clauses that lawyers marked, with neighbours; for "not stated" those most like the claim, or
    (train) any.
    """
    known = set()
    for data in (json.loads(text) for path, text in texts.items() if path.endswith(".json")):
        for document in data["documents"]:
            for row in pair_clauses(document, data["labels"], chance):
                known.add((row["q"], row["p"][:60]))
                yield row
    labels = {"0": ENTAILED, "1": CONTRADICTED, "2": NOT_STATED}
    for path, text in texts.items():
        for row in read_columns(text, ",") if path.endswith(".csv") else ():
            evidence = "\n".join(
                tidy(part) for part in row["concatenated_spans"].split("\n") if part.strip()
            )
            if (
                row["label"] in labels
                and is_usual(evidence)
                and ("/train." in path or chance.random() >= 0.7)
            ):
                pair = make_pair(row["hypothesis"], evidence, labels[row["label"]])
                yield from [] if (pair["q"], pair["p"][:60]) in known else [pair]


def pair_clauses(document: Row, labels: Row, chance: Random) -> Iterator[Row]:
    clauses = [
        re.sub(r"\s+", " ", document["text"][start:end]).strip() for start, end in document["spans"]
    ]
    ranking = Ranking(clauses)
    for name, found in (
        document["annotation_sets"][0]["annotations"].items() if len(clauses) >= 4 else ()
    ):
        claim, label = labels[name]["hypothesis"], CONTRACT[found["choice"]]
        if label == NOT_STATED:
            kept = ranking.rank(claim, 4)[: chance.choice((2, 3, 4))]
        else:
            kept = list(found["spans"])
            for at in kept[:2]:
                if chance.random() < 0.5:
                    kept.append(max(0, min(len(clauses) - 1, at + chance.choice((-1, 1)))))
        evidence = "\n".join(clauses[at] for at in sorted(set(kept)))
        yield from [make_pair(claim, evidence, label)] if is_usual(evidence) else []


def is_usual(evidence: str) -> bool:
    return SHORTEST < len(evidence) <= LONGEST


def convert_wice(texts: Texts, chance: Random) -> Iterator[Row]:
    """Claims of Wikipedia against the pages it cites; partly supported counts as not stated."""
    for row in (row for text in texts.values() for row in read_lines(text)):
        sentences, sets = (
            row["evidence"],
            [found for found in row.get("supporting_sentences", []) if found],
        )
        if row["label"] == "not_supported":
            kept = Ranking(sentences).rank(row["claim"], 5)
        elif sets:
            kept = list(chance.choice(sets))
            kept += [max(0, at - 1) for at in kept[:2]]
        else:
            continue
        shown = [
            at
            for at in sorted(set(kept))
            if not sentences[at].startswith("(meta data)") or at in kept[:3]
        ]
        evidence = " ".join(tidy(re.sub(r"^[#*\s]+", "", sentences[at])) for at in shown).replace(
            "(meta data) ", ""
        )
        if is_usual(evidence):
            yield make_pair(
                row["claim"], evidence, ENTAILED if row["label"] == "supported" else NOT_STATED
            )


def convert_scifact(texts: Texts, _: Random) -> Iterator[Row]:
    for fields in (line.split("\t") for text in texts.values() for line in text.splitlines()[1:]):
        if len(fields) == 4 and fields[3] in COARSE:
            yield make_pair(fields[2], fields[1], COARSE[fields[3]])


def convert_pubmedqa(texts: Texts, _: Random) -> Iterator[Row]:
    """The claim is a yes/no question; the abstract is without its conclusion and, where too long,
    without its beginning.
    """
    labels = {"yes": ENTAILED, "maybe": NOT_STATED, "no": CONTRADICTED}
    for row in (row for text in texts.values() for row in json.loads(text).values()):
        parts = row["CONTEXTS"]
        while parts and len("\n".join(parts)) > LONGEST:
            parts = parts[1:]
        if parts:
            yield make_pair(row["QUESTION"], "\n".join(parts), labels[row["final_decision"]])
