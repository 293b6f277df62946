"""The data view: from nothing to an answer with its rows, chart and statement; and what is wrong is
said in words.

The one rule: figures on the page are held against what the API says, never against the page itself.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import EVERY_LOOK, PATIENCE, Served
from tests.page.test_library import DROP

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "data"
BY_FUNCTION = (
    'SELECT "Function", SUM("Cost") AS total FROM "Costs" GROUP BY "Function" ORDER BY total DESC'
)
QUESTION = "What does each function cost in total?"
LONG = 4 * PATIENCE * 1000  # ms for work on a loaded machine
RESULT = """async ([data]) => {
    const { html, render } = await import("/assets/ui/html.js");
    const { DataResult } = await import("/assets/data/result.js");
    const place = document.querySelector(".view") ?? document.body;
    const box = place.appendChild(document.createElement("div"));
    box.id = "made";
    render(html`<${DataResult} data=${data} />`, box);
}"""
DRAWN = """async (canvas) => {
    for (let n = 0; n < 600; n++) {
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        if (data.some(Boolean)) return true;
        await new Promise((done) => setTimeout(done, 50));
    }
    return false;
}"""


@pytest.fixture(scope="module")
def replies() -> list[Any]:
    return [{"reply": {"sql": BY_FUNCTION}}] * 12


@pytest.fixture
def costs(served: Served) -> str:
    """A source of that name; the same file again leaves it as it is."""
    with (SAMPLES / "costs.xlsx").open("rb") as file:
        added = served.api(
            "POST", "/data/sources", files={"file": ("costs.xlsx", file)}, timeout=4 * PATIENCE
        )
    return str(added["name"])


def made(page: Page, goto: Any, **values: Any) -> None:
    """A result that no model need be asked for."""
    goto("/data")
    page.locator(".data-head").wait_for()
    data = {
        "source": "shop",
        "dialect": "duckdb",
        "sql": "SELECT 1",
        "truncated": False,
        "chart": None,
        "tried": [],
    }
    page.evaluate(RESULT, [{"row_count": len(values["rows"]), **data, **values}])
    page.locator("#made .data-result").wait_for()


def test_from_nothing_to_tables_and_words(served: Served, page: Page, goto: Any) -> None:
    goto("/data")
    expect(page.get_by_role("heading", name="No tables yet")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Add a file").click()
    chooser.value.set_files(SAMPLES / "costs.xlsx")
    expect(page.get_by_role("heading", name="costs")).to_be_visible(timeout=LONG)
    page.get_by_text("Skipped or changed while reading: 1").click()
    expect(page.get_by_text("adds up rows above it and is left out")).to_be_visible()
    page.get_by_role("tab", name="Tables").click()
    page.get_by_label("Choose a table").select_option("Costs")
    schema = page.get_by_role("region", name="Columns of Costs")
    table = served.api("GET", "/data/sources/costs/schema", params={"table": "Costs"})["tables"][0]
    for column in table["columns"]:
        row = schema.get_by_role("row", name=re.compile(f"^{column['name']} "))
        expect(row).to_contain_text(column["type"])
        expect(row).to_contain_text(
            column["values"][0] if column["values"] else str(column["highest"])
        )
    rows = page.get_by_role("region", name="First rows of Costs")
    first = served.api("GET", "/data/sources/costs/rows", params={"table": "Costs", "limit": 1})[
        "rows"
    ][0]
    *names, month, cost = first
    assert month == "2025-01"
    expect(rows.locator("tbody tr").first).to_have_text(
        "".join(names) + f"January 2025{cost:,}", use_inner_text=False
    )
    page.get_by_role("tab", name="Description").click()
    expect(page.get_by_text("This is a draft made of the tables.")).to_be_visible()
    box = page.get_by_label("Description in YAML")
    written = (SAMPLES / "costs.yaml").read_text("utf-8")
    box.fill(written.replace("Costs.Cost", "Costs.Csot"))
    expect(page.get_by_text("Not saved yet")).to_be_visible()
    page.get_by_role("button", name="Save description").click()
    expect(page.locator(".data-wrong")).to_contain_text("did you mean Cost?")
    assert served.api("GET", "/data/sources/costs")["described"] is False
    box.fill(written)
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("It fits: 1 metric and 0 filters tried")).to_be_visible()
    page.get_by_role("button", name="Save description").click()
    expect(page.get_by_text("Description saved")).to_be_visible()
    assert served.api("GET", "/data/sources/costs/description")["text"] == written


def test_a_question_its_rows_and_its_statement(costs: str, page: Page, goto: Any) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    goto(f"/data/{costs}")
    page.get_by_role("textbox", name="Your question").fill(QUESTION)
    page.keyboard.press("Enter")
    result = page.locator(".data-result")
    expect(result).to_be_visible(timeout=LONG)
    chart = result.get_by_role("img")
    expect(chart).to_have_attribute(
        "aria-label", re.compile(r"^Bar chart: .*IT: 307,191.27; Facilities: 201,141.61")
    )
    assert chart.evaluate("each => each.width > 100 && each.height > 100")
    result.get_by_role("radio", name="Table").check()
    rows = result.locator("tbody tr")
    expect(rows).to_have_count(5)
    expect(rows.first).to_contain_text("307,191.27")
    heads = result.get_by_role("columnheader")
    result.get_by_role("button", name="Function").click()
    expect(heads.first).to_have_attribute("aria-sort", "ascending")
    expect(rows.first).to_contain_text("Facilities")
    result.get_by_role("button", name="total").click()
    result.get_by_role("button", name="total").click()
    expect(heads.nth(1)).to_have_attribute("aria-sort", "ascending")
    expect(rows.first).to_contain_text("HR")
    result.get_by_text("Query", exact=True).click()
    result.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == BY_FUNCTION
    with page.expect_download() as download:
        result.get_by_role("button", name="Download").click()
        result.get_by_role("menuitem", name="CSV").click()
    text = Path(download.value.path()).read_text("utf-8-sig")
    assert list(csv.reader(io.StringIO(text)))[:2] == [["Function", "total"], ["IT", "307191.27"]]
    assert download.value.suggested_filename == "costs.csv"
    page.get_by_text("Details", exact=True).click()
    page.get_by_text("Steps", exact=True).click()
    expect(page.get_by_text("Generate SQL", exact=True).first).to_be_visible()


def test_a_vote_and_a_follow_up(served: Served, costs: str, page: Page, goto: Any) -> None:
    """The answer is said to be right; the page tells what became of it; a second question goes on
    in the same session.
    """
    goto(f"/data/{costs}")
    for n in (1, 2):
        page.get_by_role("textbox", name="Your question").fill(f"{QUESTION} {'Again.' * (n - 1)}")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".turn").nth(n - 1).locator(".answer")).to_be_visible(timeout=LONG)
    page.locator(".turn").first.locator(".feedback-thumbs button").first.click()
    expect(page.locator(".turn").first.locator(".feedback-state")).not_to_be_empty()
    [vote] = served.api("GET", "/feedback")["feedback"]
    assert vote["is_correct"] is True
    sessions = [
        each for each in served.api("GET", "/sessions")["sessions"] if each["messages"] == 4
    ]
    assert len(sessions) == 1
    page.get_by_role("tab", name="Tables").click()
    page.get_by_role("tab", name="Ask").click()
    expect(page.locator(".turn")).to_have_count(2)
    here = page.get_by_role("region", name="Ask costs")
    here.get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)


def test_files_that_are_no_tables_and_names_that_are_taken(
    served: Served, costs: str, page: Page, goto: Any
) -> None:
    goto("/data")
    page.locator(".data-card").first.wait_for()
    page.evaluate(
        DROP, [[["words.csv", ""], ["orders.csv", (SAMPLES / "orders.csv").read_text("utf-8")]]]
    )
    failed = page.locator(".data-sending.failed")
    expect(failed).to_contain_text("words.csv is empty", timeout=LONG)
    expect(page.get_by_role("link", name="orders")).to_be_visible(timeout=LONG)
    failed.get_by_role("button", name="Close").click()
    expect(failed).to_have_count(0)
    page.evaluate(DROP, [[["costs.csv", "a,b\n1,2\n"]]])
    expect(failed).to_contain_text("there already", timeout=LONG)
    failed.get_by_label("Name of the source").fill("other costs")
    failed.get_by_role("button", name="Add under another name").click()
    expect(page.get_by_role("link", name="other costs")).to_be_visible(timeout=LONG)
    page.get_by_role("link", name="other costs").click()
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_role("heading", name="Sources", exact=True)).to_be_visible()
    assert "other costs" not in {
        each["name"] for each in served.api("GET", "/data/sources")["sources"]
    }
    assert costs in {each["name"] for each in served.api("GET", "/data/sources")["sources"]}


def test_a_newer_file_takes_the_place_of_the_one_that_was_sent(
    served: Served, page: Page, goto: Any
) -> None:
    served.api("POST", "/data/sources", files={"file": ("ships.csv", b"ship,tons\nAda,5\n")})
    goto("/data/ships")
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload a newer file").click()
    chooser.value.set_files(
        {"name": "ships (2).csv", "mimeType": "text/csv", "buffer": b"ship,tons\nAda,5\nBo,7\n"}
    )
    expect(page.get_by_text("ships was replaced")).to_be_visible(timeout=LONG)
    assert served.api("GET", "/data/sources/ships")["tables"][0]["rows"] == 2


def test_a_server_that_does_not_answer(page: Page, goto: Any) -> None:
    """The password is in what is sent, and nowhere else: not in the message, not on the page."""
    goto("/data")
    page.get_by_role("button", name="Connect a server").click()
    asked = page.get_by_role("dialog")
    asked.get_by_label("Address").fill("postgresql://reader@127.0.0.1:1/shop")
    asked.get_by_label("Password").fill("s3cret/%@")
    assert asked.get_by_label("Password").get_attribute("type") == "password"
    with page.expect_request("**/api/data/sources") as request:
        asked.get_by_role("button", name="Connect").click()
    assert (request.value.post_data_json or {})[
        "url"
    ] == "postgresql://reader:s3cret%2F%25%40@127.0.0.1:1/shop"
    expect(asked.get_by_role("alert")).to_be_visible(timeout=LONG)
    expect(asked.get_by_text("Check that the server is running")).to_be_visible()
    assert "s3cret" not in page.locator("body").inner_text()
    asked.get_by_label("Address").fill("sqlite:////etc/passwd")
    asked.get_by_role("button", name="Connect").click()
    expect(asked.get_by_role("alert")).to_contain_text("only databases of a server")


def test_a_thousand_rows_of_forty_columns(page: Page, goto: Any) -> None:
    columns = ["id", *[f"column {n}" for n in range(39)]]
    rows = [[n, *[None if (n + at) % 7 == 0 else n * at for at in range(39)]] for n in range(1_000)]
    made(page, goto, columns=columns, rows=rows, truncated=True)
    result = page.locator("#made")
    expect(result.get_by_text("There are more rows; these are the first 1000.")).to_be_visible()
    expect(result.get_by_text("1 to 100 of 1000 rows")).to_be_visible()
    assert result.locator("tbody tr").count() == 100
    result.get_by_role("button", name="Next").click()
    expect(result.locator("tbody tr td").first).to_have_text("100")
    result.get_by_role("button", name="id").first.click()
    expect(result.locator("tbody tr td").first).to_have_text("999")
    expect(result.get_by_text("1 to 100 of 1000 rows")).to_be_visible()
    assert result.locator("tbody tr td.figure .null").first.inner_text() == "NULL"
    assert (
        result.locator("tbody td.figure").first.evaluate("each => getComputedStyle(each).textAlign")
        == "end"
    )
    assert page.locator(".main").evaluate("each => each.scrollWidth - each.clientWidth") <= 0
    assert result.locator(".data-scroll").evaluate("each => each.scrollWidth > each.clientWidth")


def test_cells_are_neither_markup_nor_formulas(page: Page, goto: Any) -> None:
    attack = '=HYPERLINK("http://x.example","y")'
    rows = [
        [attack, -5, "-2.50"],
        ["<img src=x onerror=alert(1)>", 7, "+1"],
        ["@SUM(A1)", None, "x" * 400],
        ['a,b\n"c"', 0, ""],
    ]
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    made(
        page,
        goto,
        columns=["=name", "figure", "text"],
        rows=rows,
        sql="SELECT '<script>alert(1)</script>'",
    )
    result = page.locator("#made")
    expect(result.get_by_text("<img src=x onerror=alert(1)>")).to_be_visible()
    expect(result.locator("pre")).to_have_text("SELECT '<script>alert(1)</script>'")
    assert result.locator("img[src], script").count() == 0
    cell = result.locator("td", has_text="xxx")
    cell.get_by_role("button", name="Show all").click()
    expect(cell).to_contain_text("x" * 400)
    with page.expect_download() as download:
        result.get_by_role("button", name="Download").click()
        result.get_by_role("menuitem", name="CSV").click()
    lines = list(
        csv.reader(
            io.StringIO(Path(download.value.path()).read_bytes().decode("utf-8-sig"), newline="")
        )
    )
    assert lines == [
        ["'=name", "figure", "text"],
        ["'" + attack, "-5", "-2.50"],
        ["<img src=x onerror=alert(1)>", "7", "'+1"],
        ["'@SUM(A1)", "", "x" * 400],
        ['a,b\n"c"', "0", ""],
    ]


KINDS = [
    ("bar", "Bar", "March 2026"),
    ("line", "Line", "January 2026"),
    ("pie", "Pie", "March 2026"),
    ("scatter", "Scatter", "1: 10"),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("kind", "said", "first"), KINDS)
def test_charts(page: Page, goto: Any, kind: str, said: str, first: str, picture: Any) -> None:
    """Each kind is drawn, and says its figures to who does not see it; a line begins with the
    earliest.
    """
    x = [1, 2, 3, 4, 5, 6, 7, 8] if kind == "scatter" else ["2026-03", "2026-01", "2026-02"]
    y = ["tons"] if kind in {"pie", "scatter"} else ["tons", "crew"]
    rows = [[each, n * 12.5 + 10, n + 2] for n, each in enumerate(x)]
    made(
        page,
        goto,
        columns=["when", "tons", "crew"],
        rows=rows,
        chart={"kind": kind, "x": "when", "y": y, "title": "Ships"},
    )
    canvas = page.locator("#made canvas")
    name = canvas.get_attribute("aria-label") or ""
    assert name.startswith(f"{said} chart: Ships. {first}")
    assert canvas.evaluate(DRAWN), "nothing is drawn"
    picture(f"data-chart-{kind}")
    page.locator("#made").get_by_role("radio", name="Table").check()
    expect(canvas).to_have_count(0)
    expect(page.locator("#made tbody tr")).to_have_count(len(rows))


@EVERY_LOOK
def test_it_can_be_used_by_everybody(
    costs: str, page: Page, goto: Any, axe: Any, picture: Any
) -> None:
    """axe finds nothing, nothing is wider than the window, in both themes and languages."""
    goto("/data")
    page.locator(".data-card").first.wait_for()
    looked_at(page, axe)
    picture("data")
    goto(f"/data/{costs}")
    page.get_by_role("tab").nth(1).click()
    page.locator(".data-table").wait_for()
    looked_at(page, axe)
    picture("data-tables")
    page.get_by_role("tab").nth(2).click()
    page.locator(".data-description").wait_for()
    looked_at(page, axe)
    page.get_by_role("tab").nth(0).click()
    page.locator(".composer-text").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator(".data-result canvas").wait_for(timeout=LONG)
    looked_at(page, axe)
    picture("data-answer")


def looked_at(page: Page, axe: Any) -> None:
    axe(page)
    assert page.locator(".main").evaluate("each => each.scrollWidth - each.clientWidth") <= 0, (
        "wider than the window"
    )
