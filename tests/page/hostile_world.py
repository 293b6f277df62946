"""An installation full of strings that want to be run: in documents, tables, names, titles, words
of people.

The one rule: what the server refuses by its own rules (422, 404, 409) is refused, the rest is kept;
nothing is a fault.
"""

from __future__ import annotations

import csv
import html
import io
import json
import zipfile
from collections.abc import Sequence
from typing import Any

import docx
import yaml
from tests.page.conftest import Served

REFUSED = {400, 404, 409, 413, 415, 422}


def tried(served: Served, method: str, path: str, **how: Any) -> Any:
    """The reply's JSON; None where it is refused."""
    if "json" in how:  # half characters are JSON, though no UTF-8
        how["content"] = json.dumps(how.pop("json")).encode()
        how["headers"] = {"Content-Type": "application/json", **how.get("headers", {})}
    reply = served.client.request(method, f"/api{path}", **how)
    assert reply.is_success or reply.status_code in REFUSED, (
        f"{method} {path}: {reply.status_code} {reply.text[:500]}"
    )
    return reply.json() if reply.is_success and reply.content else None


def sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def markdown(strings: Sequence[str]) -> str:
    parts = [f"# Harbour {strings[0]}\n\nThe harbour opens at six."]
    for n, text in enumerate(strings):
        line = text.replace("\n", " ")
        parts += [
            f"## {line}",
            f"Part {n} of the harbour says {text} and so on.",
            f"- {line}",
            f"> {line}",
        ]
        parts += [
            f"| {line} | b |\n|---|---|\n| 1 | {line} |",
            f'[{line}]({line} "{line}") ![{line}]({line})',
            f"    {line}",
        ]
    return sendable("\n\n".join(parts))


def web(strings: Sequence[str]) -> str:
    """The same raw and escaped: what a page does to be run, and what it says."""
    rows = []
    for text in strings:
        said = html.escape(text)
        rows.append(
            f'<h2>{text}</h2><p title="{text}">{text}</p><p>{said}</p><img alt="{said}"><a '
            f'href="{said}">{said}</a>'
        )
        rows.append(f"<table><tr><th>{said}</th><td>{text}</td></tr></table>")
    said = html.escape(strings[0])
    head = (
        f'<title>{said}</title><meta name="description" content="{said}"><meta name="author" '
        f'content="{said}">'
    )
    body = f"<h1>{said}</h1><p>The harbour opens at six.</p>{''.join(rows)}"
    return sendable(f"<html><head>{head}</head><body>{body}</body></html>")


def table(strings: Sequence[str]) -> bytes:
    """Names of columns and values."""
    told = io.StringIO()
    writer = csv.writer(told)
    writer.writerow(
        ["place", "ships", *(sendable(text).replace("\x00", "")[:200] for text in strings[:6])]
    )
    for n, text in enumerate(strings):
        writer.writerow([sendable(text).replace("\x00", ""), n, *["x"] * len(strings[:6])])
    return told.getvalue().encode()


def mail(strings: Sequence[str]) -> bytes:
    subject = " ".join(sendable(strings[2]).split())
    head = [
        f"From: {subject} <a@b.example>",
        f"Subject: {subject}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
    ]
    body = "\n\n".join(strings)
    return sendable("\r\n".join([*head, "", body])).encode()


def zipped(strings: Sequence[str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for n, text in enumerate(strings):
            archive.writestr(
                f"{sendable(text)[:80].replace(chr(0), '')} {n}.md",
                f"# Quay {n}\n\nQuay {n} is long.\n",
            )
    return data.getvalue()


def word(strings: Sequence[str]) -> bytes:
    """Paragraphs, headings, cells, and a title and an author among the properties."""
    said = [
        "".join(sign for sign in sendable(text) if sign >= " " and sign not in "\ufffe\uffff")
        for text in strings
    ]
    made = docx.Document()
    made.core_properties.title = made.core_properties.author = said[0][:200]
    made.add_heading(said[1], 1)
    for text in said:
        made.add_paragraph(text)
    cells = made.add_table(1, 2).rows[0].cells
    cells[0].text, cells[1].text = said[2], said[3]
    data = io.BytesIO()
    made.save(data)
    return data.getvalue()


def pdf(title: str) -> bytes:
    """One page, and a title among its metadata, in the two bytes a character that PDF knows."""
    told = "FEFF" + title.encode("utf-16-be", "replace").hex()
    inside = "/Resources << /Font << /F 5 0 R >> >>"
    link = (
        "<< /Type /Annot /Subtype /Link /Rect [0 0 300 200] /A << /S /JavaScript /JS "
        "(app.alert\\(1\\)) >> >>"
    )
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R {inside} "
            f"/Annots [{link}] >>"
        ),
        (
            "<< /Length 61 >>\nstream\nBT /F 14 Tf 20 120 Td (The pier is forty metres long.) "
            "Tj ET   \nendstream"
        ),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title <{told}> /Author <{told}> >>",
    ]
    data, at = b"%PDF-1.4\n", []
    for n, each in enumerate(objects, 1):
        at.append(len(data))
        data += f"{n} 0 obj\n{each}\nendobj\n".encode()
    rows = "".join(f"{place:010d} 00000 n \n" for place in at)
    tail = (
        f"xref\n0 {len(at) + 1}\n0000000000 65535 f \n{rows}trailer << /Size {len(at) + 1} "
        "/Root 1 0 R /Info 6 0 R >>\n"
    )
    return data + f"{tail}startxref\n{len(data)}\n%%EOF\n".encode()


def files(strings: Sequence[str]) -> list[tuple[str, bytes]]:
    """One of each family, under names that are hostile too."""
    said = [sendable(text) for text in strings]
    return [
        (f"{said[0]}.md", markdown(strings).encode()),
        (f"{said[2]}.html", web(strings).encode()),
        ("c.csv", table(strings)),
        (f"{said[4]}.eml", mail(strings)),
        ("z.zip", zipped(strings)),
        ("d.docx", word(strings)),
        (f"{said[28]}.pdf", pdf(strings[1])),
        ("j.json", json.dumps({text: [text, {"__proto__": text}] for text in strings}).encode()),
        (
            "s.svg",
            "<svg xmlns='http://www.w3.org/2000/svg' "
            f"onload='{strings[0][3:]}'><script>top.__hit=1</script></svg>".encode(),
        ),
    ]


def fill(served: Served, strings: Sequence[str], site: str) -> list[str]:
    """All of it. Returns the addresses of the views that show it. `site`: where a web server has
    pages of them.
    """
    collection = "quays <b>"
    here = f"/collections/{collection}"
    tried(served, "POST", "/collections", json={"name": collection})
    for name, data in files(strings):
        job = tried(served, "POST", f"{here}/documents", files={"file": (name, data)})
        served.client.get(f"/api/jobs/{job['job_id']}/events", timeout=300)
    assert tried(
        served,
        "POST",
        "/data/sources",
        files={"file": ("c.csv", table(strings))},
        data={"name": "ships"},
    )
    terms = {sendable(text)[:60]: sendable(text)[:200] for text in strings}
    written = yaml.safe_dump({"terms": terms}, allow_unicode=True)
    tried(served, "PUT", "/data/sources/ships/description", json={"text": written})
    session, trace, item = _talk(served, collection, strings[::2])
    for text in strings[::4]:
        tried(
            served,
            "POST",
            "/ask",
            json={"question": f"Remember that my ship is {text}.", "agent": "dual_loop"},
        )
    for memory, text in zip(served.api("GET", "/memories")["memories"], strings, strict=False):
        tried(served, "PATCH", f"/memories/{memory['memory_id']}", json={"text": text})
    asked = {
        "question": f"When does the harbour open? {strings[2]}",
        "agent": "website",
        "options": {"start_urls": [site]},
    }
    found = tried(served, "POST", "/ask", json=asked, timeout=120)
    sites = [f"/sites/{each['collection']}" for each in served.api("GET", "/sites")["sites"]]
    begun = tried(
        served,
        "POST",
        "/papers",
        files={"file": (f"{sendable(strings[5])}.md", markdown(strings).encode())},
    )
    served.client.get(f"/api/jobs/{begun['job']['job_id']}/events", timeout=300)
    paper = f"/papers/{begun['session']['session_id']}"
    for text in strings[:3]:
        tried(served, "POST", f"{paper}/messages", json={"text": f"What opens at six? {text}"})
    return [
        f"/library/{collection}",
        f"/ask/{session}",
        f"/traces/{trace}",
        f"/knowledge?item={item}",
        paper,
        *sites,
        f"/traces/{found['trace_id']}",
        "/data/ships",
    ]  # fmt: skip


def _talk(served: Served, collection: str, strings: Sequence[str]) -> tuple[str, str, str]:
    """Questions, titles, votes and corrections. Returns a session, a trace, and the id of what a
    vote has confirmed.
    """
    found, item = ("", ""), ""
    for n, text in enumerate(strings):
        asked = {"question": f"When does the harbour open? {text}", "collection": collection}
        answer = tried(served, "POST", "/ask", json=asked)
        if not answer:
            continue
        tried(served, "PATCH", f"/sessions/{answer['session_id']}", json={"title": text})
        vote = {
            "trace_id": answer["trace_id"],
            "is_correct": n % 2 == 0,
            "user_correction": text if n % 2 else None,
        }
        given = tried(served, "POST", "/feedback", json=vote)
        if not given:
            continue
        if given["job_id"]:
            served.client.get(f"/api/jobs/{given['job_id']}/events")
        item = item or str(
            served.api("GET", f"/feedback/{given['feedback_id']}").get("item_id") or ""
        )
        found = answer["session_id"], answer["trace_id"]
    return *found, item
