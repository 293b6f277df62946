"""A reading desk: a small hand-made paper, a scripted model and embedder, and a search that finds
what the test says.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.agents.empty_search import EmptySearch

from citewell.agents.paper.paper import answer_question
from citewell.agents.paper.paper_ask import Deps, PaperState
from citewell.config import PaperSettings, QASettings
from citewell.ingest.paper.shape import Float, Mention, Paper, Part, Reference, Role
from citewell.models.base import LLM
from citewell.models.metered import Metered
from citewell.models.reader_base import Reader
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.retrieve.query import Found
from citewell.retrieve.rank import compute_coverage
from citewell.skills.dialogue.reference import Readings
from citewell.skills.paper.reading_context import OpenPaper
from citewell.skills.proof.judge import JudgeVerdict
from citewell.skills.proof.judges import build_judge
from citewell.step_runner import stream_steps
from citewell.types import Document, Message, Page, Section, Step

PARTS: tuple[tuple[Role, str, str], ...] = (
    ("front", "Reserve forecasting", "Reserve forecasting for cargo bikes\n\nAnna Berg, Li Wei"),
    (
        "introduction",
        "1 Introduction",
        (
            "Cargo bikes strand when the battery is empty. Existing planners assume a fixed "
            "range. We propose RESCAST for fleets."
        ),
    ),
    (
        "method",
        "2 Method",
        (
            "RESCAST predicts the reserve with a gated recurrent network. The network has three "
            "layers of 64 units. Training takes 40 epochs with the Adam optimiser."
        ),
    ),
    (
        "results",
        "3 Results",
        (
            "RESCAST reaches an error of 4.1 percent, and the linear baseline reaches 7.9 percent. "
            "On hilly routes the error of RESCAST rises to 6.3 percent.\n\n"
            "Table 1: Error by model in percent.\nModel: Linear | Error: 7.9\nModel: RESCAST | "
            "Error: 4.1"
        ),
    ),
    ("discussion", "4 Limitations", "We tested one city only. Winter data are not included."),
    ("references", "References", "[1] Olsen, P. 2020. Range of electric bikes. Journal of Fleets."),
)

# more than the model has room for, so that a section agent reads its own part and not the paper
LOG = " ".join(f"Bike {n} left the depot with a full battery." for n in range(1_000))
LONG: tuple[tuple[Role, str, str], ...] = (*PARTS, ("other", "A Trips", LOG))


def made(parts: Sequence[tuple[Role, str, str]] = PARTS) -> OpenPaper:
    """The paper of these parts, one page each."""
    text, shaped, sections, pages = "", [], [], []
    for n, (role, heading, body) in enumerate(parts, start=1):
        start = len(text)
        text += f"{heading}\n\n{body}\n\n"
        shaped.append(Part(role, (heading,), start, len(text), n, n))
        sections.append(Section((heading,), start, len(text)))
        pages.append(Page(n, start, len(text)))
    caption = text.find("Table 1: ")
    rows = text.find("Model: Linear")
    floats: tuple[Float, ...] = ()
    if caption >= 0:
        end = text.find("\n", caption)
        floats = (Float("table", "Table 1", "1", caption, end, 4, (rows, text.find("\n\n", rows))),)
    entry = text.find("[1] Olsen")
    references = (
        (
            Reference(
                "1",
                entry,
                text.find("\n\n", entry),
                6,
                ("Olsen",),
                "2020",
                "Range of electric bikes",
            ),
        )
        if entry >= 0
        else ()
    )
    mentions: tuple[Mention, ...] = ()
    paper = Paper(
        parts[0][1],
        ("Anna Berg", "Li Wei"),
        "en",
        tuple(shaped),
        floats=floats,
        references=references,
        mentions=mentions,
    )
    document = Document(parts[0][1], "application/pdf", "en", text, tuple(sections), tuple(pages))
    return OpenPaper("doc_1", "papers", "paper:1/a.pdf", document, paper)


def routed(question: str, *sections: str) -> str:
    """A controller's reply."""
    return json.dumps({"clarified_question": question, "sections": sections})


def verdicts(*said: JudgeVerdict) -> str:
    """A judge's reply: of each statement in order."""
    return json.dumps(
        {
            "verdicts": [
                {"n": n, "verdict": verdict, "reason": "so"}
                for n, verdict in enumerate(said, start=1)
            ]
        }
    )


@dataclass
class Desk(EmptySearch):
    """Everything a question needs; `searches` keeps what was searched for."""

    llm: LLM | None = field(default_factory=ScriptedLLM)
    embedder: Any = field(default_factory=ScriptedEmbedder)
    book: OpenPaper = field(default_factory=lambda: made(LONG))
    settings: PaperSettings = field(default_factory=PaperSettings)
    sure: float = 0.9
    searches: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    meter: Metered | None = None
    reader: Reader | None = None

    async def find_by(self, route: str, read: Readings, entities: Sequence[str]) -> Found:
        """Every part as one hit, those first that hold most words of the question."""
        self.searches.append(read.text)
        parts = [part for part in self.book.paper.parts if part.role != "front"]
        texts = [self.book.document.text[part.start : part.end] for part in parts]
        scores = compute_coverage(f"{read.text} {read.context}", texts)
        hits = [
            self.book.hit(part.start, part.end, 8.0 * score)
            for part, score in zip(parts, scores, strict=True)
        ]
        return Found(sorted(hits, key=lambda hit: -hit.score), self.sure)

    async def ask(
        self,
        question: str,
        history: Sequence[tuple[str, str]] = (),
        selection: tuple[int, int] | None = None,
    ) -> PaperState:
        said = [
            Message(role="user" if who == "user" else "assistant", content=text)
            for who, text in history
        ]
        state = PaperState(question, said, selection)
        self.meter = Metered(self.llm) if self.llm else None
        deps = Deps(
            settings=self.settings,
            thresholds=QASettings(),
            llm=self.meter,
            embedder=self.embedder,
            book=self.book,
            search=self,
            reader=self.reader,
            judge=build_judge(self.meter, self.reader),
        )

        async def kept(step: Step, after: str) -> None:
            self.steps.append(step)

        async for _ in stream_steps(lambda stage: answer_question(state, deps, stage), done=kept):
            pass
        return state

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.node == name)

    def sent(self, node: str) -> str:
        """All that a model was sent inside this step."""
        prompts = self.meter.prompts if self.meter else []
        return "\n".join(
            m["content"] for prompt in prompts if prompt["node"] == node for m in prompt["messages"]
        )


@pytest.fixture
def desk() -> Desk:
    return Desk()
