"""What becomes of a vote: a confirmed item, a rule that waits for review, or a case kept for
analysis. The job looks at the vote as it is now and makes everything agree with it, so that it may
be killed and done again, and the job of a vote that was replaced meanwhile does the same as that of
the new one. Programs without a worker do the jobs at once (`run_pending_jobs`).
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import anyio
from sqlalchemy import Connection

from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.jobs.isolated_jobs import run_isolated_jobs
from citewell.service.jobs.job_lease import Holder
from citewell.service.jobs.run_job import run_job
from citewell.service.knowledge.chains import Chain, build_chain, is_same_chain
from citewell.service.knowledge.contradictions import list_contradictions
from citewell.service.knowledge.correction_sql import judge_correction
from citewell.service.knowledge.give_feedback import (
    KIND,
    PASSING,
    explain_too_long,
    explain_unfit,
    note_failure,
)
from citewell.service.knowledge.recheck import recheck_source
from citewell.service.knowledge.removed_sources import CHECK
from citewell.service.knowledge.update_items import get_feedback_settings, settle_item
from citewell.store.confirmed import feedback, rules
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import question_likeness as questions
from citewell.store.confirmed.feedback import Vote
from citewell.store.confirmed.types import Confirmed, Rule
from citewell.store.job_rows import Job
from citewell.store.memory_rows import Stored, encode_vector
from citewell.types import Shown, Trace

GONE = Text("the trace was deleted before its vote was dealt with")


class Learnt(Shown):
    """What a job did. `outcome`: that of the vote, or the state of the item looked at."""

    feedback_id: str = ""
    item_id: str = ""
    outcome: str


@dataclass(frozen=True, slots=True)
class _Ready:
    """All that takes time, done before the transaction: the chain, the question's vector, whether
    the correction is a statement that its source takes (`logic`), and what speaks against it
    (`problem`): why it is none, or what contradicts it.
    """

    trace: Trace
    chain: Chain
    stored: Stored
    correction: str
    logic: str = ""
    problem: str = ""


async def learn_from_vote(app: App, job: Job, holder: Holder) -> Learnt:
    """Raises StorageError and what the embedder raises; the vote says so, and is tried again."""
    await holder.check_held()
    feedback_id = str(job.payload.get("feedback_id", ""))
    if not feedback_id:
        item = await settle_item(app, str(job.payload["item_id"]))
        return Learnt(item_id=item.item_id, outcome=item.state)
    try:
        return await _process_vote(app, feedback_id)
    except asyncio.CancelledError:
        raise
    except Exception as error:
        await note_failure(app, feedback_id, error)
        raise


async def _process_vote(app: App, feedback_id: str) -> Learnt:
    vote = await app.db.read(feedback.find_vote_by_id, feedback_id)
    if vote is None or vote.state == "done":
        return Learnt(
            feedback_id=feedback_id,
            item_id=vote.item_id if vote else "",
            outcome=vote.outcome if vote else "",
        )
    trace = await app.db.read(feedback.get_trace_copy, feedback_id)
    ready = None if trace is None else await _prepare_vote(app, vote, trace)
    touched = await app.db.write_beside(
        lambda connection: _apply_vote(app, connection, feedback_id, ready)
    )
    if touched is None:  # somebody has changed their mind just now: it is that vote's turn
        return await _process_vote(app, feedback_id)
    for item_id in touched:
        await settle_item(app, item_id)
    return await app.db.write_beside(_finish_vote, vote, deleted=trace is None)


async def _prepare_vote(app: App, vote: Vote, trace: Trace) -> _Ready:
    chain = await build_chain(app.db, trace)
    stored = encode_vector(app.embedder.name, await app.embedder.query(chain.item.question))
    found = await judge_correction(app, chain.item.agent, chain.item.source, vote.correction)
    against = await list_contradictions(app, chain.item, vote.correction, found.logic)
    problem = Text("; ").join([*([found.problem] if found.problem else []), *against])
    return _Ready(trace, chain, stored, vote.correction, found.logic, problem)


def _apply_vote(
    app: App, connection: Connection, feedback_id: str, ready: _Ready | None
) -> list[str] | None:
    """Make confirmations, rule and counts agree with the vote; None: it was just replaced."""
    confirmed.hold_knowledge(connection)
    vote = feedback.lock_vote(connection, feedback_id)
    if vote is None or vote.state == "done":
        return []
    if ready is not None and vote.correction != ready.correction:
        return None
    good = ready is not None and vote.is_correct and not explain_unfit(ready.trace)
    touched = dict.fromkeys(_recount_votes(app, connection, vote.trace_id))
    for item_id in (
        confirmed.list_confirmed_items(connection, vote.trace_id, vote.user_id) if not good else ()
    ):
        _withdraw_confirmation(connection, item_id, vote)
        touched[item_id] = None
    rule_id = _update_rule(connection, vote, ready)
    if good and ready is not None:
        item_id = _confirm_item(connection, vote, ready)
        touched[item_id] = None
        feedback.link_item(connection, vote, item_id)
    else:
        feedback.link_item(connection, vote, rule_id)
    return list(touched)


def _recount_votes(app: App, connection: Connection, trace_id: str) -> list[str]:
    """The items that the answer followed, their votes counted anew."""
    followed = confirmed.list_followed_items(connection, trace_id)
    reviewers = get_feedback_settings(app, connection).reviewers
    for item_id in followed:
        confirmed.set_votes(
            connection, item_id, confirmed.count_votes(connection, item_id, reviewers)
        )
    return followed


def _withdraw_confirmation(connection: Connection, item_id: str, vote: Vote) -> None:
    """Unless they stand by the same item for another answer too."""
    feedback.link_item(connection, vote, "")
    other = feedback.find_item_trace(connection, item_id, vote.user_id)
    if other is not None and other != vote.trace_id:
        confirmed.move_confirmation(connection, item_id, vote.user_id, other)
    elif confirmed.withdraw_confirmation(connection, item_id, vote.user_id):
        confirmed.log_action(connection, item_id, vote.user_id, "withdrawn", time.time())


def _confirm_item(connection: Connection, vote: Vote, ready: _Ready) -> str:
    """The item that this user stands by now."""
    item, now = _find_item(connection, vote, ready), time.time()
    if item is None:
        item = ready.chain.item.model_copy(update={"created_at": now, "updated_at": now})
        confirmed.insert_item(connection, item, ready.stored)
    elif item.state == "undone":
        # said anew after it was taken back: what stood by it then does not count
        confirmed.withdraw_confirmations(connection, item.item_id)
        confirmed.update_item(
            connection, ready.chain.item.model_copy(update={"updated_at": now}), ready.stored
        )
        confirmed.set_state(connection, item.item_id, "pending", "", now)
    if confirmed.confirm_item(
        connection, item.item_id, vote.user_id, vote.trace_id, vote.updated_at
    ):
        confirmed.log_action(connection, item.item_id, vote.user_id, "confirmed", now)
    return item.item_id


def _find_item(connection: Connection, vote: Vote, ready: _Ready) -> Confirmed | None:
    """The item of this trace, or of the same chain."""
    for item_id in confirmed.list_confirmed_items(connection, vote.trace_id, vote.user_id):
        return confirmed.get_item(connection, item_id)
    mine = ready.chain.item
    own = confirmed.find_item(connection, mine.item_id)
    if own is not None and own.state != "undone":
        return own
    group = "data" if mine.agent == "data" else "other"
    near = questions.load_item_vectors(
        connection, group, mine.source, mine.collection, "pending", "active", "quarantined"
    )
    scale = questions.get_scale(ready.stored.embedder)
    for each in questions.rank_similar(near, ready.stored, mine.lang):
        if each.likeness >= scale.same or questions.normalize_question(
            each.question
        ) == questions.normalize_question(mine.question):
            other = confirmed.get_item(connection, each.id)
            if is_same_chain(ready.chain, other, each.likeness, scale):
                return other
    return own


def _update_rule(connection: Connection, vote: Vote, ready: _Ready | None) -> str:
    """The rule of this user on this trace, made to agree with the vote; its id, if any."""
    rule_id, now = rules.compute_rule_id(vote.trace_id, vote.user_id), time.time()
    old = rules.find_rule(connection, rule_id)
    if vote.is_correct or not vote.correction or ready is None or explain_too_long(ready.trace):
        if old is not None and old.state in {"waiting", "active"}:
            rules.set_state(
                connection, rule_id, "undone", "its author has said otherwise", vote.user_id, now
            )
            confirmed.log_action(
                connection, rule_id, vote.user_id, "undone", now, "its author has said otherwise"
            )
        return ""
    if old is None or old.correction != vote.correction or old.state == "undone":
        rules.put_rule(connection, _build_rule(rule_id, vote, ready, now), ready.stored)
        confirmed.log_action(connection, rule_id, vote.user_id, "proposed", now, ready.problem)
    return rule_id


def _build_rule(rule_id: str, vote: Vote, ready: _Ready, now: float) -> Rule:
    item = ready.chain.item
    return Rule(
        rule_id=rule_id,
        trace_id=vote.trace_id,
        user_id=vote.user_id,
        agent=item.agent,
        question=item.question,
        lang=item.lang,
        source=item.source,
        collection=item.collection,
        wrong=item.logic if item.agent == "data" else item.answer,
        correction=vote.correction,
        logic=ready.logic,
        state="waiting",
        reason=ready.problem,
        created_at=now,
        updated_at=now,
        owner=item.owner,
    )


def _finish_vote(connection: Connection, vote: Vote, *, deleted: bool) -> Learnt:
    now = feedback.lock_vote(connection, vote.feedback_id)
    if now is None or now.state == "done":
        return Learnt(feedback_id=vote.feedback_id, outcome=now.outcome if now else "")
    item = confirmed.find_item(connection, now.item_id) if now.item_id else None
    kept = Text("kept: {why}", why=GONE) if deleted else "kept"
    outcome = (
        item.state if item else _get_rule_outcome(connection, now.item_id) if now.item_id else kept
    )
    feedback.finish_vote(connection, vote, outcome)
    return Learnt(feedback_id=vote.feedback_id, item_id=now.item_id, outcome=outcome)


def _get_rule_outcome(connection: Connection, rule_id: str) -> str:
    """With what is wrong with its statement, where something is."""
    rule = rules.find_rule(connection, rule_id)
    return (
        Text("rule: {reason}", reason=rule.reason)
        if rule is not None and rule.state == "waiting" and rule.reason
        else "rule"
    )


WORK = {KIND: learn_from_vote, CHECK: recheck_source}


async def run_pending_jobs(app: App, seconds: float | None = None) -> int:
    """Do the jobs that wait for votes and for changed tables, whoever left them; how many. For
    programs without a worker: two looks where there is nothing to do. What goes wrong with a vote
    is kept with its job, and is tried again the next time; what is not done in so many `seconds`
    waits again.
    """
    count = 0
    with anyio.move_on_after(seconds):
        await app.jobs.requeue_failed(KIND, PASSING)
        for kind in (KIND, CHECK):
            while (job := await app.jobs.claim(kind)) is not None:
                await run_job(app, job, WORK[kind])
                count += 1
            await run_isolated_jobs(app.jobs, app.settings, kind)
    return count
