"""The structure of real papers is read as a person read it; what is not is named here, so that it
cannot grow unseen.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import paper_structure
from citewell.ingest.paper.read_paper import read_paper

# unnumbered headings of the appendices that the PDF parser takes for text, or joins to the one
# before
MISSED = {"2023.acl-long.386.pdf": (33, 34), "2023.findings-emnlp.248.pdf": (26, 46)}


def check(name: str, found: paper_structure.Score) -> None:
    right, wanted = found.roles
    assert (right, wanted) == MISSED.get(name, (wanted, wanted)), found.misses
    assert found.floats[0] == found.floats[1], name
    assert found.references[0] == found.references[1], name


def test_the_samples() -> None:
    names = {path.name for path in paper_structure.SAMPLES.glob("*.pdf")}
    seen = [(name, document) for name, document in paper_structure.documents() if name in names]
    assert len(seen) == len(names) == 2
    for name, document in seen:
        check(name, paper_structure.score(read_paper(document), paper_structure.expected()[name]))


def test_the_papers_of_others(shared_data: Path) -> None:
    if not (shared_data / "paper_qa").is_dir():
        pytest.skip("paper_qa is not among the evaluation data")
    seen = dict(paper_structure.documents())
    assert set(seen) == set(paper_structure.expected())
    for name, document in seen.items():
        check(name, paper_structure.score(read_paper(document), paper_structure.expected()[name]))


def test_a_wrong_role_and_a_missing_section_are_told() -> None:
    _, document = next(paper_structure.documents())
    paper = read_paper(document)
    golden = {
        "figures": 0,
        "tables": 0,
        "references": 1,
        "sections": [["Nowhere", "method"], *([part.heading, "front"] for part in paper.parts)],
    }
    found = paper_structure.score(paper, golden)
    assert found.roles == (1, len(paper.parts) + 1)
    assert "missing: Nowhere" in found.misses
