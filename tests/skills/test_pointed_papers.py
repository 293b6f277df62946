"""What is pointed to and marked in real papers: the samples as read from their PDFs, and
those of paper_qa.
"""

from __future__ import annotations

import json
import time
from functools import cache
from pathlib import Path

import pytest

from citewell.config import IngestSettings
from citewell.ingest import parse_here
from citewell.ingest.paper.read_paper import read_paper
from citewell.skills.paper.reading_context import OpenPaper, Selection
from citewell.skills.paper.references import describe_missing, find_paper_targets
from citewell.skills.paper.section_evidence import build_target_passages
from citewell.skills.paper.selection import extract_selection, locate_selection
from citewell.text.sentences import count_tokens

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "papers"


@cache
def opened(path: Path) -> OpenPaper:
    document = parse_here(path.read_bytes(), path.name, IngestSettings())
    return OpenPaper(path.stem, "papers", path.name, document, read_paper(document))


def sample(words: str) -> OpenPaper:
    return opened(next(path for path in sorted(SAMPLES.glob("*.pdf")) if words in path.name))


def evidence(question: str, book: OpenPaper, budget: int = 300) -> str:
    found = build_target_passages(find_paper_targets(question, book), book, question, budget)
    assert (
        sum(count_tokens(book.document.text[a:b]) for passage in found for a, b in passage.spans)
        <= budget
    )
    return "\n".join(passage.text for passage in found)


@pytest.mark.parametrize(
    ("paper", "question", "words"),
    [
        (
            "cargo-bike",
            "What does m stand for in Eq. (1)?",
            "where m is the mass of bike, rider and load",
        ),
        ("cargo-bike", "What is z in equation 2?", "z the state of the recurrent unit"),
        ("cargo-bike", "What does [7] add?", "Okafor et al. [7] the loss of capacity in the cold"),
        ("cargo-bike", "How many hidden units does Section 3.2 speak of?", "with 32 hidden units"),
        (
            "货位",
            "表3中HLR对俗称的结果是多少？",
            "查询类型: 俗称 | 查询数: 930 | 混合检索: 50.2 | HLR: 61.5",
        ),
        ("货位", "式（1）中λ取多少？", "λ取0.6，μ取0.3"),
        ("货位", "文献[6]说明了什么？", "货位分配的研究[6]"),
        ("货位", "第3.3节中训练了多少轮？", "训练共20轮"),
    ],
)
def test_the_evidence_of_the_samples(paper: str, question: str, words: str) -> None:
    """The sentence or row that answers is in what is sent."""
    assert words in evidence(question, sample(paper))


@pytest.mark.parametrize(
    ("paper", "copied", "meant"),
    [
        (
            "cargo-bike",
            (
                "each as a vector of 14 ﬁgures with the error that Eq. (1) made on it, by a "
                "gated re-\ncurrent unit"
            ),
            (
                "each as a vector of 14 figures with the error that Eq. (1) made on it, by a "
                "gated recurrent unit"
            ),
        ),
        (
            "货位",
            "其中s₁为稠密得分,\ns₂为归一化的 BM25 得分",
            "其中s₁为稠密得分，s₂为归一化的BM25得分",
        ),
    ],
)
def test_a_selection_of_the_samples(paper: str, copied: str, meant: str) -> None:
    book = sample(paper)
    start, end = locate_selection(Selection(text=copied), book)
    assert book.document.text[start:end] == meant


def test_every_sentence_of_a_paper_is_found_again() -> None:
    """Copied with breaks where a viewer has them, each place of a paper is found at that place."""
    for book in (sample("cargo-bike"), sample("货位")):
        text = book.document.text
        for start in range(200, len(text) - 400, 997):
            span = locate_selection(Selection(start=start, end=start + 120), book)
            copied = text[slice(*span)].replace(" ", "\n", 2).replace("'", "’")
            assert locate_selection(Selection(start=start, end=start + 120, text=copied), book)[
                0
            ] == pytest.approx(span[0], abs=3)


def test_the_questions_of_paper_qa(shared_data: Path) -> None:
    """What they name is found, what is not there is told, and none of them is a question of
    structure or a selection.
    """
    source = shared_data / "paper_qa"
    if not (source / "questions.jsonl").is_file():
        pytest.skip("the questions of paper_qa are not beside this checkout")
    asked = {}
    for line in (source / "questions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        book = opened(source / "pdf" / row["pdf"])
        points = find_paper_targets(row["question"], book)
        labels = [book.paper.floats[i].label for i in points.floats]
        numbers = [book.paper.parts[i].heading.split()[0] for i in points.parts]
        asked[row["id"].rpartition(":")[2]] = (
            labels,
            numbers,
            list(points.pages),
            describe_missing(points, book, "en"),
        )
        assert extract_selection(row["question"]) is None
    assert asked["633"] == (["Figure 1"], [], [], "")
    assert asked["636"][2] == [5]  # printed as 6985
    assert "Figure 2" in asked["636"][0]
    assert asked["637"][3].startswith("The paper has no “figure at the bottom of page 6985”")
    assert asked["627"] == (["Figure 5", "Figure 6"], [], [], "")
    assert asked["628"][3].startswith(
        "The paper has no Figure 7; it has Figure 1 to Figure 6."
    )  # not answerable, says the set
    assert asked["647"][:2] == (["Table 2"], ["3.4"])
    assert asked["648"][0] == ["Table 1", "Table 2"]
    assert asked["649"][1] == ["3.1", "3.3"]
    assert asked["638"] == ([], [], [], "")


@pytest.mark.parametrize(
    "piece",
    [
        "Table ",
        "1, ",
        "表1",
        "[1, ",
        "Section 1.",
        "a ",
        "the of ",
        "“x",
        "Wei et al. ",
        "第",
        "page 1-",
        "II ",
    ],
)
def test_a_hostile_question_costs_no_more_than_its_length(piece: str) -> None:
    """Sixteen thousand characters of any of these are read in a moment."""
    book = sample("cargo-bike")
    question = piece * (16_000 // len(piece))
    begun = time.process_time()
    find_paper_targets(question, book)
    extract_selection(question)
    assert time.process_time() - begun < 5
