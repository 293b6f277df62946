"""The reading route: what serves the interest, in a sane order; ticks that stay; changes that
change nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.skills.guide_books import CHINESE, ENGLISH, book, find_in

from citewell.config import IngestSettings
from citewell.errors import NotFound
from citewell.ingest import parse_here
from citewell.ingest.paper.read_paper import read_paper
from citewell.ingest.paper.shape import Paper, Part
from citewell.models.base import Vector
from citewell.models.scripted import ScriptedEmbedder, ScriptedLLM
from citewell.skills.paper.reading_context import OpenPaper, Plan
from citewell.skills.reading_route.edit_route import (
    add_section,
    move_step,
    remove_step,
    render_route,
    tick_step,
)
from citewell.skills.reading_route.interest import DESCRIPTIONS, read_interest
from citewell.skills.reading_route.plan_route import FEWEST, MOST, make_route
from citewell.skills.reading_route.readable_sections import estimate_minutes
from citewell.types import Document


async def route(
    of: OpenPaper, interest: str, *, lang: str = "en", before: Plan | None = None
) -> Plan:
    return await make_route(
        of, interest, find=find_in(of), embedder=Near(), llm=None, lang=lang, before=before, now=7.0
    )


class Near(ScriptedEmbedder):
    """The cosines of hashed words lie between 0 and 1, those of the packaged model above 0.7: this
    one is squeezed alike.
    """

    name = "near"  # its vectors are longer: what is embedded once is kept by name

    async def query(self, text: str) -> Vector:
        return squeezed(await super().query(text))

    async def passages(self, texts: Sequence[str]) -> Vector:
        return squeezed(await super().passages(texts))


def squeezed(vectors: Vector) -> Vector:
    common = np.full((*vectors.shape[:-1], 1), np.sqrt(0.78), np.float32)
    return np.concatenate([vectors * np.float32(np.sqrt(0.22)), common], axis=-1)


def sections(plan: Plan) -> list[str]:
    return [step.section for step in plan.steps]


async def test_what_serves_the_interest_comes_after_the_paper_in_short() -> None:
    of = book(ENGLISH)
    plan = await route(of, "storm surges")
    assert FEWEST <= len(plan.steps) <= MOST
    assert sections(plan)[0] == "Abstract"
    assert "4.2 Storms and surges" in sections(plan)
    step = next(step for step in plan.steps if step.section == "4.2 Storms and surges")
    assert step.why.startswith("It comes near to your interest")
    assert step.quote == "We find that storm surges cause 62% of the remaining error of TideNet."
    assert of.document.text[step.start : step.end].startswith("4.2 Storms and surges")
    assert (step.first_page, step.last_page) == (3, 3)
    assert (plan.interest, plan.revision, plan.made_at) == ("storm surges", 1, 7.0)


@pytest.mark.parametrize(
    "interest",
    ["", "storm surges", "training the graph module", "costly survey", "tide baking bread"],
)
async def test_references_and_thanks_are_never_in(interest: str) -> None:
    plan = await route(book(ENGLISH), interest)
    assert not {"References", "Acknowledgements", "front"} & set(sections(plan))
    assert len(set(sections(plan))) == len(plan.steps)


async def test_an_empty_interest_gives_the_paper_in_short() -> None:
    plan = await route(book(ENGLISH), "   ")
    assert plan.interest == ""
    assert sections(plan) == [
        "Abstract",
        "1 Introduction",
        "3 TideNet",
        "4.1 Main results",
        "5 Limitations",
    ]
    assert all(step.why and step.quote for step in plan.steps)


async def test_an_interest_in_something_else_is_told_so() -> None:
    """The route is that of the paper in short, and its first step says why."""
    general = await route(book(ENGLISH), "")
    plan = await route(book(ENGLISH), "sourdough bread")
    assert sections(plan) == sections(general)
    assert plan.steps[0].why.startswith("The paper seems to say nothing of “sourdough bread”")
    assert [step.why for step in plan.steps[1:]] == [step.why for step in general.steps[1:]]


async def test_an_interest_in_a_part_that_any_paper_has_crosses_languages() -> None:
    """局限性 shares no word with an English paper, and means its limitations."""
    of = book(ENGLISH)
    plan = await make_route(
        of,
        "局限性",
        find=find_in(of),
        embedder=Meaning("discussion", 0.9),
        llm=None,
        lang="zh",
        now=1.0,
    )
    assert "没有谈到" not in plan.steps[0].why
    assert "5 Limitations" in sections(plan)
    assert plan.lang == "zh"


async def test_a_chinese_paper() -> None:
    of = book(CHINESE, "zh")
    plan = await route(of, "风暴天气", lang="zh")
    step = next(step for step in plan.steps if step.section == "3.1 主要结果")
    assert step.why.startswith("它与您的兴趣相近")
    assert step.quote == "在风暴天气下，TideNet将误差由31.0厘米降至18.4厘米。"
    assert not {"致谢", "参考文献"} & set(sections(plan))


async def test_a_model_with_room_finds_words_in_the_papers_language() -> None:
    """They serve to search; nothing of them is shown, and a failure costs nothing."""

    class Roomy(ScriptedLLM):
        evidence_tokens = 6_000

    llm = Roomy("storm surges, wind")
    plan = await make_route(
        book(ENGLISH),
        "风暴",
        find=find_in(book(ENGLISH)),
        embedder=Near(),
        llm=llm,
        lang="zh",
        now=1.0,
    )
    assert len(llm.calls) == 1
    assert "4.2 Storms and surges" in sections(plan)
    assert plan.interest == "风暴"


async def test_ticks_stay_with_their_sections() -> None:
    of = book(ENGLISH)
    first = await route(of, "storm surges")
    read = tick_step(first, first.steps[0].step_id, done=True, now=9.0)
    again = await route(of, "training of the graph module", before=read)
    assert again.revision == read.revision + 1 == 3
    assert again.steps[0].step_id == read.steps[0].step_id
    assert again.steps[0].done_at == 9.0
    assert all(step.done_at is None for step in again.steps[1:])
    assert again.minutes == sum(step.minutes for step in again.steps[1:])


def test_minutes_are_those_of_careful_reading() -> None:
    """320 English words take two minutes, 220 Chinese characters one; nothing takes less than half
    a minute.
    """
    long = book([("abstract", ("Abstract",), "word " * 320)])
    assert estimate_minutes(long, long.paper.parts[0]) == 2.0
    chinese = book([("abstract", ("摘要",), "字" * 220)], "zh")
    assert estimate_minutes(chinese, chinese.paper.parts[0]) == 1.0
    short = book([("abstract", ("Abstract",), "word")])
    assert estimate_minutes(short, short.paper.parts[0]) == 0.5


async def test_changes_give_a_new_plan_and_leave_the_old_one() -> None:
    plan = await route(book(ENGLISH), "")
    ids = [step.step_id for step in plan.steps]
    assert [s.step_id for s in remove_step(plan, ids[1]).steps] == [ids[0], *ids[2:]]
    assert [s.step_id for s in move_step(plan, ids[0], 3).steps] == [
        ids[1],
        ids[2],
        ids[0],
        *ids[3:],
    ]
    assert [s.step_id for s in move_step(plan, ids[0], 99).steps] == [*ids[1:], ids[0]]
    assert [s.step_id for s in move_step(plan, ids[4], -5).steps] == [ids[4], *ids[:4]]
    done = tick_step(plan, ids[2], done=True, now=3.0)
    assert done.steps[2].done_at == 3.0
    assert tick_step(done, ids[2], done=True, now=8.0).steps[2].done_at == 3.0
    assert tick_step(done, ids[2], done=False, now=8.0).steps[2].done_at is None
    assert done.revision == plan.revision + 1
    assert [step.step_id for step in plan.steps] == ids
    assert all(step.done_at is None for step in plan.steps)


def ticked(plan: Plan, step_id: str) -> Plan:
    return tick_step(plan, step_id, done=True, now=1.0)


def first(plan: Plan, step_id: str) -> Plan:
    return move_step(plan, step_id, 1)


@pytest.mark.parametrize("change", [ticked, remove_step, first])
async def test_a_step_that_is_not_there_is_named_with_those_that_are(
    change: Callable[[Plan, str], Plan],
) -> None:
    plan = await route(book(ENGLISH), "")
    with pytest.raises(NotFound) as caught:
        change(plan, "nope")
    assert all(step.step_id in caught.value.hint for step in plan.steps)


@pytest.mark.parametrize(
    "wanted",
    ["3.1", "3.1 Training of the graph module", "training of the GRAPH module", "Training"],
)
async def test_a_section_is_put_in_where_it_stands_in_the_paper(wanted: str) -> None:
    of = book(ENGLISH)
    plan = await route(of, "")
    more = add_section(plan, of, wanted)
    assert sections(more) == [
        *sections(plan)[:3],
        "3.1 Training of the graph module",
        *sections(plan)[3:],
    ]
    assert add_section(more, of, wanted) == more
    assert more.steps[3].why == "You put this section in."


async def test_a_section_that_is_not_there() -> None:
    of = book(ENGLISH)
    plan = await route(of, "")
    with pytest.raises(NotFound) as caught:
        add_section(plan, of, "9.9 Whales")
    assert "4.1 Main results" in caught.value.hint
    assert "References" not in caught.value.hint


async def test_the_route_as_markdown() -> None:
    plan = await route(book(ENGLISH), "storm surges")
    shown = render_route(tick_step(plan, plan.steps[0].step_id, done=True, now=1.0))
    assert shown.startswith("# Reading route: storm surges\n")
    assert "- [x] 1. **Abstract** (page 1, 0.5 min)" in shown
    assert "- [ ] 2. " in shown
    chinese = render_route(await route(book(CHINESE, "zh"), "", lang="zh"))
    assert "# 阅读路线\n" in chinese
    assert "（第1页，0.5 分钟）" in chinese
    assert "<" not in render_route(plan.model_copy(update={"interest": "<script>"})).replace(
        "&lt;", ""
    )


async def test_a_real_paper(shared_data: Path) -> None:
    """The error analysis of a 24-page paper is found in its main part and its appendix."""
    data = (shared_data / "paper_qa" / "pdf" / "2023.acl-long.386.pdf").read_bytes()
    document = parse_here(data, "paper.pdf", IngestSettings())
    of = OpenPaper("doc1", "papers", "file:///paper.pdf", document, read_paper(document))
    plan = await route(of, "error analysis of the reasoning programs")
    assert {
        "4.3 Interpretability of Reasoning Programs",
        "C Error Analysis for Reasoning Programs",
    } & set(sections(plan))
    assert len(plan.steps) <= MOST
    assert all(document.text[s.start : s.end].count(s.quote) for s in plan.steps)


def others(*bodies: str) -> OpenPaper:
    """A document whose parts are none of a paper: chapters, a manual."""
    text = "\n\n".join(bodies)
    parts, at = [], 0
    for n, body in enumerate(bodies, 1):
        parts.append(Part("other", (f"Chapter {n}",), at, at + len(body)))
        at += len(body) + 2
    document = Document("Birds", "text/plain", "en", text, (), ())
    return OpenPaper(
        "doc1", "papers", "file:///birds.txt", document, Paper("Birds", (), "en", tuple(parts))
    )


@pytest.mark.parametrize("interest", ["", "forging of steel", "how herons fish"])
@pytest.mark.parametrize("lang", ["en", "zh"])
async def test_parts_of_no_known_role_give_a_route(interest: str, lang: str) -> None:
    heron = (
        "The heron stands in the shallow water and waits for small fish to come near. It feeds "
        "at dawn and at dusk."
    )
    wren = (
        "The wren builds its nest low in a hedge and sings through the winter. Its eggs are "
        "white with small red spots."
    )
    plan = await make_route(
        others(heron, wren),
        interest,
        find=find_in(others(heron, wren)),
        embedder=ScriptedEmbedder(),
        llm=None,
        lang=lang,
        now=0.0,
    )
    assert {step.section for step in plan.steps} <= {"Chapter 1", "Chapter 2"}
    assert plan.steps
    assert all(step.why for step in plan.steps)


async def test_a_text_without_a_whole_sentence_gives_a_route_without_quotes() -> None:
    listed = "\n".join(f"- item {n} of the list, small and grey" for n in range(20))
    plan = await make_route(
        others(listed),
        "grey items",
        find=find_in(others(listed)),
        embedder=ScriptedEmbedder(),
        llm=None,
        lang="en",
        now=0.0,
    )
    assert [(step.section, step.quote) for step in plan.steps] == [("Chapter 1", "")]
    assert "“”" not in plan.steps[0].why


class Meaning(ScriptedEmbedder):
    """Each text is near to the descriptions of the kind that its own words are given for."""

    def __init__(self, kind: str, cosine: float) -> None:
        super().__init__()
        self.kind, self.cosine = kind, cosine
        self.name = f"meaning-{kind}-{cosine}"  # of one name examples are embedded once

    async def query(self, text: str) -> Vector:
        return np.array([1.0, 0.0], np.float32)

    async def passages(self, texts: Sequence[str]) -> Vector:
        own = {
            each
            for kind, of in DESCRIPTIONS.items()
            if kind == self.kind
            for each in of.split(" | ")
        }
        near = np.array([self.cosine if text in own else 0.8 for text in texts], np.float32)
        return np.stack([near, np.sqrt(1 - near**2)], axis=1)


@pytest.mark.parametrize(
    ("kind", "cosine", "part", "weight"),
    [
        ("method", 0.88, Part("method", ("3 TideNet",), 0, 9), 1.0),
        ("method", 0.88, Part("results", ("4.1 Main results",), 0, 9), 0.0),
        ("method", 0.88, Part("method", ("B More of it",), 0, 9, appendix=True), 0.0),
        ("method", 0.83, Part("method", ("3 TideNet",), 0, 9), 0.44),
        ("data", 0.88, Part("results", ("4.1 Datasets",), 0, 9), 1.0),
        ("method", 0.80, Part("method", ("3 TideNet",), 0, 9), 0.0),
    ],
)
async def test_a_part_counts_as_far_as_its_kind_is_asked_for(
    kind: str, cosine: float, part: Part, weight: float
) -> None:
    asked = await read_interest("how it is done", Meaning(kind, cosine))
    assert asked.weigh_part(part) == pytest.approx(weight, abs=0.02)


async def test_an_interest_in_a_kind_of_part_leads_to_all_of_that_kind() -> None:
    """Whatever words the paper and the reader use."""
    of = book(ENGLISH)
    plan = await make_route(
        of,
        "was kommt heraus",
        find=find_in(of),
        embedder=Meaning("results", 0.9),
        llm=None,
        lang="en",
        now=1.0,
    )
    asked = [step.section for step in plan.steps if step.why.startswith("It belongs to the part")]
    assert asked == [
        part.heading for part in of.paper.of(("results",)) if part.heading in sections(plan)
    ]
    assert len(asked) > 1
