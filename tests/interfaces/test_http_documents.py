"""Collections, documents, uploads and their jobs over HTTP."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from tests.interfaces.jobs import wait_for_job

from citewell.interfaces.http.routes.document_routes import format_disposition
from citewell.service.ask.locate import hash_words

TEXT = (
    "# Lighthouse\n\nThe lighthouse was built in 1857. It is 30 m high.\n\n## Lamp\n\nThe lamp "
    "is electric.\n"
)


async def uploaded(
    client: httpx.AsyncClient, collection: str, *files: tuple[str, bytes]
) -> dict[str, Any]:
    parts = [("file", (name, data)) for name, data in files]
    reply = await client.post(f"/api/collections/{collection}/documents", files=parts)
    assert reply.status_code == 202, reply.text
    return await wait_for_job(client, reply.json()["job_id"])


async def test_collections_come_and_go(client: httpx.AsyncClient) -> None:
    """Create, list, get, refuse a second, delete; Chinese names too."""
    assert (await client.post("/api/collections", json={"name": "手册"})).status_code == 201
    assert (await client.post("/api/collections", json={"name": "手册"})).status_code == 409
    assert (await client.post("/api/collections", json={"name": "a/b"})).status_code == 422
    assert [c["name"] for c in (await client.get("/api/collections")).json()["collections"]] == [
        "手册"
    ]
    assert (await client.get("/api/collections/手册")).json()["documents"] == 0
    assert (await client.delete("/api/collections/手册")).status_code == 204
    assert (await client.get("/api/collections/手册")).status_code == 404
    assert (await client.delete("/api/collections/手册")).status_code == 404


async def test_upload_to_text_file_and_deletion(client: httpx.AsyncClient) -> None:
    """An upload is a job; then text, spans and the original bytes are there, until deleted."""
    job = await uploaded(client, "docs", ("灯塔.md", TEXT.encode()), ("bad.pdf", b"%PDF-nothing"))
    assert {file["path"]: file["status"] for file in job["result"]["files"]} == {
        "upload:灯塔.md": "added",
        "upload:bad.pdf": "failed",
    }
    [info] = (await client.get("/api/collections/docs/documents")).json()["documents"]
    assert info["title"] == "Lighthouse"
    path = f"/api/documents/{info['doc_id']}"
    assert (await client.get(path)).json() == info
    content = (await client.get(f"{path}/content")).json()
    headings = {
        section["heading_path"][-1]: content["text"][section["start"] : section["end"]]
        for section in content["sections"]
    }
    assert "electric" in headings["Lamp"]
    assert (await client.delete(path)).status_code == 204
    assert (await client.get(f"{path}/content")).status_code == 404
    assert (await client.get(f"{path}/file")).status_code == 404


async def test_a_span_as_a_citation_has_it(client: httpx.AsyncClient) -> None:
    """With its section; where other words stand now than were cited, that is said, and none is
    taken for them.
    """
    text = "# Lamp\n\nThe lamp is 41 metres tall.\n\n# Keeper\n\nAnna Berg keeps it.\n"
    job = await uploaded(client, "docs", ("lamp.md", text.encode()))
    path = f"/api/documents/{job['result']['files'][0]['doc_id']}"
    kept = (await client.get(f"{path}/content")).json()["text"]
    start = kept.index("Anna")
    asked = {"start": start, "end": start + 19, "words": hash_words("Anna Berg keeps it.")}
    found = (await client.get(f"{path}/span", params=asked)).json()
    assert (found["citation"]["quote"], found["citation"]["section"]) == (
        "Anna Berg keeps it.",
        "Keeper",
    )
    assert not found["changed"]
    await uploaded(
        client,
        "docs",
        ("lamp.md", text.replace("41 metres", "42 yards").replace("Anna", "Eva").encode()),
    )
    moved = (await client.get(f"{path}/span", params=asked)).json()
    assert moved["changed"]
    assert (moved["citation"]["quote"], moved["citation"]["end"]) == ("", 0)
    for wrong in (
        {"start": 5, "end": 5},
        {"start": 0, "end": 9_999},
        {"start": -1, "end": 2},
        {"start": 0, "end": 50_000},
        {},
    ):
        assert (await client.get(f"{path}/span", params=wrong)).status_code == 422, wrong
    assert (await client.get("/api/documents/doc_none/span", params=asked)).status_code == 404


async def test_original_bytes_are_a_harmless_download(client: httpx.AsyncClient) -> None:
    """A page with a script comes as a file under its own name, and could do nothing if it were
    opened.
    """
    page = (
        b"<html><head><title>T</title></head><body><h1>Hello</h1><p>Some words "
        b"here.</p><script>1</script></body></html>"
    )
    job = await uploaded(client, "docs", ('x"; .html', page))
    reply = await client.get(f"/api/documents/{job['result']['files'][0]['doc_id']}/file")
    assert reply.content == page
    assert reply.headers["content-disposition"].startswith("attachment; filename=")
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["content-security-policy"].startswith("sandbox")


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("/a/b/report.pdf", "attachment; filename=\"report.pdf\"; filename*=UTF-8''report.pdf"),
        ("upload:灯.md", "attachment; filename=\"_.md\"; filename*=UTF-8''%E7%81%AF.md"),
        (
            'upload:a"\r\nX: y',
            "attachment; filename=\"a___X__y\"; filename*=UTF-8''a%22%0D%0AX%3A%20y",
        ),
    ],
)
def test_disposition_cannot_be_broken_out_of(uri: str, expected: str) -> None:
    """Quotes and line ends of a name stay inside the header's value."""
    assert format_disposition(uri) == expected


async def test_job_progress_as_events(client: httpx.AsyncClient) -> None:
    """The stream of a job ends with `done` and the job."""
    reply = await client.post(
        "/api/collections/docs/documents", files={"file": ("a.md", TEXT.encode())}
    )
    stream = await client.get(f"/api/jobs/{reply.json()['job_id']}/events")
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert "event: done" in stream.text
    assert (await client.get("/api/jobs")).json()["jobs"][0]["state"] == "done"
    assert (await client.get("/api/jobs/job_none/events")).status_code == 404


async def test_job_is_cancelled(client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A running job ends as `cancelled`, its events too; one that has ended cannot be cancelled
    again.
    """

    async def never(*_: object) -> None:
        await asyncio.sleep(60)

    monkeypatch.setattr("citewell.models.scripted.ScriptedEmbedder.passages", never)
    job = (
        await client.post(
            "/api/collections/docs/documents", files={"file": ("a.md", TEXT.encode())}
        )
    ).json()
    path = f"/api/jobs/{job['job_id']}"
    assert (await client.delete(path)).json()["state"] == "cancelled"
    assert "event: cancelled" in (await client.get(f"{path}/events")).text
    assert (await client.delete(path)).status_code == 409
    assert (await client.delete("/api/jobs/job_none")).status_code == 404


async def test_uploads_without_a_file_are_refused(client: httpx.AsyncClient) -> None:
    """No multipart, no part with a file name, a form that is none."""
    path = "/api/collections/docs/documents"
    for body in (
        {},
        {"url": 1},
        {"url": "https://example.com", "more": 1},
        {"url": "file:///etc/passwd"},
        {"url": "a b"},
    ):
        refused = await client.post(path, json=body)
        assert (refused.status_code, set(refused.json())) == (422, {"error"})
    refused = await client.post(path, content=b"{", headers={"Content-Type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_json")
    assert (await client.post(path, files={"file": (None, b"text")})).status_code == 422
    broken = await client.post(
        path, content=b"nonsense", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert broken.status_code in {400, 422}
    assert "error" in broken.json()
    assert (await client.get("/api/jobs")).json()["jobs"] == []
