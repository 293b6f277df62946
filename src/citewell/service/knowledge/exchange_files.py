"""Export what people confirmed as plain files, and import such files: a folder that works in git.

The one rule: a file is a stranger's word. It is checked like one (form, guard, engine, quotes), and
counts no more than the person who imports it: confirmations in it are taken over only where that
person could make it count alone.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import anyio.to_thread
from sqlalchemy import Connection

from citewell.errors import (
    InvalidInput,
    NotFound,
    SourceUnavailable,
    StatementFailed,
    StatementRefused,
    StorageError,
)
from citewell.runtime.app import App
from citewell.service.knowledge.correction_sql import check_statement
from citewell.service.knowledge.give_feedback import normalize_user
from citewell.service.knowledge.recheck import find_missing_evidence
from citewell.service.knowledge.removed_sources import CHECKED
from citewell.service.knowledge.update_items import settle_item
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import rules
from citewell.store.confirmed.exchange import (
    MOST_BYTES,
    read_item,
    read_rule,
    render_item_file,
    render_rule_file,
)
from citewell.store.confirmed.files import has_same_content, write_file
from citewell.store.confirmed.types import Confirmation, Confirmed, Rule
from citewell.store.memory_rows import Stored, encode_vector
from citewell.store.users.identity import is_one_of, normalize_user_id
from citewell.types import Shown

ITEMS, RULES = "confirmed_qa", "rules"  # folders below the one named
MOST_FILES = 20_000
MOST_TOTAL = 200_000_000  # bytes of all files together
_OURS = re.compile(
    r"(?:confirmed_qa/(?P<item>[A-Za-z0-9][A-Za-z0-9_-]{0,99})|rules/"
    r"(?P<rule>rule_[0-9a-f]{1,64}))\.md"
)
Outcome = Literal["added", "merged", "unchanged", "kept", "failed"]


class Exported(Shown):
    """`written` files are new or changed, `left` are of items that this library does not have (any
    more).
    """

    folder: str
    items: int
    rules: int
    written: list[str]
    left: list[str]
    pruned: list[str]


class ImportedFile(Shown):
    """`merged`: people were added to an item that is here. `kept`: it is here and says otherwise,
    or was undone here; nothing was changed. `state`: of the item or rule now.
    """

    path: str
    status: Outcome
    id: str = ""
    state: str = ""
    reason: str = ""


class Imported(Shown):
    files: list[ImportedFile]

    @property
    def failed(self) -> list[ImportedFile]:
        return [each for each in self.files if each.status == "failed"]


async def export_knowledge(app: App, folder: Path, *, prune: bool = False) -> Exported:
    """Active and pending items, active and waiting rules, one file each. `prune`: files of what is
    not here go; files that are not Citewell's stay. Raises StorageError.
    """
    items = [i for i in await app.db.read(confirmed.list_items) if i.state in {"active", "pending"}]
    known = [r for r in await app.db.read(rules.list_rules) if r.state in {"active", "waiting"}]
    wanted = {Path(ITEMS, f"{item.trace_id}.md"): render_item_file(item) for item in items}
    wanted |= {Path(RULES, f"{rule.rule_id}.md"): render_rule_file(rule) for rule in known}

    def put() -> tuple[list[str], list[str], list[str]]:
        folder.mkdir(parents=True, exist_ok=True)
        written = [
            str(name)
            for name, text in sorted(wanted.items())
            if not has_same_content(folder / name, text.encode())
        ]
        for name in written:
            write_file(folder / name, wanted[Path(name)])
        left = sorted(
            name
            for name in _list_files(folder)
            if Path(name) not in wanted and _is_exported_file(folder, name)
        )
        if prune:
            for name in left:
                (folder / name).unlink(missing_ok=True)
        return written, [] if prune else left, left if prune else []

    try:
        written, left, pruned = await anyio.to_thread.run_sync(put)
    except OSError as error:
        raise StorageError(
            f"{folder}: {error.strerror or error}", hint="name a folder that can be written to"
        ) from None
    return Exported(
        folder=str(folder),
        items=len(items),
        rules=len(known),
        written=written,
        left=left,
        pruned=pruned,
    )


async def import_knowledge(app: App, folder: Path, user_id: str = "local") -> Imported:
    """Every file for itself: what is wrong with one is told, and the others go on. Raises
    InvalidInput for no such folder.
    """
    user = normalize_user(user_id)
    if not await anyio.to_thread.run_sync(folder.is_dir):
        raise InvalidInput(
            f"{folder}: no such folder", hint="name the one that `citewell knowledge export` wrote"
        )
    names = await anyio.to_thread.run_sync(_list_files, folder)
    if len(names) > MOST_FILES:
        raise InvalidInput(
            f"{folder}: {len(names):,} files are more than the {MOST_FILES:,} allowed",
            hint="import a part of it",
        )
    if (total := await anyio.to_thread.run_sync(_count_bytes, folder, names)) > MOST_TOTAL:
        raise InvalidInput(
            f"{folder}: {total:,} bytes are more than the {MOST_TOTAL:,} allowed",
            hint="import a part of it",
        )
    if not names:
        raise InvalidInput(
            f"{folder}: no files in {ITEMS} or {RULES}", hint="name the folder that holds these two"
        )
    return Imported(files=[await _import_file(app, folder, name, user) for name in names])


def _list_files(folder: Path) -> list[str]:
    """Files of ours, by their names below the folder; what is hidden is left out."""
    return sorted(
        f"{part}/{file.name}"
        for part in (ITEMS, RULES)
        if (folder / part).is_dir()
        for file in (folder / part).iterdir()
        if file.suffix == ".md" and not file.name.startswith(".")
    )


def _count_bytes(folder: Path, names: list[str]) -> int:
    """Bytes that would be read: of each file no more than one may have."""
    total = 0
    for name in names:
        with suppress(OSError):
            total += min((folder / name).lstat().st_size, MOST_BYTES)
    return total


def _is_exported_file(folder: Path, name: str) -> bool:
    """Whether a file was written by an export: its name is of our form, and its front matter has
    our mark and this id.
    """
    found, path = _OURS.fullmatch(name), folder / name
    if found is None or path.is_symlink() or not path.is_file():
        return False
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            head = file.read(MOST_BYTES)
    except OSError:
        return False
    front, end, _ = head.partition("\n---\n")
    lines = front.split("\n")
    mine = f"id: {found['rule'] or 'qa_confirmed_' + found['item']}"
    return (
        bool(end)
        and lines[0] == "---"
        and mine in lines
        and any(line.startswith("citewell: ") for line in lines)
    )


async def _import_file(app: App, folder: Path, name: str, user: str) -> ImportedFile:
    try:
        data = await anyio.to_thread.run_sync(_read_bytes, folder / name)
        if name.startswith(f"{RULES}/"):
            return await _import_rule(
                app, name, await anyio.to_thread.run_sync(read_rule, data, Path(name).stem), user
            )
        return await _import_item(
            app, name, await anyio.to_thread.run_sync(read_item, data, Path(name).stem), user
        )
    except (InvalidInput, StatementRefused) as error:
        why = f"{error.message}; {error.hint}".removesuffix("; ")
        return ImportedFile(path=name, status="failed", reason=why)
    except OSError as error:
        return ImportedFile(path=name, status="failed", reason=error.strerror or str(error))


def _read_bytes(path: Path) -> bytes:
    if path.is_symlink() or not path.is_file():
        raise InvalidInput("not a plain file", hint="links are not followed")
    with path.open("rb") as file:
        return file.read(MOST_BYTES + 1)


def is_trusted(app: App, user: str) -> bool:
    """Whether this user's word makes an item count by itself: then the names in a file may be taken
    over, too.
    """
    settings = app.settings.feedback
    return (
        is_one_of(user, settings.reviewers) if settings.reviewers else settings.confirmations == 1
    )


@dataclass(frozen=True, slots=True)
class _Ready:
    """An item with all that takes time done before the transaction. `aside`: why it cannot be used
    here.
    """

    item: Confirmed
    stored: Stored
    aside: str


async def _import_item(app: App, name: str, item: Confirmed, user: str) -> ImportedFile:
    here = await app.db.read(lambda connection: confirmed.find_item(connection, item.item_id))
    if here is not None and here.state == "undone":
        return _build_result(name, "kept", here, f"it was undone here: {here.reason}")
    if here is not None and not _is_same_item(here, item):
        return _build_result(
            name, "kept", here, "what is here says otherwise; undo it first to take this one"
        )
    item = item if here is not None else await _map_to_local_documents(app, item)
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

    await app.db.write(put)
    return _build_result(
        name,
        "merged" if here is not None else "added",
        await settle_item(app, item.item_id),
        why.removeprefix(CHECKED),
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
        why = await find_missing_evidence(app, item)
        return f"{CHECKED}{why}" if why else ""
    try:
        await check_statement(app, item.source, item.logic)
    except NotFound:
        return f"{CHECKED}its tables {item.source} are not here"
    except (StatementFailed, SourceUnavailable) as error:
        return f"{CHECKED}its statement fails: {error.message}"
    return ""


async def _map_to_local_documents(app: App, item: Confirmed) -> Confirmed:
    """An item of another library whose documents are here under other ids: found by their bytes,
    else by their address.
    """
    try:
        documents = await app.catalog.documents(item.collection) if item.agent != "data" else []
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


async def _import_rule(app: App, name: str, rule: Rule, user: str) -> ImportedFile:
    """In force only where the file says so and who imports it may say so too; else it waits for
    review.
    """
    here = await app.db.read(lambda connection: rules.find_rule(connection, rule.rule_id))
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

    kept = await app.db.write(put)
    return ImportedFile(
        path=name,
        status="added",
        id=kept.rule_id,
        state=kept.state,
        reason=why.removeprefix(CHECKED),
    )


def _build_result(name: str, status: Outcome, item: Confirmed, reason: str) -> ImportedFile:
    return ImportedFile(path=name, status=status, id=item.item_id, state=item.state, reason=reason)
