"""Confirmed items and rules: undone, vouched for, reviewed; found in both languages; and their
reserved collection.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.error_codes import raises_code
from tests.service.made_traces import QUESTION, SQL, data_trace, text_trace
from tests.service.test_feedback import files, found, nothing_left, opened, said, the_item

from citewell.config import FeedbackSettings, Settings
from citewell.errors import Conflict, InvalidInput, NotFound, StorageError
from citewell.models.scripted import ScriptedEmbedder
from citewell.runtime.app import App
from citewell.service.ask.search import SearchRequest, search
from citewell.service.knowledge import find_knowledge as knowledge
from citewell.service.knowledge import review_knowledge as review
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.service.library.add import add_paths
from citewell.service.library.collections import create_collection, delete_collection
from citewell.service.library.documents import delete_document
from citewell.store.confirmed import item_files as confirmed_files
from citewell.store.confirmed.items import note_uses
from citewell.store.library.collection_rows import CONFIRMED
from citewell.types import Followed


async def test_undo_removes_document_entry_and_effect(app: App) -> None:
    """File, document, words, vectors and effect go; the row stays with who, when and why; doing it
    twice is nothing.
    """
    await said(app, data_trace())
    item = await the_item(app)
    undone = await review.undo_item(app, item.item_id, "ann", "the service\nmoved")
    assert (undone.state, undone.reason, undone.doc_id, undone.path) == (
        "undone",
        "the service moved",
        "",
        "",
    )
    await nothing_left(app)
    with pytest.raises(NotFound):
        await app.catalog.document(item.doc_id)
    assert await app.pending_chunks.count_unembedded() == 0
    log = await review.get_history(app.db, item.item_id)
    assert [(each.action, each.user_id) for each in log] == [
        ("confirmed", "local"),
        ("active", ""),
        ("undone", "ann"),
    ]
    assert await review.undo_item(app, item.item_id, "bob", "again") == undone
    with pytest.raises(Conflict, match="is undone: the service moved"):
        await review.endorse_item(app, item.item_id)
    with pytest.raises(NotFound, match="has no document"):
        await review.get_item_document(app, item.item_id)


async def test_confirmed_again_after_undo(settings: Settings) -> None:
    """A new word counts, what was said before the undo does not."""
    async with opened(settings, confirmations=2) as app:
        await said(app, data_trace("tr_1", user_id="ann"))
        await said(app, data_trace("tr_2", user_id="bob"))
        await review.undo_item(app, (await the_item(app)).item_id)
        await run_pending_jobs(app)
        given = await submit_feedback(app, "tr_1", True, None, "ann")
        assert given.job_id
        await run_pending_jobs(app)
        item = await the_item(app)
        assert (item.state, [each.user_id for each in item.confirmed_by]) == ("pending", ["ann"])


async def test_killed_after_undo(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is the last to go: what is left of it has no effect, and the next look removes
    it.
    """
    await said(app, data_trace())
    item = await the_item(app)

    def refuse(path: Path) -> None:
        raise StorageError(f"{path}: the disk is gone")

    monkeypatch.setattr("citewell.store.confirmed.item_folder.remove_file", refuse)
    with pytest.raises(StorageError):
        await review.undo_item(app, item.item_id)
    assert files(app) == ["tr_1.md"]
    assert await knowledge.find_similar_items(app, QUESTION, agent="data", source="costs") == []
    assert await found(app) == []
    monkeypatch.setattr(
        "citewell.store.confirmed.item_folder.remove_file", confirmed_files.remove_file
    )
    assert await run_pending_jobs(app) == 1
    assert files(app) == []


async def test_reviewers(settings: Settings) -> None:
    """Only their word makes knowledge; others' words are kept, and they may undo and restore
    nothing.
    """
    async with opened(settings, reviewers=("rae",)) as app:
        first = await said(app, data_trace("tr_1", user_id="ann"))
        item = await the_item(app)
        assert (first.outcome, item.reason) == ("pending", "confirmed by 0 of 1 reviewers")
        await nothing_left(app)
        assert (await review.endorse_item(app, item.item_id, "bob")).state == "pending"
        item = await review.endorse_item(app, item.item_id, "rae")
        assert (item.state, [each.user_id for each in item.confirmed_by]) == (
            "active",
            ["ann", "bob", "rae"],
        )
        with raises_code(InvalidInput, "not_a_reviewer"):
            await review.undo_item(app, item.item_id, "ann")
        await review.quarantine_item(app, item.item_id, "column total is gone")
        await nothing_left(app)
        with raises_code(InvalidInput, "not_a_reviewer"):
            await review.endorse_item(app, item.item_id, "ann")
        assert (await review.endorse_item(app, item.item_id, "rae")).state == "active"
        assert (await review.undo_item(app, item.item_id, "rae")).state == "undone"


async def test_a_rule_from_correction_to_undo(app: App) -> None:
    """Waiting it is used for nothing; approved it is found; rejected or undone no more; and a new
    correction waits again.
    """
    await said(app, data_trace(), False, "IT also has Backup.")
    [rule] = await review.list_rules(app, "waiting")

    async def used() -> list[str]:
        known = await knowledge.find_similar_items(
            app, QUESTION.lower(), agent="data", source="costs"
        )
        return [each.item.correction for each in known if not hasattr(each.item, "item_id")]

    assert await used() == []
    active = await review.review_rule(app, rule.rule_id, "active", "local", "right")
    assert (active.state, active.reviewed_by, active.reason) == ("active", "local", "right")
    assert await used() == ["IT also has Backup."]
    followed = [Followed(item_id=rule.rule_id, kind="rule", how="rule", question=rule.question)]
    for _ in range(2):
        await app.db.write(lambda connection: note_uses(connection, "tr_5", followed, 9.0))
    assert (
        (await review.get_rule(app, rule.rule_id)).uses,
        (await review.get_rule(app, rule.rule_id)).used_at,
    ) == (
        1,
        9.0,
    )
    await review.review_rule(app, rule.rule_id, "rejected", "ann")
    assert await used() == []
    await said(app, data_trace(), False, "IT has Backup and Storage.")
    assert (await review.get_rule(app, rule.rule_id)).state == "waiting"
    await review.review_rule(app, rule.rule_id, "rejected", "ann", "not so")
    again = await review.review_rule(app, rule.rule_id, "active", "rae")
    assert (again.reason, again.reviewed_by) == ("", "rae")  # why it was rejected counts no longer
    undone = await review.review_rule(app, rule.rule_id, "undone", "zoe")
    assert (undone.reason, undone.reviewed_by) == ("undone by zoe", "rae")  # who approved it stays
    with pytest.raises(Conflict):
        await review.review_rule(app, rule.rule_id, "active")
    log = [each.action for each in await review.get_history(app.db, rule.rule_id)]
    assert log == ["proposed", "active", "rejected", "proposed", "rejected", "active", "undone"]
    for unknown in ("", "waiting", "nonsense"):
        with pytest.raises(InvalidInput, match="unknown state"):
            await review.review_rule(app, rule.rule_id, unknown)
    with pytest.raises(NotFound):
        await review.review_rule(app, "rule_none", "active")
    with pytest.raises(InvalidInput, match="unknown state"):
        await review.list_rules(app, "nonsense")


async def test_who_may_approve(settings: Settings) -> None:
    """Where one person's word is not enough, nobody approves their own; where there are reviewers,
    only they approve.
    """
    async with opened(settings, confirmations=2) as app:
        rule_id = (await said(app, data_trace(), False, "Backup too.")).item_id
        with pytest.raises(InvalidInput, match="somebody else than its author"):
            await review.review_rule(app, rule_id, "active")
        assert (await review.review_rule(app, rule_id, "active", "ann")).state == "active"
    async with opened(settings, reviewers=("rae",)) as app:
        rule_id = (await said(app, data_trace("tr_2", "Else?"), False, "Backup too.")).item_id
        with raises_code(InvalidInput, "not_a_reviewer"):
            await review.review_rule(app, rule_id, "active", "ann")
        assert (await review.review_rule(app, rule_id, "active", "rae")).state == "active"
        assert (
            await review.review_rule(app, rule_id, "undone", "local")
        ).state == "undone"  # one's own word is one's own


async def test_what_was_voted_out_needs_as_many_anew(settings: Settings) -> None:
    """Where two must confirm, one of those whom three contradicted does not bring it back alone."""
    kept = settings.model_copy(update={"feedback": FeedbackSettings(confirmations=2)})
    async with App(kept) as app:
        for user in ("ann", "bob"):
            await said(app, data_trace(f"tr_{user}", user_id=user))
        (item,) = await review.list_items(app)
        assert item.state == "active"
        for user in ("cid", "dan", "eve"):
            await app.traces.put(trace := data_trace(f"tr_{user}", user_id=user))
            followed = [
                Followed(
                    item_id=item.item_id, kind="confirmed", how="reused", question=item.question
                )
            ]
            await app.db.write(
                lambda c, t=trace, f=followed: note_uses(c, t.trace_id, f, 1.0)  # type: ignore[misc]
            )
            await said(app, trace, False)
        assert (await review.get_item(app, item.item_id)).state == "quarantined"
        one = await review.endorse_item(app, item.item_id, "ann")
        assert (one.state, [by.user_id for by in one.confirmed_by]) == ("pending", ["ann"])
        assert (await review.endorse_item(app, item.item_id, " Ann ")).state == "pending"
        assert (await review.endorse_item(app, item.item_id, "bob")).state == "active"


async def test_collection_is_reserved(app: App, library: Path) -> None:
    """Nobody adds to it, removes from it, or finds it among other documents."""
    await add_paths(app, [str(library)], "default")
    await said(app, text_trace("qa"))
    item = await the_item(app)
    refused: list[Callable[[], Awaitable[Any]]] = [
        lambda: add_paths(app, [str(library)], CONFIRMED),
        lambda: create_collection(app, CONFIRMED),
        lambda: delete_collection(app, CONFIRMED),
        lambda: delete_document(app, item.doc_id),
    ]
    for do in refused:
        with pytest.raises(InvalidInput) as caught:
            await do()
        assert "citewell" in caught.value.hint
    assert len(await app.catalog.documents(CONFIRMED)) == 1
    hits = (await search(app, SearchRequest(query="lighthouse built", collection="default"))).hits
    assert {hit.collection for hit in hits} == {"default"}


async def test_embedder_was_changed(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of another embedder compare with nothing: the questions are embedded again."""
    await said(app, data_trace())
    monkeypatch.setattr(ScriptedEmbedder, "name", "scripted-2")
    assert [
        each.item
        for each in await knowledge.find_similar_items(app, QUESTION, agent="data", source="costs")
    ] == [await the_item(app)]


async def test_at_most_five_and_the_best_first(app: App) -> None:
    words = ["mail", "hosting", "backup", "storage", "network", "desks", "phones"]
    for number, word in enumerate(words):
        question = f"What is the total yearly cost of {word} in the IT function?"
        await said(
            app,
            data_trace(
                f"tr_{number}", question, f"{SQL} -- {word} {number}".replace("'IT'", f"'{word}'")
            ),
        )
    known = await knowledge.find_similar_items(
        app,
        "What is the total yearly cost of backup in the IT function",
        agent="data",
        source="costs",
    )
    assert len(known) == knowledge.MOST
    assert known[0].item.question.count("backup") == 1
    assert [each.similarity for each in known] == sorted(
        (each.similarity for each in known), reverse=True
    )
    assert await knowledge.find_similar_items(app, " \x00 ", agent="data", source="costs") == []
