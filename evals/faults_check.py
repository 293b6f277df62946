"""What is owed against what is there, when all is well again: a row for each kind, with how many
were acknowledged and lost.

The one rule: it asks the server as anybody would, and the database only for what no server can
hide: its own integrity.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import tarfile
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from faults_clients import COLLECTION, ENDED, Ledger, Note
from faults_place import Faulty

PATIENCE = 600.0  # seconds for the jobs that are left
TRIES = 3  # of a job that failed


@dataclass(slots=True)
class Verdict:
    """`rows`: kind to (acknowledged, lost). `wrong`: what is amiss, in words. `again`: jobs that
    somebody had to try again.
    """

    rows: dict[str, tuple[int, int]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    again: int = 0

    def owe(self, kind: str, owed: int, lost: list[str]) -> None:
        self.rows[kind] = owed, len(lost)
        self.wrong += [f"{kind}: {each}" for each in lost[:20]]


def checked(server: Faulty, ledger: Ledger) -> Verdict:
    verdict = Verdict()
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        _drain(client, server, ledger, verdict)
        check_kept(client, ledger, verdict)
    _backup(ledger, verdict)
    _database(server, verdict)
    _log(server, verdict)
    return verdict


def check_kept(client: httpx.Client, ledger: Ledger, verdict: Verdict) -> None:
    """Documents, answers, votes and memories, as a server tells them."""
    ready = client.get("/api/ready")
    if ready.status_code != 200:
        verdict.wrong.append(f"not ready: {ready.text[:300]}")
    _documents(client, ledger, verdict)
    _answers(client, ledger, verdict)
    _memories(client, ledger, verdict)


def _drain(client: httpx.Client, server: Faulty, ledger: Ledger, verdict: Verdict) -> None:
    """Until no job is left; what failed is tried again as a person would, after its error was
    looked at.
    """
    until, tries = time.monotonic() + PATIENCE, dict[str, int]()
    while time.monotonic() < until:
        states = _rows(
            server,
            "SELECT job_id, state, error FROM jobs WHERE state != 'done' AND state != 'cancelled'",
        )
        failed = {job: error for job, state, error in states if state == "failed"}
        for job in failed:
            if job not in tries:
                ledger.error("job", {"error": client.get(f"/api/jobs/{job}").json()["error"]})
            tries[job] = tries.get(job, 0) + 1
            if tries[job] <= TRIES:
                client.post(f"/api/jobs/{job}/again")
        if all(state in ENDED for _, state, _ in states) and all(
            tries[job] > TRIES for job in failed
        ):
            break
        time.sleep(0.5)
    else:
        verdict.wrong.append(f"jobs are not done after {PATIENCE:.0f} s: {states[:5]}")
    verdict.again = len(tries)
    verdict.wrong += [f"a job fails: {job} {failed[job]}" for job in failed]


def _documents(client: httpx.Client, ledger: Ledger, verdict: Verdict) -> None:
    listed = client.get(f"/api/collections/{COLLECTION}/documents").json()["documents"]
    there = {each["uri"].removeprefix("upload:"): each for each in listed}
    if len(there) != len(listed):
        verdict.wrong.append(f"{len(listed) - len(there)} documents are there twice")
    owed = [
        note
        for note in ledger.notes.values()
        if note.owed and not note.deleted and (note.sure or len(note.versions) > 1)
    ]
    certain = [note for note in owed if note.sure]
    lost = {
        note.name: why for note in certain if (why := _missing(client, note, there.get(note.name)))
    }
    verdict.owe("documents", len(certain), [f"{name}: {why}" for name, why in lost.items()])
    deleted = [note for note in ledger.notes.values() if note.deleted]
    verdict.owe(
        "deletions", len(deleted), [note.name for note in deleted if _found(client, note, there)]
    )
    half = [f"{name}: nobody sent it" for name in there if name not in ledger.notes]
    for note in ledger.notes.values():
        if note.name not in there:
            continue
        if note.never:
            half.append(f"{note.name}: it was refused, or cut off")
        elif not note.sure and (why := _broken(client, note, there[note.name])):
            half.append(f"{note.name}: {why}")
    verdict.owe("nothing half-visible", len(there), half)


def _missing(client: httpx.Client, note: Note, info: dict[str, Any] | None) -> str:
    if info is None:
        return f"it is not there: {client.get(f'/api/jobs/{note.job_id}').text[:300]}"
    if client.get(f"/api/documents/{info['doc_id']}/file").content != note.versions[note.owed]:
        return "its bytes are others"
    return _unread(client, note, note.owed, info)


def _broken(client: httpx.Client, note: Note, info: dict[str, Any]) -> str:
    """One that may be there or not, in any version that was sent: but whole."""
    data = client.get(f"/api/documents/{info['doc_id']}/file").content
    word = next((word for word, sent in note.versions.items() if sent == data), "")
    return _unread(client, note, word, info) if word else "its bytes were never sent"


def _unread(client: httpx.Client, note: Note, word: str, info: dict[str, Any]) -> str:
    if info["chunks"] == 0 or info["embedded"] != info["chunks"]:
        return f"{info['embedded']} of {info['chunks']} passages have a vector"
    if word not in client.get(f"/api/documents/{info['doc_id']}/content").json()["text"]:
        return "its text is another"
    return "" if f"upload:{note.name}" in _hits(client, word) else "no search finds it"


def _hits(client: httpx.Client, word: str) -> set[str]:
    """Among the first 50: by the scripted vectors very short notes come before it (8 of 1,500)."""
    found = client.post(
        "/api/search", json={"query": word, "collection": COLLECTION, "k": 50}
    ).json()
    return {hit["uri"] for hit in found["hits"] if word in hit["text"]}


def _found(client: httpx.Client, note: Note, there: dict[str, Any]) -> bool:
    return note.name in there or any(_hits(client, word) for word in note.versions)


def _answers(client: httpx.Client, ledger: Ledger, verdict: Verdict) -> None:
    lost = [
        trace
        for trace, user in ledger.answers.items()
        if client.get(f"/api/traces/{trace}", params={"user_id": user}).status_code != 200
    ]
    verdict.owe("answers", len(ledger.answers), lost)
    lost = []
    for feedback, (user, right) in ledger.votes.items():
        vote = client.get(f"/api/feedback/{feedback}", params={"user_id": user}).json()
        if vote.get("is_correct") != right or vote.get("state") == "waiting":
            lost.append(f"{feedback}: {str(vote)[:200]}")
    verdict.owe("votes", len(ledger.votes), lost)


def _memories(client: httpx.Client, ledger: Ledger, verdict: Verdict) -> None:
    users = {*ledger.memories.values(), *ledger.forgotten.values()}
    kept = {
        user: {
            each["text"]
            for each in client.get("/api/memories", params={"user_id": user}).json()["memories"]
        }
        for user in users
    }
    lost = [fact for fact, user in ledger.memories.items() if fact not in kept[user]]
    verdict.owe("memories", len(ledger.memories), lost)
    verdict.owe(
        "forgotten",
        len(ledger.forgotten),
        [fact for fact, user in ledger.forgotten.items() if fact in kept[user]],
    )


def _backup(ledger: Ledger, verdict: Verdict) -> None:
    """What was owed when the last backup began, and was not touched until it was done: a document,
    or bytes with their job.
    """
    archive, owed = ledger.last_backup
    if not archive.is_file():
        return
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
        with closing(sqlite3.connect(Path(folder) / "citewell.db")) as database:
            there = {row[0] for row in database.execute("SELECT sha256 FROM documents")}
        waiting = [path for path in Path(folder).glob("uploads/*/*") if path.is_file()]
        there |= {hashlib.sha256(path.read_bytes()).hexdigest() for path in waiting}
    sums = {
        name: hashlib.sha256(ledger.notes[name].versions[word]).hexdigest()
        for name, word in owed.items()
    }
    verdict.owe(
        "documents in a backup",
        len(owed),
        [name for name, digest in sums.items() if digest not in there],
    )


def _rows(server: Faulty, query: str) -> list[tuple[Any, ...]]:
    with closing(
        sqlite3.connect(f"file:{server.home / 'citewell.db'}?mode=ro", uri=True, timeout=20)
    ) as database:
        return list(database.execute(query))


def _database(server: Faulty, verdict: Verdict) -> None:
    for pragma in ("integrity_check", "foreign_key_check"):
        said = [row for row in _rows(server, f"PRAGMA {pragma}") if row != ("ok",)]
        if said:
            verdict.wrong.append(f"PRAGMA {pragma}: {said[:3]}")
    code, said_of = server.run("backup", str(server.place.backups / "last.tar.gz"), "--json")
    if code != 0:
        verdict.wrong.append(f"a backup is refused: {said_of[-400:]}")
    left = (
        [path.name for path in (server.home / "uploads").iterdir()]
        if (server.home / "uploads").is_dir()
        else []
    )
    wanted = {
        row[0]
        for row in _rows(
            server, "SELECT json_extract(payload, '$.folder') FROM jobs WHERE state != 'done'"
        )
    }
    if set(left) - wanted:
        print(
            "bytes of uploads that were never acknowledged, kept for a "
            f"day: {len(set(left) - wanted)}"
        )


def _log(server: Faulty, verdict: Verdict) -> None:
    text = server.place.log.read_text("utf-8", "replace")
    found = [match.start() for match in re.finditer(r"Traceback", text)]
    if found:
        verdict.wrong.append(
            f"{len(found)} tracebacks in the log, the "
            f"first: {text[max(0, found[0] - 300) : found[0] + 3000]}"
        )
