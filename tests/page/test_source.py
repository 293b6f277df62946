"""The panel that shows where a sentence is from: the very words marked, whatever kind of source, by
keyboard and on a phone.

The one rule: what the panel marks is compared with the quote, not with what the panel says of
itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.page.conftest import Served, until
from tests.page.sources import SAMPLES, cite, sample, show
from tests.page.wrong_fonts import with_wrong_glyphs

MANUAL, CHINESE, POLICY = (
    "drover-2-owners-manual.pdf",
    "T300三轮货运车使用手册.pdf",
    "travel-and-expenses.html",
)
LOAD = "Load in the box | DR2-S: 100 kg | DR2-L: 125 kg"
RIDER = "The limit of the box and the permitted total weight both apply; the lower one decides."
TURNING = (
    "转弯前须减速，空载时转弯速度不得超过 12 km/h，满载时不得超过8 km/h，否则内侧后轮可能离地。"
)
# the words under the first mark: those pieces of the text layer whose middle lies in it
UNDER = """panel => {
    const box = panel.querySelector(".panel-mark").getBoundingClientRect();
    const sheet = panel.querySelector(".panel-mark").closest(".panel-sheet");
    return [...sheet.querySelectorAll(".panel-words span")].filter(span => {
        const { left, right, top, bottom } = span.getBoundingClientRect();
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        return x > box.left && x < box.right && y > box.top && y < box.bottom;
    }).map(span => span.textContent).join(" ");
}"""
# for each page of a PDF, whether pdf.js draws it as the server does
RIGHT = """async id => {
    const { openPdf } = await import("/assets/source/pdf_open.js");
    const { infoOf } = await import("/assets/source/load.js");
    const { looksRight } = await import("/assets/source/compare.js");
    const { pdf, close } = await openPdf(await infoOf(id));
    const right = [];
    for (let n = 1; n <= pdf.numPages; n++) {
        const sheet = await pdf.getPage(n);
        const viewport = sheet.getViewport({ scale: 1.5 });
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [viewport.width, viewport.height];
        await sheet.render({ canvas, viewport }).promise;
        right.push(await looksRight(canvas, id, n));
    }
    close();
    return right;
}"""
IN_VIEW = """mark => {
    const [inner, outer] = [mark.getBoundingClientRect(),
        mark.closest(".panel-scroll").getBoundingClientRect()];
    return inner.top >= outer.top && inner.bottom <= outer.bottom && inner.height > 0;
}"""

# the text that stands at the top of the window
SEEN = """scroll => {
    const { left, top } = scroll.getBoundingClientRect();
    return document.elementFromPoint(left + 40, top + 60).closest(".panel-leaf").textContent;
}"""
SCROLLED = f"""before => {{
    const scroll = document.querySelector('.panel-text');
    const moved = ({SEEN})(scroll) !== before;
    if (!moved) scroll.scrollTop += 4000;
    return moved;
}}"""


@pytest.fixture
def manual(served: Served) -> str:
    return sample(served, "library", MANUAL)


def marked(panel: Locator) -> str:
    """The words in the panel's marks, in order; those of a page's snapshot stand in its shadow
    root.
    """
    panel.locator("mark").first.wait_for()
    return "".join(panel.locator("mark").all_text_contents())


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_pdf_shows_the_lines_that_are_cited(
    served: Served,
    manual: str,
    goto: Callable[..., Page],
    picture: Callable[..., None],
    axe: Callable[..., None],
) -> None:
    page = goto("/sites")
    citation = cite(served, manual, MANUAL, RIDER)
    panel = show(page, citation)
    drawn = panel.locator('[data-page="4"][data-drawn]')
    drawn.wait_for()
    assert "The limit of the box and the permitted total weight both apply" in panel.evaluate(UNDER)
    assert panel.locator(".panel-mark").first.evaluate(IN_VIEW)
    ((_, left, _, right, _),) = citation["boxes"]
    share = panel.locator(".panel-mark").evaluate(
        "mark => mark.offsetWidth / mark.offsetParent.offsetWidth"
    )
    assert (
        0.5 * (right - left) < share < 0.9 * (right - left)
    )  # the sentence, and not what follows it in its line
    expect(panel.get_by_label("Page", exact=True)).to_have_value("4")
    expect(panel.get_by_role("heading", level=2)).to_contain_text("Drover 2 Owner's Manual")
    expect(panel.locator(".panel-place")).to_contain_text("3.1 Load limits")
    axe(page)
    picture("source-pdf")
    assert 1 < panel.locator("canvas").count() < 6  # its neighbours, and not all ten pages


def test_pdf_by_keyboard(served: Served, manual: str, goto: Callable[..., Page]) -> None:
    """Zoom and pages are buttons; a mark that is zoomed stays in view; Esc closes, and the focus
    goes back.
    """
    page = goto("/sites")
    start = page.get_by_label("Start at")
    start.focus()
    panel = show(page, cite(served, manual, MANUAL, RIDER))
    expect(panel.get_by_role("heading", level=2)).to_be_focused()
    panel.locator('[data-page="4"][data-drawn]').wait_for()
    sheet = panel.locator('[data-page="4"]')
    before = sheet.evaluate("sheet => sheet.clientWidth")
    panel.get_by_role("button", name="Larger").press("Enter")
    panel.get_by_role("button", name="125 percent").wait_for()
    panel.locator('[data-page="4"][data-drawn]').wait_for()
    assert sheet.evaluate("sheet => sheet.clientWidth") == pytest.approx(1.25 * before, rel=0.02)
    assert panel.locator(".panel-mark").first.evaluate(IN_VIEW)
    panel.get_by_label("Page", exact=True).fill("9")
    panel.get_by_label("Page", exact=True).press("Enter")
    panel.locator('[data-page="9"][data-drawn]').wait_for()
    panel.get_by_role("button", name="Previous page").press("Enter")
    expect(panel.get_by_label("Page", exact=True)).to_have_value("8")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    expect(start).to_be_focused()


@pytest.mark.parametrize("language", ["zh"])
def test_chinese_pdf_shows_the_sentence_that_is_cited(
    served: Served, goto: Callable[..., Page], picture: Callable[..., None]
) -> None:
    page = goto("/sites")
    panel = show(page, cite(served, sample(served, "library", CHINESE), CHINESE, TURNING))
    panel.locator('[data-page="2"][data-drawn]').wait_for()
    assert TURNING[:10] in panel.evaluate(UNDER)
    assert panel.locator(".panel-mark").first.evaluate(IN_VIEW)
    expect(panel.get_by_role("heading", level=2)).to_contain_text("T300")
    picture("source-pdf-chinese")


@pytest.mark.parametrize(
    ("path", "pages"),
    [
        (f"library/{CHINESE}", 10),
        ("papers/基于货位层次的仓库备件检索方法.pdf", 5),
        ("papers/reserve-forecasting-for-cargo-bike-fleets.pdf", 6),
    ],
)
def test_samples_are_drawn_as_the_server_draws_them(
    served: Served, goto: Callable[..., Page], path: str, pages: int
) -> None:
    """The same letters at the same places on every page; so no picture takes the place of any."""
    doc_id = served.add("drawn", path.rpartition("/")[2], (SAMPLES / path).read_bytes())
    page = goto("/sites")
    assert page.evaluate(RIGHT, doc_id) == [True] * pages


@pytest.mark.parametrize("theme", ["dark"])
@pytest.mark.parametrize("language", ["zh"])
def test_pdf_with_wrong_glyphs_is_drawn_by_the_server(
    served: Served,
    goto: Callable[..., Page],
    picture: Callable[..., None],
    axe: Callable[..., None],
) -> None:
    """Some PDFs name the glyphs of their fonts in a way that pdf.js reads wrongly; it shows, and
    pictures take its place.
    """
    page = goto("/sites")
    name = "wrong-glyphs.pdf"
    doc_id = served.add(
        "library", name, with_wrong_glyphs((SAMPLES / "library" / CHINESE).read_bytes())
    )
    panel = show(page, cite(served, doc_id, name, TURNING))
    image = panel.get_by_role("img", name="第 2 页")
    expect(image).to_have_js_property("complete", value=True)
    assert image.evaluate("image => image.naturalWidth") > 1000
    expect(panel.locator(".panel-note")).to_contain_text("PDF")
    expect(
        panel.locator('[data-page="2"] .panel-words')
    ).to_be_attached()  # to be selected, over the server's picture
    expect(panel.locator('[data-page="2"] .panel-mark').first).to_be_in_viewport()
    axe(page)
    picture("source-pdf-pictures")
    panel.get_by_role("button", name="纯文本").click()
    assert marked(panel) == TURNING


def test_pdf_that_cannot_be_read_is_drawn_by_the_server(
    served: Served, manual: str, goto: Callable[..., Page]
) -> None:
    page = goto("/sites")
    page.route(
        "**/api/documents/*/file*",
        lambda route: route.fulfill(body=b"%PDF-1.7 nothing", content_type="application/pdf"),
    )
    panel = show(page, cite(served, manual, MANUAL, RIDER))
    expect(panel.get_by_role("img", name="Page 4")).to_have_js_property("complete", value=True)
    page.unroute("**/api/documents/*/file*")
    page.route("**/pages/*.png*", lambda route: route.fulfill(status=404))
    panel.get_by_role("button", name="Next page").click()
    assert marked(panel) == RIDER  # and where there are no pictures either, its text


@pytest.mark.parametrize(
    "quote",
    [
        "Ask for approval before you book.",
        "Estimated cost of the trip: up to €3,000 or CAD 4,500 | Approved by: your manager",
    ],
)
def test_web_page(
    served: Served,
    goto: Callable[..., Page],
    picture: Callable[..., None],
    axe: Callable[..., None],
    quote: str,
) -> None:
    """Also a row of a table, whose words in the text carry the heads of its columns."""
    page = goto("/sites")
    panel = show(page, cite(served, sample(served, "library", POLICY), POLICY, quote))
    words = marked(panel)
    assert words == quote if "|" not in quote else words == "up to €3,000 or CAD 4,500your manager"
    assert panel.locator("mark").first.evaluate(
        "mark => { const scroll = mark.getRootNode().host.parentElement.getBoundingClientRect();"
        " const { top, bottom } = mark.getBoundingClientRect(); return top >= scroll.top && "
        "bottom <= scroll.bottom }"
    )
    axe(page)
    picture("source-page")


def test_web_page_whose_words_are_elsewhere_is_shown_as_text(
    served: Served, goto: Callable[..., Page]
) -> None:
    """The snapshot lacks the quote, as where scripts wrote it: the text that was read has it."""
    doc_id = served.add(
        "library",
        "written.html",
        "<html><body><main><p>The tide turns at nine.</p></main></body></html>",
    )
    citation = cite(served, doc_id, "written.html", "The tide turns at nine.")
    page = goto("/sites")
    page.route(
        "**/api/documents/*/file*",
        lambda route: route.fulfill(body="<p>Loading</p>", content_type="text/html"),
    )
    panel = show(page, citation)
    assert marked(panel) == "The tide turns at nine."
    expect(panel.locator(".panel-note")).to_contain_text("looks different")


def test_long_text_is_drawn_in_part(goto: Callable[..., Page]) -> None:
    """Five million characters, letters of two units among them: the words are found, and little is
    drawn.
    """
    rows = [
        f"Row {n} \U0001f6b2 says nothing of note, and says it at some length to fill the page.\n"
        for n in range(65_000)
    ]
    quote = "Row 48000 is another one: here stands the answer \U0001f4a1 itself."
    rows[48_000] = quote + "\n"
    text = "".join(rows)
    start = text.index(quote)
    page = goto("/sites")
    info = {
        "doc_id": "doc_long",
        "title": "Long",
        "uri": "upload:long.txt",
        "media_type": "text/plain",
        "lang": "en",
    }
    sections = [
        {"heading_path": ["Beginning"], "start": 0, "end": 10},
        {"heading_path": ["End"], "start": 4_000_000, "end": 4_900_000},
    ]
    page.route(
        "**/api/documents/doc_long",
        lambda route: route.fulfill(json={**info, "sha256": "1", "pages": 0, "bytes": 5}),
    )
    content = {**info, "text": text, "pages": [], "sections": sections}
    page.route("**/api/documents/doc_long/content", lambda route: route.fulfill(json=content))
    place = {"start": start, "end": start + len(quote), "boxes": [], "page": None, "section": ""}
    panel = show(
        page,
        {
            **info,
            **place,
            "n": 1,
            "origin": "document",
            "quote": quote,
            "status": "verified",
            "fetched_at": None,
        },
    )
    assert marked(panel) == quote
    assert panel.locator("mark").evaluate(IN_VIEW)
    scroll = panel.locator(".panel-text")
    assert len(scroll.text_content() or "") < 150_000
    for _ in range(12):  # to where the first rows that were drawn have been left behind
        # what is seen, not how far: the window of drawn text moves along; at its end one scrolls
        # again until more is drawn
        until(page, SCROLLED, scroll.evaluate(SEEN))
    seen = scroll.evaluate(SEEN)
    assert int(re.findall(r"Row (\d+)", seen)[0]) > 48_000
    panel.get_by_label("Go to a section…").select_option("End")
    expect(scroll).not_to_contain_text(seen[200:260])
    assert len(scroll.text_content() or "") < 150_000


def test_document_that_is_gone_or_other_now(served: Served, goto: Callable[..., Page]) -> None:
    page = goto("/sites")
    first = served.add("changing", "plan.md", "# Plan\n\nWe leave at dawn.\n")
    citation = cite(served, first, "plan.md", "We leave at dawn.")
    assert (
        served.add("changing", "plan.md", "# Plan\n\nBring bread.\n\nWe leave at dawn.\n") == first
    )
    panel = show(page, citation)
    assert marked(panel) == "We leave at dawn."
    expect(panel.locator(".panel-note")).to_contain_text("in another place")
    served.add("changing", "plan.md", "# Plan\n\nWe stay.\n")
    panel = show(page, citation | {"n": 2})
    expect(panel.locator(".panel-note")).to_contain_text("no longer contains the quote")
    served.api("DELETE", f"/documents/{first}")
    panel = show(page, citation | {"n": 3})
    expect(panel.get_by_text("This document no longer exists.")).to_be_visible()
    expect(panel.locator(".panel-body blockquote")).to_have_text("We leave at dawn.")


def test_rows_memory_and_correction(goto: Callable[..., Page], axe: Callable[..., None]) -> None:
    base: dict[str, Any] = {
        "page": None,
        "section": "",
        "start": 0,
        "end": 9,
        "boxes": [],
        "score": 1,
        "status": "verified",
        "fetched_at": None,
    }
    quote = "city: Delft; note: a; b: c; sum: 3\ncity: Gouda; note: NULL; sum: 4"
    rows = {
        **base,
        "n": 1,
        "origin": "table",
        "doc_id": "sales",
        "title": "sales",
        "uri": "table:sales",
        "quote": quote,
    }
    data = {
        "source": "sales",
        "sql": "SELECT city, note, SUM(n) AS sum FROM t",
        "columns": ["city", "note", "sum"],
        "rows": [],
    }
    memory = {
        **base,
        "n": 2,
        "origin": "memory",
        "doc_id": "mem_1",
        "title": "Memory",
        "uri": "memory:mem_1",
        "quote": "You like tea.",
    }
    rule = {
        **base,
        "n": 3,
        "origin": "confirmed",
        "doc_id": "rul_1",
        "title": "Rule",
        "uri": "rule:rul_1",
        "quote": "Use net sums.",
    }
    page = goto("/sites")
    panel = show(page, rows, [rows, memory, rule], {"data": data})
    cells = [row.locator("td").all_text_contents() for row in panel.locator("tbody tr").all()]
    assert cells == [["Delft", "a; b: c", "3"], ["Gouda", "NULL", "4"]]
    expect(panel.locator("code")).to_have_text(str(data["sql"]))
    axe(page, "dialog.panel")
    panel.get_by_role("button", name="Next citation").click()
    assert marked(panel) == "You like tea."
    expect(panel.get_by_role("link", name="See and edit")).to_have_attribute("href", "#/memory")
    panel.get_by_role("button", name="Next citation").click()
    assert marked(panel) == "Use net sums."
    expect(panel.get_by_role("button", name="Next citation")).to_be_disabled()


def test_quote_is_copied_and_original_is_linked(served: Served, goto: Callable[..., Page]) -> None:
    page = goto("/sites")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    citation = cite(
        served, sample(served, "library", POLICY), POLICY, "Ask for approval before you book."
    )
    panel = show(
        page,
        citation
        | {"uri": "https://example.com/policy#s1", "origin": "web", "fetched_at": 1_790_000_000.0},
    )
    panel.get_by_role("button", name="Copy the quote").click()
    expect(panel.locator(".panel-said")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "Ask for approval before you book."
    expect(panel.get_by_role("link", name="Original page")).to_have_attribute(
        "href", "https://example.com/policy#s1"
    )
    expect(panel.locator(".panel-place")).to_contain_text("fetched 21 Sept 2026")
    panel = show(page, citation | {"n": 2, "uri": "javascript:alert(1)"})
    expect(panel.get_by_role("link", name="Original page")).to_have_count(0)


def test_width_is_pulled_and_kept(served: Served, manual: str, goto: Callable[..., Page]) -> None:
    page = goto("/sites")
    panel = show(page, cite(served, manual, MANUAL, RIDER))
    edge = panel.get_by_role("separator")
    before = panel.evaluate("panel => panel.clientWidth")
    edge.press("ArrowRight")
    edge.press("ArrowRight")
    narrow = panel.evaluate("panel => panel.clientWidth")
    assert narrow == before - 64
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 2, box["y"] + 300)
    page.mouse.down()
    page.mouse.move(box["x"] + 102, box["y"] + 300, steps=4)
    page.mouse.up()
    assert panel.evaluate("panel => panel.clientWidth") == narrow - 100
    page.reload()
    panel = show(page, cite(served, manual, MANUAL, RIDER))
    assert panel.evaluate("panel => panel.clientWidth") == narrow - 100


@pytest.mark.parametrize("width", [360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phone(
    served: Served,
    manual: str,
    goto: Callable[..., Page],
    picture: Callable[..., None],
    axe: Callable[..., None],
) -> None:
    """It covers the page, nothing behind it can be reached, and nothing is wider than the
    window.
    """
    page = goto("/sites")
    panel = show(page, cite(served, manual, MANUAL, LOAD))
    panel.locator('[data-page="4"][data-drawn]').wait_for()
    assert panel.evaluate(
        "panel => [panel.matches(':modal'), panel.clientWidth, panel.clientHeight]"
    ) == [True, 360, 800]
    assert panel.locator(".panel-mark").first.evaluate(IN_VIEW)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert panel.evaluate("panel => panel.scrollWidth") <= 360
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || "
            "!!document.activeElement.closest('dialog.panel')"
        )
    axe(page)
    picture("source-phone")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)


def test_whole_document(served: Served, manual: str, goto: Callable[..., Page]) -> None:
    """As the library opens one: from its beginning, without a quote, or at a page."""
    page = goto("/sites")
    opening = {"doc_id": manual, "title": "Manual", "uri": f"upload:{MANUAL}"}
    call = "async opening => (await import('/assets/source/panel.js')).openDocument(opening)"
    page.evaluate(call, opening)
    panel = page.locator("dialog.panel")
    panel.locator('[data-page="1"][data-drawn]').wait_for()
    expect(panel.locator(".panel-quote")).to_have_count(0)
    with page.expect_download() as download:
        panel.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == MANUAL
    page.evaluate(call, opening | {"page": 7})
    panel.locator('[data-page="7"][data-drawn]').wait_for()
