"""The spec's tool functions under their names and signatures."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.error_codes import raises_code

from citewell import tools
from citewell.config import Settings
from citewell.errors import InvalidInput, PermanentError
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.types import Citation, Message

if TYPE_CHECKING:
    from tests.conftest import SiteServer

SIGNATURES = {
    "llm_call": ["prompt", "model_name", "params"],
    "vector_db_search": ["query_vector", "top_k", "filters"],
    "embedding_generate": ["text", "model_name"],
    "text_cleaning": ["text", "options"],
    "entity_extraction": ["text", "model_name"],
    "intent_classification": ["text", "context"],
    "citation_formatting": ["sources", "format"],
    "call_llm": ["prompt"],
    "web_crawler": ["url", "allowed_domains"],
    "url_validator": ["url", "allowed_domains"],
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_the_specs(name: str) -> None:
    """Name and parameters as specs 000 and 002 list them."""
    assert list(inspect.signature(getattr(tools, name)).parameters) == SIGNATURES[name]


async def test_the_tools_work_together(settings: Settings, tmp_path: Path) -> None:
    """Embed, search, classify, extract, call, format: over a store with one document."""
    (tmp_path / "note.md").write_text("# Note\n\nThe A-100 pump weighs 12 kg.\n", "utf-8")
    async with tools.bound(settings) as app:
        await add_paths(app, [str(tmp_path / "note.md")], "default")
        await embed_pending(app)
        vector = await tools.embedding_generate("How heavy is the A-100 pump?")
        documents, scores, metadata = await tools.vector_db_search(
            vector, 3, {"collections": ["default"]}
        )
        assert "12 kg" in documents[0]
        assert scores[0] == max(scores)
        assert metadata[0]["section"] == "Note"
        text, tokens = await tools.llm_call("Hello", params={"max_tokens": 5})
        assert text
        assert tokens > 0
        label, sure = await tools.intent_classification(
            "And why?", [Message(role="user", content="Is the pump heavy?")]
        )
        assert (label, sure) == ("reason", 0.9)
        with pytest.raises(InvalidInput, match="unknown model: other"):
            await tools.llm_call("Hello", "other")
        with pytest.raises(InvalidInput, match="unknown filters: colour"):
            await tools.vector_db_search(vector, 3, {"colour": ["red"]})


async def test_a_page_is_crawled(settings: Settings, site_server: SiteServer) -> None:
    """Its text and its links, those of the domains allowed."""
    links = (
        '<a href="/b">B</a> <a href="http://elsewhere.example/">E</a> <a '
        'href="mailto:a@b.example">M</a>'
    )
    site_server.page("/a", f"<p>The lamp is electric. {links}</p>")
    url = site_server.url
    async with tools.bound(settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})):
        text, found = await tools.web_crawler(f"{url}/a", ["127.0.0.1"])
        assert "The lamp is electric." in text
        assert found == [f"{url}/b"]
        _, every = await tools.web_crawler(f"{url}/a")
        assert every == [f"{url}/b", "http://elsewhere.example/"]
        assert await tools.call_llm("Hello")
    async with tools.bound(settings):
        with raises_code(InvalidInput, "address_refused"):
            await tools.web_crawler(f"{url}/b")


async def test_no_page_elsewhere_is_crawled(settings: Settings, site_server: SiteServer) -> None:
    """Neither an address of another domain nor one that leads there; nothing is asked of it."""
    site_server.page("/a", "<p>The lamp is electric.</p>")
    away = site_server.url.replace("127.0.0.1", "localhost")
    site_server.page("/away", status=302, headers={"Location": f"{away}/a"})
    async with tools.bound(
        settings.model_copy(update={"allow_private_hosts": ("127.0.0.1", "localhost")})
    ) as app:
        with pytest.raises(InvalidInput, match=f"{away}/a: its host is not one of allowed_domains"):
            await tools.web_crawler(f"{away}/a#x", ["127.0.0.1"])
        with pytest.raises(InvalidInput, match="nonsense"):
            await tools.web_crawler(f"{away}/a", ["nonsense domain"])
        assert site_server.asked == []
        with raises_code(PermanentError, "leads_away"):
            await tools.web_crawler(f"{site_server.url}/away", ["127.0.0.1"])
        assert site_server.paths() == ["/away"]
        assert await app.collections.list_all() == []
        text, _ = await tools.web_crawler(f"{site_server.url}/away")
        assert "The lamp is electric." in text


def test_urls_are_judged() -> None:
    assert tools.url_validator("https://docs.example.com/a", ["*.example.com"])
    assert not tools.url_validator("https://example.com.evil.example/", ["example.com"])
    assert tools.url_validator("https://anywhere.example/", [])
    assert not tools.url_validator("ftp://anywhere.example/", [])
    inside = (
        "127.0.0.1",
        "localhost",
        "a.localhost",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "192.168.1.1:8000",
        "169.254.169.254",
    )
    assert [host for host in inside if tools.url_validator(f"http://{host}/", [])] == []
    assert not tools.url_validator("http://anywhere.example:22/", [])
    assert tools.url_validator("http://93.184.216.34/", [])
    assert tools.url_validator(
        "http://127.0.0.1/", ["127.0.0.1"]
    )  # who names it means it; fetching it takes the setting


async def test_urls_of_this_house_pass_where_the_settings_list_them(settings: Settings) -> None:
    async with tools.bound(
        settings.model_copy(update={"allow_private_hosts": ("127.0.0.1", "wiki.lan")})
    ):
        assert tools.url_validator("http://127.0.0.1/", [])
        assert not tools.url_validator("http://127.0.0.2/", [])


async def test_cleaning_and_entities_need_no_store() -> None:
    """Pure functions of text."""
    assert await tools.text_cleaning(" a\u200b \x07 b ", {"max_chars": 2}) == "a "
    entities, sure = await tools.entity_extraction("How heavy is the A-100?")
    assert {"entity": "a-100", "type": "code"} in entities
    assert sure == 1.0
    assert await tools.entity_extraction("why?") == ([], 0.0)


async def test_citations_in_three_forms() -> None:
    """Plain, Markdown, JSON; anything else is refused by name."""
    source = Citation(
        n=1,
        doc_id="d",
        title="Note",
        uri="u",
        page=3,
        section="A › B",
        quote="12\nkg",
        start=0,
        end=5,
    )
    assert await tools.citation_formatting([source]) == ['[1] Note, page 3, A › B: "12 kg"']
    assert (await tools.citation_formatting([source], "markdown"))[0].startswith("- [1] Note")
    assert '"page":3' in (await tools.citation_formatting([source], "json"))[0]
    with pytest.raises(InvalidInput, match="unknown format"):
        await tools.citation_formatting([source], "xml")  # type: ignore[arg-type]


async def test_without_a_bound_store_the_tools_say_so() -> None:
    """The message says what to write."""
    with pytest.raises(InvalidInput) as caught:
        await tools.llm_call("Hello")
    assert "bound" in caught.value.hint
