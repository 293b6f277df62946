"""The library: from nothing to documents that are found, opened, cut otherwise and deleted; what
cannot be read says why.

The one rule: what the page says is held against what the API has.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page, expect
from tests.page.conftest import EVERY_LOOK, PATIENCE, Served, until
from tests.page.told import LINE

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "library"
SHIPS = "# Ships\n\n" + "".join(
    f"Ship {n} carried {n} tons of grain to the harbour. Its pilot was {n} years old. "
    for n in range(60)
)
LONG = 4 * PATIENCE * 1000  # ms for work on a loaded machine
DROP = """([files]) => {
    const transfer = new DataTransfer();
    for (const [name, text] of files) transfer.items.add(new File([text], name));
    const target = document.querySelector(".view");
    for (const kind of ["dragenter", "dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(
            kind, {dataTransfer: transfer, bubbles: true, cancelable: true}));
    }
}"""


def drop(page: Page, *files: tuple[str, str]) -> None:
    page.evaluate(DROP, [[list(each) for each in files]])


def work(page: Page, name: str) -> Locator:
    return page.locator("article.lib-work", has_text=name)


def over(page: Page, name: str) -> Locator:
    """The work of that name, once it has ended."""
    ended = page.locator("article.lib-work.over", has_text=name)
    expect(ended).to_be_visible(timeout=LONG)
    return ended


def test_from_nothing_to_the_first_documents(
    served: Served, page: Page, goto: Any, tmp_path: Path
) -> None:
    goto("/library")
    expect(page.get_by_role("heading", name="No documents yet")).to_be_visible()
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-nothing")
    (tmp_path / "true.bin").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(300))
    (tmp_path / "empty.txt").write_bytes(b"")
    good = [SAMPLES / "information-security-policy.md", SAMPLES / "差旅报销制度.html"]
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add files").click()
    chooser.value.set_files(
        [*good, *(tmp_path / name for name in ("broken.pdf", "true.bin", "empty.txt"))]
    )
    told = over(page, "5 files into default")
    expect(told.get_by_text("2 added")).to_be_visible()
    expect(told.get_by_text("3 failed")).to_be_visible()
    [report] = [job["result"] for job in served.api("GET", "/jobs")["jobs"]]
    for file in (file for file in report["files"] if file["status"] == "failed"):
        line = told.locator("li.lib-file.failed", has_text=file["path"].removeprefix("upload:"))
        expect(line).to_contain_text(re.split(r"; (?:known|these)", file["reason"])[0])
        expect(line.locator(".lib-todo")).not_to_be_empty()
    expect(told.get_by_text(".docx")).not_to_be_visible()
    told.locator("li", has_text="true.bin").get_by_text("Supported file types").click()
    expect(told.get_by_text(".docx")).to_be_visible()
    told.get_by_role("button", name="Dismiss").click()
    expect(told).to_have_count(0)
    page.get_by_role("link", name="default").click()
    expect(page.locator(".lib-table tbody tr")).to_have_count(2)
    expect(page.locator("tr", has_text="差旅报销制度")).to_contain_text("Chinese")


def test_a_collection_is_made_and_files_are_dropped_on_it(
    served: Served, page: Page, goto: Any
) -> None:
    goto("/library")
    page.get_by_role("button", name="New collection").click()
    made = page.get_by_role("dialog")
    made.get_by_label("Name").fill("a/b")
    made.get_by_role("button", name="Create").click()
    expect(made.get_by_role("alert")).to_contain_text("not allowed")
    made.get_by_label("Name").fill("航运 sea")
    made.get_by_label("Method").select_option("fixed")
    made.get_by_label("Tokens").fill("60")
    made.get_by_label("Overlap").fill("10")
    made.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="航运 sea")).to_be_visible()
    assert served.api("GET", "/collections/航运 sea")["chunking"] == {
        "chunker": "fixed",
        "tokens": 60,
        "overlap": 10,
    }
    drop(page, ("ships.md", SHIPS), ("nothing.md", ""))
    told = over(page, "2 files into 航运 sea")
    expect(told.locator("li.failed", has_text="nothing.md")).to_contain_text("is empty")
    expect(page.locator(".lib-table tbody tr")).to_have_count(1)
    drop(page, ("ships.md", SHIPS))
    expect(over(page, "ships.md → 航运 sea").get_by_text("1 unchanged")).to_be_visible()


def test_files_that_are_dropped_beside_collections_ask_where_to(
    served: Served, page: Page, goto: Any
) -> None:
    goto("/library")
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    drop(page, ("notes.md", "# Notes\n\nThe tide turned at noon."))
    asked = page.get_by_role("dialog")
    asked.get_by_label("Collection").fill("fresh")
    asked.get_by_role("button", name="Add 1 file").click()
    over(page, "notes.md → fresh")
    expect(page.get_by_role("heading", name="fresh")).to_be_visible()
    assert served.api("GET", "/collections/fresh")["documents"] == 1


def test_files_of_one_name_in_several_folders_are_all_kept(
    served: Served, page: Page, goto: Any, tmp_path: Path
) -> None:
    for folder in ("one", "two", ".git"):
        (tmp_path / "notes" / folder).mkdir(parents=True)
        (tmp_path / "notes" / folder / "README.md").write_text(
            f"# Folder {folder}\n\nIt is about the {folder} thing.\n", "utf-8"
        )
    served.api("POST", "/collections", json={"name": "folders"})
    goto("/library/folders")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add folder").click()
    chooser.value.set_files(tmp_path / "notes")
    over(page, "2 files into folders")
    uris = {
        each["uri"] for each in served.api("GET", "/collections/folders/documents")["documents"]
    }
    assert uris == {"upload:notes - one - README.md", "upload:notes - two - README.md"}


def test_a_line_that_breaks_while_sending_is_tried_again(
    served: Served, page: Page, goto: Any
) -> None:
    served.api("POST", "/collections", json={"name": "weak line"})
    goto("/library/weak line")
    expect(page.get_by_role("heading", name="weak line")).to_be_visible()
    page.route(
        "**/documents",
        lambda route: route.abort() if route.request.method == "POST" else route.continue_(),
    )
    drop(page, ("ships.md", SHIPS))
    failed = work(page, "ships.md")
    expect(failed.get_by_role("alert")).to_be_visible()
    page.unroute("**/documents")
    failed.get_by_role("button").filter(has_text=re.compile("again", re.IGNORECASE)).click()
    over(page, "ships.md → weak line")
    assert served.api("GET", "/collections/weak line")["documents"] == 1


def test_a_job_that_runs_is_shown_and_cancelled(served: Served, page: Page, goto: Any) -> None:
    files = [
        ("file", (f"{n}.md", f"# Boat {n}\n\n" + SHIPS * 40)) for n in range(300)
    ]  # minutes of work
    job = served.api("POST", "/collections/many/documents", files=files, timeout=4 * PATIENCE)
    goto("/library")
    running = work(page, "300 files into many")
    expect(running.get_by_role("progressbar")).to_be_visible()
    running.get_by_role("button", name="Cancel").click()
    expect(over(page, "300 files into many")).to_contain_text(
        "Cancelled. What was already added stays."
    )
    assert served.api("GET", f"/jobs/{job['job_id']}")["state"] == "cancelled"


def test_an_address_that_cannot_be_added(served: Served, page: Page, goto: Any) -> None:
    served.api("POST", "/collections", json={"name": "pages"})
    goto("/library/pages")
    page.get_by_role("button", name="Add a web page").click()
    asked = page.get_by_role("dialog")
    asked.get_by_label("Address").fill("http://127.0.0.1:9/secret")
    asked.get_by_role("button", name="Add", exact=True).click()
    failed = over(page, "http://127.0.0.1:9/secret → pages").locator("li.failed")
    expect(failed).to_contain_text("it is not on the public internet")
    expect(failed.locator(".lib-todo")).to_contain_text("your own network")
    assert served.api("GET", "/collections/pages")["documents"] == 0


def test_search_shows_why_and_opens_the_source(served: Served, page: Page, goto: Any) -> None:
    for name in ("information-security-policy.md", "差旅报销制度.html"):
        served.add("found", name, (SAMPLES / name).read_bytes())
    goto("/library/found")
    page.get_by_role("tab", name="Search").click()
    page.get_by_label("Search the passages").fill("How often are passwords changed?")
    page.keyboard.press("Enter")
    first = page.locator(".lib-hit").first
    expect(
        first.locator("mark", has_text=re.compile("passwords", re.IGNORECASE)).first
    ).to_be_visible()
    found = served.api(
        "POST", "/search", json={"query": "How often are passwords changed?", "collection": "found"}
    )
    expect(page.get_by_text(f"{len(found['hits'])} passages in")).to_be_visible()
    for value in filter(None, found["hits"][0]["signals"].values()):
        expect(first.locator(".lib-signals")).to_contain_text(
            f"{value:.2f}".rstrip("0").rstrip(".")
        )
    page.get_by_text("Advanced").click()
    page.get_by_role("combobox", name="Language").select_option("zh")
    page.get_by_label("Strategy").select_option("words_only")
    page.get_by_label("Search the passages").fill("住宿费")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile(r"\d passages? in "))).to_be_visible()
    titles = page.locator(".lib-hit .lib-title")
    expect(titles.first).to_contain_text("差旅报销制度")
    assert all("差旅报销制度" in text for text in titles.all_text_contents())
    page.get_by_label("From").fill("soon")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("is not a date")
    page.get_by_label("From").fill("")
    page.keyboard.press("Enter")
    titles.first.click()
    expect(page.locator("dialog.panel")).to_be_visible()


def test_how_a_document_and_a_file_are_cut(served: Served, page: Page, goto: Any) -> None:
    doc_id = served.add("cut", "ships.md", SHIPS)
    goto("/library/cut")
    page.get_by_role("button", name="How Ships is split").click()
    shown = page.get_by_role("dialog")
    chunks = served.api("GET", f"/documents/{doc_id}/chunks")["previews"][0]["chunks"]
    expect(shown.locator(".lib-chunk")).to_have_count(len(chunks))
    expect(shown.locator(".lib-chunk-text").nth(1)).to_have_text(
        re.sub(r"\s+", " ", chunks[1]["text"]).strip()
    )
    assert len("".join(shown.locator(".lib-repeats").all_text_contents())) == sum(
        each["repeats"] for each in chunks
    )
    shown.get_by_label("Tokens").fill("60")
    expect(shown.get_by_role("status").filter(has_text="60 tokens")).to_be_visible()
    shown.get_by_label("Tokens").fill("20")
    expect(shown.get_by_role("alert")).to_contain_text("tokens")
    shown.get_by_label("Tokens").fill("")
    shown.get_by_label("Method").select_option("compare")
    expect(shown.locator("tbody tr")).to_have_count(3)
    page.keyboard.press("Escape")
    page.get_by_role("tab", name="Splitting").click()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(
        {"name": "other.md", "mimeType": "text/markdown", "buffer": b"# Other\n\nIt is short."}
    )
    expect(page.locator(".lib-try .lib-chunk")).to_contain_text("It is short.")
    change = page.locator("form.form")
    change.get_by_label("Method").select_option("sentences")
    change.get_by_label("Tokens").fill("80")
    change.get_by_role("button", name="Save and split again").click()
    expect(over(page, "Splitting cut again")).to_contain_text("1 of 1 documents changed")
    assert served.api("GET", "/collections/cut")["chunking"] == {
        "chunker": "sentences",
        "tokens": 80,
    }


def test_priority_and_deletion(served: Served, page: Page, goto: Any) -> None:
    for n in range(3):
        served.add("old", f"ship{n}.md", f"# Ship {n}\n\nShip {n} carried grain.")
    goto("/library/old")
    page.get_by_label("Priority of Ship 1").select_option("7")
    expect(page.get_by_text("Priority of Ship 1: 7")).to_be_visible()
    documents = served.api("GET", "/collections/old/documents")["documents"]
    assert {each["title"]: each["priority"] for each in documents} == {
        "Ship 0": 0,
        "Ship 1": 7,
        "Ship 2": 0,
    }
    page.get_by_role("button", name="Priority", exact=True).click()
    expect(page.locator(".lib-table tbody tr").first).to_contain_text("Ship 1")
    page.get_by_role("button", name="Delete Ship 0").click()
    asked = page.get_by_role("dialog")
    asked.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Delete Ship 0").click()
    expect(asked).to_contain_text("Ship 0")
    asked.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator(".lib-table tbody tr")).to_have_count(2)
    page.get_by_role("button", name="Delete collection").click()
    expect(asked).to_contain_text("This deletes 2 documents, and answers")
    asked.get_by_role("button", name="Delete with 2 documents").click()
    expect(page.get_by_role("heading", name="Library")).to_be_visible()
    assert "old" not in {each["name"] for each in served.api("GET", "/collections")["collections"]}


def test_the_source_panel_opens_a_whole_document(served: Served, page: Page, goto: Any) -> None:
    served.add("whole", "ships.md", SHIPS)
    goto("/library/whole")
    page.get_by_role("button", name="Ships", exact=True).click()
    expect(page.locator("dialog.panel")).to_contain_text("Ship 1 carried 1 tons")


def test_what_a_document_is_about_stands_below_its_title(
    served: Served, page: Page, goto: Any
) -> None:
    """In its own words, each a click away from their place."""
    doc_id = served.add("about", "ships.md", SHIPS)
    said = "Ship 1 carried 1 tons"
    start = served.api("GET", f"/documents/{doc_id}/content")["text"].index(said)
    sentence = {"text": said, "start": start, "end": start + len(said)}
    told = {"questions": [], "waiting": 0, "overviews": {doc_id: [sentence]}}
    page.route("**/api/collections/about/questions*", lambda route: route.fulfill(json=told))
    goto("/library/about")
    page.get_by_role("row", name="Ships").get_by_role("link", name=said).click()
    expect(page.locator("dialog.panel mark").first).to_contain_text(said)


@EVERY_LOOK
def test_it_can_be_used_by_everybody(
    served: Served, page: Page, goto: Any, axe: Any, picture: Any
) -> None:
    """axe finds nothing, nothing is wider than the window, in both themes and languages."""
    for name in ("information-security-policy.md", "差旅报销制度.html"):
        served.add("looks", name, (SAMPLES / name).read_bytes())
    goto("/library")
    page.locator(".lib-card").first.wait_for()
    axe(page)
    picture("library")
    goto("/library/looks")
    page.locator(".lib-table").wait_for()
    drop(page, ("nothing.md", ""))
    page.locator(".lib-todo").wait_for()
    looked_at(page, axe)
    picture("library-documents")
    page.get_by_role("tab").nth(2).click()  # behind the tab of what is watched
    page.get_by_role("searchbox").fill("passwords 住宿费")
    page.keyboard.press("Enter")
    page.locator(".lib-hit").first.wait_for()
    page.locator(".lib-filters > summary").click()
    looked_at(page, axe)
    picture("library-search")
    page.get_by_role("tab").nth(
        4
    ).click()  # behind the tab that checks a text, which has tests of its own
    page.locator(".lib-try").wait_for()
    looked_at(page, axe)
    page.get_by_role("tab").nth(0).click()
    page.locator(".lib-actions button").first.click()
    page.locator(".lib-chunk").first.wait_for()
    looked_at(page, axe)
    picture("library-chunks")


def looked_at(page: Page, axe: Any) -> None:
    axe(page)
    assert page.locator(".main").evaluate("each => each.scrollWidth - each.clientWidth") <= 0, (
        "wider than the window"
    )


def test_chosen_documents_are_asked_alone(served: Served, page: Page, goto: Any) -> None:
    """By their boxes, in the conversation that follows; the composer's boxes take it back."""
    served.add("tides", "north.md", "# North\n\nThe northern tide comes at six.")
    chosen = served.add("tides", "south.md", "# South\n\nThe southern tide comes at nine.")
    goto("/library/tides")
    page.get_by_role("checkbox", name="Select South").check()
    page.get_by_role("button", name="Ask about 1 document").click()
    places = page.get_by_role("button", name="Asking")
    expect(places).to_have_accessible_name("Asking: 1 document")
    page.evaluate(LINE)
    page.get_by_role("textbox", name="Your question").fill("When does the tide come?")
    page.keyboard.press("Enter")
    until(page, "() => window.asked.length === 1")
    asked = page.evaluate("() => window.asked[0]")
    assert (asked["collection"], asked["options"]) == ("tides", {"doc_ids": [chosen]})
    places.click()
    page.get_by_role("checkbox", name="South").uncheck()
    expect(places).to_have_accessible_name("Asking: tides (2)")


def test_a_collection_too_large_to_be_sent_whole(served: Served, page: Page, goto: Any) -> None:
    """The server finds and orders; more come when they are asked for."""
    for n in range(4):
        served.add("large", f"note-{n}.md", f"# Note {n}\n\nNumber {n} is kept in a drawer.\n")
    page.route(
        re.compile(r"/documents\?.*limit=500"),
        lambda route: route.continue_(url=route.request.url.replace("limit=500", "limit=2")),
    )
    goto("/library/large")
    rows = page.locator(".lib-table tbody tr")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("tab", name="Documents")).to_contain_text("4")
    page.get_by_role("button", name="Document", exact=True).click()
    expect(rows.first).to_contain_text("Note 0")
    page.get_by_role("button", name="Show").click()
    expect(rows).to_have_count(4)
