"""The website evaluation on a made-up site of four pages: what it counts, and what it takes for an
answer.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import website_answers as answers
import website_order as order
from citewell.config import Settings
from citewell.models.scripted import ScriptedEmbedder
from convert import DATA
from website import KINDS, Options, measured
from website_sets import SETS, Question, Served, SiteSet, sample, site_set, without_toc

START = """<p>We sell bicycles.</p><ul>
<li><a href="frames.html">Frames</a></li>
<li><a href="frames.html#steel">How is steel welded?</a></li>
<li><a href="shipping.html">Shipping</a></li></ul>"""
PAGES = {
    "index.html": START,
    "frames.html": "<p>Every frame is made of steel tubes. <a href='index.html'>Home</a></p>",
    "shipping.html": "<p>What parcels cost: <a href='returns.html'>returns within thirty "
    "days</a>.</p>",
    "returns.html": "<p>A bicycle can be returned within thirty days of delivery. <a "
    "href='gone.html'>Form</a></p>",
}
RETURNS = "A bicycle can be returned within thirty days of delivery. Nothing is charged."
RIGHT = answers.Asked(
    id="q1",
    question="",
    gold_page="a.html",
    answer="",
    status="answered",
    stop_reason="",
    confidence=0.5,
    pages=[],
    requests=1,
    calls=0,
    seconds=1.0,
    cited=["a.html"],
    quotes=[],
    quoted=True,
)
QUESTION = "Within how many days can a bicycle be returned?"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",), "llm": "none"})


@pytest.fixture
def site(tmp_path: Path) -> SiteSet:
    folder = tmp_path / "site"
    folder.mkdir()
    for name, body in PAGES.items():
        text = (
            f"<html><head><title>{name}</title></head><body><main><h1>{name}</h1>{body}</main></b"
            "ody></html>"
        )
        (folder / name).write_text(text, "utf-8")
    asked = [Question("q1", QUESTION, "returns.html", ((QUESTION, RETURNS),))]
    return SiteSet(
        "shop",
        folder,
        "index.html",
        asked,
        [Question("f1", "Who painted the ceiling of the Sistine Chapel?")],
    )


async def test_order(settings: Settings, site: SiteSet) -> None:
    """The other ways are those of the graph; the agent goes on until gold was read, satisfied by
    nothing.
    """
    (item,) = [item async for item in order.ordered(settings, site, site.questions)]
    assert (item.breadth, item.site_pages) == (4, 5)  # the fifth cannot be read
    assert set(item.by_chance) <= {3, 4}
    assert item.one.position in {3, 4}
    assert item.one.pages[0].page == "index.html"
    assert item.one.pages[-1].page == "returns.html"
    assert item.one.rounds == len(item.one.pages) - 1
    assert item.shipped.position == item.shipped.pages.index(item.shipped.pages[-1]) + 1
    again = [item async for item in order.ordered(settings, site, site.questions)]
    assert again[0].positions() == item.positions()


async def test_answers_and_refusals(
    settings: Settings, site: SiteSet, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures of all three kinds as data; what went wrong is shown."""
    made = {
        kind: await measured(kind, settings, site, Options(None, 7, show_wrong=True))
        for kind in KINDS
    }
    assert [each["n"] for each in made.values()] == [1, 1, 1]
    (one,) = made["answers"]["items"]
    assert one["pages"][0]["page"] == "index.html"
    assert one["requests"] >= len(one["pages"])
    assert one["calls"] == 0
    assert one["keys"] == ["A bicycle can be returned within thirty days of delivery."]
    assert made["answers"]["figures"]["seconds p50"] > 0
    assert "shop, refusals, 1 questions" in capsys.readouterr().out


def test_what_is_right() -> None:
    """Of a question with gold a proved answer from the gold page; of a foreign one a refusal."""
    assert answers.contained(
        "A bicycle can be returned within thirty days.",
        "You may return the bicycle within 30, thirty, days.",
    )
    assert not answers.contained(
        "A bicycle can be returned within thirty days.", "Bicycles are made of steel."
    )
    assert not RIGHT.wrong
    assert replace(RIGHT, cited=["b.html"]).wrong
    assert replace(RIGHT, quoted=False).wrong
    assert replace(RIGHT, status="refused").wrong
    assert replace(RIGHT, gold_page="").wrong
    assert not replace(RIGHT, gold_page="", status="refused").wrong


async def test_the_key_sentence() -> None:
    """The nearest one, and none of two words."""
    assert (
        await answers.key_sentence(ScriptedEmbedder(), QUESTION, f"Bicycle returned. {RETURNS}")
        == RETURNS.partition(" Nothing")[0]
    )


def test_a_start_page_without_its_sections(site: SiteSet) -> None:
    """Links to places within pages go with their words; those to chapters stay."""
    page = without_toc(START.encode()).decode()
    assert "steel" not in page
    assert 'href="frames.html">Frames' in page
    many = [Question(str(n), "") for n in range(100)]
    assert sample(many, 5, 7) == sample(many, 5, 7) != sample(many, 5, 8)
    with Served(site) as served:
        assert served.start.endswith("/index.html")


@pytest.mark.parametrize("name", SETS)
def test_every_set(name: str, shared_data: Path) -> None:
    """120 questions, each with a page that is there."""
    site = site_set(name, shared_data, no_toc=True)
    assert shared_data == DATA
    assert len(site.questions) == 120
    assert all((site.folder / question.gold_page).is_file() for question in site.questions)
    assert all(
        len(question.golds) == (2 if name == "zh-on-en" else 1) for question in site.questions
    )
    assert len(site.foreign) > 200
    (start,) = site.rewritten.values()
    assert not re.search(rb'href="[^"]*#', start)
    assert start.count(b"href=") > 16
