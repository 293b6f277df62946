"""One question on its way through the house: the files that it enters, and how often a call leaves
one package for another.

    .venv/bin/python evals/walk.py [--calls]     # --calls: each pair of packages with its calls

The one rule: a call counts once; a coroutine or generator that goes on is no new call. The models
are scripted, and the question was asked once before, so that nothing is imported.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType

import citewell
from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.library.embedding import embed_pending
from citewell.service.library.intake import add_data

HOUSE = str(Path(citewell.__file__).parent) + "/"
TEXT = b"# Northgate\n\nThe Northgate lighthouse was built in 1857. Its tower is 31 metres high.\n"
QUESTION = "When was the Northgate lighthouse built?"


class Walk:
    """`files`: calls by file. `borders`: calls by the packages that they leave and enter."""

    def __init__(self) -> None:
        self.files = Counter[str]()
        self.borders = Counter[tuple[str, str]]()
        self._frames: dict[CodeType, list[FrameType]] = {}

    def note_call(self, frame: FrameType, event: str, _: object) -> None:
        """For `sys.setprofile`."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(HOUSE):
            return
        known = self._frames.setdefault(frame.f_code, [])
        if any(each is frame for each in known):
            return
        known.append(frame)  # kept, so that no later frame is at its place
        self.files[name.removeprefix(HOUSE)] += 1
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(HOUSE):
            caller = caller.f_back
        if caller is not None:
            left, entered = get_package(caller.f_code.co_filename), get_package(name)
            self.borders[left, entered] += left != entered


def get_package(file: str) -> str:
    return file.removeprefix(HOUSE).split("/")[0].removesuffix(".py")


async def walk_question(folder: Path, agent: str) -> Walk:
    settings = Settings(
        home=folder, cache=folder, llm="scripted", embedder="scripted", reader="scripted"
    )
    walk = Walk()
    async with App(settings) as app:
        await add_data(app, TEXT, "northgate.md", "upload:northgate.md", "default")
        await embed_pending(app)
        await ask(app, AskRequest(question=QUESTION, agent=agent))
        threading.setprofile(walk.note_call)
        sys.setprofile(walk.note_call)
        answer = await ask(app, AskRequest(question=QUESTION, agent=agent))
        sys.setprofile(None)
        threading.setprofile(None)
    assert answer.status == "answered", answer
    return walk


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--agent", default="qa")
    parser.add_argument("--calls", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        walk = asyncio.run(walk_question(Path(folder), given.agent))
    print(f"{given.agent}: {len(walk.files)} files, {walk.borders.total()} borders of packages")
    if given.calls:
        for (left, entered), calls in walk.borders.most_common():
            if calls:
                print(f"{calls:5} {left} -> {entered}")


if __name__ == "__main__":
    main()
