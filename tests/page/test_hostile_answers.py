"""What a model answers, what stands in addresses and files, and what is made to last long: nothing
of it is run, or hangs.

The one rule: an answer is told to the page as the server would, event by event; what it looks like
is asked of the browser.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from tests.page.conftest import Served
from tests.page.hostile import LOOK, MARK, OURS, STILL, WORDS, batches, looked_at, theirs
from tests.page.told import answer

Goto = Callable[..., Page]
# ms, on a loaded machine: the worst takes one or two seconds where nothing else runs
SLOWEST = 15_000
READ = """async ([text, citations]) => {
    const { fragmentOf } = await import("/assets/ui/markdown_dom.js");
    await (await import("/assets/ui/late.js")).formulas.fetch();
    const words = { copy: "c", table: "t", code: "k", cite: (n) => `c${n}`, verdict: () => "v" };
    const start = performance.now();
    fragmentOf(text, { citations, sentences: [], words });
    return performance.now() - start;
}"""
PIECES = (
    *(
        "[",
        "![",
        "](",
        "\\[",
        "\\(",
        "$",
        "$x",
        "`",
        "``x",
        "*",
        "**a",
        "_a ",
        "~~",
        "<",
        "<!--",
        "<a ",
        "&#",
        "> ",
        "- ",
        "  - ",
    ),
    *(
        "1. ",
        "| a ",
        "#",
        "[1",
        "[1] ",
        "[1,",
        "http://a",
        "a@b.",
        "\t",
        "\n",
        " \n",
        "\\",
        "***a*",
        "[a](b ",
        "[a]: ",
        "<b>",
        "(",
    ),
    *("\U0001f600", "字", "```\n"),
)


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_LLM": "none"}


@pytest.fixture
def watched(page: Page, served: Served) -> Iterator[list[str]]:
    with looked_at(page, served.url) as wrong:
        yield wrong


def told(strings: Sequence[str]) -> bytes:
    """The events of an answer whose every text is one of these, a chart and a statement among
    them.
    """
    first, text = strings[0], "\n\n".join(strings)
    cell = [text.replace("\n", " ") for text in strings]
    citation = answer()["citations"][0] | {
        "title": first,
        "uri": first,
        "section": first,
        "quote": text,
    }
    said = answer(
        answer=f"{text} [1]\n\n| {cell[0]} | b |\n|---|---|\n| {cell[-1]} | 1 |\n\n## "
        f"{cell[0]}\n\n- {cell[-1]}\n\n> {first}",
        sentences=[{"text": first, "citations": [1], "verdict": "weak", "problems": [text]}],
        citations=[citation],
        warnings=list(strings),
        agent_reason=first,
        route=first,
        agent="data",
        data={
            "source": "ships",
            "dialect": "duckdb",
            "sql": text,
            "columns": [first, "n"],
            "rows": [[each, n] for n, each in enumerate(strings)],
            "row_count": len(strings),
            "truncated": False,
            "chart": {"kind": "bar", "x": first, "y": ["n"], "title": text},
            "tried": [{"sql": first, "problem": text}],
        },
        followed=[
            {
                "item_id": "item_1",
                "kind": "rule",
                "how": "rule",
                "question": text,
                "text": text,
                "confirmed_by": [first],
            }
        ],
        error_info={"message": text},
    )
    step = {
        "n": 1,
        "node": "Generate SQL",
        "action": first,
        "seconds": 0.1,
        "detail": {"sql": text, first[:40]: [text]},
    }
    events = [
        ("step", step),
        *(("token", {"text": each}) for each in strings),
        ("citation", citation),
    ]
    events += [*(("warning", {"text": each}) for each in strings), ("answer", said)]
    return "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in events).encode()


def ask(page: Page, strings: Sequence[str]) -> None:
    def reply(route: Route) -> None:
        route.fulfill(status=200, content_type="text/event-stream", body=told(strings))

    page.route("**/api/ask*", reply)
    box = page.get_by_role("textbox", name=re.compile("Your question"))
    shown = page.get_by_role("article", name="Answer")
    before = shown.count()
    box.fill(strings[0].encode("utf-8", "replace").decode())
    box.press("Enter")
    expect(shown).to_have_count(before + 1)
    page.evaluate(STILL)
    page.unroute("**/api/ask*")


def test_answers_of_ours(page: Page, goto: Goto, watched: list[str]) -> None:
    """Each is text where it stands, its marks among it; what is hidden at first is opened too."""
    for batch in batches(OURS, 4):
        goto("/ask")
        ask(page, batch)
        page.evaluate(
            "() => document.querySelectorAll('article details').forEach((each) => (each.open = "
            "true))"
        )
        page.evaluate(STILL)
        words = str(page.evaluate(WORDS))
        assert MARK in words
        assert page.evaluate(LOOK) == [], batch
        assert watched == [], batch
    goto("/ask")
    ask(page, [OURS[0]])
    expect(page.get_by_role("article", name="Answer").last).to_contain_text(
        "<script>top.__hit=1</script>"
    )


def test_answers_of_theirs(shared_data: Path, page: Page, goto: Goto, watched: list[str]) -> None:
    goto("/ask")
    for batch in batches(theirs(shared_data), 12):
        ask(page, batch)
        assert page.evaluate(LOOK) == [], batch
        assert watched == [], batch


def test_markdown_of_any_length_is_soon_read(page: Page, goto: Goto, watched: list[str]) -> None:
    """No piece of it, said again and again, keeps the page from working."""
    goto("/settings")
    took = {
        piece: page.evaluate(READ, [piece * (size // len(piece)), [{"n": 1}]])
        for piece in PIECES
        for size in (19_999, 10**5)
    }
    assert {piece: seconds for piece, seconds in took.items() if seconds > SLOWEST} == {}
    assert watched == []


def test_addresses(page: Page, goto: Goto, watched: list[str], served: Served) -> None:
    """What a link into the page says is a name, whatever it says; names that objects have by
    themselves are none of ours.
    """
    for tail in (
        "knowledge/constructor",
        "knowledge/__proto__",
        "constructor",
        "__proto__",
        "toString/x",
        "ask/%3Cimg%20src=x%20onerror=top.__hit=1%3E",
        "library/%22%3E%3Cscript%3Etop.__hit=1%3C%2Fscript%3E",
        "traces/javascript:top.__hit=1?tab=__proto__",
        "data/..%2F..%2Fsign-out",
        "sites/%E0%A4%A?x=%",
        "papers/%00?__proto__[polluted]=1&constructor.prototype.polluted=1",
        "settings?__proto__=1",
        "javascript:top.__hit=1",
    ):
        page.goto(f"{served.url}/#/{tail}")
        page.locator("main").wait_for()
        page.evaluate(STILL)
        assert page.evaluate(LOOK) == [], tail
        assert watched == [], tail
        assert (
            len(str(page.evaluate("() => document.querySelector('main').innerText")).strip()) > 10
        ), tail


@pytest.mark.parametrize("name", ["p.html", "x.xml", "m.md"])
def test_originals_are_downloads(
    name: str, page: Page, served: Served, goto: Goto, watched: list[str]
) -> None:
    """Even where somebody opens one by its address."""
    script = "<script xmlns='http://www.w3.org/1999/xhtml'>top.__hit=1; alert(1)</script>"
    text = (
        f"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'>{script}<text>The pier is "
        "long.</text></svg>"
    )
    doc_id = served.add(
        "originals", name, text if name == "x.xml" else f"The pier is long. {script}"
    )
    reply = served.client.get(f"/api/documents/{doc_id}/file")
    assert reply.headers["content-disposition"].startswith("attachment;")
    assert "sandbox" in reply.headers["content-security-policy"]
    assert reply.headers["x-content-type-options"] == "nosniff"
    goto("/ask")
    with page.expect_download():
        page.evaluate("(href) => { location.href = href; }", f"/api/documents/{doc_id}/file")
