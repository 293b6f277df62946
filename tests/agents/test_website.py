"""The website agent's graph and nodes on a desk: a site of a few pages in a dictionary, scripted
models, no network.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.agents.empty_search import EmptySearch

from citewell.agents.website.website import GRAPH
from citewell.agents.website.website_state import Deps, SitePage, WebsiteState
from citewell.config import QASettings, WebsiteSettings
from citewell.errors import InvalidInput, StorageError, TransientError
from citewell.graph import get_node_name
from citewell.ingest.web.links import Link
from citewell.models.reader_base import Reading
from citewell.models.script_reply import UNKNOWN, detect_reply_kind
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.models.scripted_reader import ScriptedReader
from citewell.retrieve.confidence import Logistic
from citewell.retrieve.query import Found
from citewell.skills.answer.draft import DraftStatus
from citewell.skills.dialogue.reference import Readings
from citewell.skills.proof.judges import build_judge
from citewell.types import Hit, Message, Step

HOME = "http://shop.example/"
QUESTION = "Within how many days may international orders be returned?"
FACT = "International orders may be returned within 30 days."
STATE = TypeAdapter(WebsiteState)


def link(path: str, text: str) -> Link:
    return Link(HOME + path, text)


@dataclass
class Shelf:
    """A `Site`: `texts` and `links` by path; what has no text fails. `asked`: the batches of
    addresses, in order.
    """

    texts: dict[str, str]
    links: dict[str, list[Link]] = field(default_factory=dict)
    name: str = "shop"
    pages: dict[str, SitePage] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)
    mapped: list[Link] = field(default_factory=list)
    before: dict[str, float] = field(default_factory=dict)
    confidence: float = 0.5
    cosines: dict[str, float] = field(default_factory=dict)
    noted: list[tuple[str, list[str]]] = field(default_factory=list)
    broken: Exception | None = None
    titles: dict[str, str] = field(default_factory=dict)

    async def open(self) -> None:
        """Nothing to load."""

    def is_allowed(self, url: str) -> bool:
        return url.startswith(HOME)

    def read(self, url: str) -> bool:
        return url in {each for batch in self.asked for each in batch}

    async def crawl(self, urls: Sequence[str]) -> AsyncIterator[SitePage]:
        self.asked.append([*urls])
        for url in urls:
            path = url.removeprefix(HOME)
            if path not in self.texts:
                yield SitePage(url, url, how="failed", problem=f"{url}: status 404")
                continue
            page = SitePage(
                url,
                url,
                f"doc-{path}",
                self.titles.get(url, path or "Home"),
                tuple(self.links.get(path, [])),
                1_700_000_000.0,
                "fetched",
            )
            self.pages[url] = page
            yield page

    async def sitemap(self) -> list[Link]:
        return self.mapped

    async def search(self, read: Readings, entities: Sequence[str]) -> Found:
        if self.broken:
            raise self.broken
        hits = []
        for n, page in enumerate(self.pages.values()):
            text = self.texts[page.doc_id.removeprefix("doc-")]
            score = 1.0 + ("returned" in text)
            hits.append(
                Hit(
                    n,
                    page.doc_id,
                    "shop",
                    page.title,
                    page.uri,
                    (),
                    None,
                    0,
                    len(text),
                    text,
                    "en",
                    score=score,
                )
            )
        hits.sort(key=lambda hit: -hit.score)
        return Found(hits, self.confidence if any("returned" in hit.text for hit in hits) else 0.01)

    async def compare_labels(self, question: str, labels: Sequence[str]) -> dict[str, float]:
        return self.cosines

    async def recall_answers(self, question: str) -> dict[str, float]:
        return self.before

    async def note_answer(self, question: str, doc_ids: Sequence[str]) -> None:
        self.noted.append((question, [*doc_ids]))

    @property
    def paths(self) -> list[list[str]]:
        return [[url.removeprefix(HOME) for url in batch] for batch in self.asked]


@dataclass
class Desk(EmptySearch):
    """What a run needs, each part replaceable by the test."""

    site: Shelf
    llm: ScriptedLLM | None = field(default_factory=ScriptedLLM)
    reader: ScriptedReader | None = None
    settings: WebsiteSettings = field(default_factory=WebsiteSettings)
    is_late: bool = False
    is_stopped: bool = False
    events: list[Any] = field(default_factory=list)
    saved: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.llm is not None:
            self.llm.reply_with(lambda messages: FACT if FACT in str(messages) else UNKNOWN)

    def rate(self, _: str, hits: Sequence[Hit]) -> float:
        return 0.5 if any("returned" in hit.text for hit in hits) else 0.0

    def deps(self) -> Deps:
        return Deps(
            settings=self.settings,
            thresholds=QASettings(),
            llm=self.llm,
            reader=self.reader,
            embedder=ScriptedEmbedder(),
            site=self.site,
            search=self,
            late=lambda: self.is_late,
            stopped=lambda: self.is_stopped,
            judge=build_judge(self.llm, None),
        )

    async def run(
        self, question: str = QUESTION, history: Sequence[Message] = (), **more: Any
    ) -> WebsiteState:
        return await self.go_on(WebsiteState(question, [*history], start_urls=[HOME], **more))

    async def go_on(self, state: WebsiteState, start: str = "", n: int = 0) -> WebsiteState:
        async def done(step: Step, after: str) -> None:
            self.saved.append((step.node, after))

        async for event in GRAPH.run(state, self.deps(), start=start, n=n, done=done):
            self.events.append(event)
        return state

    @property
    def path(self) -> list[tuple[str, str]]:
        return [(event.node, event.action) for event in self.events if isinstance(event, Step)]


@pytest.fixture
def desk() -> Desk:
    texts = {
        "": "We make lamps and stoves.",
        "help": "People ask us much.",
        "returns": f"{FACT} Return shipping is not paid by us.",
        "journal": "We walked at night.",
        "map": "A map of the harbour.",
    }
    links = {
        "": [link("help", "Help"), link("journal", "Journal")],
        "help": [link("returns", "International orders returned")],
    }
    return Desk(Shelf(texts, links))


def test_the_nodes_are_those_of_the_spec() -> None:
    """Three, by their names, wired as the spec draws them."""
    assert [get_node_name(node) for node in GRAPH.table] == [
        "CrawlAndExtract",
        "AgentDecision",
        "DraftAnswer",
    ]
    assert {
        get_node_name(node): {label: get_node_name(there) for label, there in edges.items()}
        for node, edges in GRAPH.table.items()
    } == {
        "CrawlAndExtract": {"decide": "AgentDecision"},
        "AgentDecision": {"answer": "DraftAnswer", "explore": "CrawlAndExtract"},
        "DraftAnswer": {"end": "END"},
    }
    assert GRAPH.step_limit >= 2 * 51 + 1


def test_the_page_shows_the_graph() -> None:
    """docs/website.md holds the graph's own Mermaid text."""
    page = Path(__file__).resolve().parents[2] / "docs" / "website.md"
    assert f"```mermaid\n{GRAPH.mermaid()}\n```" in page.read_text(encoding="utf-8")


async def test_explores_until_the_answer_is_there(desk: Desk) -> None:
    """The fields of the spec tell the way; the answer is proved, and where it was found is
    noted.
    """
    state = await desk.run()
    assert (state.status, state.final_answer, state.stop_reason) == ("answered", FACT + "[1]", "")
    assert desk.path == [("CrawlAndExtract", "decide"), ("AgentDecision", "explore")] * 2 + [
        ("CrawlAndExtract", "decide"), ("AgentDecision", "answer"), ("DraftAnswer", "end"),
    ]  # fmt: skip
    assert desk.site.paths[0] == [""]
    assert "help" in desk.site.paths[1]
    assert desk.site.paths[2] == ["returns"]
    assert state.current_iteration == 2
    every = list(state.all_discovered_urls)
    assert [every[place] for place in state.visited_urls] == [
        url for batch in desk.site.asked for url in batch
    ]
    assert [every[place] for place in state.url_graph[state.place(HOME + "help")]] == [
        HOME + "returns"
    ]
    assert state.depths[state.place(HOME + "returns")] == 2
    assert (state.urls_to_process, desk.site.noted) == ([], [(QUESTION, ["doc-returns"])])
    (citation,) = state.proof.citations
    assert (citation.origin, citation.fetched_at, citation.uri) == (
        "web",
        1_700_000_000.0,
        HOME + "returns",
    )


async def test_a_strong_link_is_followed_before_the_model_is_asked(desk: Desk) -> None:
    """Its words are those of the question: nothing is drafted on the way there."""
    desk.site.links[""] = [link("returns", QUESTION), link("journal", "Journal")]
    await desk.run()
    assert desk.site.paths == [[""], ["returns"]]
    assert [detect_reply_kind(call.schema) for call in desk.llm.calls] == ["sentences", "verdicts"]  # type: ignore[union-attr]


async def test_an_answer_on_the_first_page(desk: Desk) -> None:
    """Nothing else is read, a link that names the question or not."""
    desk.site.texts[""] = FACT
    state = await desk.run()
    assert (state.status, desk.site.paths) == ("answered", [[""]])


@pytest.mark.parametrize("most", [0, 1, 2])
async def test_rounds_are_counted(desk: Desk, most: int) -> None:
    """Never more than allowed; the last ones still bring their pages."""
    desk.settings = WebsiteSettings(max_iterations=most)
    state = await desk.run()
    assert len(desk.site.asked) == 1 + most
    assert state.status == ("answered" if most == 2 else "refused")


async def test_pages_are_counted(desk: Desk) -> None:
    """The batch is cut to what is left, failures included."""
    del desk.site.texts["journal"]
    desk.settings = WebsiteSettings(max_pages=2)
    state = await desk.run()
    assert sum(len(batch) for batch in desk.site.asked) == 2
    assert state.status == "refused"


async def test_no_time_and_no_wish(desk: Desk) -> None:
    """Either ends the exploring, not the answering."""
    for flag, reason in (("is_late", "budget_seconds"), ("is_stopped", "stopped")):
        again = Desk(Shelf(desk.site.texts, desk.site.links))
        setattr(again, flag, True)
        state = await again.run()
        assert (state.status, state.stop_reason, len(again.site.asked)) == ("refused", reason, 1)
    desk.site.texts[""] = FACT
    desk.is_stopped = True
    assert (await desk.run()).status == "answered"


async def test_the_start_page_fails(desk: Desk) -> None:
    """Nothing is graded, and the refusal says what could not be read."""
    del desk.site.texts[""]
    state = await desk.run()
    assert (state.status, state.stop_reason, desk.site.paths) == ("refused", "unreachable", [[""]])
    assert f"{HOME}: status 404" in state.final_answer
    assert desk.llm is not None
    assert desk.llm.calls == []


async def test_a_failed_page_is_named_once(desk: Desk) -> None:
    """In the warnings and in a refusal; it is not tried again."""
    desk.site.links[""].append(link("gone", "International orders"))
    desk.site.texts["returns"] = "Nothing here."
    state = await desk.run()
    assert state.warnings == [f"{HOME}gone: status 404"]
    assert sum(batch.count("gone") for batch in desk.site.paths) == 1
    assert f"{HOME}gone: status 404" in state.final_answer


async def test_without_a_chat_model(desk: Desk) -> None:
    """The confidence of the search decides, and the evidence is the answer."""
    for confidence, status in ((0.9, "answered"), (0.05, "refused")):
        again = Desk(Shelf(desk.site.texts, desk.site.links, confidence=confidence), llm=None)
        state = await again.run()
        assert state.status == status
        assert (FACT in state.final_answer) is (status == "answered")


async def test_a_model_that_fails_is_not_asked_again(desk: Desk) -> None:
    """The nearest is shown with a caution, or refused; the reason is a warning."""
    assert desk.llm is not None
    desk.llm.reply_with(lambda _: (_ for _ in ()).throw(TransientError("busy")))
    desk.site.confidence = 0.9
    state = await desk.run()
    assert (state.status, state.stop_reason, state.degraded) == ("fallback", "model_failed", True)
    assert FACT in state.final_answer
    assert len(desk.llm.calls) == 1
    assert (
        "the chat model gave no usable answer, so the evidence itself is shown: busy"
        in state.warnings
    )


PART = "International orders may be returned."
MISSING = "The pages read so far do not tell within how many days."


def draft(status: DraftStatus, *texts: str) -> str:
    """A draft whose last sentence, in one that tells a part or nothing, says what is missing."""
    kinds = ["fact"] * len(texts)
    kinds[-1] = "not_told" if status in {"partly", "not_told"} else "fact"
    sentences = [{"text": text, "kind": kind} for text, kind in zip(texts, kinds, strict=True)]
    return json.dumps({"status": status, "sentences": sentences, "question_back": "Which orders?"})


@pytest.mark.parametrize(
    ("first", "explores", "status", "said"),
    [
        (draft("answered", PART), False, "answered", "International orders may be returned.[1]"),
        (
            draft("false_premise", PART),
            False,
            "answered",
            "International orders may be returned.[1]",
        ),
        (draft("unclear", PART), False, "clarify", "Which orders?"),
        (draft("partly", PART, MISSING), True, "answered", FACT + "[1]"),
        (draft("not_told", MISSING), True, "answered", FACT + "[1]"),
    ],
)
async def test_it_explores_on_until_a_draft_tells_the_whole(
    desk: Desk, first: str, explores: bool, status: str, said: str
) -> None:
    """What a draft says of itself decides, while there are links to follow."""
    assert desk.llm is not None
    desk.site.texts[""] = "International orders may be returned to our shop."
    desk.llm.enqueue(first)
    state = await desk.run()
    assert (len(desk.site.asked) > 1) is explores
    assert (state.status, state.final_answer) == (status, said)


async def test_a_part_of_the_answer_will_do_where_nothing_is_left_to_read(desk: Desk) -> None:
    """It is told together with what is missing, and drafted from the same evidence once only."""
    assert desk.llm is not None
    desk.site.texts, desk.site.links = {"": "International orders may be returned to our shop."}, {}
    desk.llm.reply_with(lambda _: draft("partly", PART, MISSING))
    state = await desk.run()
    assert (state.status, state.told) == ("answered", "part")
    assert state.final_answer == f"International orders may be returned.[1] {MISSING}"
    assert [sentence.kind for sentence in state.proof.sentences] == ["fact", "not_told"]
    assert [detect_reply_kind(call.schema) for call in desk.llm.calls] == ["sentences", "verdicts"]


FALSE = "International orders may be returned within 99 days."


@pytest.mark.parametrize(("text", "status"), [(FALSE, "refused"), (f"{FACT} {FALSE}", "fallback")])
async def test_a_draft_that_the_judge_does_not_find_proved(
    desk: Desk, text: str, status: str
) -> None:
    """Nothing of it is shown where nothing is proved, else what is unproved apart; neither is noted
    as found.
    """
    assert desk.llm is not None
    desk.llm.reply_with(lambda messages: text if FACT in str(messages) else UNKNOWN)
    state = await desk.run()
    assert (state.status, state.stop_reason, desk.site.noted) == (status, "unsettled", [])
    proved, _, apart = state.final_answer.partition("\n\nThe documents do not prove this:")
    assert "99" not in proved
    assert (FACT in proved) is (FALSE in apart) is (status == "fallback")
    assert [s.text for s in state.proof.sentences if s.verdict == "supported"] == (
        [FACT] if status == "fallback" else []
    )
    assert any("proved" in warning for warning in state.warnings)


async def test_a_follow_up_is_read_with_the_conversation(desk: Desk) -> None:
    """Links are chosen and passages found by the joined question; a connected model is asked the
    question itself.
    """
    history = [
        Message(role="user", content="Within how many days may orders be returned?"),
        Message(role="assistant", content="14 days."),
    ]
    joined = "Within how many days may orders be returned? And international ones?"
    state = await desk.run("And international ones?", history)
    assert (state.status, state.standalone, desk.site.noted) == (
        "answered",
        joined,
        [(joined, ["doc-returns"])],
    )
    assert desk.llm is not None
    sent = next(call for call in desk.llm.calls if FACT in str(call.messages)).messages[-1].content
    assert "Question: And international ones?" in sent
    assert "user: Within how many days may orders be returned?\nassistant: 14 days." in sent
    plain = Desk(Shelf(desk.site.texts, desk.site.links, confidence=0.9), llm=None)
    state = await plain.run("And international ones?", history)
    assert (state.status, state.standalone) == ("answered", joined)


async def test_the_reader_is_asked_a_follow_up_in_full_words(desk: Desk) -> None:
    """Not the joined question, which the answer to its first part answers."""
    first, reader = "Within how many days may orders be returned?", ScriptedReader()
    history = [Message(role="user", content=first), Message(role="assistant", content="14 days.")]
    site = Shelf(desk.site.texts, desk.site.links, confidence=0.9)
    state = await Desk(site, llm=None, reader=reader).run("And international ones?", history)
    assert state.follow_up is not None
    assert state.follow_up.wordings[-1] == f"international ones {first}"
    assert {question for question, _ in reader.questions} == {*state.follow_up.wordings}


async def test_what_is_likelier_wrong_is_no_reason_to_stop(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shown it would be, with a caution; a link that promises more is followed first."""
    even = Logistic(bias=0.0, weights={"answerable": 1.0}, threshold=0.2)
    reader, given = ScriptedReader(), Desk.deps
    reader.read_with(lambda _, text: Reading(0, 2, 0.9 if FACT in text else 0.3, 1.0))
    monkeypatch.setattr(
        Desk, "deps", lambda self: replace(given(self), calibration={"reader": even, "pick": even})
    )
    texts = desk.site.texts | {"help": "What is returned is paid back within 10 days."}
    here = Desk(Shelf(texts, desk.site.links), llm=None, reader=reader)
    state = await here.run()
    assert (state.status, state.final_answer) == ("answered", f"{FACT}[1]")
    assert ["returns"] in here.site.paths


async def test_small_talk_asks_nobody(desk: Desk) -> None:
    """No page, no model."""
    state = await desk.run("Hello!")
    assert (state.status, state.final_answer.startswith("Hello"), desk.site.asked) == (
        "clarify",
        True,
        [[]],
    )
    assert desk.llm is not None
    assert desk.llm.calls == []


@pytest.mark.parametrize("question", ["", " \n ", "x" * 501])
async def test_what_cannot_be_asked(desk: Desk, question: str) -> None:
    """Before anything is read."""
    with pytest.raises(InvalidInput):
        await desk.run(question)
    assert desk.site.asked == []


async def test_a_store_that_breaks_is_an_error(desk: Desk) -> None:
    """Not an answer."""
    desk.site.broken = StorageError("the disk is full")
    with pytest.raises(StorageError, match="the disk is full"):
        await desk.run()


async def test_pages_of_the_sitemap_are_candidates(desk: Desk) -> None:
    """Where no link names the question; none that is not allowed."""
    desk.site.links = {"": [link("journal", "Journal")]}
    desk.site.mapped = [
        link("returns", ""),
        Link("http://evil.example/returns-international-orders", ""),
        link("map", ""),
    ]
    state = await desk.run()
    assert state.status == "answered"
    assert "evil" not in str(desk.site.asked)


async def test_the_state_survives_json_after_every_node(desk: Desk) -> None:
    """And the run goes on from there to the same end, without a page or a call twice."""
    kept: list[tuple[str, bytes, Shelf, int]] = []
    state = WebsiteState(QUESTION, start_urls=[HOME])
    assert desk.llm is not None
    plain = desk.llm

    async def done(step: Step, after: str) -> None:
        site = Shelf(
            desk.site.texts,
            desk.site.links,
            pages=dict(desk.site.pages),
            asked=[[*b] for b in desk.site.asked],
        )
        kept.append((after, STATE.dump_json(state), site, len(plain.calls)))

    async for _ in GRAPH.run(state, desk.deps(), done=done):
        pass
    for n, (after, data, site, calls) in enumerate(kept[:-1], start=1):
        later = Desk(site)
        assert STATE.dump_json(STATE.validate_json(data)) == data
        end = await later.go_on(STATE.validate_json(data), start=after, n=n)
        assert (end.final_answer, end.status) == (state.final_answer, "answered")
        assert site.asked == desk.site.asked
        assert calls + len(later.llm.calls) == len(plain.calls)  # type: ignore[union-attr]
