"""One file of what people confirmed is imported: an item, or a rule. It counts no more than the
person who imports it; the names in it are taken over only where that person could make it count
alone.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Connection

from citewell.errors import NotFound, SourceUnavailable, StatementFailed
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.knowledge.chains import find_missing_evidence
from citewell.service.knowledge.correction_sql import check_statement
from citewell.service.knowledge.removed_sources import mark_checked, remove_checked_mark
from citewell.service.knowledge.update_items import settle_item
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import rules
from citewell.store.confirmed.types import Confirmation, Confirmed, Rule
from citewell.store.library.catalog import Catalog
from citewell.store.memory_rows import Stored, encode_vector
from citewell.store.users.identity import is_one_of, normalize_user_id
from citewell.types import Shown

Outcome = Literal["added", "merged", "unchanged", "kept", "failed"]


class ImportedFile(Shown):
    """`merged`: people were added to an item that is here. `kept`: it is here and says otherwise,
    or was undone here; nothing was changed. `state`: of the item or rule now.
    """

    path: str
    status: Outcome
    id: str = ""
    state: str = ""
    reason: str = ""


def is_trusted(app: App, user: str) -> bool:
    """Whether this user's word alone makes an item count: then names in files count, too."""
    settings = app.settings.feedback
    return (
        is_one_of(user, settings.reviewers) if settings.reviewers else settings.confirmations == 1
    )


@dataclass(frozen=True, slots=True)
class _Ready:
    """An item prepared before the transaction. `aside`: why it cannot be used here."""

    item: Confirmed
    stored: Stored
    aside: str


async def import_item(app: App, name: str, item: Confirmed, user: str) -> ImportedFile:
    here = await app.db.read(confirmed.find_item, item.item_id)
    if here is not None and here.state == "undone":
        return _build_result(name, "kept", here, f"it was undone here: {here.reason}")
    if here is not None and not _is_same_item(here, item):
        return _build_result(
            name, "kept", here, "what is here says otherwise; undo it first to take this one"
        )
    item = item if here is not None else await _map_to_local_documents(app.catalog, item)
    why = await _explain_unusable(app, item)
    ready = _Ready(
        item, encode_vector(app.embedder.name, await app.embedder.query(item.question)), why
    )
    people = _list_confirmations(app, item, user)
    if here is not None and {each.user_id for each in people} <= {
        each.user_id for each in here.confirmed_by
    }:
        return _build_result(name, "unchanged", here, "")
    if here is not None and not is_trusted(app, user):
        return _build_result(
            name,
            "unchanged",
            here,
            "the names in it count when somebody imports it whose word counts alone",
        )

    def put(connection: Connection) -> None:
        confirmed.hold_knowledge(connection)
        now = time.time()
        if confirmed.find_item(connection, item.item_id) is None:
            state: Literal["quarantined", "pending"] = "quarantined" if ready.aside else "pending"
            fresh = ready.item.model_copy(
                update={
                    "state": state,
                    "reason": ready.aside,
                    "updated_at": now,
                    "confirmed_by": [],
                }
            )
            confirmed.insert_item(connection, fresh, ready.stored)
        for each in people:
            confirmed.confirm_item(connection, item.item_id, each.user_id, each.trace_id, each.at)
        confirmed.log_action(connection, item.item_id, user, "imported", now, name)

    await app.db.write_beside(put)
    return _build_result(
        name,
        "merged" if here is not None else "added",
        await settle_item(app, item.item_id),
        remove_checked_mark(why),
    )


def _list_confirmations(app: App, item: Confirmed, user: str) -> list[Confirmation]:
    """Who stands by it after this import: all in the file, or only the one who imports it."""
    said = [
        each.model_copy(update={"user_id": normalize_user_id(each.user_id)})
        for each in item.confirmed_by
    ]
    if is_trusted(app, user):
        return said
    mine = [each for each in said if each.user_id == user]
    return mine or [Confirmation(user_id=user, trace_id=item.trace_id, at=time.time())]


def _is_same_item(here: Confirmed, item: Confirmed) -> bool:
    """The same chain. Where its documents are kept here does not count."""
    fields = ("agent", "question", "source", "collection", "logic", "answer")
    return all(getattr(here, name) == getattr(item, name) for name in fields)


async def _explain_unusable(app: App, item: Confirmed) -> str:
    """Why it cannot be used here (yet). Raises StatementRefused for what no engine may run."""
    if item.agent != "data":
        why = await find_missing_evidence(app.catalog, item)
        return mark_checked(why) if why else ""
    try:
        await check_statement(app, item.source, item.logic)
    except NotFound:
        return mark_checked(Text("its tables {source} are not here", source=item.source))
    except (StatementFailed, SourceUnavailable) as error:
        return mark_checked(Text("its statement fails: {message}", message=error.message))
    return ""


async def _map_to_local_documents(catalog: Catalog, item: Confirmed) -> Confirmed:
    """Another library's item, its documents found here by their bytes, else their address."""
    try:
        documents = await catalog.documents(item.collection) if item.agent != "data" else []
    except NotFound:
        return item
    by_hash, by_uri = {d.sha256: d.doc_id for d in documents}, {d.uri: d.doc_id for d in documents}
    ids = {d.doc_id for d in documents}
    moved = []
    for cited in item.evidence:
        known = by_hash.get(str(cited.get("sha256"))) or by_uri.get(str(cited.get("uri")))
        moved.append(
            cited if cited.get("doc_id") in ids or known is None else {**cited, "doc_id": known}
        )
    return item.model_copy(update={"evidence": moved})


async def import_rule(app: App, name: str, rule: Rule, user: str) -> ImportedFile:
    """In force only where file and importer may say so; else it waits for review."""
    here = await app.db.read(rules.find_rule, rule.rule_id)
    if here is not None:
        same_words = (here.correction, here.logic, here.question) == (
            rule.correction,
            rule.logic,
            rule.question,
        )
        why = "" if same_words else "what is here says otherwise"
        status: Outcome = (
            "unchanged" if same_words and here.state in {"active", "waiting"} else "kept"
        )
        return ImportedFile(
            path=name, status=status, id=here.rule_id, state=here.state, reason=why or here.reason
        )
    why = ""
    if rule.logic:
        probe = Confirmed(
            item_id="",
            trace_id="",
            agent="data",
            question="",
            lang="",
            source=rule.source,
            logic=rule.logic,
            state="pending",
        )
        why = await _explain_unusable(app, probe)
    stored = encode_vector(app.embedder.name, await app.embedder.query(rule.question))
    active = rule.state == "active" and is_trusted(app, user) and not why

    def put(connection: Connection) -> Rule:
        confirmed.hold_knowledge(connection)
        now = time.time()
        state: Literal["active", "waiting"] = "active" if active else "waiting"
        rules.put_rule(
            connection,
            rule.model_copy(update={"state": state, "reason": why, "updated_at": now}),
            stored,
        )
        if active:
            rules.set_state(connection, rule.rule_id, "active", "", rule.reviewed_by or user, now)
        confirmed.log_action(connection, rule.rule_id, user, "imported", now, name)
        return rules.get_rule(connection, rule.rule_id)

    kept = await app.db.write_beside(put)
    return ImportedFile(
        path=name,
        status="added",
        id=kept.rule_id,
        state=kept.state,
        reason=remove_checked_mark(why),
    )


def _build_result(name: str, status: Outcome, item: Confirmed, reason: str) -> ImportedFile:
    return ImportedFile(path=name, status=status, id=item.item_id, state=item.state, reason=reason)
