"""`/api/data/sources` over a real port: upload, list, schema, rows, description, refresh, delete;
and what is refused.
"""

from __future__ import annotations

import httpx

from citewell.runtime.app import App

CSV = "部门,费用,日期\nIT,10,2024-01-05\nHR,5,2024-01-06\n".encode("gbk")
SOURCES = "/api/data/sources"


async def test_upload_ask_and_delete(client: httpx.AsyncClient, app: App) -> None:
    added = await client.post(SOURCES, files={"file": ("../费用.csv", CSV)})
    assert added.status_code == 201
    body = added.json()
    assert (body["status"], body["name"], body["location"]) == ("added", "费用", "upload:费用.csv")
    assert body["tables"] == [{"name": "费用", "rows": 2, "columns": 3}]
    assert [each["name"] for each in (await client.get(SOURCES)).json()["sources"]] == ["费用"]
    schema = (await client.get(f"{SOURCES}/费用/schema")).json()
    assert [(column["name"], column["type"]) for column in schema["tables"][0]["columns"]] == [
        ("部门", "VARCHAR"),
        ("费用", "BIGINT"),
        ("日期", "DATE"),
    ]
    rows = (await client.get(f"{SOURCES}/费用/rows", params={"table": "费用", "limit": 1})).json()
    assert (rows["rows"], rows["kinds"]) == ([["IT", 10, "2024-01-05"]], ["text", "number", "date"])
    assert (await client.post(SOURCES, files={"file": ("费用.csv", CSV)})).json()[
        "status"
    ] == "unchanged"
    assert (
        await client.post(SOURCES, files={"file": ("费用.csv", CSV + b"MK,7,2024-01-07\n")})
    ).json()["status"] == "replaced"
    refused = await client.post(f"{SOURCES}/费用/refresh")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "conflict")
    assert (await client.delete(f"{SOURCES}/费用")).status_code == 204
    assert (await client.get(f"{SOURCES}/费用")).status_code == 404


async def test_a_file_larger_than_other_requests(client: httpx.AsyncClient, app: App) -> None:
    """A file of 3 MB is taken: only ingest.max_bytes bounds it. What is no upload stays small."""
    rows = b"".join(b"%d,%s\n" % (number, b"x" * 30) for number in range(80_000))
    data = b"id,words\n" + rows
    assert 2_900_000 < len(data) < app.settings.ingest.max_bytes
    added = await client.post(SOURCES, files={"file": ("big.csv", data)}, timeout=120)
    assert (added.status_code, added.json()["tables"]) == (
        201,
        [{"name": "big", "rows": 80_000, "columns": 2}],
    )
    assert (
        await client.post(SOURCES, content=data, headers={"content-type": "application/json"})
    ).status_code == 413


async def test_description(client: httpx.AsyncClient) -> None:
    await client.post(SOURCES, files={"file": ("a.csv", CSV)}, data={"name": "costs"})
    here = f"{SOURCES}/costs/description"
    draft = (await client.get(here)).json()
    assert (draft["kept"], "部门" in draft["text"]) == (False, True)
    assert (await client.post(f"{here}/check", json={"text": draft["text"]})).json()[
        "problems"
    ] == []
    wrong = {"text": "tables:\n  a:\n    columns:\n      部们:\n"}
    found = (await client.post(f"{here}/check", json=wrong)).json()["problems"]
    assert [(each["line"], each["hint"]) for each in found] == [(4, "did you mean 部门?")]
    assert (await client.put(here, json=wrong)).status_code == 422
    put = await client.put(here, json={"text": "terms:\n  IT 费用: 部门 = 'IT'\n"})
    assert put.json()["described"] is True
    assert (await client.get(here)).json()["text"] == "terms:\n  IT 费用: 部门 = 'IT'\n"
    assert (await client.get(here, params={"draft": True})).json()["kept"] is False


REFUSED: list[tuple[dict[str, str], int]] = [
    ({"url": "/etc/passwd"}, 422),
    ({"url": "sqlite:////etc/passwd"}, 422),
    ({"url": "file:///etc/passwd"}, 422),
    ({"url": "postgresql://u:${HOME}@h/d"}, 422),
    ({"url": "postgresql://u:s3cret@127.0.0.1:1/d?sslkey=/etc/passwd"}, 422),
    ({"url": "postgresql://u:s3cret@127.0.0.1:1/d"}, 503),
    ({"path": "/etc/passwd"}, 422),
    ({}, 422),
]


async def test_urls_that_are_refused(client: httpx.AsyncClient) -> None:
    for body, status in REFUSED:
        refused = await client.post(SOURCES, json=body)
        assert (refused.status_code, "s3cret" in refused.text) == (status, False), body
        assert (await client.get(SOURCES)).json() == {"sources": []}


async def test_a_server_by_url(client: httpx.AsyncClient, mysql_database: str) -> None:
    added = await client.post(SOURCES, json={"url": mysql_database, "name": "shop"})
    assert (added.status_code, added.json()["dialect"]) == (201, "mysql")
    assert mysql_database not in added.text
    assert (await client.post(f"{SOURCES}/shop/refresh")).json()["status"] == "replaced"


async def test_bad_uploads(client: httpx.AsyncClient) -> None:
    for name, data, status in (
        ("x.pdf", b"%PDF-1.4", 422),
        ("e.csv", b"", 422),
        ("no.json", b"{", 422),
    ):
        assert (await client.post(SOURCES, files={"file": (name, data)})).status_code == status
    assert (
        await client.post(SOURCES, files={"file": ("a.csv", CSV)}, data={"name": "../../x"})
    ).status_code == 422
    two = [("file", ("a.csv", CSV)), ("file", ("b.csv", CSV))]
    assert (await client.post(SOURCES, files=two)).status_code == 422
    assert (await client.get(SOURCES)).json() == {"sources": []}


async def test_unknown_names_and_tables(client: httpx.AsyncClient) -> None:
    await client.post(SOURCES, files={"file": ("costs.csv", CSV)})
    missing = await client.get(f"{SOURCES}/cost/schema")
    assert (missing.status_code, missing.json()["error"]["hint"]) == (404, "did you mean costs?")
    for table in ("cost", "costs; DROP TABLE costs", 'costs" --'):
        assert (
            await client.get(f"{SOURCES}/costs/rows", params={"table": table})
        ).status_code == 404
    assert (
        await client.get(f"{SOURCES}/costs/rows", params={"table": "costs", "limit": 100_000})
    ).status_code == 422
