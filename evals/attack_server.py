"""A server with users to attack: `citewell serve` as a process of its own on the loopback, and
things of Ann's behind it.

The one rule: a word that stands in everything of Ann's and nowhere else (`SECRET`) is what
attackers must not be told.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from citewell.config import Settings
from citewell.runtime.app import App
from citewell.service.admin.users import add_user
from serve_server import Server

SECRET = "zyzzyva"  # noqa: S105 - a rare word, of an insect
PATIENCE = 60.0
NOTES = (
    f"The {SECRET} lamp of Ann is 41 metres tall.\n\nThe {SECRET} lamp was lit in 1857 by Ann "
    "herself."
)
TABLE = f"town,{SECRET}\nNorden,41\nSüden,17\n"
PAPER = (
    f"Lamps: the {SECRET} study\n\nAbstract\n\nThe {SECRET} lamp is "
    f"measured. {'We measure lamps. ' * 40}\n"
)
ROLES = {"ann": "reviewer", "eve": "reader", "bob": "editor", "rob": "reviewer", "boss": "admin"}


@dataclass(slots=True)
class Attacked:
    """`url` of the server; `tokens` by user; `hers`: ids of Ann's things, by the name that
    parameters and bodies have for them.
    """

    url: str
    tokens: dict[str, str]
    hers: dict[str, list[str]] = field(default_factory=dict)

    def client(self, user: str = "") -> httpx.Client:
        """Who shows this user's token; empty: nobody's, `forged`: one that is none."""
        token = "cw_" + "x" * 43 if user == "forged" else self.tokens.get(user, "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx.Client(base_url=self.url, headers=headers, timeout=PATIENCE, trust_env=False)


class WithUsers(Server):
    """Many requests a minute are let through: what is attacked are the walls, not the counters."""

    def environ(self) -> dict[str, str]:
        many = {"REQUESTS_A_MINUTE": "1000000", "TRIES_A_MINUTE": "1000000"}
        access = {f"CITEWELL_ACCESS__{name}": value for name, value in many.items()}
        beside = {"CITEWELL_AUTH": "token", "CITEWELL_LLM": "none", "CITEWELL_LOG_LEVEL": "error"}
        paths = [
            os.environ.get("PYTHONPATH", ""),
            str(Path(__file__).resolve().parent.parent / "src"),
        ]
        return (
            Server.environ(self)
            | beside
            | access
            | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
        )


@contextmanager
def attacked() -> Iterator[Attacked]:
    """Started, filled, and stopped at the end."""
    with tempfile.TemporaryDirectory(prefix="citewell-attack-") as folder:
        home = Path(folder) / "home"
        tokens = asyncio.run(_users(home))
        server = WithUsers(home)
        server.start()
        try:
            there = Attacked(server.url, tokens)
            with there.client("ann") as ann:
                _seed(there, ann)
            yield there
        finally:
            server.stop()


async def _users(home: Path) -> dict[str, str]:
    settings = Settings(
        home=home, cache=home / "cache", llm="none", embedder="scripted", reader="scripted"
    )
    async with App(settings) as app:
        return {name: (await add_user(app, name, role)).token for name, role in ROLES.items()}


def _seed(there: Attacked, ann: httpx.Client) -> None:
    """A private collection, a table, a paper, answers, votes, a memory."""
    hers = there.hers
    _ok(ann.post("/api/collections", json={"name": "ann-notes", "private": True}))
    upload = _ok(
        ann.post(
            "/api/collections/ann-notes/documents",
            files={"file": (f"{SECRET}.txt", NOTES.encode())},
        )
    )
    jobs = [_ended(ann, upload["job_id"])]
    table = {"file": ("ann-table.csv", TABLE.encode())}
    _ok(ann.post("/api/data/sources", files=table, data={"private": "true"}))
    begun = _ok(ann.post("/api/papers", files={"file": ("paper.txt", PAPER.encode())}))
    jobs.append(_ended(ann, begun["job"]["job_id"]))
    asked = {"question": f"How tall is the {SECRET} lamp?", "collection": "ann-notes"}
    right, wrong = (
        _ok(ann.post("/api/ask", json=asked | {"question": q}))
        for q in (asked["question"], f"When was the {SECRET} lamp lit?")
    )
    votes = [
        _ok(ann.post("/api/feedback", json={"trace_id": right["trace_id"], "is_correct": True}))
    ]
    correction = {"is_correct": False, "user_correction": f"In 1858, the {SECRET} book says."}
    votes.append(_ok(ann.post("/api/feedback", json=correction | {"trace_id": wrong["trace_id"]})))
    learnt = [_job(ann, each["job_id"]) for each in votes]
    _ok(
        ann.post(
            "/api/ask",
            json={
                "question": f"Remember that my favourite word is {SECRET}.",
                "agent": "dual_loop",
            },
        )
    )
    mine = _ok(ann.get("/api/collections"))["collections"]
    hers["name"] = [each["name"] for each in mine if each["owner"] == "ann"] + ["ann-table", "ann"]
    hers["collection"] = [each["name"] for each in mine if each["owner"] == "ann"]
    hers["source"] = ["ann-table"]
    hers["doc_id"] = [
        each["doc_id"]
        for name in hers["collection"]
        for each in _ok(ann.get(f"/api/collections/{name}/documents"))["documents"]
    ]
    hers["session_id"] = [right["session_id"], begun["session"]["session_id"]]
    hers["trace_id"] = [right["trace_id"], wrong["trace_id"]]
    hers["feedback_id"] = [each["feedback_id"] for each in votes]
    hers["job_id"] = [*jobs, *(each["job_id"] for each in votes)]
    hers["item_id"] = [each["result"]["item_id"] for each in learnt[:1]]
    hers["rule_id"] = [each["result"]["item_id"] for each in learnt[1:]]
    hers["memory_id"] = [each["memory_id"] for each in _ok(ann.get("/api/memories"))["memories"]]
    with there.client("boss") as boss:
        users = _ok(boss.get("/api/users"))["users"]
    hers["token_id"] = [
        token["token_id"] for user in users if user["user_id"] == "ann" for token in user["known"]
    ]
    hers["user_id"] = ["ann"]


def state_of(ann: httpx.Client, hers: dict[str, list[str]]) -> dict[str, Any]:
    """What Ann sees of hers: it must be the same before and after."""
    seen: dict[str, Any] = {}
    paths = [
        f"/api/{noun}"
        for noun in ("sessions", "papers", "memories", "traces", "feedback", "knowledge/confirmed")
    ]
    paths += [f"/api/collections/{name}/documents" for name in hers["collection"]]
    paths += [f"/api/documents/{each}/content" for each in hers["doc_id"]]
    paths += [f"/api/data/sources/{each}/schema" for each in hers["source"]]
    paths += [f"/api/knowledge/rules/{each}" for each in hers["rule_id"]]
    for path in paths:
        reply = ann.get(path)
        seen[path] = (reply.status_code, reply.text)
    return seen


def _ok(reply: httpx.Response) -> Any:
    if not reply.is_success:
        raise RuntimeError(
            f"{reply.request.method} {reply.request.url}: {reply.status_code} {reply.text[:300]}"
        )
    return reply.json()


def _job(client: httpx.Client, job_id: str) -> Any:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        job = _ok(client.get(f"/api/jobs/{job_id}"))
        if job["state"] in {"done", "failed", "cancelled"}:
            return job
        time.sleep(0.05)
    raise RuntimeError(f"job {job_id} never ended")


def _ended(client: httpx.Client, job_id: str) -> str:
    job = _job(client, job_id)
    if job["state"] != "done":
        raise RuntimeError(f"job {job_id}: {json.dumps(job)[:300]}")
    return job_id


class Canary:
    """Listens on a port of the loopback and counts who comes: nobody should."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.visits = 0
        threading.Thread(target=self._count, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _count(self) -> None:
        with suppress(OSError):  # closed
            while True:
                connection, _ = self._listener.accept()
                self.visits += 1
                connection.close()
