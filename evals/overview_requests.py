"""Is it told when somebody asks for an overview, or for what can be asked, and is no other question
taken for that?

    .venv/bin/python evals/overview_requests.py --data ../shared/data

`overview_requests.jsonl` was written before the sentences that `training/requests/fit.py` fits, and
is none of them. The other questions are those of the public sets below `--data`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from citewell.config import Settings
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.skills.dialogue.overview_request import find_overview_request

ITEMS = Path(__file__).with_suffix(".jsonl")
FIELDS = ("question", "query", "rewrite", "standalone_question")
SETS = ("qa_refusal_en", "qa_refusal_zh", "paper_qa", "multiturn_en", "website_en", "website_zh")


def list_questions(data: Path) -> Iterator[str]:
    """Of every set, as far as it is there."""
    for path in sorted(path for name in SETS for path in (data / name).glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            found = next((row[field] for field in FIELDS if isinstance(row.get(field), str)), "")
            if 4 < len(found) < 200:
                yield found


async def measure(data: Path) -> None:
    """Print what is told right of the items, and what is taken for a request of the others."""
    embedder = BuiltinEmbedder(Settings())

    async def ask(text: str) -> str:
        return find_overview_request(await embedder.query(text), embedder.name)[0]

    items = [json.loads(line) for line in ITEMS.read_text("utf-8").splitlines()]
    right = Counter([item["asks"] for item in items if await ask(item["text"]) == item["asks"]])
    for kind, number in Counter(item["asks"] for item in items).items():
        print(f"{kind}: {right[kind]} of {number} told")
    others = list(dict.fromkeys(list_questions(data)))
    taken = [text for text in others if await ask(text)]
    print(f"other questions: {len(taken)} of {len(others)} taken for one: {taken}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    asyncio.run(measure(parser.parse_args().data))
