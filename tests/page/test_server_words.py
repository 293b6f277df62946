"""What the server says is told in the page's language, which may change at any time."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Page, expect
from tests.page.conftest import Served

SAID = """async json => {
    const { said, revived } = await import("/assets/said.js");
    return JSON.parse(json, revived).map((text) => [String(text), said(text)]);
}"""
WITHIN = """async json => {
    const { saidWithin, revived } = await import("/assets/said.js");
    return saidWithin(JSON.parse(json, revived));
}"""
TOLD = """[
    {"texts": {"en": "it is empty", "zh": "是空的"}}, "plain", {"texts": {"en": "no Chinese"}},
    "已有中文。"
]"""


@pytest.mark.parametrize("language", ["zh"])
def test_texts_are_told_in_the_language_of_the_page(goto: Callable[..., Page]) -> None:
    """To whoever does not ask for the language, such a text is its English."""
    page = goto("/settings")
    plain = [["plain", "plain"], ["no Chinese", "no Chinese"], ["已有中文。", "已有中文。"]]
    assert page.evaluate(SAID, TOLD) == [["it is empty", "是空的"], *plain]
    held = f'{{"why": {TOLD}, "n": 1, "none": null}}'
    told = {"why": ["是空的", "plain", "no Chinese", "已有中文。"], "n": 1, "none": None}
    assert page.evaluate(WITHIN, held) == told
    page.get_by_role("radio", name="English").check(force=True)
    expect(page.locator("html")).to_have_attribute("lang", "en")
    assert page.evaluate(SAID, TOLD) == [["it is empty", "it is empty"], *plain]


@pytest.mark.parametrize("language", ["zh"])
def test_a_file_that_cannot_be_read(
    page: Page, goto: Callable[..., Page], picture: Callable[..., None]
) -> None:
    window = goto("/library")
    with page.expect_file_chooser() as chooser:
        window.get_by_role("button", name="添加文件").first.click()
    files = [("空.txt", b""), ("坏.pdf", b"%PDF-")]
    chooser.value.set_files(
        [FilePayload(name=name, mimeType="text/plain", buffer=data) for name, data in files]
    )
    expect(window.get_by_text("空.txt 是空的")).to_be_visible()
    expect(window.get_by_text(re.compile("^坏.pdf 已损坏：不是 PDF"))).to_be_visible()
    picture("server-words-files")


def test_a_refusal_of_the_api(served: Served, goto: Callable[..., Page]) -> None:
    """A program gets the language it asks for, and the page the one it is in, changed or not."""
    english, chinese = "no collection named 没有", "没有名为没有的文档集"
    for accepted, told in (("", english), ("zh-CN", chinese)):
        reply = served.client.get("/api/collections/没有", headers={"Accept-Language": accepted})
        assert reply.json()["error"]["message"] == told
    window = goto("/library/没有")
    expect(window.get_by_role("alert")).to_contain_text(english)
    window.evaluate("async () => { (await import('/assets/state.js')).lang.value = 'zh'; }")
    expect(window.get_by_role("alert")).to_contain_text(chinese)
