"""Settings on the page: a chat model is connected, tested and used; what is said elsewhere is shown
and stays; the size of the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.interfaces.model_server import ModelServer, run_model_server
from tests.page.conftest import Served

KEY = "sk-typed-on-the-page-1"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """No chat model is named, and none is here; what the web is searched with is."""
    return {
        "CITEWELL_LLM": "",
        "CITEWELL_WARM": "false",
        "CITEWELL_CACHE": str(tmp_path_factory.mktemp("cache")),
        "CITEWELL_WEB__PROVIDER": "wikipedia",
    }


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with run_model_server(KEY) as made:
        yield made


def choose(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name, exact=True).check(force=True)


def test_a_model_is_connected(
    page: Page,
    goto: Callable[..., Page],
    served: Served,
    server: ModelServer,
    axe: Callable[..., None],
    picture: Callable[..., None],
) -> None:
    """The wrong key is told; with the right one the server's models are listed, the chosen one is
    tested and answers from then on; the key is nowhere in the page.
    """
    goto("/settings")
    card = page.get_by_role("region", name="Chat model")
    expect(card.get_by_role("button", name="Download (1.1 GB)")).to_be_visible()
    choose(page, "Your own server")
    card.get_by_label("Server", exact=True).select_option(label="Another OpenAI-compatible server")
    card.get_by_label("Address").fill(server.url.removesuffix("/v1"))
    card.get_by_label("Model", exact=True).fill("m")
    card.get_by_label("Key").fill("sk-another-one")
    test = card.get_by_role("button", name="Test", exact=True)
    test.click()
    expect(card.get_by_role("alert")).to_contain_text("status 401")
    card.get_by_label("Key").fill(KEY)
    card.get_by_label("Model", exact=True).fill("")
    test.click()
    card.get_by_role("button", name="m", exact=True).click()
    test.click()
    expect(card.get_by_text("m answers.")).to_be_visible()
    expect(card.get_by_text("32,768 tokens")).to_be_visible()
    axe(page)
    picture("settings-model")
    card.get_by_role("button", name="Save and use").click()
    expect(card.get_by_text("A key is stored.")).to_be_visible()
    assert served.api("GET", "/ready")["model"] == "m"
    served.add("default", "tower.txt", "The tower of Norden is 41 metres tall. It has a bell.")
    served.api("POST", "/ask", json={"question": "How tall is the tower of Norden?"})
    assert ("/v1/chat/completions", KEY) in server.came
    page.reload()
    expect(card.get_by_label("Address")).to_have_value(server.url)
    assert KEY not in page.content()
    assert KEY not in served.log()
    choose(page, "None")
    card.get_by_role("button", name="Use this").click()
    expect(page.get_by_text("Saved. Your next question uses it.").first).to_be_visible()
    assert served.api("GET", "/settings")["model"]["llm"] == "none"


def test_memory_off_and_on(page: Page, goto: Callable[..., Page], served: Served) -> None:
    goto("/settings")
    box = page.get_by_role("checkbox", name="Memory")
    expect(box).to_be_checked()
    box.uncheck()
    expect(page.get_by_text("Saved.", exact=True).first).to_be_visible()
    assert served.api("GET", "/settings")["memory"]["on"] is False
    box.check()
    expect(box).to_be_checked()


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(("width", "theme"), [(390, "dark"), (1280, "light")])
def test_what_is_said_elsewhere(
    page: Page,
    goto: Callable[..., Page],
    language: str,
    axe: Callable[..., None],
    picture: Callable[..., None],
) -> None:
    """A variable of the environment is named, and its field cannot be changed."""
    goto("/settings")
    words = {"en": ("Web search", "can’t be changed here"), "zh": ("网络搜索", "不能在这里修改")}
    label, why = words[language]
    expect(page.get_by_label(label)).to_be_disabled()
    note = page.get_by_text(why)
    expect(note).to_contain_text("CITEWELL_WEB__PROVIDER")
    axe(page)
    picture("settings")


def test_a_larger_text_stays(page: Page, goto: Callable[..., Page]) -> None:
    goto("/settings")
    size = "() => getComputedStyle(document.body).fontSize"
    before: Any = float(page.evaluate(size).removesuffix("px"))
    choose(page, "Larger")
    assert float(page.evaluate(size).removesuffix("px")) == pytest.approx(before * 1.25)
    page.reload()
    assert float(page.evaluate(size).removesuffix("px")) == pytest.approx(before * 1.25)
    choose(page, "Normal")
