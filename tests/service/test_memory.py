"""Memory as the agents and the interfaces use it: remembered, recalled while it holds, edited,
forgotten, by user.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from citewell.config import MemorySettings, Settings
from citewell.errors import InvalidInput, NotFound
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.models.scripted_reader import ScriptedReader
from citewell.runtime.app import App
from citewell.service.library.add import add_paths
from citewell.service.sessions import memories as service
from citewell.skills.memory.remember import extract_stated_facts
from citewell.store.memory_judgement import Told
from citewell.store.memory_rows import Memory


async def tell(app: App, user: str, said: str) -> Memory:
    [fact] = extract_stated_facts(said)
    kept = await service.store_memory(app, user, Told("fact", fact.subject, fact.text))
    assert kept.memory is not None
    return kept.memory


async def settle(app: App, user: str, question: str, answer: str, *docs: str) -> Memory:
    told = Told("question", question, answer, "default", "direct_chunk_search", "tr_1", docs)
    kept = await service.store_memory(app, user, told)
    assert kept.memory is not None
    return kept.memory


async def recalled(app: App, user: str, question: str) -> list[str]:
    return [each.memory.memory_id for each in await service.find_memories(app, user, question)]


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[App]:
    """With the embedder that comes with Citewell, and a reader to which all that asks for a price
    asks the same.
    """
    settings = Settings(
        home=tmp_path / "home", cache=tmp_path / "cache", llm="none", reader="scripted"
    )
    async with App(settings) as opened:
        assert isinstance(opened.reader, ScriptedReader)
        opened.reader.compare_with(lambda one, other: float("plan" in one and "plan" in other))
        assert isinstance(opened.embedder, BuiltinEmbedder)
        yield opened


async def test_remembered_and_recalled(real: App) -> None:
    """Facts and settled questions, in both languages, by their owner only."""
    plan = await tell(real, "li", "我的套餐是专业版")
    name = await tell(real, "li", "My name is Li Lei")
    price = await settle(real, "li", "How much is the Pro plan?", "30 euros.")
    await tell(real, "han", "my plan is Basic")
    assert await recalled(real, "li", "我的套餐多少钱？") == [plan.memory_id]
    assert await recalled(real, "li", "What is my name?") == [name.memory_id]
    [found] = await service.find_memories(real, "li", "What does the Pro plan cost?")
    assert (found.memory.memory_id, found.same) == (price.memory_id, True)
    assert await recalled(real, "li", "When was the lighthouse built?") == []
    assert await recalled(real, "nobody", "What is my name?") == []
    assert set(await recalled(real, "li", "What do you know about me?")) == {
        plan.memory_id,
        name.memory_id,
    }
    again = await settle(real, "li", "What does the Pro plan cost?", "30 euros.")
    assert again.memory_id == price.memory_id


async def test_the_newer_word_counts(app: App) -> None:
    """A later fact contradicts an earlier one, whatever language it is told in; the history is
    shown.
    """
    await tell(app, "li", "my plan is Pro")
    told = Told("fact", "plan", "My plan is Basic")
    kept = await service.store_memory(app, "li", told)
    assert (kept.outcome, [old.text for old in kept.replaced]) == ("replaced", ["my plan is Pro"])
    again = await tell(app, "li", "my current plan is basic")
    assert again.seen == 2
    found = await service.show_memory(app, "li", again.memory_id)
    assert [old.text for old in found.history] == ["my plan is Pro"]
    assert len(await app.memories.list("li")) == 1
    assert len(await app.memories.list("li", history=True)) == 2


async def test_users_do_not_mix(app: App) -> None:
    """Every verb, over the border."""
    mine, theirs = await tell(app, "li", "my plan is Pro"), await tell(app, "han", "my plan is Pro")
    assert mine.memory_id != theirs.memory_id
    with pytest.raises(NotFound):
        await service.show_memory(app, "li", theirs.memory_id)
    with pytest.raises(NotFound):
        await service.edit_memory(app, "li", theirs.memory_id, "my plan is Basic")
    with pytest.raises(NotFound):
        await app.memories.forget("li", theirs.memory_id)
    assert await recalled(app, "li", "What does my plan cost?") == [mine.memory_id]
    assert (await app.memories.forget_all("li")).memory_ids == [mine.memory_id]
    assert await app.memories.list("han") == [theirs]
    assert await recalled(app, "li", "What does my plan cost?") == []


async def test_secrets_are_not_kept(app: App) -> None:
    """Not as facts, not as answers, not by editing."""
    for told in (
        Told("fact", "wifi password", "the wifi password is abc"),
        Told("fact", "my password is abc", "x"),
        Told("question", "怎么登录？", "密码是abc123"),
    ):
        kept = await service.store_memory(app, "li", told)
        assert (kept.outcome, kept.reason) == ("dropped", "it looks like a secret")
    fact = await tell(app, "li", "my plan is Pro")
    with pytest.raises(InvalidInput, match="secret"):
        await service.edit_memory(app, "li", fact.memory_id, "my PIN is 1234")
    assert [each.text for each in await app.memories.list("li", history=True)] == ["my plan is Pro"]


async def test_editing(app: App) -> None:
    """Found by the new words; agrees with what is known; bad words are refused."""
    fact = await tell(app, "li", "my plan is Pro")
    edited = await service.edit_memory(app, "li", fact.memory_id, " My department is Research. ")
    assert (edited.memory_id, edited.subject, edited.text) == (
        fact.memory_id,
        "department",
        "My department is Research",
    )
    assert await recalled(app, "li", "Where is my department?") == [fact.memory_id]
    assert await recalled(app, "li", "How much is my plan?") == []
    for bad in ("", " 。", "x" * 301):
        with pytest.raises(InvalidInput):
            await service.edit_memory(app, "li", fact.memory_id, bad)


async def test_an_answer_is_recalled_while_its_documents_are_as_they_were(
    app: App, library: Path
) -> None:
    """Not after a new version of one, nor after one was removed. It is still listed."""
    question = "When was the lighthouse built?"
    lighthouse, tower = library / "lighthouse.md", library / "灯塔.txt"
    await add_paths(app, [str(library)], "docs")
    docs = {info.uri: info.doc_id for info in await app.catalog.documents("docs")}
    memory = await settle(app, "li", question, "In 1857.", *docs.values())
    assert await recalled(app, "li", question) == [memory.memory_id]
    await add_paths(app, [str(library)], "docs")  # nothing has changed
    assert await recalled(app, "li", question) == [memory.memory_id]
    lighthouse.write_text("# Lighthouse\n\nThe lighthouse was built in 1858.\n", "utf-8")
    await add_paths(app, [str(lighthouse)], "docs")
    assert await recalled(app, "li", question) == []
    docs = {info.uri: info.doc_id for info in await app.catalog.documents("docs")}
    again = await settle(app, "li", question, "In 1858.", *docs.values())
    assert await recalled(app, "li", question) == [again.memory_id]
    await app.catalog.delete(docs[str(tower)])
    assert await recalled(app, "li", question) == []
    assert [each.memory_id for each in await app.memories.list("li")] == [again.memory_id]


async def test_switched_off(settings: Settings) -> None:
    """Nothing is written or recalled; what was written before can be listed and forgotten."""
    async with App(settings) as app:
        await tell(app, "li", "my plan is Pro")
    async with App(settings.model_copy(update={"memory": MemorySettings(enabled=False)})) as app:
        kept = await service.store_memory(app, "li", Told("fact", "name", "my name is Li"))
        assert kept.outcome == "dropped"
        assert "switched off" in kept.reason
        assert await recalled(app, "li", "What does my plan cost?") == []
        assert len((await app.memories.forget_all("li")).memory_ids) == 1


async def test_a_change_of_embedder(app: App, settings: Settings, tmp_path: Path) -> None:
    """The first questions embed again what the other embedder left, and find it."""
    plan = await tell(app, "li", "my plan is Pro")
    async with App(settings.model_copy(update={"embedder": "builtin"})) as other:
        assert await recalled(other, "li", "How much is my plan?") == [plan.memory_id]
        assert await other.memories.list_stale("li", other.embedder.dim, 5) == []
