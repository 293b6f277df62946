"""A collection that is kept current with a folder: added, looked at, changed, ended, in the page.

The one rule: what the page says is held against what the API has.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Served


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("handbook")
    (folder / "lamp.md").write_text("# Lamp\n\nThe lamp is electric.\n")
    (folder / "tower.md").write_text("# Tower\n\nThe tower is red.\n")
    (folder / "broken.pdf").write_bytes(b"%PDF-nothing")
    return folder


@pytest.fixture(scope="module")
def environment(place: Path) -> dict[str, str]:
    return {"CITEWELL_SYNC__FOLDERS": str(place.parent)}


def test_a_folder_is_watched(served: Served, page: Page, goto: Any, place: Path, axe: Any) -> None:
    served.client.post("/api/collections", json={"name": "handbook"}).raise_for_status()
    goto("/library/handbook")
    page.get_by_role("tab", name="Watch").click()
    axe(page)
    form = page.locator(".lib-watch form")
    form.get_by_label("Folder or address").fill("/etc")
    form.get_by_role("button", name="Watch").click()
    expect(form.get_by_role("alert")).to_contain_text("cannot be named over the network")
    form.get_by_label("Folder or address").fill(str(place))
    form.get_by_label("How often").select_option(label="every day")
    form.get_by_role("button", name="Watch").click()
    card = page.locator(".lib-watched", has_text=str(place))
    expect(card).to_contain_text("2 added · 1 failed")
    expect(card.locator(".lib-watch-failed")).to_contain_text("broken.pdf")
    axe(page)
    (place / "lamp.md").unlink()
    (place / "broken.pdf").unlink()
    card.get_by_role("button", name=f"Check {place} now").click()
    expect(card).to_contain_text("1 gone")
    expect(card.locator(".lib-watch-failed")).to_have_count(0)
    page.get_by_role("tab", name="Documents").click()
    expect(page.locator(".lib-documents tr", has_text="Lamp")).to_contain_text("gone since")
    listed = served.client.get("/api/syncs", params={"collection": "handbook"}).json()["syncs"]
    assert [(each["every"], each["gone"]) for each in listed] == [(86_400, 1)]
    page.get_by_role("tab", name="Watch").click()
    card.get_by_label("How often").select_option(label="every hour")
    expect(card).to_contain_text("next")
    card.get_by_role("button", name=f"Stop watching {place}").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop watching").click()
    expect(card).to_have_count(0)
    assert served.client.get("/api/syncs").json()["syncs"] == []
    assert len(served.client.get("/api/collections/handbook/documents").json()["documents"]) == 2
