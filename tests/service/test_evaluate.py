"""Questions asked on corpora: what is loaded, what is measured, what is kept of a run that was
stopped.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from tests.error_codes import raises_code

from citewell.errors import InvalidInput, NotFound
from citewell.measure.report import Item
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.runtime.progress import ignore_progress
from citewell.service.evaluate.ablate import VARIANTS, Variant, run_ablation
from citewell.service.evaluate.corpus import load_corpus
from citewell.service.evaluate.eval_sets import (
    Options,
    find_corpus_beside,
    load_datasets,
    sample_questions,
)
from citewell.service.evaluate.evaluate import Evaluation
from citewell.service.evaluate.journal import Journal
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending

Files = Callable[[str, Sequence[dict[str, Any]]], Path]
DOCUMENTS: list[dict[str, Any]] = [
    {
        "doc_id": "lamp#1",
        "title": "Lamp",
        "text": "The lamp of the lighthouse is electric. It shines for 40 miles.",
    },
    {"doc_id": "tower", "title": "塔", "text": "灯塔建于一八五七年。塔身为红色，高三十米。"},
    {"doc_id": "book", "text": "The keeper lived here.", "page": 1},
    {"doc_id": "book", "text": "Visitors pay 12 euros for a ticket.", "page": 2},
    {"doc_id": "nothing", "text": ""},
]
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "1",
        "question": "How many miles does the lamp shine?",
        "answers": ["40 miles"],
        "gold_doc_ids": ["lamp#1"],
    },
    {
        "id": "2",
        "question": "灯塔是哪年建的？",
        "answers": ["一八五七年"],
        "gold_doc_ids": ["tower"],
    },
    {
        "id": "3",
        "question": "What do visitors pay?",
        "answers": ["12 euros"],
        "gold_doc_ids": ["book"],
        "gold_pages": [2],
    },
    {"id": "4", "question": "Who painted the ceiling?", "answerable": False},
]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    def write(name: str, records: Sequence[dict[str, Any]]) -> Path:
        path = tmp_path / name
        path.write_text(
            "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8"
        )
        return path

    return write


@pytest.fixture
def paths(files: Files) -> tuple[Path, Path]:
    return files("harbour.questions.jsonl", QUESTIONS), files("harbour.corpus.jsonl", DOCUMENTS)


async def evaluated(app: App, *paths: Path, journal: Path | None = None, **ways: Any) -> Evaluation:
    collection, corpus = ways.pop("collection", None), ways.pop("corpus", None)
    options = Options(**ways)
    run = Evaluation(
        app,
        load_datasets(paths, corpus, collection, options),
        options,
        collection,
        Journal(journal),
    )
    try:
        await run.run()
    finally:
        run.journal.close(finished=False)
    return run


async def test_a_corpus_is_loaded_once_and_beside_the_library(
    app: App, paths: tuple[Path, Path]
) -> None:
    """Pages of one document are one document; an empty one is told; the user's library stays
    empty.
    """
    async with load_corpus(app, paths[1]) as corpus:
        infos = {info.uri: info for info in await corpus.app.catalog.documents(corpus.collection)}
        assert set(infos) == {"lamp#1", "tower", "book"}
        assert (infos["book"].pages, infos["lamp#1"].title) == (2, "Lamp")
        assert all(info.embedded == info.chunks for info in infos.values())
        assert any("line 5: has neither text nor file" in trouble for trouble in corpus.troubles)
        document = await corpus.app.catalog.content(infos["book"].doc_id)
        assert [document.text[page.start : page.end] for page in document.pages] == [
            r["text"] for r in DOCUMENTS[2:4]
        ]
        assert corpus.app.embedder is app.embedder
    assert await app.collections.list_all() == []
    async with load_corpus(app, paths[1]) as again:
        assert again.fingerprint == corpus.fingerprint
        assert {info.doc_id for info in await again.app.catalog.documents(again.collection)} == {
            info.doc_id for info in infos.values()
        }
    async with load_corpus(app, paths[1], fresh=True) as anew:
        assert {info.uri for info in await anew.app.catalog.documents(anew.collection)} == set(
            infos
        )


async def test_files_are_a_corpus_too(app: App, library: Path, files: Files) -> None:
    """A folder, and lines that name files; gold is known by file name and by the corpus' own
    name.
    """
    by_name = files(
        "q.jsonl", [{"question": "When was it built?", "gold_doc_ids": ["lighthouse.md"]}]
    )
    found = await evaluated(app, by_name, corpus=library, only="retrieval")
    assert found.report().retrieval["hit@5"] == 1
    corpus = files(
        "c.jsonl",
        [{"doc_id": "mine", "file": "library/lighthouse.md"}, {"doc_id": "x", "file": "no.md"}],
    )
    own = files("o.jsonl", [{"question": "When was it built?", "gold_doc_ids": ["mine"]}])
    run = await evaluated(app, own, corpus=corpus, only="retrieval")
    [item] = run.items
    assert item.search is not None
    assert item.search.first == 1
    assert item.search.found[0].doc_id == "mine"
    assert any("no.md" in trouble for trouble in run.troubles)


async def test_search_and_answers_are_measured(app: App, paths: tuple[Path, Path]) -> None:
    """The corpus beside the questions is found by itself; figures, pages, quotes and steps are
    there.
    """
    assert isinstance(app.llm, ScriptedLLM)
    unknown = ["I don't know."] * 2  # over the English passages, then over the Chinese ones too
    app.llm.enqueue(
        "It shines for 40 miles.",
        "灯塔建于一八五七年。",
        "Visitors pay 12 euros for a ticket.",
        *unknown,
    )
    report = (await evaluated(app, paths[0])).report()
    assert report.n == report.of == 4
    assert report.retrieval["hit@1"] == 1.0
    assert report.pages["hit@1"] == 1.0
    assert report.answer["right"] == 1.0
    assert report.citations["verbatim"] == report.citations["precision"] == 1.0
    assert report.refusal == {"precision": 1.0, "recall": 1.0, "wrongly": 0.0}
    items = {item.id: item for item in report.items}
    assert [items[name].pair for name in "1234"] == ["en", "zh", "en", "en"]
    assert items["1"].search is not None
    assert set(items["1"].search.signals) >= {"cosine", "coverage", "standing"}
    assert items["1"].search.without is not None
    reply = items["1"].answer
    assert reply is not None
    assert reply.right
    assert reply.signals is not None
    assert reply.signals["support"] == 0.97, "the score of a verdict"
    assert (reply.tier, reply.candidate_right) == ("connected", True)
    assert reply.steps["total"] > 0
    assert reply.trace_id.startswith("tr_")
    assert items["4"].search is not None
    assert items["4"].search.figures is None
    assert await app.sessions.list("local") == []


async def test_history_is_joined_as_the_agent_does(
    app: App, paths: tuple[Path, Path], files: Files
) -> None:
    """A follow-up is searched with the question before it."""
    history = [
        {"role": "user", "text": "How far does the lamp of the lighthouse shine?"},
        {"role": "assistant", "text": "40."},
    ]
    follow = files(
        "f.jsonl",
        [{"question": "And is it electric?", "turns": history, "gold_doc_ids": ["lamp#1"]}],
    )
    run = await evaluated(app, follow, corpus=paths[1], only="retrieval")
    assert (
        run.items[0].asked == "How far does the lamp of the lighthouse shine? And is it electric?"
    )
    assert run.items[0].answer is None


async def test_a_collection_of_the_users_is_only_read(
    app: App, library: Path, files: Files
) -> None:
    """Asked where there is no corpus; nothing is added to it. Gold that is not there is told, and
    counts as not found.
    """
    await add_paths(app, [str(library)], "docs")
    await embed_pending(app)
    before = await app.catalog.documents("docs")
    asked = files(
        "q.jsonl",
        [
            {
                "question": "When was the lighthouse built?",
                "gold_doc_ids": ["lighthouse.md", "gone.pdf"],
            }
        ],
    )
    run = await evaluated(app, asked, collection="docs", only="retrieval")
    assert await app.catalog.documents("docs") == before
    assert run.report().retrieval["recall@10"] == 0.5
    assert any("gone.pdf" in trouble for trouble in run.troubles)
    with pytest.raises(NotFound):
        await evaluated(app, asked, collection="absent")


async def test_a_stopped_run_goes_on(
    app: App, paths: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Items done are taken from the journal, a line cut short and a failed item are not; a finished
    run leaves none behind.
    """
    journal = tmp_path / "out.items.jsonl"
    first = await evaluated(app, paths[0], only="retrieval", journal=journal)
    kept = journal.read_text("utf-8").splitlines()
    assert len(kept) == 4
    failed = json.loads(kept[1])
    failed["item"]["error"] = "no luck"
    journal.write_text("\n".join([kept[0], json.dumps(failed), kept[2][:50]]), "utf-8")
    asked: list[str] = []
    whole = measuring(asked)
    monkeypatch.setattr("citewell.service.evaluate.evaluate.measure_question", whole)
    second = await evaluated(app, paths[0], only="retrieval", journal=journal)
    assert asked == ["2", "3", "4"]
    assert [item.id for item in second.items] == [item.id for item in first.items]
    assert second.items[0] == first.items[0]
    second.journal.close(finished=True)
    assert not journal.exists()


def measuring(asked: list[str]) -> Callable[..., Awaitable[Item]]:
    from citewell.service.evaluate import evaluate

    original = evaluate.measure_question

    async def measured(shelf: Any, dataset: str, question: Any, options: Options) -> Item:
        asked.append(question.id)
        return await original(shelf, dataset, question, options)

    return measured


async def test_the_journal_holds_for_the_same_way_only(
    app: App, paths: tuple[Path, Path], tmp_path: Path
) -> None:
    """Another strategy measures anew."""
    journal = tmp_path / "out.items.jsonl"
    await evaluated(app, paths[0], only="retrieval", journal=journal)
    await evaluated(app, paths[0], only="retrieval", journal=journal, strategy="words_only")
    assert len([line for line in journal.read_text("utf-8").splitlines() if line]) == 8


async def test_what_goes_wrong_with_one_question_stays_with_it(
    app: App, paths: tuple[Path, Path], files: Files
) -> None:
    """Too long a question fails in the agent; the rest goes on, and the failure is counted."""
    asked = files("q.jsonl", [QUESTIONS[0] | {"question": "long " * 200}, QUESTIONS[0]])
    run = await evaluated(app, asked, corpus=paths[1])
    assert "characters" in run.items[0].error
    assert run.items[1].error == ""
    assert run.report().counted["answer.right"] == 1


async def test_unknown_names_are_refused(app: App, paths: tuple[Path, Path]) -> None:
    """Before anything is loaded."""
    with raises_code(InvalidInput, "unknown_agent"):
        await evaluated(app, paths[0], agent="nobody")
    with raises_code(InvalidInput, "unknown_strategy"):
        await evaluated(app, paths[0], strategy="luck")


def test_a_sample_keeps_the_proportion(files: Files) -> None:
    """A quarter cannot be answered: of eight, two; the same seed draws the same."""
    records = [
        {"id": f"{n}", "question": f"Q{n}?", "answerable": n % 4 > 0, "answers": ["a"]}
        for n in range(40)
    ]
    path = files("many_questions.jsonl", records)
    [one] = load_datasets([path], None, None, Options(limit=8, seed=5))
    assert [q.answerable for q in one.questions].count(False) == 2
    assert load_datasets([path], None, None, Options(limit=8, seed=5))[0].questions == one.questions
    assert load_datasets([path], None, None, Options(limit=8, seed=6))[0].questions != one.questions
    assert one.name == "many"
    assert sample_questions(one.questions, None, 1) == one.questions
    assert find_corpus_beside(path) is None
    files("many_corpus.jsonl", DOCUMENTS)
    assert find_corpus_beside(path) is not None


def test_troubles_of_the_data_are_told(files: Files) -> None:
    """Broken lines with how many are left, and questions that nothing can be measured with."""
    path = files("q.jsonl", [{"question": "Who?"}, {"anwser": 1}])
    [one] = load_datasets([path, path], None, None, Options())[:1]
    assert any("1 questions used, 1 broken lines left out" in line for line in one.troubles)
    assert any("neither gold nor answers" in line for line in one.troubles)


async def test_a_stopped_ablation_goes_on_with_the_next_variant(
    app: App, paths: tuple[Path, Path], tmp_path: Path
) -> None:
    """What an earlier variant was asked is not asked again; when all are done nothing is left
    behind.
    """
    options = Options()
    sets = load_datasets([paths[0]], None, None, options)

    def journal(variant: Variant) -> Journal:
        return Journal(tmp_path / f"{variant.slug}.items.jsonl")

    async def run(most: int) -> list[str]:
        names: list[str] = []
        async with aclosing(
            run_ablation(app, sets, options, None, journal, lambda _: None, ignore_progress)
        ) as reports:  # type: ignore[type-var]
            async for variant, _ in reports:
                names.append(variant.name)
                if len(names) == most:
                    break
        return names

    assert isinstance(app.llm, ScriptedLLM)
    assert await run(1) == ["qa"]
    asked = len(app.llm.calls)
    app.llm.calls.clear()
    assert await run(1) == ["qa"]
    assert (asked > 0, app.llm.calls) == (True, [])
    assert len(await run(9)) == len(VARIANTS)
    assert not any(journal(variant).path.exists() for variant in VARIANTS)  # type: ignore[union-attr]
