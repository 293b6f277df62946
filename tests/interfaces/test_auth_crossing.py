"""Bob tries to reach what is Ann's alone, on every path that there is, as an editor and as a
reviewer.

The one rule: a new path fails here until it is said what of Ann's it would be asked for.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.interfaces.auth import code_of, done, people, with_users

from citewell.config import Settings
from citewell.interfaces.http import create_app
from citewell.runtime.app import App

if TYPE_CHECKING:
    from tests.conftest import SiteServer
    from tests.interfaces.conftest import Served

SECRET = "zyzzyva"  # a word that stands in all that is Ann's, and nowhere else
NOTES = (
    f"The {SECRET} lamp of Ann is 41 metres tall.\n\nThe {SECRET} lamp was lit in 1857 by Ann "
    "herself."
)
TABLE = f"town,{SECRET}\nNorden,41\nSüden,17\n"
PAPER = f"""Lamps of the north: the {SECRET} study

Abstract

The {SECRET} lamp is measured for a year, and its height compared with that of other lamps.
{"We measure lamps. " * 30}

1 Introduction

Lamps are tall. {"Nobody knows why they are so tall. " * 20}

2 Conclusion

The {SECRET} lamp is taller than the others. {"That was to be expected. " * 20}
"""
NO_THING = {  # paths without a thing of somebody's in them
    "/api/graphs/{agent}",
    "/api/health",
    "/api/me",
    "/api/models/readings",
    "/api/models/vectors",
    "/api/ready",
    "/api/sign-in",
    "/api/sign-out",
    "/api/version",
    "/metrics",
    "/v1/embeddings",
}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return with_users(settings).model_copy(update={"allow_private_hosts": ("127.0.0.1",)})


@dataclass
class Hers:
    """Ann's things by the names that paths have for them, and her and Bob's clients."""

    ann: httpx.AsyncClient
    bob: httpx.AsyncClient
    rob: httpx.AsyncClient
    ids: dict[str, str] = field(default_factory=dict)

    async def all(self) -> dict[str, Any]:
        """What Ann sees of it."""
        ids, found = self.ids, {}
        paths = [
            "/api/collections/ann-notes",
            "/api/collections/ann-notes/documents",
            f"/api/documents/{ids['doc_id']}",
            "/api/data/sources/ann-table",
            f"/api/data/saved/{ids['saved_id']}",
            f"/api/data/boards/{ids['board_id']}",
            f"/api/sessions/{ids['session_id']}",
            f"/api/sessions/{ids['session_id']}/shares",
            f"/api/shared/{ids['share_id']}",
            f"/api/traces/{ids['trace_id']}",
            f"/api/feedback/{ids['feedback_id']}",
            f"/api/knowledge/confirmed/{ids['item_id']}",
            f"/api/knowledge/rules/{ids['rule_id']}",
            f"/api/memories/{ids['memory_id']}",
            f"/api/papers/{ids['paper_id']}",
            f"/api/jobs/{ids['job_id']}",
            "/api/sites/ann-notes",
            f"/api/syncs/{ids['sync_id']}",
            *(
                f"/api/{name}"
                for name in (
                    "sessions",
                    "folders",
                    "papers",
                    "memories",
                    "traces",
                    "feedback",
                    "runs",
                )
            ),
        ]
        for path in paths:
            reply = await self.ann.get(path)
            assert reply.status_code == 200, (path, reply.text)
            assert (
                SECRET in reply.text
                or path in {"/api/runs", "/api/data/sources/ann-table"}
                or "/api/" in path
            )
            found[path] = {k: v for k, v in reply.json().items() if k != "last_updated"}
        return found


@pytest.fixture
async def hers(app: App, served: Served, site_server: SiteServer) -> AsyncIterator[Hers]:
    site_server.page(
        "/", f"The {SECRET} page says that the lamp is red. " * 10, title=f"{SECRET} page"
    )
    async with people(
        app, str(served.client.base_url), ann="reviewer", bob="editor", rob="reviewer"
    ) as by:
        things = Hers(by["ann"], by["bob"], by["rob"])
        things.ids["token_id"] = (await app.users.tokens("ann"))[0].token_id
        await _documents(things, site_server.url)
        await _answers(things)
        yield things


async def _documents(things: Hers, site: str) -> None:
    ann, ids = things.ann, things.ids
    made = await ann.post("/api/collections", json={"name": "ann-notes", "private": True})
    assert (made.status_code, made.json()["owner"]) == (201, "ann")
    notes = await ann.post(
        "/api/collections/ann-notes/documents", files={"file": (f"{SECRET}.txt", NOTES.encode())}
    )
    ids["job_id"] = (await done(ann, notes.json()))["job_id"]
    await done(
        ann,
        (await ann.post("/api/collections/ann-notes/documents", json={"url": f"{site}/"})).json(),
    )
    watched = await ann.post(
        "/api/syncs", json={"place": f"{site}/feed.xml", "collection": "ann-notes", "every": 0}
    )
    ids["sync_id"] = watched.json()["sync_id"]
    await done(ann, (await ann.get(f"/api/jobs/{watched.json()['job_id']}")).json())
    listed = (await ann.get("/api/collections/ann-notes/documents")).json()["documents"]
    ids["doc_id"] = next(each["doc_id"] for each in listed if each["uri"].startswith("upload:"))
    table = {"file": ("ann-table.csv", TABLE.encode())}
    assert (await ann.post("/api/data/sources", files=table, data={"private": "true"})).json()[
        "owner"
    ] == "ann"
    kept = {"name": SECRET, "source": "ann-table", "sql": f'SELECT {SECRET} FROM "ann-table"'}
    saved = await ann.post("/api/data/saved", json={**kept, "shared": True})
    ids["saved_id"] = saved.json()["saved_id"]
    board = (await ann.post("/api/data/boards", json={"name": f"{SECRET} board"})).json()
    ids["board_id"] = board["board_id"]
    change = {"cards": [ids["saved_id"]], "shared": True}  # and yet nobody sees her tables
    assert (await ann.patch(f"/api/data/boards/{ids['board_id']}", json=change)).is_success
    begun = (await ann.post("/api/papers", files={"file": ("paper.txt", PAPER.encode())})).json()
    ids["paper_id"], ids["paper_doc"] = (
        begun["session"]["session_id"],
        begun["session"]["paper"]["doc_id"],
    )
    ids["paper_job"] = (await done(ann, begun["job"]))["job_id"]


async def _answers(things: Hers) -> None:
    ann, ids = things.ann, things.ids
    asked = {"question": f"How tall is the {SECRET} lamp?", "collection": "ann-notes"}
    answer = (await ann.post("/api/ask", json=asked)).json()
    assert answer["status"] == "answered", answer
    ids["trace_id"], ids["session_id"] = answer["trace_id"], answer["session_id"]
    given = (
        await ann.post("/api/feedback", json={"trace_id": ids["trace_id"], "is_correct": True})
    ).json()
    ids["feedback_id"] = given["feedback_id"]
    learnt = await done(ann, {"state": "queued", "job_id": given["job_id"]})
    assert learnt["result"]["outcome"] == "active", learnt
    ids["item_id"], ids["vote_job"] = learnt["result"]["item_id"], given["job_id"]
    item = (await ann.get(f"/api/knowledge/confirmed/{ids['item_id']}")).json()
    assert item["owner"] == "ann"
    ids["item_doc"] = item["doc_id"]
    wrong = (
        await ann.post("/api/ask", json=asked | {"question": f"When was the {SECRET} lamp lit?"})
    ).json()
    vote = {
        "trace_id": wrong["trace_id"],
        "is_correct": False,
        "user_correction": f"In 1858, the {SECRET} book says.",
    }
    given = (await ann.post("/api/feedback", json=vote)).json()
    ids["rule_id"] = (await done(ann, {"state": "queued", "job_id": given["job_id"]}))["result"][
        "item_id"
    ]
    shared = {"days": 3, "readers": ["ann"]}
    link = await ann.post(f"/api/sessions/{ids['session_id']}/shares", json=shared)
    ids["share_id"] = link.json()["share_id"]
    folder = await ann.post("/api/folders", json={"name": f"{SECRET} lamps"})
    ids["folder_id"] = folder.json()["folder_id"]
    told = {"question": f"Remember that my favourite word is {SECRET}.", "agent": "dual_loop"}
    assert (await ann.post("/api/ask", json=told)).status_code == 200
    ids["memory_id"] = (await ann.get("/api/memories")).json()["memories"][0]["memory_id"]


def requests(ids: dict[str, str]) -> dict[str, list[tuple[str, Any]]]:
    """For paths without an id in them, and some with one: the addresses that are Ann's, each with a
    body.
    """
    whole = {"question": f"How tall is the lamp of {SECRET[:3]}?"}
    own = {"user_id": "ann"}
    asks = [
        whole | {"collection": "ann-notes"},
        whole | {"session_id": ids["session_id"]},
        whole | {"session_id": ids["paper_id"], "agent": "paper"},
        whole | {"agent": "website", "collection": "ann-notes"},
        whole | {"agent": "dual_loop", "collection": "ann-notes"},
        whole | {"agent": "auto", "options": {"source": "ann-table"}},
        whole | {"agent": "data", "options": {"source": "ann-table"}},
        whole | {"options": {"doc_ids": [ids["doc_id"]]}},
        {"question": "What is my favourite word?", "agent": "dual_loop"},
        {"question": "Which town is 41?", "agent": "data"},
        {"resume": ids["trace_id"]},
        whole | own,
    ]
    chat = {"messages": [{"role": "user", "content": "How tall is the lamp?"}]}
    papers = f"/api/papers/{ids['paper_id']}"
    found: dict[str, list[tuple[str, Any]]] = {
        "/api/ask": [("/api/ask", body) for body in asks],
        "/api/audit": [("/api/audit", None)],
        "/api/audit/verify": [("/api/audit/verify", None)],
        "/api/chunks": [("/api/chunks", None)],
        "/api/collections": [("/api/collections", {"name": "ann-notes"})],
        "/api/data/sources": [
            ("/api/data/sources", {"url": "postgresql://127.0.0.1:9/x", "name": "ann-table"})
        ],
        "/api/data/saved": [
            ("/api/data/saved", {"name": "x", "source": "ann-table", "sql": "SELECT 1"})
        ],
        "/api/data/boards": [("/api/data/boards", {"name": "x"})],
        "/api/data/boards/{board_id}/cards": [
            (f"/api/data/boards/{ids['board_id']}/cards", {"saved_id": ids["saved_id"]})
        ],
        "/api/feedback": [("/api/feedback", {"trace_id": ids["trace_id"], "is_correct": False})],
        "/api/feedback/wrong": [("/api/feedback/wrong", None)],
        "/api/jobs": [("/api/jobs", None)],
        "/api/knowledge/confirmed": [
            ("/api/knowledge/confirmed", None),
            ("/api/knowledge/confirmed?state=active", None),
        ],
        "/api/knowledge/rules": [("/api/knowledge/rules", None)],
        "/api/knowledge/conflicts": [("/api/knowledge/conflicts", None)],
        "/api/knowledge/check": [("/api/knowledge/check", {"source": "ann-table"})],
        "/api/knowledge/gc": [("/api/knowledge/gc", {"dry_run": False})],
        "/api/papers": [
            ("/api/papers", None),
            ("/api/papers?user_id=ann", {"url": "http://127.0.0.1:9/", **own}),
        ],
        "/api/check": [
            ("/api/check", {"text": "The lamp stands there.", "collections": [name]})
            for name in ids["collections"].split()
        ],
        "/api/search": [
            ("/api/search", {"query": f"{SECRET[:3]} lamp", "collection": name})
            for name in ids["collections"].split()
        ],
        "/api/samples": [("/api/samples", {"lang": "en"})],
        "/api/data/samples": [("/api/data/samples", {"lang": "en"})],
        "/api/settings": [("/api/settings", {"memory": {"on": False}})],
        "/api/settings/model/file": [("/api/settings/model/file", None)],
        "/api/settings/model/test": [
            ("/api/settings/model/test", {"url": "http://127.0.0.1:9/v1", "model": "m"})
        ],
        "/api/sites": [("/api/sites", None)],
        "/api/syncs": [
            (path, {"place": "https://example.com/feed.xml", "collection": "ann-notes"})
            for path in ("/api/syncs", "/api/syncs?collection=ann-notes")
        ],
        "/api/syncs/{sync_id}": [(f"/api/syncs/{ids['sync_id']}", {"every": 60})],
        "/api/users": [("/api/users", {"user_id": "eve", "role": "admin"})],
        "/api/runs/{trace_id}/stop": [(f"/api/runs/{ids['trace_id']}/stop", None)],
        "/api/runs/{trace_id}/events": [(f"/api/runs/{ids['trace_id']}/events", None)],
        "/api/runs/{trace_id}/cancel": [(f"/api/runs/{ids['trace_id']}/cancel", None)],
        "/api/comparisons": [
            ("/api/comparisons", {"session_ids": [ids["paper_id"]] * 2, "questions": ["What?"]})
        ],
        "/api/papers/{session_id}/messages": [
            (f"{papers}/messages", {"text": "How tall is the lamp?"})
        ],
        "/api/papers/{session_id}/plan": [(f"{papers}/plan", None)],
        "/v1/chat/completions": [
            ("/v1/chat/completions", chat | {"model": f"citewell/{name}"}) for name in _MODELS
        ],
        "/v1/responses": [
            ("/v1/responses", {"model": f"citewell/{name}", "input": "How tall is the lamp?"})
            for name in _MODELS
        ]
        + [
            (
                "/v1/responses",
                {
                    "model": "citewell/qa",
                    "input": "How tall is it?",
                    "previous_response_id": ids["trace_id"].replace("tr_", "resp_"),
                },
            )
        ],
        "/v1/models": [("/v1/models", None)],
        "/v1/models/{model}": [(f"/v1/models/citewell/{name}", None) for name in _MODELS],
    }
    for path in ("/api/sessions", "/api/folders", "/api/memories", "/api/traces", "/api/runs"):
        found[path] = [(path, None), (f"{path}?user_id=ann", None)]
    return found


_MODELS = ("ann-notes", "qa:ann-notes", "data:ann-table", "website:ann-notes", "qa/ann-notes", "qa")


def addresses(path: str, ids: dict[str, str]) -> list[tuple[str, Any]]:
    """What a path of the schema becomes where it is asked for what is Ann's."""
    known = requests(ids)
    if path in known:
        return known[path]
    collections = ids["collections"].split()
    named = {
        ("collections", "name"): collections,
        ("documents", "doc_id"): [ids["doc_id"], ids["paper_doc"], ids["item_doc"]],
        ("data", "name"): ["ann-table"],
        ("data", "saved_id"): [ids["saved_id"]],
        ("data", "board_id"): [ids["board_id"]],
        ("feedback", "feedback_id"): [ids["feedback_id"]],
        ("folders", "folder_id"): [ids["folder_id"]],
        ("jobs", "job_id"): [ids["job_id"], ids["paper_job"], ids["vote_job"]],
        ("knowledge", "item_id"): [ids["item_id"]],
        ("knowledge", "rule_id"): [ids["rule_id"]],
        ("memories", "memory_id"): [ids["memory_id"]],
        ("papers", "session_id"): [ids["paper_id"]],
        ("sessions", "session_id"): [ids["session_id"], ids["paper_id"]],
        ("shared", "share_id"): [ids["share_id"]],
        ("sites", "name"): collections,
        ("syncs", "sync_id"): [ids["sync_id"]],
        ("traces", "trace_id"): [ids["trace_id"]],
        ("users", "name"): ["ann"],
    }
    for (noun, name), values in named.items():
        if path.split("/")[2] == noun and f"{{{name}}}" in path:
            full = path.replace("{number}", "1").replace("{token_id}", ids["token_id"])
            full = full.replace("{share_id}", ids["share_id"])
            full += (
                "?table=ann-table"
                if path.endswith("/rows")
                else "?start=0&end=20"
                if path.endswith("/span")
                else ""
            )
            return [(full.replace(f"{{{name}}}", value), {}) for value in values]
    raise AssertionError(f"{path}: say what of Ann's it would be asked for")


def fitting(body: Any, path: str, method: str) -> Any:
    """A body that the path takes: its shape must not be what is refused."""
    takes: dict[tuple[str, str], dict[str, Any]] = {
        ("patch", "/api/memories/{memory_id}"): {"text": "x"},
        ("patch", "/api/sessions/{session_id}"): {"title": "x"},
        ("post", "/api/folders"): {"name": "Lamps"},
        ("patch", "/api/folders/{folder_id}"): {"name": "x"},
        ("post", "/api/sessions/{session_id}/shares"): {"days": 3},
        ("patch", "/api/users/{name}"): {"role": "reader"},
        ("patch", "/api/papers/{session_id}"): {"title": "x"},
        ("patch", "/api/papers/{session_id}/plan"): {"edits": [{"do": "tick", "step_id": "x"}]},
        ("post", "/api/papers/{session_id}/plan"): {"interest": "lamps"},
        ("patch", "/api/documents/{doc_id}"): {"priority": 3},
        ("patch", "/api/collections/{name}"): {"chunking": {"tokens": 100}},
        ("put", "/api/data/sources/{name}/description"): {"text": ""},
        ("post", "/api/data/sources/{name}/description/check"): {"text": ""},
        ("post", "/api/data/sources/{name}/query"): {"sql": 'SELECT * FROM "ann-table"'},
        ("post", "/api/data/sources/{name}/export"): {"sql": 'SELECT * FROM "ann-table"'},
        ("put", "/api/traces/{trace_id}/chart"): {"chart": None},
        ("patch", "/api/data/saved/{saved_id}"): {"name": "x"},
        ("patch", "/api/data/boards/{board_id}"): {"name": "x"},
        ("post", "/api/knowledge/rules/{rule_id}"): {"state": "active"},
    }
    return takes.get((method, path), body)


@pytest.mark.parametrize("who", ["bob", "rob"])
async def test_nothing_of_another_user(app: App, hers: Hers, who: str) -> None:
    """Not a word of what is Ann's comes back on any path, by any method; and afterwards it is all
    as it was.
    """
    him = hers.bob if who == "bob" else hers.rob
    ids = hers.ids
    mine = (await hers.ann.get("/api/collections")).json()["collections"]
    ids["collections"] = " ".join(each["name"] for each in mine if each["owner"] == "ann")
    assert len(ids["collections"].split()) == 3, (
        mine
    )  # her notes, of her papers, and of what she confirmed
    before = await hers.all()
    tried = told = 0
    for path, methods in create_app(app).openapi()["paths"].items():
        if path in NO_THING:
            continue
        if "get" in methods:  # what he asks for is what she finds
            told += sum(
                [
                    SECRET in (await hers.ann.get(address)).text
                    for address, _ in addresses(path, ids)
                ]
            )
        for method in sorted(methods, key=["get", "head", "post", "put", "patch", "delete"].index):
            for address, body in addresses(path, ids):
                sent = None if method in {"get", "delete"} else fitting(body, path, method)
                upload = (
                    {"file": ("x.txt", b"x" * 300)}
                    if method == "post" and path.endswith("{name}/documents")
                    else None
                )
                reply = await him.request(
                    method.upper(), address, json=None if upload else sent, files=upload
                )
                tried += 1
                _nothing_of_hers(method, address, sent, reply, ids)
    assert tried > 100
    assert told > 30
    assert await hers.all() == before


def _nothing_of_hers(
    method: str, address: str, sent: Any, reply: httpx.Response, ids: dict[str, str]
) -> None:
    what = (method, address, sent, reply.status_code, reply.text[:600])
    assert SECRET not in reply.text, what
    assert reply.status_code < 500, what
    if (
        any(thing in address for thing in ids.values())
        or "ann-" in address
        or address.startswith("/api/users")
    ):
        assert reply.status_code in {403, 404, 409}, what
    if reply.status_code < 300:
        assert "ann-notes" not in reply.text, what
        assert "ann-table" not in reply.text, what
        assert not [each for each in ids.values() if each in reply.text], what


async def test_names_that_are_taken(hers: Hers) -> None:
    """Who sends to a name of Ann's replaces nothing and is told nothing but that it is taken."""
    refused = await hers.bob.post("/api/collections", json={"name": "ann-notes"})
    assert (refused.status_code, code_of(refused)) == (409, "conflict")
    sent = {"file": ("ann-table.csv", b"a,b\n1,2\n")}
    refused = await hers.bob.post("/api/data/sources", files=sent)
    assert refused.status_code == 409
    assert refused.json()["error"] == {
        "code": "conflict",
        "message": "the name 'ann-table' is taken",
        "hint": "choose another name",
    }
    for body in ({"json": {"url": "http://127.0.0.1:9/"}}, {"files": {"file": ("a.txt", b"x")}}):
        assert (
            await hers.bob.post("/api/collections/ann-notes/documents", **body)
        ).status_code == 404
    rows = (
        await hers.ann.get("/api/data/sources/ann-table/rows", params={"table": "ann-table"})
    ).json()
    assert len(rows["rows"]) == 2


async def test_what_is_shared_is_seen(hers: Hers) -> None:
    """The walls stand around what is private only."""
    note = {"file": ("tower.txt", b"The tower of Norden is 30 metres tall.\n\nIt has a bell.")}
    job = (await hers.ann.post("/api/collections/default/documents", files=note)).json()
    await done(hers.ann, job)
    assert (await hers.bob.get(f"/api/jobs/{job['job_id']}")).status_code == 200
    [document] = (await hers.bob.get("/api/collections/default/documents")).json()["documents"]
    assert (await hers.bob.get(f"/api/documents/{document['doc_id']}/content")).status_code == 200
    answer = (
        await hers.bob.post("/api/ask", json={"question": "How tall is the tower of Norden?"})
    ).json()
    assert answer["status"] == "answered"
    assert [
        each["name"] for each in (await hers.bob.get("/api/collections")).json()["collections"]
    ] == ["default"]
    assert (await hers.ann.get(f"/api/traces/{answer['trace_id']}")).status_code == 404


async def test_an_admin_sees_all(app: App, hers: Hers, served: Served) -> None:
    async with people(app, str(served.client.base_url), boss="admin") as by:
        for path in (
            f"/api/documents/{hers.ids['doc_id']}",
            "/api/collections/ann-notes",
            "/api/data/sources/ann-table",
        ):
            assert (await by["boss"].get(path)).status_code == 200
        theirs = {"user_id": "ann"}
        assert (
            await by["boss"].get(f"/api/traces/{hers.ids['trace_id']}", params=theirs)
        ).status_code == 200
        assert (await by["boss"].get(f"/api/traces/{hers.ids['trace_id']}")).status_code == 404
        assert (
            await by["boss"].delete(f"/api/traces/{hers.ids['trace_id']}", params=theirs)
        ).status_code == 403
        checked = (await by["boss"].post("/api/knowledge/check")).json()["checked"]
        assert not [
            each for one in checked for each in one["looked"] if each["outcome"] == "quarantined"
        ]
