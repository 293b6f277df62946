"""The public sets become files that `citewell eval` reads without a complaint."""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.measure.dataset import read_corpus, read_questions
from convert import SETS, make, rgb, wordings


def test_the_sample_library_is_a_set(tmp_path: Path) -> None:
    """It needs no data of others; its documents are the files themselves."""
    assert make("samples", tmp_path / "none", tmp_path) is not None
    corpus = read_corpus(tmp_path / "samples.corpus.jsonl")
    names = {document.doc_id for document in corpus.records}
    assert all(Path(document.file).is_file() for document in corpus.records)
    questions = read_questions(tmp_path / "samples.questions.jsonl")
    assert corpus.troubles == questions.troubles == []
    assert all(set(question.grades) <= names for question in questions.records)


def test_a_set_whose_data_is_absent_is_left_out(tmp_path: Path) -> None:
    """Nothing is written for it."""
    assert make("cranfield", tmp_path / "none", tmp_path / "out") is None
    assert not (tmp_path / "out").exists()


def test_answers_of_rgb() -> None:
    """A lone answer, a list of answers that are all needed, and wordings of one."""
    assert wordings("Tampa") == [["Tampa"]]
    assert wordings([["131万", "1313851"], "187万"]) == [["131万", "1313851"], ["187万"]]


@pytest.mark.parametrize("name", [name for name in SETS if name != "samples"])
def test_every_set_is_read_without_a_broken_line(
    name: str, shared_data: Path, tmp_path: Path
) -> None:
    """No unknown field; every gold document is in the corpus; what cannot be answered has no
    answer.
    """
    made = make(name, shared_data, tmp_path)
    assert made is not None, "its data is there"
    corpus = read_corpus(tmp_path / f"{name}.corpus.jsonl")
    questions = read_questions(tmp_path / f"{name}.questions.jsonl")
    troubles = [
        t
        for t in (*corpus.troubles, *questions.troubles)
        if "empty" not in t.message and "neither" not in t.message
    ]
    assert troubles == []
    assert len(questions.records) >= len(made.questions) - 2
    names = {document["doc_id"] for document in made.documents}
    assert len(names) == len(made.documents)
    for question in questions.records:
        assert set(question.grades) <= names
        assert question.answerable or not (question.answers or question.answer_parts)


def test_grades_and_halves(shared_data: Path) -> None:
    """Cranfield's best code is the highest grade; in `xquad-half` every paragraph is in one
    language, and half are foreign.
    """
    grades = {
        grade for q in SETS["cranfield"](shared_data).questions for grade in q["gold"].values()
    }
    assert grades == {0, 1, 2, 3, 4}
    made = SETS["xquad-half"](shared_data)
    paragraphs = [d["doc_id"].rpartition(":")[0] for d in made.documents]
    assert len(set(paragraphs)) == len(paragraphs)
    langs = {d["doc_id"]: d["lang"] for d in made.documents}
    foreign = sum(langs[q["gold_doc_ids"][0]] != q["lang"] for q in made.questions)
    assert foreign == len(made.questions) / 2


def test_what_has_to_be_refused_is_not_there(shared_data: Path) -> None:
    """No document of `rgb-zh-reject` is one that answers."""
    kept = {d["text"] for d in rgb(shared_data, "zh_refine").documents}
    rejecting = {d["text"] for d in rgb(shared_data, "zh_refine", rejecting=True).documents}
    answering = {d for q in rgb(shared_data, "zh_refine").questions for d in q["gold_doc_ids"]}
    assert rejecting < kept
    assert answering
    assert not any(
        q["gold_doc_ids"] for q in rgb(shared_data, "zh_refine", rejecting=True).questions
    )
