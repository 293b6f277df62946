"""Mirrors of public repositories into the rows that teach: OUT/NAME.jsonl for each set of
`sets.toml`.

    python training/reader/sources/convert.py --mirrors FOLDER --asked FOLDER... --out FOLDER
        [--sets fever snli ...]

The one rule: no row shares text with what is asked, and none has two labels. What is asked is
`--asked` (leaks.py) and, where their mirrors are there, the whole development sets that those
figures are parts of.
"""

from __future__ import annotations

import argparse
import html
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import nli
import prompts
import qa
import question_ids
import tables
import times
import twins
from leaks import STEP, asked, is_copied, shingles
from mirrors import Source, read_texts
from rows import Row
from text import fold

SETS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("sets.toml").read_text("utf-8")
)
MODULES = {
    "nli": nli,
    "prompts": prompts,
    "qa": qa,
    "question_ids": question_ids,
    "tables": tables,
    "times": times,
    "twins": twins,
}
SEED = 7
LONGEST, SHORTEST, SHORTEST_QUESTION = 1400, 8, 4  # characters
ASKED = (
    Source("ymcui/cmrc2018", "c0eb1b6ba219", ("squad-style-data/cmrc2018_dev.json",)),
    Source("google-deepmind/xquad", "7d30520c7175", ("xquad.en.json", "xquad.zh.json")),
    Source(
        "rajpurkar/SQuAD-explorer",
        "e0c66cfec263",
        ("explore/v2.0/dev/*.html", "explore/1.1/dev/*.html"),
    ),
)


def read_asked(mirrors: Path) -> Iterator[str]:
    """Paragraphs and questions of whole development sets."""
    for source in ASKED:
        try:
            texts = read_texts(mirrors, (source,))
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            print(f"not kept apart: {error}")
            continue
        for path, text in texts.items():
            if path.endswith(".json"):
                for part in qa.read_squad(text):
                    yield from [part["context"], *(item["question"] for item in part["qas"])]
            else:
                for found in re.findall(
                    r"<pre[^>]*>(.*?)</pre>|<strong class=\"question\">(.*?)</strong>",
                    text,
                    re.DOTALL,
                ):
                    yield html.unescape(re.sub(r"<[^>]+>", "", "".join(found)))


def convert_set(name: str, mirrors: Path) -> list[Row]:
    """The rows of a set, before any is left out."""
    entry = SETS[name]
    module, _, function = entry["function"].partition(".")
    texts = read_texts(mirrors, tuple(Source(**source) for source in entry["sources"]))
    chance = Random(SEED)
    if entry.get("drawn"):
        chance.getrandbits(entry["drawn"] * 32)
    rows = getattr(MODULES[module], function)(texts, chance, **entry.get("options", {}))
    return [row | {"lang": row.get("lang", entry.get("lang", "en")), "src": name} for row in rows]


def sift_rows(rows: list[Row], known: set[int]) -> tuple[list[Row], Counter[str]]:
    """What is left, shuffled, and how many were left out for which reason."""
    copied = cache(lambda text: is_copied(text, known))
    labels, kept, reasons = (
        defaultdict[tuple[str, str], set[int]](set),
        dict[tuple[str, str], Row](),
        Counter[str](),
    )
    for row in rows:
        labels[fold(row["q"]), fold(row["p"])].add(row.get("y", 0))
    for row in rows:
        key = fold(row["q"]), fold(row["p"])
        checks = {
            "twice": key in kept,
            "two labels": len(labels[key]) > 1,
            "too long": len(row["p"]) > LONGEST,
            "too short": len(row["p"]) < SHORTEST or len(row["q"]) < SHORTEST_QUESTION,
        }
        reason = next((reason for reason, holds in checks.items() if holds), "")
        if not reason and (copied(row["p"]) or copied(row["q"])):
            reason = "asked"
        if reason:
            reasons[reason] += 1
        else:
            kept[key] = row
    left = list(kept.values())
    Random(SEED).shuffle(left)
    return left, reasons


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--asked", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="NAME")
    options = parser.parse_args()
    known = asked(options.asked) | {
        piece for text in read_asked(options.mirrors) for piece in shingles(text, STEP)
    }
    options.out.mkdir(parents=True, exist_ok=True)
    missing = 0
    for name in options.sets:
        try:
            rows, reasons = sift_rows(convert_set(name, options.mirrors), known)
        except FileNotFoundError as error:
            print(f"{name}: {error}")
            missing += 1
            continue
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (options.out / f"{name}.jsonl").write_text("".join(lines), "utf-8")
        print(f"{name}: {len(rows)} rows; left out: {dict(reasons) or 'none'}", flush=True)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
