"""Puts what was written by hand about texts of others together with these texts.

    python training/reader/join.py --public FOLDER --out FOLDER

`more/*.jsonl` hold our own words and, for a text of a public set, only the first characters of its
SHA-256:
    {"passage": digest, "q": question, "a": answer,
     "twin": the question changed so that the passage does not answer it}
    {"passage": digest, "of": digest of a question on it, "q": that question in the other language}
    {"question": digest, "same": the same question in other words,
     "other": one that looks like it and asks something else}
Of the same questions each eighth teaches nothing: OUT/held/same.jsonl is for calibration
(`calibrate.py --same`). The one rule: a text that is not there is passed over and counted, so a
part of the public sets gives a part of the rows.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from rows import CJK, ENTAILED, NOT_STATED, Row, lines

MORE = Path(__file__).with_name("more")
DIGITS = 16
HELD = 8


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def twins(passage: str, item: Row) -> Iterator[Row]:
    start = passage.find(item["a"])
    base = {
        "task": "qa",
        "p": passage,
        "lang": "zh" if CJK.search(passage) else "en",
        "src": "twins",
    }
    if start >= 0:
        yield base | {"q": item["q"], "s": start, "e": start + len(item["a"])}
        yield base | {"q": item["twin"], "s": -1, "e": -1}


def same(question: str, item: Row) -> Iterator[Row]:
    """Both ways round: which of two questions was asked first says nothing."""
    for other, label in ((item["same"], ENTAILED), (item["other"], NOT_STATED)):
        for one, two in ((question, other), (other, question)):
            yield {
                "task": "sup",
                "p": one,
                "q": two,
                "y": label,
                "lang": "zh" if CJK.search(one) else "en",
                "src": "same",
            }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--public", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    rows = [
        row
        for file in sorted(options.public.glob("*.jsonl"))
        for row in lines(file)
        if row["task"] == "qa"
    ]
    passages = {digest(row["p"]): row["p"] for row in rows}
    questions = {digest(row["q"]): row for row in rows}
    options.out.mkdir(parents=True, exist_ok=True)
    held: list[Row] = []
    for file in sorted(MORE.glob("*.jsonl")):
        made, missing = list[Row](), 0
        for item in lines(file):
            asked = questions.get(item.get("of") or item.get("question") or "")
            passage = passages.get(item.get("passage", ""))
            if "twin" in item and passage:
                made += twins(passage, item)
            elif "of" in item and asked:
                made.append(asked | {"q": item["q"], "src": "cross"})
            elif "same" in item and asked and int(item["question"], 16) % HELD == 0:
                held += [
                    {"one": asked["q"], "other": item[name], "same": name == "same"}
                    for name in ("same", "other")
                ]
            elif "same" in item and asked:
                made += same(asked["q"], item)
            else:
                missing += 1
        write(options.out / file.name, made)
        print(f"{file.name}: {len(made)} rows, {missing} items without their text")
    (options.out / "held").mkdir(exist_ok=True)
    write(options.out / "held" / "same.jsonl", held)


def write(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


if __name__ == "__main__":
    main()
