"""Questions of a collection that are offered: each answered from its own sentence before, without a
chat model.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from citewell.errors import NotFound
from citewell.models.scripted import ScriptedLLM
from citewell.runtime.app import App
from citewell.service.library import checked_questions as service
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.service.library.offered_questions import (
    MOST_DOCUMENTS,
    Place,
    get_questions,
    list_overviews,
    list_suggestions,
)
from citewell.service.library.overviews import write_overview

RULES = """# Rules

The refund is made within 14 days. Encrypted sticks can be borrowed for 5 days.
"""


async def check_all(app: App) -> None:
    questions = get_questions(app)
    while waiting := await questions.list_unasked(1, MOST_DOCUMENTS):
        [(doc_id, sha256, _)] = waiting
        found = await service.check_questions(app, doc_id)
        await questions.put(doc_id, sha256, found, await write_overview(app, doc_id))


@pytest.fixture
async def filled(app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> App:
    monkeypatch.setattr(service, "SURE", 0.0)  # the double's confidences are of no scale
    (tmp_path / "rules.md").write_text(RULES, "utf-8")
    (tmp_path / "visits.md").write_text("# 参观\n\n参观须提前3个工作日预约。\n", "utf-8")
    await add_paths(app, [str(tmp_path / "rules.md"), str(tmp_path / "visits.md")], "default")
    await embed_pending(app)
    return app


async def test_only_what_is_answered_is_offered(filled: App) -> None:
    await check_all(filled)
    found = await list_suggestions(filled, "default", limit=10, lang="zh")
    assert found[0].question == "参观须提前几个工作日预约？"
    assert {each.question for each in found} <= {
        "When is the refund made?",
        "How long can encrypted sticks be borrowed?",
        "参观须提前几个工作日预约？",
    }
    assert isinstance(filled.llm, ScriptedLLM)
    assert filled.llm.calls == []
    with pytest.raises(NotFound):
        await list_suggestions(filled, "nowhere", limit=1)


async def test_an_answer_from_elsewhere_does_not_count(
    filled: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor does one that is less sure than it must be."""
    monkeypatch.setattr(service, "SURE", 1.1)
    await check_all(filled)
    assert await list_suggestions(filled, "default", limit=10) == []


async def test_the_nearest_of_the_same_documents_follow(filled: App, tmp_path: Path) -> None:
    """Not the question itself; those of other documents behind them."""
    (tmp_path / "tents.md").write_text("# Tents\n\nTents can be borrowed for 9 days.\n", "utf-8")
    await add_paths(filled, [str(tmp_path / "tents.md")], "default")
    await embed_pending(filled)
    await check_all(filled)
    asked = "When is the refund made?"
    near = await list_suggestions(filled, "default", limit=5, near=asked)
    assert asked not in [each.question for each in near]
    assert near
    tents = next(each.doc_id for each in near if "tents" in each.question)
    own = await list_suggestions(filled, "default", limit=5, near=asked, documents=[tents])
    assert (own[0].doc_id, len(own)) == (tents, len(near))


async def test_what_was_shown_is_not_asked_and_the_language_stays(filled: App) -> None:
    await check_all(filled)
    asked = "When do I get my money back?"
    before = await list_suggestions(filled, "default", limit=10, near=asked)
    assert [each.lang for each in before] == ["en", "en", "zh"]
    refund = next(each for each in before if "refund" in each.question)
    start = RULES.index("The refund")
    place = Place(refund.doc_id, start, start + 5)
    after = await list_suggestions(filled, "default", limit=10, near=asked, shown=[place])
    assert after == [each for each in before if each != refund]


async def test_a_document_of_other_bytes_is_asked_anew(filled: App, tmp_path: Path) -> None:
    await check_all(filled)
    (tmp_path / "rules.md").write_text("# Rules\n\nThe refund is made within 30 days.\n", "utf-8")
    await add_paths(filled, [str(tmp_path / "rules.md")], "default")
    await embed_pending(filled)
    left = await list_suggestions(filled, "default", limit=10)
    assert [each.lang for each in left] == ["zh"]
    assert len(await get_questions(filled).list_unasked(5, 40)) == 1
    assert await get_questions(filled).list_unasked(5, 1) == []


async def test_what_a_document_is_about_is_kept_in_its_own_words(filled: App) -> None:
    """At the places of its text where they stand; it goes with the document."""
    await check_all(filled)
    found = await list_overviews(filled, "default")
    assert len(found) == 2
    for doc_id, sentences in found.items():
        text = (await filled.catalog.content(doc_id)).text
        assert all(text[each.start : each.end] == each.text for each in sentences)
    gone = next(iter(found))
    await filled.catalog.delete(gone)
    assert gone not in await list_overviews(filled, "default")
