"""What people confirmed is held against its tables and documents as they are now; disagreements;
what is cleaned away.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.service.made_traces import data_trace, text_trace

from citewell.errors import StatementFailed
from citewell.runtime.app import App
from citewell.service.jobs.worker import process_job
from citewell.service.knowledge import find_knowledge as knowledge
from citewell.service.knowledge import review_knowledge as review
from citewell.service.knowledge.clean_up import collect_garbage
from citewell.service.knowledge.conflicts import list_conflicts
from citewell.service.knowledge.feedback_job import run_pending_jobs
from citewell.service.knowledge.give_feedback import submit_feedback
from citewell.service.knowledge.recheck import check_documents, check_source
from citewell.service.knowledge.update_items import settle_item
from citewell.service.library.add import add_paths
from citewell.service.library.documents import delete_document
from citewell.service.tables.sources import add_source, refresh_source, remove_source
from citewell.store.confirmed.types import DAY, Confirmation, Confirmed, Rule, compute_weight
from citewell.store.library.collection_rows import CONFIRMED
from citewell.types import Trace

COSTS = "service,function,amount\nMail,IT,12\nHosting,IT,30\nVans,Fleet,90\n"
RENAMED = COSTS.replace("amount", "cost")
REMOVED = "service,function\nMail,IT\nHosting,IT\n"
WORDS = "service,function,amount\nMail,IT,twelve\nHosting,IT,thirty\n"
PLAIN = "SELECT service, amount AS total FROM costs WHERE function = 'IT'"
QUOTE = "The lighthouse was built in 1857."


@pytest.fixture
def costs(tmp_path: Path) -> Path:
    path = tmp_path / "costs.csv"
    path.write_text(COSTS, "utf-8")
    return path


def write(path: Path, words: str) -> None:
    path.write_text(words, "utf-8")


def remove(path: Path) -> None:
    path.unlink()


async def item_of(app: App, trace: Trace) -> Confirmed:
    """The item that a trace becomes when its user says that it is right."""
    await app.traces.put(trace)
    await submit_feedback(app, trace.trace_id, True, None, trace.user_id)
    await run_pending_jobs(app)
    return await review.get_item(app, f"qa_confirmed_{trace.trace_id}")


async def changed(app: App, path: Path, rows: str) -> None:
    """The file has other columns now, and the job that this gives is done."""
    write(path, rows)
    await refresh_source(app, "costs")
    while (job := await app.jobs.claim()) is not None:
        await process_job(app, job)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (RENAMED, "its statement fails"),
        (REMOVED, "its statement fails"),
        (WORDS, "column total held numbers and holds texts"),
    ],
)
async def test_schema_drift_sets_aside(app: App, costs: Path, rows: str, why: str) -> None:
    """A column renamed, removed, of another type: out of search at once, with the engine's word;
    back when it is as it was.
    """
    await add_source(app, str(costs), "costs")
    item = await item_of(app, data_trace(sql=PLAIN))
    assert item.state == "active"
    await changed(app, costs, rows)
    aside = await review.get_item(app, item.item_id)
    assert (aside.state, aside.doc_id, aside.path) == ("quarantined", "", "")
    assert why in aside.reason
    assert (
        await knowledge.find_similar_items(app, item.question, agent="data", source="costs") == []
    )
    await changed(app, costs, COSTS)
    back = await review.get_item(app, item.item_id)
    assert (back.state, back.reason) == ("active", "")
    assert [each.action for each in await review.get_history(app.db, item.item_id)][-3:] == [
        "quarantined",
        "holds again",
        "active",
    ]
    assert [
        each.item.question
        for each in await knowledge.find_similar_items(
            app, item.question, agent="data", source="costs"
        )
    ] == [item.question]


async def test_other_columns_beside_change_nothing(app: App, costs: Path) -> None:
    """It still runs and gives the same columns: only its fingerprint is that of the new schema."""
    await add_source(app, str(costs), "costs")
    item = await item_of(app, data_trace(sql=PLAIN))
    await changed(app, costs, "service,function,amount,note\nMail,IT,13,x\n")
    now = await review.get_item(app, item.item_id)
    assert now.state == "active"
    assert now.fingerprint != item.fingerprint
    assert now.fingerprint == (await app.sources.get("costs")).fingerprint


async def test_what_people_set_aside_stays_aside(app: App, costs: Path) -> None:
    """A check takes back its own word only."""
    await add_source(app, str(costs), "costs")
    item = await item_of(app, data_trace(sql=PLAIN))
    await review.quarantine_item(app, item.item_id, "3 people said it is wrong")
    checked = await check_source(app, "costs")
    assert checked.looked == []
    assert (await review.get_item(app, item.item_id)).state == "quarantined"


async def test_a_limit_proves_nothing(
    app: App, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too slow just now is not wrong."""
    await add_source(app, str(costs), "costs")
    item = await item_of(app, data_trace(sql=PLAIN))

    async def late(*_: object) -> None:
        raise StatementFailed("it took longer than 10 s", code="timeout")

    monkeypatch.setattr("citewell.service.knowledge.recheck.run_query", late)
    (looked,) = (await check_source(app, "costs")).looked
    assert (looked.outcome, (await review.get_item(app, item.item_id)).state) == (
        "unknown",
        "active",
    )


async def test_a_source_that_disappears(app: App, costs: Path) -> None:
    """Removed: set aside, with that reason; added again under its name: back. Not reachable:
    nothing changes.
    """
    await add_source(app, str(costs), "costs")
    item = await item_of(app, data_trace(sql=PLAIN))
    await remove_source(app, "costs")
    aside = await review.get_item(app, item.item_id)
    assert aside.state == "quarantined"
    assert "its tables costs were removed" in aside.reason
    await add_source(app, str(costs), "costs")
    (looked,) = (await check_source(app, "costs")).looked
    assert (looked.outcome, (await review.get_item(app, item.item_id)).state) == (
        "restored",
        "active",
    )
    source = await app.sources.get("costs")
    (app.settings.home / source.path).unlink()
    remove(costs)
    checked = await check_source(app, "costs")
    assert checked.looked == []
    assert "gone" in checked.problem
    assert (await review.get_item(app, item.item_id)).state == "active"


async def done(app: App) -> None:
    """All jobs that wait."""
    while (job := await app.jobs.claim()) is not None:
        await process_job(app, job)


async def test_tables_added_again(app: App, costs: Path, tmp_path: Path) -> None:
    """Other tables of the same name and columns revive nothing; the very rows, the same file, or a
    person do.
    """
    other = tmp_path / "other" / "costs.csv"
    other.parent.mkdir()
    other.write_text("service,function,amount\nSecret,IT,99\n", "utf-8")
    await add_source(app, str(costs), "costs")
    mine = await item_of(app, data_trace(sql=PLAIN))

    async def again(path: Path) -> tuple[str, str]:
        await remove_source(app, "costs")
        await add_source(app, str(path), "costs")
        await done(app)
        now = await review.get_item(app, mine.item_id)
        return now.state, now.reason

    assert await again(costs) == ("active", "")
    await remove_source(app, "costs")
    await add_source(app, str(costs), "costs")
    await run_pending_jobs(app)  # a program without a worker
    assert (await review.get_item(app, mine.item_id)).state == "active"
    state, reason = await again(other)
    assert state == "quarantined"
    assert "somebody has to confirm it anew" in reason
    await changed(
        app, other, "service,function\nSecret,IT\n"
    )  # what failed in between makes them no others
    await changed(app, other, "service,function,amount\nSecret,IT,99\n")
    assert (await check_source(app, "costs")).changed[0].outcome == "quarantined"
    assert (await again(other))[
        0
    ] == "quarantined"  # nor does it make them the ones that were confirmed
    copy = tmp_path / "copy" / "costs.csv"
    copy.parent.mkdir()
    copy.write_text(COSTS + "Cars,Fleet,1\n", "utf-8")
    assert await again(copy) == ("active", "")  # another file, but the rows that were confirmed
    assert (await again(other))[0] == "quarantined"
    assert (await review.endorse_item(app, mine.item_id, "ann")).state == "active"
    await check_source(app, "costs")
    assert (await review.get_item(app, mine.item_id)).state == "active"


async def test_the_newest_reason_is_told(app: App, costs: Path) -> None:
    """A schema that changes twice: what is told is why it does not hold now."""
    await add_source(app, str(costs), "costs")
    mine = await item_of(app, data_trace(sql=PLAIN))
    await changed(app, costs, REMOVED)
    first = await review.get_item(app, mine.item_id)
    await changed(app, costs, WORDS)
    second = await review.get_item(app, mine.item_id)
    assert "its statement fails" in first.reason
    assert (second.state, "held numbers and holds texts" in second.reason) == ("quarantined", True)
    assert (await review.get_history(app.db, mine.item_id))[-1].action == "still quarantined"


async def test_killed_right_after_the_schema_is_kept(
    app: App, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check is in the transaction that keeps the new schema: whatever is killed after it, the
    job is there.
    """
    await add_source(app, str(costs), "costs")
    mine = await item_of(app, data_trace(sql=PLAIN))
    put = app.sources.put

    async def killed(*said: Any, **more: Any) -> None:
        await put(*said, **more)
        raise RuntimeError("killed here")

    monkeypatch.setattr(app.sources, "put", killed)
    write(costs, REMOVED)
    with pytest.raises(RuntimeError, match="killed here"):
        await refresh_source(app, "costs")
    monkeypatch.undo()
    await done(app)
    assert (await review.get_item(app, mine.item_id)).state == "quarantined"


async def test_killed_right_after_the_source_is_removed(
    app: App, costs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No item is left in force for tables that are gone; the next job removes its file."""
    await add_source(app, str(costs), "costs")
    mine = await item_of(app, data_trace(sql=PLAIN))
    gone = app.sources.remove

    async def killed(*said: Any) -> None:
        await gone(*said)
        raise RuntimeError("killed here")

    monkeypatch.setattr(app.sources, "remove", killed)
    with pytest.raises(RuntimeError, match="killed here"):
        await remove_source(app, "costs")
    monkeypatch.undo()
    aside = await review.get_item(app, mine.item_id)
    assert (aside.state, aside.doc_id) == ("quarantined", "")
    assert (
        await knowledge.find_similar_items(app, mine.question, agent="data", source="costs") == []
    )
    await done(app)
    assert not (app.settings.home / mine.path).exists()
    await add_source(app, str(costs), "costs")
    await done(app)
    assert (await review.get_item(app, mine.item_id)).state == "active"


async def confirmed_text(app: App, library: Path) -> tuple[Confirmed, str]:
    """An answer that quotes the lighthouse's document, and that document's id."""
    await add_paths(app, [str(library)], "default")
    doc_id = next(
        d.doc_id for d in await app.catalog.documents("default") if d.title == "Lighthouse"
    )
    trace = text_trace("qa")
    start = (await app.catalog.content(doc_id)).text.index(QUOTE)
    cited = trace.answer.citations[0].model_copy(
        update={"doc_id": doc_id, "start": start, "end": start + len(QUOTE)}
    )
    answer = trace.answer.model_copy(update={"citations": [cited]})
    return await item_of(app, trace.model_copy(update={"answer": answer})), doc_id


async def test_documents_that_change(app: App, library: Path) -> None:
    """Text added around the quote is no harm; a quote that is gone is; and it is no more when it is
    back.
    """
    item, _ = await confirmed_text(app, library)
    file = library / "lighthouse.md"
    outcomes = []
    for body in (
        f"# Lighthouse\n\nOn the north pier.\n\n{QUOTE}\n",
        "# Lighthouse\n\nIt was built in 1862.\n",
        f"# Lighthouse\n\n{QUOTE}\n",
    ):
        file.write_text(body, "utf-8")
        await add_paths(app, [str(library)], "default")
        (looked,) = (await check_documents(app)).looked
        outcomes.append((looked.outcome, (await review.get_item(app, item.item_id)).state))
    assert outcomes == [("ok", "active"), ("quarantined", "quarantined"), ("restored", "active")]
    log = await review.get_history(app.db, item.item_id)
    assert any(
        "does not say any more: “The lighthouse was built in 1857.”" in each.reason for each in log
    )


async def test_a_document_that_is_removed(app: App, library: Path) -> None:
    item, doc_id = await confirmed_text(app, library)
    await delete_document(app, doc_id)
    (looked,) = (await check_documents(app)).changed
    assert (looked.item_id, looked.outcome, looked.reason) == (
        item.item_id,
        "quarantined",
        "Lighthouse was removed",
    )


# ---------------------------------------------------------------- disagreements


async def two(app: App, one: Trace, other: Trace) -> list[str]:
    return [(await item_of(app, one)).item_id, (await item_of(app, other)).item_id]


def rows(trace: Trace, found: list[list[Any]]) -> Trace:
    """The same with other rows."""
    data = {**(trace.answer.data or {}), "rows": found, "row_count": len(found)}
    return trace.model_copy(update={"answer": trace.answer.model_copy(update={"data": data})})


async def test_two_statements_for_one_question(app: App) -> None:
    """Side by side with who stands by each; both found, each with the other's id; gone when one is
    undone.
    """
    one = data_trace("tr_1", user_id="ann")
    other = rows(
        data_trace(
            "tr_2", sql="SELECT service FROM costs WHERE function LIKE '%IT%'", user_id="bob"
        ),
        [["Mail"]],
    )
    ids = await two(app, one, other)
    (found,) = await list_conflicts(app)
    assert sorted(side.item_id for side in found.sides) == sorted(ids)
    assert {side.item_id: [by.user_id for by in side.confirmed_by] for side in found.sides} == {
        ids[0]: ["ann"],
        ids[1]: ["bob"],
    }
    assert found.source == "costs"
    near = await knowledge.find_similar_items(app, one.question, agent="data", source="costs")
    assert {
        each.item.item_id: each.item.conflicts for each in near if isinstance(each.item, Confirmed)
    } == {
        ids[0]: [ids[1]],
        ids[1]: [ids[0]],
    }
    assert [(await review.get_item(app, each)).conflicts for each in ids] == [[ids[1]], [ids[0]]]
    await review.undo_item(app, ids[1])
    assert await list_conflicts(app) == []
    assert [(await review.get_item(app, each)).conflicts for each in ids] == [[], []]


async def test_what_is_no_disagreement(app: App) -> None:
    """Two statements that gave the same rows, another year, another collection, answers that
    agree.
    """
    await two(app, data_trace("tr_1"), data_trace("tr_2", sql="SELECT service, total FROM sums"))
    await two(
        app,
        rows(data_trace("tr_3", "What was sold in 2023?", "SELECT 1"), [[1]]),
        rows(data_trace("tr_4", "What was sold in 2024?", "SELECT 2"), [[2]]),
    )
    await two(app, text_trace("qa", "tr_5"), text_trace("qa", "tr_6", collection="other"))
    assert await list_conflicts(app) == []
    items = [await review.get_item(app, item.item_id) for item in await review.list_items(app)]
    assert [item.conflicts for item in items] == [[]] * 6


async def test_two_answers_from_documents(app: App) -> None:
    """1857 and 1862 cannot both be; of what weighs more, the one that was used and said to be right
    comes first.
    """
    one, other = text_trace("qa", "tr_1"), text_trace("dual_loop", "tr_2")
    cited = other.answer.citations[0].model_copy(
        update={"doc_id": "doc_2", "quote": "It was built in 1862."}
    )
    answer = other.answer.model_copy(
        update={"answer": "It was built in 1862. [1]", "citations": [cited]}
    )
    ids = await two(app, one, other.model_copy(update={"answer": answer}))
    await app.db.write(
        lambda c: c.execute(
            text("UPDATE confirmed SET uses = 9, good = 3 WHERE item_id = :id"), {"id": ids[1]}
        )
    )
    (found,) = await list_conflicts(app)
    assert [side.item_id for side in found.sides] == [ids[1], ids[0]]
    assert (await review.get_item(app, ids[0])).conflicts == [ids[1]]
    assert found.sides[0].weight > found.sides[1].weight


# ---------------------------------------------------------------- weights


def item(**changes: Any) -> Confirmed:
    by = [Confirmation(user_id="ann", trace_id="tr_1", at=0.0)]
    values = {
        "item_id": "q",
        "trace_id": "tr_1",
        "agent": "qa",
        "question": "q",
        "lang": "en",
        "state": "active",
        "confirmed_by": by,
    }
    return Confirmed(**(values | changes))


@pytest.mark.parametrize(
    ("changes", "days", "weight"),
    [
        ({}, 0, 1.0),
        ({}, 180, 0.75),
        ({}, 36_000, 0.5),
        ({"uses": 31}, 0, 1.5),
        ({"uses": 1_000_000}, 0, 1.5),
        ({"uses": 1}, 0, 1.1),
        ({"good": 2}, 0, 1.5),
        ({"bad": 2}, 0, 0.5),
        ({"good": 5, "bad": 5}, 0, 1.0),
        ({"used_at": 180 * DAY}, 180, 1.0),
        ({}, -10, 1.0),
    ],
)
def test_weights(changes: dict[str, Any], days: float, weight: float) -> None:
    """The documented formula: votes, use, age; a clock that went back harms nothing."""
    assert compute_weight(item(**changes), days * DAY, 180.0) == weight


def test_the_weight_of_a_correction() -> None:
    """By use and age; it has no votes."""
    rule = Rule(
        rule_id="r",
        trace_id="t",
        user_id="u",
        agent="qa",
        question="q",
        lang="en",
        correction="c",
        state="active",
        uses=3,
        updated_at=0.0,
    )
    assert compute_weight(rule, 180 * DAY, 180.0) == pytest.approx(1.2 * 0.75)


# ---------------------------------------------------------------- cleaning


async def aged(app: App, days: float, where: str = "1 = 1") -> None:
    """As if all of these items had been touched so long ago."""
    then = time.time() - days * DAY
    items = f"UPDATE confirmed SET created_at = :at, updated_at = :at, used_at = 0 WHERE {where}"
    people = (
        "UPDATE confirmations SET at = :at WHERE item_id IN (SELECT item_id FROM confirmed "
        f"WHERE {where})"
    )
    await app.db.write(
        lambda c: [c.execute(text(change), {"at": then}) for change in (items, people)]
    )


async def test_gc_says_what_it_would_do_and_does_it(app: App) -> None:
    """Stale ones leave use, dead rows go, with votes, orphan documents and files; a second run
    finds nothing.
    """
    stale, undone, aside, fresh = [
        (
            await item_of(
                app, text_trace("qa", f"tr_{n}", f"Question {n} of the lighthouse {word}?")
            )
        ).item_id
        for n, word in enumerate(("pier", "lamp", "oil", "ship"))
    ]
    await review.undo_item(app, undone)
    await review.quarantine_item(app, aside, "checked: gone")
    await aged(app, 400, f"item_id <> '{fresh}'")
    for item_id in (stale,):
        await settle_item(app, item_id)
    folder = app.settings.home / "knowledge" / "confirmed_qa"
    (folder / "tr_left.md").write_text("left by a kill", "utf-8")
    await app.traces.put(
        text_trace("qa", "tr_old").model_copy(update={"expires_at": time.time() - 1})
    )
    said = await collect_garbage(app, dry_run=True)
    before = {each.item_id: each.state for each in await review.list_items(app)}
    assert before == {stale: "active", undone: "undone", aside: "quarantined", fresh: "active"}
    assert (folder / "tr_left.md").exists()
    did = await collect_garbage(app)
    assert did.model_copy(update={"dry_run": True}) == said
    assert (said.stale, sorted(said.deleted), said.files, said.traces, said.feedback) == (
        [stale],
        sorted([undone, aside]),
        ["tr_left.md"],
        1,
        2,
    )
    after = {each.item_id: (each.state, each.reason) for each in await review.list_items(app)}
    assert after == {stale: ("undone", "not used for 365 days"), fresh: ("active", "")}
    assert [file.name for file in folder.glob("*.md")] == ["tr_3.md"]
    assert [d.title for d in await app.catalog.documents(CONFIRMED)] == [
        "Question 3 of the lighthouse ship?"
    ]
    assert (await collect_garbage(app)).nothing


async def test_gc_brings_back_a_lost_document(app: App) -> None:
    """A file that somebody deleted, an index entry that is gone: made anew."""
    one = await item_of(app, text_trace("qa"))
    (app.settings.home / one.path).unlink()
    assert (await collect_garbage(app, dry_run=True)).repaired == [one.item_id]
    assert not (app.settings.home / one.path).exists()
    await collect_garbage(app)
    assert (app.settings.home / one.path).exists()
    assert (await collect_garbage(app)).nothing


async def test_gc_of_a_used_item(app: App) -> None:
    """Old, but used last week: it stays."""
    one = await item_of(app, text_trace("qa"))
    await aged(app, 400)
    await app.db.write(
        lambda c: c.execute(
            text("UPDATE confirmed SET used_at = :at"), {"at": time.time() - 7 * DAY}
        )
    )
    assert (await collect_garbage(app)).stale == []
    assert (await review.get_item(app, one.item_id)).state == "active"
