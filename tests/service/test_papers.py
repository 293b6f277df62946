"""Reading sessions: what is taken in and what is refused, whose they are, what goes with them."""

from __future__ import annotations

import asyncio
import json
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from tests.error_codes import raises_code

from citewell.agents.paper.paper_state import ANSWERS, PLAN
from citewell.config import IngestSettings, Settings
from citewell.errors import CitewellError, Conflict, InvalidInput, NotFound, UnreadableFile
from citewell.ingest import parse as whole
from citewell.models.scripted import ScriptedEmbedder
from citewell.runtime.app import App
from citewell.service.ask.ask import ask
from citewell.service.ask.run import AskRequest
from citewell.service.library.documents import delete_document
from citewell.service.library.embedding import embed_pending
from citewell.service.papers import reading_sessions as papers
from citewell.service.papers.add_paper import get_paper_collection
from citewell.service.papers.edit_plan import PlanEdit, edit_plan
from citewell.service.papers.guide_job import submit_report
from citewell.service.papers.reading_sessions import PaperSession
from citewell.service.papers.structure import read_structure
from citewell.service.sessions.sessions import delete_session

if TYPE_CHECKING:
    from tests.conftest import SiteServer

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "papers"
ENGLISH = next(SAMPLES.glob("reserve-*.pdf"))
CHINESE = next(SAMPLES.glob("基于*.pdf"))
PAPER = """# A Lamp That Learns

Ann Keeper, Ben Wick

# Abstract

We present LampNet, a lamp that learns when ships pass and saves a third of its energy. It was tried
in two harbours for a year.

# 1 Introduction

Lighthouses burn all night although few ships pass. Keepers have asked for lamps that wait for
ships. Earlier lamps used clocks and failed in fog. We ask whether a small network can foresee the
next ship. A lamp that is lit for nobody costs oil, and a lamp that is dark for a ship costs the
ship; between the two a keeper decides every night, and we ask what of that can be learned.

# 2 Method

LampNet is a recurrent network with 64 hidden units. It reads the times of the last twenty ships and
the height of the tide. It was trained for ten epochs with a learning rate of 0.01. The loss counts
a dark lamp for a ship a hundred times as much as an idle lamp, because that is what the keepers of
both harbours told us when we asked them to weigh the one against the other.

# 3 Results

LampNet saved 34 percent of the energy in the north harbour and 29 percent in the south harbour. No
ship was missed in calm weather. In fog it lit the lamp eleven minutes before the ship on average,
and in storms nine minutes. The clock of the harbour saved only 12 percent of the energy in the same
year and missed four ships, all of them in the first week of spring.

# 4 Discussion

The lamp fails where ships come without order. We tried only two harbours, so other coasts may
differ. Keepers trusted it after a month, which we had not foreseen; whether they would trust it
after a mistake we cannot say, because it made none that they saw.

# References

[1] A. Wick. Clocks for lamps. 2019.
"""
# a page that is only a picture
SCAN = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources <<>>>> endobj
4 0 obj <</Length 71>> stream
q 400 0 0 400 50 50 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x80 EI Q            \nendstream endobj
trailer <</Root 1 0 R>>
"""


async def begun(
    app: App, user_id: str = "local", data: bytes = PAPER.encode(), name: str = "lamp.md"
) -> PaperSession:
    return await papers.begin_paper_session(app, data=data, name=name, user_id=user_id)


async def routed(app: App, user_id: str = "local") -> PaperSession:
    """A session with its report and a route."""
    session = await begun(app, user_id)
    for event in ("report", "plan"):
        asked = AskRequest(
            question="",
            agent="paper",
            session_id=session.session_id,
            user_id=user_id,
            options={"event": event},
        )
        await ask(app, asked)
    return await papers.read_paper_session(app, session.session_id, user_id)


async def test_a_paper_becomes_a_session(app: App) -> None:
    """Of a PDF: its title, authors and pages; the state is the first; the document is of the user's
    collection.
    """
    session = await papers.begin_paper_session(app, path=str(ENGLISH))
    assert session.title.startswith("CargoCast: Forecasting the Battery Reserve")
    assert session.paper.title == session.title
    assert session.paper.authors
    assert (session.paper.pages, session.paper.lang, session.paper.name) == (6, "en", ENGLISH.name)
    assert (session.current_state, session.report, session.plan, session.answers) == (
        "GUIDE_PENDING_REPORT",
        None,
        None,
        [],
    )
    info = await app.catalog.document(session.paper.doc_id)
    assert (info.collection, info.uri) == ("papers", f"paper:{info.sha256[:16]}/{ENGLISH.name}")
    assert await papers.read_paper_session(app, session.session_id) == session


async def test_a_chinese_paper(app: App) -> None:
    session = await papers.begin_paper_session(app, path=str(CHINESE), title=" 我的论文 ")
    assert (session.title, session.paper.title, session.paper.lang) == (
        "我的论文",
        CHINESE.stem,
        "zh",
    )
    shape = await read_structure(app, session.session_id)
    assert {"abstract", "introduction", "method", "results", "references"} <= {
        part.role for part in shape.parts
    }
    assert shape.references


async def test_the_same_bytes_are_parsed_and_embedded_once(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For one user, under any name, at once and later; another user has a document of their own."""
    parsed: list[str] = []

    async def parse(data: bytes, name: str, settings: IngestSettings) -> object:
        parsed.append(name)
        return await whole(data, name, settings)

    monkeypatch.setattr("citewell.service.papers.add_paper.parse", parse)
    first, second = await asyncio.gather(begun(app), begun(app, name="other.md"))
    third = await begun(app, name="third.md")
    assert len({first.paper.doc_id, second.paper.doc_id, third.paper.doc_id}) == 1
    assert len({first.session_id, second.session_id, third.session_id}) == 3
    assert third.paper.name == "third.md"
    assert len(parsed) == 1
    assert await embed_pending(app) > 0
    assert isinstance(app.embedder, ScriptedEmbedder)
    embedded = len(app.embedder.embedded)
    hers = await begun(app, "ann")
    assert hers.paper.doc_id != first.paper.doc_id
    await embed_pending(app)
    assert len(app.embedder.embedded) == embedded, "equal text has its vector already"


async def test_users_do_not_meet(app: App) -> None:
    """Another's session is not found, whatever is asked of it; the lists and the collections are
    apart.
    """
    hers, his = await begun(app, "ann"), await begun(app, "ben")
    assert [row.session_id for row in await papers.list_papers(app, "ann")] == [hers.session_id]
    assert await papers.list_papers(app) == []
    assert get_paper_collection(app, "local") == "papers"
    assert (
        len(
            {
                get_paper_collection(app, name)
                for name in ("local", "ann", "ben", "papers", "../x", "灯")
            }
        )
        == 6
    )
    for attempt in (
        papers.read_paper_session(app, hers.session_id, "ben"),
        papers.rename_paper_session(app, hers.session_id, "Mine", "ben"),
        papers.delete_paper_session(app, hers.session_id, "ben"),
        read_structure(app, hers.session_id, "ben"),
        edit_plan(app, hers.session_id, [PlanEdit(do="tick", step_id="x")], "ben"),
        ask(app, AskRequest(question="", agent="paper", session_id=hers.session_id, user_id="ben")),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert (
        await papers.read_paper_session(app, hers.session_id, "ann")
    ).title == "A Lamp That Learns"
    await papers.delete_paper_session(app, his.session_id, "ben")
    await app.catalog.document(hers.paper.doc_id)


async def test_a_session_of_another_agent_is_no_paper(app: App) -> None:
    other = await app.sessions.create("qa")
    with pytest.raises(NotFound, match="reads no paper"):
        await papers.read_paper_session(app, other.session_id)
    assert await papers.list_papers(app) == []


def zipped(tmp_path: Path) -> bytes:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("paper.md", PAPER)
    return (tmp_path / "x.zip").read_bytes()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("scan.pdf", 'ingest.ocr = "auto"'),
        ("empty.pdf", "is empty"),
        ("x.zip", "holds other files"),
        ("x.pdf", "zip archive"),
        ("table.csv", "its type is text/csv"),
        ("code.py", "its type is text/x-python"),
        ("short.md", "hardly any text"),
        ("broken.pdf", "broken"),
        ("picture.png", "picture"),
    ],
)
async def test_what_is_refused(app: App, tmp_path: Path, name: str, words: str) -> None:
    """The reason and what to do are said, and nothing is kept: no session, no document."""
    data = {
        "scan.pdf": SCAN,
        "empty.pdf": b"",
        "x.zip": zipped(tmp_path),
        "x.pdf": zipped(tmp_path),
        "table.csv": b"a,b\n" + b"1,2\n" * 500,
        "code.py": b"def lamp():\n    return 'the lamp of the lighthouse'\n" * 50,
        "short.md": b"# A Lamp\n\nIt learns.\n",
        "broken.pdf": b"%PDF-1.7\nendobj nothing",
        "picture.png": b"\x89PNG\r\n\x1a\n" + b"\0" * 100,
    }[name]
    with pytest.raises(UnreadableFile) as refused:
        await papers.begin_paper_session(app, data=data, name=name)
    assert words in f"{refused.value.message}; {refused.value.hint}"
    assert await papers.list_papers(app) == []
    assert await app.collections.list_all() == []


async def test_files_that_are_none(app: App, tmp_path: Path) -> None:
    """A folder, a path where nothing is, one that cannot be: each in words."""
    for path, words in (
        (str(tmp_path), "a folder"),
        (str(tmp_path / "no.pdf"), "no such file"),
        ("a\0b", "null"),
    ):
        with pytest.raises(UnreadableFile, match=words):
            await papers.begin_paper_session(app, path=path)
    with pytest.raises(InvalidInput, match="which paper"):
        await papers.begin_paper_session(app)
    for user in ("", " ", "a\nb", "x" * 201):
        with pytest.raises(InvalidInput, match="name has 1 to"):
            await begun(app, user)
    with pytest.raises(InvalidInput, match="title"):
        await papers.begin_paper_session(app, data=PAPER.encode(), name="lamp.md", title="x\ny")


async def test_mostly_scanned(app: App) -> None:
    """A cover page of text makes no paper of pictures."""
    pages = SCAN.replace(b"/Kids [3 0 R] /Count 1", b"/Kids [6 0 R 3 0 R 7 0 R] /Count 3")
    words = b" ".join(b"(word%d) Tj" % n for n in range(300))
    cover = b"BT /F 10 Tf 60 700 Td " + words + b" ET"
    more = (
        b"6 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 8 0 R "
        b"/Resources <</Font <</F 5 0 R>>>>>> endobj\n"
        b"7 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources "
        b"<<>>>> endobj\n"
        b"5 0 obj <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>> endobj\n"
        b"8 0 obj <</Length %d>> stream\n%s\nendstream endobj\ntrailer"
    ) % (len(cover), cover)
    with pytest.raises(UnreadableFile, match="2 of its 3 pages have no text") as refused:
        await papers.begin_paper_session(
            app, data=pages.replace(b"trailer", more), name="cover.pdf"
        )
    assert "OCR is off" in refused.value.hint


async def test_too_long(settings: Settings) -> None:
    small = settings.model_copy(update={"ingest": IngestSettings(max_pages=5)})
    async with App(small) as app:
        with pytest.raises(UnreadableFile, match="6 pages; 5 are allowed"):
            await papers.begin_paper_session(app, path=str(ENGLISH))
    small = settings.model_copy(update={"ingest": IngestSettings(max_bytes=1_000)})
    async with App(small) as app:
        with pytest.raises(
            UnreadableFile, match=r"ingest\.max_bytes|is more than the 1,000 allowed"
        ):
            await papers.begin_paper_session(app, path=str(ENGLISH))


async def test_a_paper_of_the_web(settings: Settings, site_server: SiteServer) -> None:
    """A PDF; a page that names the PDF of its paper; a page whose PDF is gone is read itself."""
    site_server.page("/x.pdf", ENGLISH.read_bytes(), kind="application/pdf")
    meta = '<meta content="/x.pdf" name="citation_pdf_url">'
    site_server.page(
        "/abs", f"<html><head>{meta}</head><body><p>An abstract.</p></body></html>".encode()
    )
    words = " ".join(f"The lamp {n} is lit." for n in range(100))
    gone = meta.replace("x.pdf", "none.pdf")
    site_server.page(
        "/only",
        f"<html><head><title>Lamps</title>{gone}</head><body><p>{words}</p></body></html>".encode(),
    )
    async with App(settings.model_copy(update={"allow_private_hosts": ("127.0.0.1",)})) as app:
        first = await papers.begin_paper_session(app, url=f"{site_server.url}/x.pdf")
        second = await papers.begin_paper_session(app, url=f"{site_server.url}/abs")
        assert first.paper.doc_id == second.paper.doc_id
        assert second.paper.pages == 6
        third = await papers.begin_paper_session(app, url=f"{site_server.url}/only")
        assert third.paper.pages == 0
        with pytest.raises(CitewellError):
            await papers.begin_paper_session(app, url=f"{site_server.url}/nowhere.pdf")
        assert len(await papers.list_papers(app)) == 3
    async with App(settings) as app:
        with pytest.raises(CitewellError):
            await papers.begin_paper_session(app, url=f"{site_server.url}/x.pdf")


async def test_deleting_takes_the_paper_with_the_last_session(app: App) -> None:
    """Also by way of all sessions; what was under way is forgotten, its job cancelled."""
    first, second = await begun(app), await begun(app)
    job = await submit_report(app, first.session_id)
    holder = await app.runs.begin(
        "tr_1", "local", "paper", {"question": "", "session_id": first.session_id}
    )
    await app.runs.keep("tr_1", holder, "report", {})
    assert [
        each.trace_id
        for each in (await papers.read_paper_session(app, first.session_id)).unfinished
    ] == ["tr_1"]
    assert (await papers.read_paper_session(app, second.session_id)).unfinished == []
    assert await papers.delete_paper_session(app, first.session_id) is False
    assert (await app.jobs.get(job.job_id)).state == "cancelled"
    assert await app.runs.list("local") == []
    with pytest.raises(Conflict):
        await app.runs.end("tr_1", holder)
    await app.catalog.document(second.paper.doc_id)
    await delete_session(app, second.session_id)
    with pytest.raises(NotFound):
        await app.catalog.document(second.paper.doc_id)
    assert await app.sessions.list("local") == []
    assert await app.catalog.documents("papers") == []


async def test_a_session_begins_while_the_last_one_is_deleted(app: App) -> None:
    """Whatever comes first, the session that is there then has its paper."""
    for _ in range(5):
        session = await begun(app)
        _, after = await asyncio.gather(
            papers.delete_paper_session(app, session.session_id), begun(app)
        )
        await app.catalog.document(after.paper.doc_id)
        await papers.delete_paper_session(app, after.session_id)


async def test_a_removed_paper_leaves_what_was_read(app: App) -> None:
    """It can be read and deleted; asking it is told plainly, and costs it nothing."""
    session = await routed(app)
    await delete_document(app, session.paper.doc_id)
    left = await papers.read_paper_session(app, session.session_id)
    assert (left.removed, left.report, left.plan) == (True, session.report, session.plan)
    with raises_code(NotFound, "paper_removed"):
        await ask(
            app, AskRequest(question="What is it?", agent="paper", session_id=session.session_id)
        )
    with raises_code(NotFound, "paper_removed"):
        await read_structure(app, session.session_id)
    assert session.plan is not None
    ticked = await edit_plan(
        app, session.session_id, [PlanEdit(do="tick", step_id=session.plan.steps[0].step_id)]
    )
    assert ticked.plan is not None
    assert ticked.plan.steps[0].done_at is not None
    assert (await papers.read_paper_session(app, session.session_id)).unfinished == []
    assert await papers.delete_paper_session(app, session.session_id) is False


async def test_lists_and_names(app: App) -> None:
    """Newest first, with what is left of each route; a new name is one line."""
    old, new = (
        await routed(app),
        await begun(app, data=PAPER.replace("Lamp", "Buoy").encode(), name="buoy.md"),
    )
    assert old.plan is not None
    rows = await papers.list_papers(app)
    assert [row.session_id for row in rows] == [new.session_id, old.session_id]
    assert (rows[1].steps, rows[1].read, rows[1].minutes) == (
        len(old.plan.steps),
        0,
        old.plan.minutes,
    )
    assert (await papers.rename_paper_session(app, old.session_id, " 灯 ")).title == "灯"
    with pytest.raises(InvalidInput):
        await papers.rename_paper_session(app, old.session_id, "")


async def test_what_is_dropped_and_what_is_over(app: App) -> None:
    holder = await app.runs.begin("tr_1", "local", "paper", {"question": "Why?"})
    await app.runs.keep("tr_1", holder, "ask", {})
    await papers.drop_run(app, "tr_1", "ann")
    assert len(await app.runs.list("local")) == 1
    await papers.drop_run(app, "tr_1")
    await papers.drop_run(app, "tr_1")
    assert await app.runs.list("local") == []


async def test_session_data_has_the_names_of_the_spec(app: App) -> None:
    """One table, one JSON object: history, plan, answers."""
    session = await routed(app)
    await ask(
        app,
        AskRequest(
            question="How many hidden units has LampNet?",
            agent="paper",
            session_id=session.session_id,
        ),
    )
    data = await app.sessions.data(session.session_id)
    assert {"chat_history", "paper", "report", PLAN, ANSWERS} <= set(data)
    assert json.loads(json.dumps(data)) == data
    with anyio.fail_after(120):
        [answer] = (await papers.read_paper_session(app, session.session_id)).answers
    assert answer.question == "How many hidden units has LampNet?"
