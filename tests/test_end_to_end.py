"""The whole way with the real models: a shipped PDF and a shipped Markdown file in, two proved
answers out.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from citewell.config import Settings, load_settings
from citewell.models.builtin.download import get_model_path
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.library.add import add_paths
from citewell.service.library.embedding import embed_pending
from citewell.service.papers.reading_sessions import begin_paper_session

PAPERS = Path(__file__).resolve().parent.parent / "samples" / "papers"
LIBRARY = Path(__file__).resolve().parent.parent / "samples" / "library"
FILES = ("drover-2-owners-manual.pdf", "国内退换货与保修政策.md")


@pytest.mark.model
async def test_real_models_answer_in_both_languages_with_proof(
    tmp_path: Path, database_url: str
) -> None:
    """Built-in reader and embedder: the right figure in a sentence of the document, its page,
    verbatim quotes; an honest no. The chat model is not asked for facts.
    """
    cache = load_settings().cache
    settings = Settings(home=tmp_path, cache=cache, database_url=SecretStr(database_url))
    assert get_model_path(settings).exists(), (
        "the chat model is missing: `citewell models pull` (make setup does it)"
    )
    async with App(settings) as app:
        report = await add_paths(app, [str(LIBRARY / name) for name in FILES], "default")
        assert report.failed == 0
        await embed_pending(app)
        english = await ask(
            app,
            AskRequest(question="How often does a stored Drover 2 battery have to be recharged?"),
        )
        chinese = await ask(app, AskRequest(question="国内订单签收后多少天内可以无理由退货？"))
        nothing = await ask(app, AskRequest(question="Who is the president of France?"))
        assert "3 months" in english.answer
        assert english.citations[0].page == 6
        assert "15天" in chinese.answer.replace(" ", "")
        assert (english.status, chinese.status, nothing.status) == (
            "answered",
            "answered",
            "refused",
        )
        assert [each.usage.calls for each in (english, chinese, nothing)] == [0, 0, 0]
        for answer in (english, chinese):
            assert {sentence.verdict for sentence in answer.sentences} == {"supported"}
            assert [sentence.text for sentence in answer.sentences] == [
                citation.quote for citation in answer.citations
            ]
        for citation in [*english.citations, *chinese.citations]:
            document = await app.catalog.content(citation.doc_id)
            assert document.text[citation.start : citation.end] == citation.quote


@pytest.mark.model
async def test_the_dual_loop_on_the_real_models(tmp_path: Path, database_url: str) -> None:
    """An easy question once through every node: the reader answers, what was settled is remembered,
    and a fact of the user is put where it is meant.
    """
    settings = Settings(
        home=tmp_path, cache=load_settings().cache, database_url=SecretStr(database_url)
    )
    async with App(settings) as app:
        await add_paths(app, [str(LIBRARY / FILES[1])], "default")
        await embed_pending(app)
        question = "国内订单签收后多少天内可以无理由退货？"
        answer = await ask(app, AskRequest(question=question, agent="dual_loop"))
        assert (answer.status, answer.route, answer.usage.calls) == (
            "answered",
            "direct_chunk_search",
            0,
        )
        assert "15天" in answer.answer.replace(" ", "")
        (memory,) = await app.memories.list("local")
        assert (memory.kind, memory.subject) == ("question", question)
        await ask(app, AskRequest(question="请记住：我叫李雷。", agent="dual_loop"))
        named = await ask(app, AskRequest(question="我叫什么？", agent="dual_loop"))
        assert "李雷" in named.answer
        assert named.citations[0].origin == "memory"


@pytest.mark.model
async def test_a_paper_on_the_real_models(tmp_path: Path, database_url: str) -> None:
    """A question to a Chinese paper: routed, answered with a sentence of its own part, audited,
    cited with its page; a no.
    """
    settings = Settings(
        home=tmp_path, cache=load_settings().cache, database_url=SecretStr(database_url)
    )
    async with App(settings) as app:
        paper = PAPERS / "基于货位层次的仓库备件检索方法.pdf"
        session = await begin_paper_session(app, path=str(paper))
        await app.sessions.set_data(
            session.session_id, {}, state="CONTROL_ROUTING"
        )  # the guide has tests of its own
        await embed_pending(app)
        said = {"agent": "paper", "session_id": session.session_id}
        answer = await ask(app, AskRequest(question="货位层次得分是怎样计算的？", **said))
        assert (answer.status, answer.citations[0].page) == ("answered", 2)
        assert (
            "邻近权重加权求和" in answer.answer
        )  # prose: of a table the reader often quotes the row beside the right one
        document = await app.catalog.content(session.paper.doc_id)
        assert all(document.text[c.start : c.end] == c.quote for c in answer.citations)
        nothing = await ask(app, AskRequest(question="作者养的狗叫什么名字？", **said))
        assert nothing.status == "refused"
        steps = (await app.traces.get(nothing.trace_id)).steps
        received = [step.detail["received"] for step in steps if step.node.startswith("section_")]
        assert received, "a section agent is sent its package"
        assert all(set(package) == {"clarified_question", "document_chunk"} for package in received)
