"""What is evaluated: which questions, on which corpus, how. What is odd is told, not mended."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from citewell.errors import InvalidInput
from citewell.measure.dataset import Question, format_troubles, read_questions
from citewell.retrieve.strategies import STRATEGIES
from citewell.service.ask.agent_runners import list_agent_names

_ENDINGS = (".questions.jsonl", "_questions.jsonl")


@dataclass(frozen=True, slots=True)
class Options:
    """`only`: leave out the answers. `limit`: so many questions of each set, drawn by `seed`; None:
    all. `fresh`: load corpora again. `said`: options of AskOptions that every question is asked
    with.
    """

    agent: str = "qa"
    strategy: str = "direct_chunk_search"
    limit: int | None = None
    seed: int = 1
    only: Literal["", "retrieval"] = ""
    fresh: bool = False
    said: Mapping[str, Any] = field(default_factory=dict)

    def check(self) -> None:
        """Raises InvalidInput for a name that is not known."""
        for kind, name, known in (
            ("agent", self.agent, list_agent_names()),
            ("strategy", self.strategy, list(STRATEGIES)),
        ):
            if name not in known:
                raise InvalidInput(
                    f"unknown {kind}: {name}",
                    hint=f"known: {', '.join(known)}",
                    code=f"unknown_{kind}",
                )


@dataclass(frozen=True, slots=True)
class Dataset:
    """A file's questions. `corpus`: file or folder asked on; None: the user's collection."""

    name: str
    path: Path
    questions: list[Question]
    corpus: Path | None
    troubles: list[str]


def load_datasets(
    paths: Sequence[Path], corpus: Path | None, collection: str | None, options: Options
) -> list[Dataset]:
    """The sets of `paths`, each with the corpus given, or the one that lies beside it, unless a
    collection is asked on.

    Raises InvalidInput where a file has no usable question.
    """
    found: list[Dataset] = []
    for path in paths:
        read = read_questions(path)
        beside = None if corpus or collection else find_corpus_beside(path)
        troubles = format_troubles(read.troubles)
        if read.broken:
            troubles.append(
                f"{path.name}: {len(read.records)} questions used, {read.broken} broken lines "
                "left out"
            )
        idle = sum(
            not (q.grades or q.answers or q.answer_parts) and q.answerable for q in read.records
        )
        if idle:
            troubles.append(
                f"{path.name}: {idle} questions have neither gold nor answers; only times and "
                "quotes count"
            )
        drawn_ = sample_questions(read.records, options.limit, options.seed)
        found.append(
            Dataset(
                _name_dataset(path, {one.name for one in found}),
                path,
                drawn_,
                corpus or beside,
                troubles,
            )
        )
    return found


def find_corpus_beside(path: Path) -> Path | None:
    """`NAME.corpus.jsonl` for `NAME.questions.jsonl` (or both with `_`), if it is there."""
    for ending in _ENDINGS:
        if path.name.endswith(ending):
            beside = path.with_name(
                path.name.removesuffix(ending) + ending.replace("questions", "corpus")
            )
            return beside if beside.is_file() else None
    return None


def sample_questions(questions: Sequence[Question], limit: int | None, seed: int) -> list[Question]:
    """`limit` questions by chance, (un)answerable in proportion; None: all, in their order."""
    if limit is None or limit >= len(questions):
        return list(questions)
    shuffled = list(questions)
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - sampling is not cryptography
    yes, no = [q for q in shuffled if q.answerable], [q for q in shuffled if not q.answerable]
    refusals = round(limit * len(no) / len(shuffled))
    if no and yes and limit > 1:
        refusals = min(max(refusals, 1), limit - 1)
    return yes[: limit - refusals] + no[:refusals]


def _name_dataset(path: Path, taken: set[str]) -> str:
    """A set's name: its file's without the ending, with its folder's where that is taken."""
    name = path.name.removesuffix(".jsonl")
    for ending in _ENDINGS:
        name = path.name.removesuffix(ending) if path.name.endswith(ending) else name
    return name if name not in taken else f"{path.resolve().parent.name}/{name}"
