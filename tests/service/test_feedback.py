"""A vote becomes knowledge, a rule or a case: once, whatever is said twice, withdrawn, killed or
refused meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from tests.service.made_traces import QUESTION, SQL, data_trace, text_trace

from citewell.config import FeedbackSettings, Settings
from citewell.errors import Conflict, InvalidInput, NotFound, StatementRefused, StorageError
from citewell.runtime.app import App
from citewell.service.ask.search import SearchRequest, search
from citewell.service.jobs import worker as jobs
from citewell.service.jobs.submit import cancel_or_discard_job
from citewell.service.knowledge import correction_sql, feedback_job
from citewell.service.knowledge import find_knowledge as knowledge
from citewell.service.knowledge import review_knowledge as review
from citewell.service.knowledge.feedback_job import WORK, run_pending_jobs
from citewell.service.knowledge.give_feedback import (
    KIND,
    LONGEST,
    clean_correction,
    get_feedback,
    list_feedback,
    list_wrong_questions,
    retry_refused_jobs,
    submit_feedback,
)
from citewell.service.tables.sources import add_source
from citewell.store.confirmed import exchange as confirmed_exchange
from citewell.store.confirmed import feedback
from citewell.store.confirmed import item_files as confirmed_files
from citewell.store.confirmed.feedback import Vote
from citewell.store.confirmed.item_files import read_front_matter
from citewell.store.confirmed.items import note_uses
from citewell.store.confirmed.types import (
    LONGEST_ANSWER,
    LONGEST_LOGIC,
    LONGEST_QUESTION,
    Confirmed,
)
from citewell.store.job_rows import ENDED
from citewell.store.library.collection_rows import CONFIRMED
from citewell.types import Followed, Trace


@asynccontextmanager
async def opened(settings: Settings, **feedback: Any) -> AsyncIterator[App]:
    async with App(settings.model_copy(update={"feedback": FeedbackSettings(**feedback)})) as app:
        yield app


async def said(
    app: App, trace: Trace, is_correct: bool = True, correction: str | None = None
) -> Vote:
    """The trace is kept, its user gives their word, and the job is done."""
    await app.traces.put(trace)
    given = await submit_feedback(app, trace.trace_id, is_correct, correction, trace.user_id)
    await run_pending_jobs(app)
    return await get_feedback(app, given.feedback_id, trace.user_id)


async def the_item(app: App) -> Confirmed:
    [item] = await review.list_items(app)
    return item


async def found(app: App, words: str = "services IT cost") -> list[str]:
    """Titles of what a search in the reserved collection finds."""
    if not any(info.name == CONFIRMED for info in await app.collections.list_all()):
        return []
    return [
        hit.title
        for hit in (await search(app, SearchRequest(query=words, collection=CONFIRMED))).hits
    ]


def files(app: App) -> list[str]:
    folder = app.settings.home / "knowledge" / "confirmed_qa"
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


async def nothing_left(app: App) -> None:
    """No file, no document, no index entry, no effect."""
    assert files(app) == []
    assert await found(app) == []
    assert await knowledge.find_similar_items(app, QUESTION, agent="data", source="costs") == []


async def test_reply_is_kept_before_the_work(app: App) -> None:
    """Vote, copy of the trace and job are there with the reply; item, file and document only after
    the job.
    """
    await app.traces.put(data_trace())
    given = await submit_feedback(app, "tr_1", True)
    assert (given.state, given.message) == ("waiting", "noted: this answer becomes knowledge")
    assert (await app.jobs.get(given.job_id)).state == "queued"
    assert await review.list_items(app) == []
    assert files(app) == []
    assert await run_pending_jobs(app) == 1
    assert (await app.jobs.get(given.job_id)).state == "done"
    vote = await get_feedback(app, given.feedback_id)
    assert (vote.state, vote.outcome, vote.item_id) == ("done", "active", "qa_confirmed_tr_1")


async def test_confirmed_chain_is_knowledge_at_once(app: App) -> None:
    """Row, document with its front matter, index entry with the highest priority, and the next one
    who asks finds it.
    """
    await said(app, data_trace())
    item = await the_item(app)
    assert (item.item_id, item.state, item.source, item.collection) == (
        "qa_confirmed_tr_1",
        "active",
        "costs",
        "",
    )
    assert (item.logic, item.intent.parameters, item.priority) == (SQL, {"function": "IT"}, "high")
    assert [each.user_id for each in item.confirmed_by] == ["local"]
    assert item.path == "knowledge/confirmed_qa/tr_1.md"
    written = (app.settings.home / item.path).read_text("utf-8")
    assert read_front_matter(written) == {
        "id": "qa_confirmed_tr_1",
        "title": QUESTION,
        "category": "confirmed_qa",
        "tags": ["auto-generated", "human-verified", "general_query"],
        "priority": "high",
    }
    assert f"```sql\n{SQL}\n```" in written
    assert written == await review.get_item_document(app, item.item_id)
    info = await app.catalog.document(item.doc_id)
    assert (info.collection, info.priority, info.title, info.uri) == (
        CONFIRMED,
        10,
        QUESTION,
        item.path,
    )
    assert info.embedded == info.chunks > 0
    assert QUESTION in (await app.catalog.content(item.doc_id)).text
    assert await found(app) == [QUESTION]
    [known] = await knowledge.find_similar_items(
        app, "which services are part of IT cost", agent="data", source="costs"
    )
    assert (known.item, 0.5 < known.similarity < 1) == (item, True)
    assert await knowledge.find_similar_items(app, QUESTION, agent="data", source="other") == []
    assert (
        await knowledge.find_similar_items(
            app, "How tall is the red lighthouse?", agent="data", source="costs"
        )
        == []
    )


async def test_confirming_twice_changes_nothing(app: App) -> None:
    """No second job, no second confirmation, the same document; the reply says so."""
    first = await said(app, data_trace())
    before = await the_item(app)
    again = await submit_feedback(app, "tr_1", True)
    assert (again.feedback_id, again.job_id) == (first.feedback_id, "")
    assert "nothing has changed" in again.message
    assert await run_pending_jobs(app) == 0
    assert await the_item(app) == before
    assert len(await list_feedback(app)) == 1


@pytest.mark.parametrize("agent", ["qa", "dual_loop", "website", "paper", "data"])
async def test_every_agents_answer_can_be_confirmed(app: App, agent: str) -> None:
    """What was searched and cited stands where the statement of the data agent does."""
    trace = data_trace() if agent == "data" else text_trace(agent)
    assert (await said(app, trace)).outcome == "active"
    item = await the_item(app)
    assert item.agent == agent
    written = (app.settings.home / item.path).read_text("utf-8")
    if agent == "data":
        return
    assert item.evidence[0]["quote"] == "The lighthouse was built in 1857."
    assert "```text\ncited: [1] Lighthouse: The lighthouse was built in 1857.\n```" in written
    [known] = await knowledge.find_similar_items(
        app, "When was the lighthouse built", agent="dual_loop", collection="default"
    )
    assert known.item == item
    assert (
        await knowledge.find_similar_items(
            app, "When was the lighthouse built", agent="qa", collection="other"
        )
        == []
    )


async def test_same_chain_of_two_people_is_one_item(settings: Settings) -> None:
    """k = 2: the statement in another writing and the question in nearly the same words; then it
    counts.
    """
    async with opened(settings, confirmations=2) as app:
        first = await said(app, data_trace("tr_1", user_id="ann"))
        assert (first.outcome, (await the_item(app)).reason) == (
            "pending",
            "confirmed by 1 of 2 people",
        )
        await nothing_left(app)
        assert (await said(app, data_trace("tr_2", user_id="ann"))).item_id == first.item_id
        assert (await the_item(app)).state == "pending"  # one person is one, however often
        other = SQL.lower().replace("'it'", "'IT'").replace(", ", ",\n  ") + " -- the services"
        second = await said(
            app, data_trace("tr_3", QUESTION.replace("Which", "What"), other, user_id="bob")
        )
        assert (second.outcome, second.item_id) == ("active", first.item_id)
        item = await the_item(app)
        assert [each.user_id for each in item.confirmed_by] == ["ann", "bob"]
        assert "**验证人**: ann, bob" in (app.settings.home / item.path).read_text("utf-8")


async def test_other_chains_stay_apart(app: App) -> None:
    """Another statement, another source, another question, another agent: an item each."""
    table = data_trace().answer.data or {}
    elsewhere = data_trace("tr_3")
    elsewhere = elsewhere.model_copy(
        update={"answer": elsewhere.answer.model_copy(update={"data": table | {"source": "other"}})}
    )
    for trace in (
        data_trace("tr_1"),
        data_trace("tr_2", sql=SQL.replace("'IT'", "'HR'")),
        elsewhere,
        data_trace("tr_4", "Please list everything"),
        text_trace("qa", "tr_5"),
        text_trace("dual_loop", "tr_6"),
    ):
        assert (await said(app, trace)).item_id == f"qa_confirmed_{trace.trace_id}"
    assert len(await review.list_items(app)) == 6


async def test_other_words_at_the_same_place_are_another_item(app: App) -> None:
    """A document that was replaced: 1862 stands where 1857 stood."""
    before, after = text_trace("qa", "tr_1"), text_trace("qa", "tr_2")
    cited = after.answer.citations[0].model_copy(
        update={"quote": "The lighthouse was built in 1862."}
    )
    changed = {"citations": [cited], "answer": "It was built in 1862. [1]"}
    for trace in (
        before,
        after.model_copy(update={"answer": after.answer.model_copy(update=changed)}),
    ):
        await said(app, trace)
    assert len(await review.list_items(app)) == 2


@pytest.mark.parametrize("people", [1, 2])
async def test_two_confirmations_at_once(settings: Settings, people: int) -> None:
    """Two open libraries (as two processes have), both at it: one item, both people, one
    document.
    """
    async with (
        opened(settings, confirmations=people) as one,
        opened(settings, confirmations=people) as two,
    ):
        for user in ("ann", "bob"):
            await one.traces.put(data_trace(f"tr_{user}", user_id=user))
        await asyncio.gather(
            submit_feedback(one, "tr_ann", True, None, "ann"),
            submit_feedback(two, "tr_bob", True, None, "bob"),
        )
        await asyncio.gather(run_pending_jobs(one), run_pending_jobs(two))
        item = await the_item(one)
        assert (item.state, {each.user_id for each in item.confirmed_by}) == (
            "active",
            {"ann", "bob"},
        )
        assert len(await one.catalog.documents(CONFIRMED)) == 1
        assert len(files(one)) == 1
        assert (one.settings.home / item.path).read_text("utf-8") == await review.get_item_document(
            two, item.item_id
        )


@pytest.mark.parametrize(
    "ways", [("\u00e9lodie", "e\u0301lodie"), ("ann", "Ann"), ("Ann", " ann "), ("李雷", "李雷 ")]
)
async def test_two_ways_to_write_a_name_are_one_person(
    settings: Settings, ways: tuple[str, str]
) -> None:
    """Composed or not, in capitals or not, with spaces: one word, also where votes count against an
    item.
    """
    async with opened(settings, confirmations=2) as app:
        for number, user in enumerate(ways):
            await said(app, data_trace(f"tr_{number}", user_id=user))
        item = await the_item(app)
        assert (item.state, item.reason) == ("pending", "confirmed by 1 of 2 people")
        assert (await review.endorse_item(app, item.item_id, "bob")).state == "active"
        for number, user in enumerate(ways):
            await app.traces.put(trace := data_trace(f"tr_w{number}", user_id=user))
            followed = [
                Followed(
                    item_id=item.item_id, kind="confirmed", how="reused", question=item.question
                )
            ]
            await app.db.write(
                lambda c, t=trace, f=followed: note_uses(c, t.trace_id, f, 1.0)  # type: ignore[misc]
            )
            await said(app, trace, False)
        assert (await the_item(app)).bad == 1


async def test_what_is_too_long_is_no_knowledge(app: App) -> None:
    """What could not be imported again is not exported: it is kept for analysis, and said so."""
    for trace_id, question in (
        ("tr_1", "灯" * LONGEST_QUESTION),
        ("tr_2", "灯" * (LONGEST_QUESTION + 1)),
    ):
        trace = data_trace(trace_id, question, "SELECT '" + "塔" * (LONGEST_LOGIC - 9) + "'")
        data = {
            **(trace.answer.data or {}),
            "columns": ["a"],
            "rows": [["😀" * 10_000]] * 20,
            "row_count": 20,
        }
        answer = trace.answer.model_copy(
            update={"answer": "*中\n" * (LONGEST_ANSWER // 3), "data": data}
        )
        await app.traces.put(trace.model_copy(update={"answer": answer}))
        given = await submit_feedback(app, trace_id, True)
        assert ("for analysis only" in given.message) == (trace_id == "tr_2")
        await run_pending_jobs(app)
    item = await the_item(app)
    assert item.trace_id == "tr_1"
    assert (
        confirmed_exchange.read_item(
            confirmed_exchange.render_item_file(item).encode(), "tr_1"
        ).answer
        == item.answer
    )
    assert (
        "its question has 20,001 characters"
        in (await submit_feedback(app, "tr_2", False, "say less")).message
    )
    await run_pending_jobs(app)
    assert await review.list_rules(app) == []


async def test_catching_up_ends_in_time(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that takes long holds up no question: it waits again, and nothing of it is lost."""
    await app.traces.put(data_trace())
    given = await submit_feedback(app, "tr_1", True)

    async def slow(*_: Any) -> Any:
        await asyncio.sleep(60)

    monkeypatch.setitem(WORK, KIND, slow)
    assert await asyncio.wait_for(run_pending_jobs(app, 0.2), 120) == 0
    monkeypatch.undo()
    for _ in range(50):
        if (await app.jobs.get(given.job_id)).state == "queued":
            break
        await asyncio.sleep(0.1)
    assert await run_pending_jobs(app) == 1
    assert (await the_item(app)).state == "active"


async def test_changing_ones_mind(settings: Settings) -> None:
    """From right to wrong: one's confirmation goes, and with it what stood on it alone; and back
    again.
    """
    async with opened(settings, confirmations=2) as app:
        await said(app, data_trace("tr_1", user_id="ann"))
        await said(app, data_trace("tr_2", user_id="bob"))
        assert (await the_item(app)).state == "active"
        assert (await said(app, data_trace("tr_2", user_id="bob"), False)).outcome == "kept"
        item = await the_item(app)
        assert (item.state, [each.user_id for each in item.confirmed_by]) == ("pending", ["ann"])
        await nothing_left(app)
        await said(app, data_trace("tr_1", user_id="ann"), False)
        assert (await the_item(app)).state == "undone"
        await said(app, data_trace("tr_1", user_id="ann"))
        await said(app, data_trace("tr_2", user_id="bob"))
        assert (await the_item(app)).state == "active"
        assert await found(app) == [QUESTION]


async def test_a_word_that_rests_on_two_answers(app: App) -> None:
    """Who confirmed two answers of one chain and withdraws one of them still stands by it."""
    await said(app, data_trace("tr_1"))
    await said(app, data_trace("tr_2"))
    await said(app, data_trace("tr_1"), False)
    item = await the_item(app)
    assert (item.state, [each.trace_id for each in item.confirmed_by]) == ("active", ["tr_2"])


async def test_right_then_corrected_then_right(app: App) -> None:
    """The rule of a correction goes when its author says that the answer is right after all."""
    vote = await said(app, data_trace(), False, "IT also has Backup.")
    [rule] = await review.list_rules(app)
    assert (vote.outcome, vote.item_id, rule.state, rule.wrong) == (
        "rule",
        rule.rule_id,
        "waiting",
        SQL,
    )
    await said(app, data_trace(), True)
    assert [each.state for each in await review.list_rules(app)] == ["undone"]
    assert (await the_item(app)).state == "active"


async def test_trace_expires_between_reply_and_job(app: App) -> None:
    """The vote has a copy of all of it; and one may change one's mind later too."""
    await app.traces.put(data_trace())
    await submit_feedback(app, "tr_1", True)
    await app.db.write(lambda connection: connection.execute(text("DELETE FROM traces")))
    await run_pending_jobs(app)
    assert (await the_item(app)).logic == SQL
    await submit_feedback(app, "tr_1", False)
    await run_pending_jobs(app)
    assert (await the_item(app)).state == "undone"


async def test_trace_that_was_deleted_leaves_no_copy(app: App) -> None:
    """A session is deleted because of what was said in it: copies go too, what was made knowledge
    on purpose stays.
    """
    session = await app.sessions.create("qa", "local", "t")
    await said(app, text_trace("qa", session_id=session.session_id))
    await app.traces.put(text_trace("qa", "tr_2", session_id=session.session_id))
    await submit_feedback(app, "tr_2", True)
    await app.db.write(
        lambda connection: app.traces.delete_session_in(connection, session.session_id)
    )
    await run_pending_jobs(app)
    votes = {vote.trace_id: vote for vote in await list_feedback(app)}
    assert votes["tr_2"].outcome == f"kept: {feedback_job.GONE}"
    assert {vote.question for vote in votes.values()} == {""}
    assert (await the_item(app)).state == "active"


async def test_unknown_expired_and_other_peoples_traces(app: App) -> None:
    """All alike: there is no such trace, and nothing is kept."""
    await app.traces.put(data_trace(user_id="ann"))
    await app.traces.put(data_trace("tr_old", created_at=1.0))
    for trace_id, user in (
        ("tr_none", "local"),
        ("tr_1", "local"),
        ("tr_old", "local"),
        ("../../etc/passwd", "local"),
    ):
        with pytest.raises(NotFound, match="no trace"):
            await submit_feedback(app, trace_id, True, None, user)
    assert await list_feedback(app, None) == []


async def test_corrections_and_users_are_checked(app: App) -> None:
    """Too long is refused, controls are dropped, an empty one is none, a right answer takes none, a
    user has a name.
    """
    await app.traces.put(data_trace())
    with pytest.raises(InvalidInput, match="4,001 characters"):
        await submit_feedback(app, "tr_1", False, "x" * (LONGEST + 1))
    with pytest.raises(InvalidInput, match="takes no correction"):
        await submit_feedback(app, "tr_1", True, "x")
    for user in ("", " ", "a\nb", "x" * 101, "a\u202eb"):
        with pytest.raises(InvalidInput, match="not allowed"):
            await submit_feedback(app, "tr_1", True, None, user)
    given = await submit_feedback(app, "tr_1", False, " \x1b[31mIT\r\nhas\u202e Backup\x00 \ud800 ")
    assert (await get_feedback(app, given.feedback_id)).correction == "[31mIT\nhas Backup"
    empty = await submit_feedback(app, "tr_1", False, " \n\x00")
    assert (await get_feedback(app, empty.feedback_id)).correction == ""


@pytest.mark.parametrize("status", ["refused", "error", "clarify", "fallback"])
async def test_what_is_no_answer_is_no_knowledge(app: App, status: str) -> None:
    """It is kept for analysis, and the reply says so; a correction of it is a rule."""
    await app.traces.put(data_trace(status=status))
    given = await submit_feedback(app, "tr_1", True)
    assert status in given.message
    assert "analysis" in given.message
    await run_pending_jobs(app)
    assert (await get_feedback(app, given.feedback_id)).outcome == "kept"
    assert await review.list_items(app) == []
    assert (await said(app, data_trace(status=status), False, "IT has Mail.")).outcome == "rule"


async def test_what_rests_on_a_memory_is_nobody_elses(app: App) -> None:
    trace = text_trace("dual_loop")
    remembered = trace.answer.citations[0].model_copy(update={"origin": "memory"})
    trace = trace.model_copy(
        update={"answer": trace.answer.model_copy(update={"citations": [remembered]})}
    )
    assert (await said(app, trace)).outcome == "kept"
    assert await review.list_items(app) == []


async def test_a_follow_up_is_kept_in_full_words(app: App) -> None:
    trace = data_trace(
        question="And of IT?",
        request={"history": [{"role": "user", "content": "Which services has HR?"}]},
    )
    assert trace.snapshot is not None
    intent = trace.snapshot.intent_analysis.model_copy(
        update={"parameters": {"standalone": QUESTION}}
    )
    await said(
        app,
        trace.model_copy(
            update={"snapshot": trace.snapshot.model_copy(update={"intent_analysis": intent})}
        ),
    )
    assert (await the_item(app)).question == QUESTION


async def test_wrong_answers_are_counted(app: App) -> None:
    for number in range(3):
        await said(
            app,
            data_trace(f"tr_{number}", user_id=f"u{number % 2}"),
            False,
            "Backup" if number == 2 else None,
        )
    await said(app, text_trace("qa", "tr_9"), False)
    first, second = await list_wrong_questions(app)
    assert (first.question, first.times, first.people, first.corrected) == (QUESTION, 3, 2, 1)
    assert (first.last_trace_id, second.times) == ("tr_2", 1)


async def test_statement_in_a_correction(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the source takes is kept as such; one that it refuses says why, and its words
    stay.
    """
    asked: list[str] = []

    async def accept(_: App, source: str, sql: str) -> None:
        asked.append(f"{source}: {sql}")
        if "drop" in sql.lower():
            raise StatementRefused("it writes")

    monkeypatch.setattr(correction_sql, "check_statement", accept)
    await said(app, data_trace("tr_1"), False, "-- fixed\nSELECT 1;")
    await said(app, data_trace("tr_2", "Other thing?"), False, "WITH a AS (DROP TABLE x) SELECT 1")
    await said(
        app,
        data_trace("tr_3", "Third thing?"),
        False,
        "Select the services of IT, please? No: all of them.",
    )
    rules = {rule.trace_id: rule for rule in await review.list_rules(app)}
    assert rules["tr_1"].logic == "-- fixed\nSELECT 1"
    assert (rules["tr_2"].logic, rules["tr_2"].reason) == (
        "",
        "its statement is not used: it writes",
    )
    assert rules["tr_1"].correction == "-- fixed\nSELECT 1;"
    assert len(asked) == 2  # the third is words, whatever it begins with
    assert (rules["tr_3"].logic, rules["tr_3"].reason) == ("", "")


async def test_folder_that_cannot_be_written(app: App) -> None:
    """Something stands where the folder should be: told in words, and done when it has gone."""
    (app.settings.home / "knowledge").write_text("a file")
    vote = await said(app, data_trace())
    assert (vote.state, "tr_1.md: cannot be written" in vote.outcome) == ("failed", True)
    await nothing_left(app)
    (app.settings.home / "knowledge").unlink()
    await run_pending_jobs(app)
    assert (await get_feedback(app, vote.feedback_id)).outcome == "active"


async def test_full_disk_is_told_and_tried_again(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is half there: no item in use, no document, no file; the vote says why. Then the disk
    has room.
    """
    whole = Path.replace

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "replace", full)
    vote = await said(app, data_trace())
    assert (vote.state, "No space left on device" in vote.outcome) == ("failed", True)
    assert (await the_item(app)).state == "pending"
    await nothing_left(app)
    [job] = await app.jobs.list()
    assert (job.state, (job.error or {})["code"]) == ("failed", "storage")
    monkeypatch.setattr(Path, "replace", whole)
    assert await retry_refused_jobs(app) == 0  # the server waits a little
    assert await run_pending_jobs(app) == 1
    assert (await get_feedback(app, vote.feedback_id)).outcome == "active"
    assert await found(app) == [QUESTION]


async def test_stopped_between_file_and_row(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is there and nothing of it counts; the job, done again, makes it whole."""
    write = app.db.write_beside

    async def broken(fn: Any, *args: Any, **options: Any) -> Any:
        if fn.__name__ == "show":
            raise StorageError("the disk is gone")
        return await write(fn, *args, **options)

    monkeypatch.setattr(app.db, "write_beside", broken)
    await said(app, data_trace())
    assert files(app) == ["tr_1.md"]
    assert (await the_item(app)).state == "pending"
    assert await knowledge.find_similar_items(app, QUESTION, agent="data", source="costs") == []
    assert await found(app) == []
    monkeypatch.setattr(app.db, "write_beside", write)
    await run_pending_jobs(app)
    assert (await the_item(app)).state == "active"
    assert await found(app) == [QUESTION]


async def test_job_that_is_done_again(app: App) -> None:
    """At every point that it may have come to, a second run gives the same."""
    vote = await said(app, data_trace())
    before = await the_item(app)
    back = "UPDATE feedback SET state = 'waiting', outcome = ''"
    for _ in range(2):
        await app.db.write(lambda connection: connection.execute(text(back)))
        await app.jobs.create(KIND, {"feedback_id": vote.feedback_id})
        await run_pending_jobs(app)
        assert await the_item(app) == before
    assert len(await app.catalog.documents(CONFIRMED)) == 1
    assert [each.action for each in await review.get_history(app.db, before.item_id)] == [
        "confirmed",
        "active",
    ]


async def test_job_that_was_cancelled(app: App) -> None:
    """Its vote waits for nobody: the same word again makes a new one."""
    await app.traces.put(data_trace())
    given = await submit_feedback(app, "tr_1", True)
    assert (await submit_feedback(app, "tr_1", True)).job_id == ""
    await cancel_or_discard_job(app, given.job_id)
    assert (await submit_feedback(app, "tr_1", True)).job_id not in {"", given.job_id}
    await run_pending_jobs(app)
    assert (await the_item(app)).state == "active"


async def test_statement_of_a_correction_on_real_tables(app: App, tmp_path: Path) -> None:
    """Guard and engine of the source judge it."""
    table = tmp_path / "costs.csv"
    table.write_text("service,function,amount\nMail,IT,12\nHosting,IT,30\n", "utf-8")
    await add_source(app, str(table), "costs")
    told = {
        "tr_1": ("SELECT service FROM costs WHERE function = 'IT'", ""),
        "tr_2": ("SELECT nothing FROM costs", "nothing"),
        "tr_3": (
            "WITH a AS (SELECT 1) INSERT INTO costs SELECT 'x', 'y', 1",
            "statement is not used",
        ),
        "tr_4": ("SELECT * FROM read_csv('/etc/passwd')", "statement is not used"),
        "tr_6": ("DROP TABLE costs", "statement is not used: only a statement that reads"),
    }
    for number, (trace_id, (sql, _)) in enumerate(told.items()):
        await said(app, data_trace(trace_id, f"Question {number}?"), False, sql)
    rules = {rule.trace_id: rule for rule in await review.list_rules(app)}
    for trace_id, (sql, problem) in told.items():
        assert rules[trace_id].logic == ("" if problem else sql)
        assert problem in rules[trace_id].reason
        votes = {vote.trace_id: vote.outcome for vote in await list_feedback(app)}
        assert votes[trace_id] == (f"rule: {rules[trace_id].reason}" if problem else "rule")
        if problem:
            with pytest.raises(Conflict, match="not used") as refused:
                await review.review_rule(app, rules[trace_id].rule_id, "active")
            assert "citewell knowledge reject" in refused.value.hint
        else:
            assert (await review.review_rule(app, rules[trace_id].rule_id, "active")).logic == sql
    await said(app, data_trace("tr_5"))
    assert (await the_item(app)).fingerprint == (await app.sources.get("costs")).fingerprint != ""


async def test_the_servers_worker_does_it(app: App) -> None:
    await app.traces.put(data_trace())
    task = asyncio.create_task(jobs.run_worker(app))
    try:
        given = await submit_feedback(app, "tr_1", True)
        async with asyncio.timeout(120):
            while (await app.jobs.get(given.job_id)).state not in ENDED:  # noqa: ASYNC110  # a row of the table
                await asyncio.sleep(0.02)
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert (await the_item(app)).state == "active"


async def test_words_on_answers_that_followed_an_item(app: App) -> None:
    """One complaint more than praise is borne; two set it aside, out of search; who restores it
    starts anew.
    """
    await said(app, data_trace())
    item = await the_item(app)
    followed = [Followed(item_id=item.item_id, how="reused", question=item.question)]

    async def answered(number: int, good: bool) -> Confirmed:
        trace = data_trace(
            f"tr_u{number}", f"Other question {number}?", f"SELECT {number}", user_id=f"u{number}"
        )
        await app.db.write(
            lambda connection: note_uses(connection, trace.trace_id, followed, 5.0 + number)
        )
        await said(app, trace, good)
        return await review.get_item(app, item.item_id)

    assert (await answered(1, False)).state == "active"
    now = await answered(2, True)
    assert (now.uses, now.good, now.bad, now.used_at) == (2, 1, 1, 7.0)
    assert (await answered(3, False)).state == "active"
    now = await answered(4, False)
    assert (now.state, now.good, now.bad) == ("quarantined", 1, 3)
    assert "said that answers which followed it are wrong" in now.reason
    assert "tr_1.md" not in files(app)
    near = await knowledge.find_similar_items(app, QUESTION, agent="data", source="costs")
    assert item.question not in [each.item.question for each in near]
    restored = await review.endorse_item(app, item.item_id)
    assert (restored.state, restored.good, restored.bad) == ("active", 0, 0)
    assert (await answered(5, False)).state == "active"


def test_names_of_files_are_ours(tmp_path: Path) -> None:
    for bad in ("../x", "a/b", "", ".hidden", "x" * 200, "a\x00b"):
        with pytest.raises(InvalidInput):
            confirmed_files.get_item_path(tmp_path, bad)


async def test_votes_survive_json(app: App) -> None:
    """What a trace holds may be anything: the copy is the very text that was kept."""
    await app.traces.put(data_trace(question="名\u2028\"'\\ {}"))
    given = await submit_feedback(app, "tr_1", True)
    kept = await app.db.read(
        lambda connection: feedback.get_trace_copy(connection, given.feedback_id)
    )
    assert kept is not None
    assert kept.model_copy(update={"expires_at": 1.0}) == (await app.traces.get("tr_1")).model_copy(
        update={"expires_at": 1.0}
    )
    assert json.loads(given.model_dump_json())["state"] == "waiting"


def test_a_correction_of_white_space_keeps_nobody_waiting() -> None:
    started = time.monotonic()
    assert (
        clean_correction("It is 150. \t\n" + " " * 500_000 + "\t\n  See §3")
        == "It is 150.\n\n  See §3"
    )
    with pytest.raises(InvalidInput, match="characters"):
        clean_correction(" " * 500_000 + "x" * 5_000 + " " * 500_000)
    assert time.monotonic() - started < 20
