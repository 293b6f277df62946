"""`/api/documents/{id}/pages/{n}.png`: pages as pictures with the cited lines marked, and citations
that know their lines.
"""

from __future__ import annotations

import httpx
from tests.interfaces.jobs import wait_for_job

from citewell.runtime.app import App
from citewell.service.ask.locate import locate_citations
from citewell.types import Citation

FIRST, SECOND = "The lighthouse was built in 1857.", "Its lamp is electric."
SHOWN = f"BT /F 20 Tf 60 700 Td ({FIRST}) Tj 0 -100 Td ({SECOND}) Tj ET".encode()
PDF = b"""%%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R
/Resources <</Font <</F 5 0 R>>>>>> endobj
4 0 obj <</Length %d>> stream
%s
endstream endobj
5 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> endobj
trailer <</Root 1 0 R>>
""" % (len(SHOWN), SHOWN)  # without a cross-reference table, which pdfium makes itself


async def added(client: httpx.AsyncClient, name: str, data: bytes) -> str:
    """The id of a document that was uploaded."""
    reply = await client.post("/api/collections/docs/documents", files=[("file", (name, data))])
    job = await wait_for_job(client, reply.json()["job_id"])
    return str(job["result"]["files"][0]["doc_id"])


async def test_a_page_with_marks(client: httpx.AsyncClient) -> None:
    """A page is a PNG; a span's marks change it; asked for again with its tag, it is not sent."""
    base = f"/api/documents/{await added(client, 'light.pdf', PDF)}"
    text = (await client.get(f"{base}/content")).json()["text"]
    start = text.index(SECOND)
    plain = await client.get(f"{base}/pages/1.png", params={"width": 300})
    marked = await client.get(
        f"{base}/pages/1.png", params={"width": 300, "start": start, "end": start + len(SECOND)}
    )
    for reply in (plain, marked):
        assert (reply.status_code, reply.headers["content-type"]) == (200, "image/png")
        assert reply.content.startswith(b"\x89PNG")
        assert "private" in reply.headers["cache-control"]
    assert plain.content != marked.content
    assert plain.headers["etag"] != marked.headers["etag"]
    again = await client.get(
        f"{base}/pages/1.png?width=300", headers={"If-None-Match": plain.headers["etag"]}
    )
    assert (again.status_code, again.content, again.headers["etag"]) == (
        304,
        b"",
        plain.headers["etag"],
    )


async def test_what_cannot_be_shown_says_why(client: httpx.AsyncClient) -> None:
    """No such document, page, or pages at all; a width or a span that is none."""
    doc_id, note = (
        await added(client, "light.pdf", PDF),
        await added(client, "note.md", b"# Note\n\nWords.\n"),
    )
    for path, status in [
        ("doc_none/pages/1.png", 404),
        (f"{doc_id}/pages/2.png", 404),
        (f"{doc_id}/pages/0.png", 404),
        (f"{note}/pages/1.png", 404),
        (f"{doc_id}/pages/1.png?width=9", 422),
        (f"{doc_id}/pages/1.png?width=99999", 422),
        (f"{doc_id}/pages/1.png?start=3", 422),
        (f"{doc_id}/pages/1.png?start=9&end=3", 422),
        (f"{doc_id}/pages/x.png", 422),
    ]:
        reply = await client.get(f"/api/documents/{path}")
        assert (path, reply.status_code) == (path, status)
        assert reply.json()["error"]["hint"]


async def test_citations_know_their_lines(client: httpx.AsyncClient, app: App) -> None:
    """A citation of a PDF carries the rectangles of its quote's lines."""
    doc_id = await added(client, "light.pdf", PDF)
    text = (await app.catalog.content(doc_id)).text
    start = text.index(SECOND)
    citation = Citation(
        n=1, doc_id=doc_id, title="t", uri="u", quote=SECOND, start=start, end=start + len(SECOND)
    )
    [located] = await locate_citations(app, [citation])
    [[page, x0, y0, x1, y1]] = located.boxes
    assert (page, located.page) == (1, 1)
    assert 0.09 < x0 < 0.12 < x1 < 0.5
    assert 0.22 < y0 < 0.25 < y1 < 0.26
