"""Citations as answers carry them, made for any words of a document, so that the panel is tried
without a model.

The one rule: where the words stand is found by the parser, as the server does it, and never by the
page that is tested.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Dialog, Locator, Page, Request
from tests.page.conftest import Served

from citewell.config import IngestSettings
from citewell.ingest import parse_here
from citewell.types import Document

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
OPEN = """async ([citation, all, answer]) => {
    const panel = await import("/assets/source/panel.js");
    panel.openSource(citation, all, answer);
}"""


@lru_cache(maxsize=8)
def parsed(data: bytes, name: str) -> Document:
    return parse_here(data, name, IngestSettings())


def cite(served: Served, doc_id: str, name: str, quote: str, **more: Any) -> dict[str, Any]:
    """The citation of a quote: its first place in the document's text, with page, section and the
    boxes of its lines.
    """
    data = served.client.get(f"/api/documents/{doc_id}/file").content
    info = served.api("GET", f"/documents/{doc_id}")
    document = parsed(data, name)
    start = document.text.index(quote)
    end = start + len(quote)
    section = next(section for section in document.sections if section.start <= start < section.end)
    boxes = [
        [b.page, b.x0, b.y0, b.x1, b.y1] for b in document.boxes if b.start < end and start < b.end
    ]
    made = {
        "n": 1,
        "origin": "document",
        "doc_id": doc_id,
        "title": info["title"],
        "uri": info["uri"],
        "page": document.find_page_at(start),
        "section": " › ".join(section.heading_path),
        "quote": quote,
        "start": start,
        "end": end,
        "boxes": boxes,
        "score": 0.9,
        "status": "verified",
        "fetched_at": None,
    }
    return {**made, **more}


def show(page: Page, citation: dict[str, Any], everything: Any = (), answer: Any = None) -> Locator:
    """Open the panel at a citation, as any view does."""
    page.evaluate(OPEN, [citation, list(everything), answer])
    panel = page.locator("dialog.panel")
    panel.wait_for()
    return panel


def sample(served: Served, collection: str, name: str) -> str:
    """Add a file of the samples. Returns its id."""
    return served.add(collection, name, (SAMPLES / "library" / name).read_bytes())


# a window that Chromium does not draw gets no frame: it is waited for, but not for ever
SETTLED = """async () => {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise((done) => setTimeout(done, 100));
    await new Promise((done) => {
      requestAnimationFrame(() => setTimeout(done));
      setTimeout(done, 5000);
    });
    await new Promise((done) => requestIdleCallback(done, { timeout: 5000 }));
  }
}"""


def settled(page: Page) -> None:
    """What comes late has come: the browser has drawn and has nothing left to do, three times over.
    On a slow machine that takes longer, where a fixed time would see less.
    """
    page.evaluate(SETTLED)


def watch(page: Page, home: str) -> list[str]:
    """What a page does that none of ours may, filled as it happens: dialogs, requests elsewhere,
    windows that open.
    """
    wrong: list[str] = []

    def spoke(dialog: Dialog) -> None:
        wrong.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def asked(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob"} and parts.netloc != urlsplit(home).netloc:
            wrong.append(f"request {request.url}")

    page.on("dialog", spoke)
    page.on("request", asked)
    page.context.on("page", lambda opened: wrong.append(f"window {opened.url}"))
    return wrong
