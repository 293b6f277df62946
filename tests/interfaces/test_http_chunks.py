"""How a document or a sent file would be cut, over HTTP: nothing is stored, and what cannot be is
refused in words.
"""

from __future__ import annotations

from typing import Any

import httpx
from tests.interfaces.test_http_documents import uploaded

TEXT = "# Ships\n\n" + "".join(
    f"Ship {n} carried {n} tons of grain to the harbour. " for n in range(60)
)
FILES = {"file": ("ships.md", TEXT.encode())}


async def test_a_document_as_it_is_and_otherwise(client: httpx.AsyncClient) -> None:
    await client.post(
        "/api/collections",
        json={"name": "sea", "chunking": {"chunker": "fixed", "tokens": 60, "overlap": 10}},
    )
    await uploaded(client, "sea", ("ships.md", TEXT.encode()))
    [info] = (await client.get("/api/collections/sea/documents")).json()["documents"]
    path = f"/api/documents/{info['doc_id']}/chunks"
    own = (await client.get(path)).json()
    assert [each["chunking"] for each in own["previews"]] == [
        {"chunker": "fixed", "tokens": 60, "overlap": 10}
    ]
    assert len(own["previews"][0]["chunks"]) == info["chunks"]
    text = (await client.get(f"/api/documents/{info['doc_id']}/content")).json()["text"]
    assert all(
        text[each["start"] : each["end"]] == each["text"] for each in own["previews"][0]["chunks"]
    )
    ways = (
        await client.get(path, params={"chunker": ["structure", "sentences"], "tokens": 100})
    ).json()["previews"]
    assert [(each["chunking"]["chunker"], each["chunking"]["tokens"]) for each in ways] == [
        ("structure", 100),
        ("sentences", 100),
    ]
    assert (await client.get(f"/api/documents/{info['doc_id']}")).json() == info, (
        "it is cut as before"
    )
    assert (await client.get("/api/documents/doc_none/chunks")).status_code == 404
    assert (await client.get(path, params={"tokens": 10})).json()["error"][
        "code"
    ] == "invalid_input"
    assert (await client.get(path, params={"chunker": "clever"})).status_code == 422


async def test_a_sent_file_is_cut_and_not_kept(client: httpx.AsyncClient) -> None:
    found: dict[str, Any] = (
        await client.post("/api/chunks", files=FILES, params={"chunker": "sentences"})
    ).json()
    assert (found["title"], found["previews"][0]["chunking"]["chunker"]) == ("Ships", "sentences")
    assert found["previews"][0]["totals"]["chunks"] == len(found["previews"][0]["chunks"]) > 1
    assert (await client.get("/api/collections")).json() == {"collections": []}
    assert (await client.get("/api/jobs")).json() == {"jobs": []}


async def test_what_cannot_be_cut_is_said(client: httpx.AsyncClient) -> None:
    broken = await client.post("/api/chunks", files={"file": ("bad.pdf", b"%PDF-nothing")})
    assert (broken.status_code, broken.json()["error"]["code"]) == (422, "unreadable_file")
    packed = await client.post("/api/chunks", files={"file": ("all.zip", b"PK")})
    assert "holds other files" in packed.json()["error"]["message"]
    assert (await client.post("/api/chunks", json={"path": "/etc/passwd"})).status_code == 422
    two = await client.post("/api/chunks", files=[("file", FILES["file"]), ("file", FILES["file"])])
    assert "2 files" in two.json()["error"]["message"]
    large = await client.post("/api/chunks", files={"file": ("a.md", b"Grain in ships. " * 80_000)})
    assert large.status_code == 200, "larger than other requests may be"
