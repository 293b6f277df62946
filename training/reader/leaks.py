"""Whether anything that teaches stands in what is asked: fails and names the rows.

    python training/reader/leaks.py --asked FILE_OR_FOLDER... --taught FILE...

A shingle is 50 letters in a row (English) or 16 characters (Chinese), spaces and marks aside. One
that is shared may be a name or a stock phrase; two, 8 characters apart, are text that was copied,
and so is a short text that is the same as a whole. The one rule: run before training; a row that is
found is taken out of what teaches, never out of what asks.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rows import CJK, lines

LENGTH = {"en": 50, "zh": 16}
SHORTEST = 20  # characters of a text that can be told from another
STEP = 8  # characters between two shingles of what is asked
SHOWN = 20
FILED = {"id", "kind", "label", "lang", "words"}
_PLAIN = re.compile(r"[\W_]+")


def strings(value: Any) -> Iterator[str]:
    """Every text in a JSON value, but what it is filed under."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, dict):
        for name, part in value.items():
            if name not in FILED:
                yield from strings(part)


def shingles(text: str, step: int) -> Iterator[int]:
    """Hashes of the text's pieces, one every `step` characters."""
    plain = _PLAIN.sub("", text.lower())
    length = LENGTH["zh" if len(CJK.findall(plain)) > 0.2 * len(plain) else "en"]
    for start in range(0, max(1, len(plain) - length + 1), step):
        yield hash(plain[start : start + length])


def asked(paths: list[Path]) -> set[int]:
    files = [
        file
        for path in paths
        for file in (sorted(path.rglob("*.jsonl")) if path.is_dir() else [path])
    ]
    texts = (
        text
        for file in files
        for row in lines(file)
        for text in strings(row)
        if len(text) >= SHORTEST
    )
    return {shingle for text in texts for shingle in shingles(text, STEP)}


def is_copied(text: str, known: set[int]) -> bool:
    if len(text) < SHORTEST:
        return False
    pieces = list(shingles(text, 1))
    return len(known.intersection(pieces)) >= min(2, len(pieces))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--asked", type=Path, nargs="+", required=True)
    parser.add_argument("--taught", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    known = asked(options.asked)
    found = [
        f"{file.name}:{number}: {text[:60]}"
        for file in options.taught
        for number, row in enumerate(lines(file), 1)
        for text in strings(
            [row.get(name, "") for name in ("q", "p", "passage", "questions", "claims", "cross")]
        )
        if is_copied(text, known)
    ]
    print("\n".join(found[:SHOWN]))
    print(f"{len(found)} texts that teach stand in what is asked ({len(known):,} shingles)")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
