"""Which memories bear on a question, with the embedder that comes with Citewell, and what the
question means with them.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.skills.made_memories import NOW, fact, memory
from tests.skills.memory_pairs import BEARS, BEARS_NOT

from citewell.config import Settings
from citewell.models.builtin.embedder import BuiltinEmbedder
from citewell.models.reader_base import Reader
from citewell.models.scripted_reader import ScriptedReader
from citewell.skills.memory.recall import MOST, Recalled, personalize_question, recall_memories
from citewell.skills.memory.remember import extract_fact_value
from citewell.store.memory_rows import Memory


@pytest.fixture(scope="module")
def embedder() -> BuiltinEmbedder:
    """The real one: queries are embedded in this process, one in a few milliseconds, so there is
    nothing to close.
    """
    return BuiltinEmbedder(Settings())


async def likeness(embedder: BuiltinEmbedder, one: str, other: str) -> float:
    return float(await embedder.query(one) @ await embedder.query(other))


async def found(
    embedder: BuiltinEmbedder, question: str, *known: Memory, reader: Reader | None = None
) -> list[Recalled]:
    near = [(each, await likeness(embedder, question, each.subject)) for each in known]
    return await recall_memories(question, near, NOW, reader)


async def test_facts_are_found_where_they_bear(embedder: BuiltinEmbedder) -> None:
    """All that bear on a question, none that does not."""
    for question, said in BEARS:
        assert await found(embedder, question, fact(said)), (question, said)
    for question, said in BEARS_NOT:
        assert await found(embedder, question, fact(said)) == [], (question, said)


async def test_questions_are_found_by_meaning(embedder: BuiltinEmbedder) -> None:
    """The same one settles it and comes first; a near one is shown as such; other names, figures
    and unrelated ones are not.
    """
    known = [
        memory("How much is the Pro plan?", "30", "question", number=1, days=50),
        memory("What does the Basic plan cost?", "10", "question", number=2),
        memory("When was the lighthouse built?", "1857", "question", number=3),
    ]
    reader = ScriptedReader()
    reader.compare_with(lambda one, other: float("Pro" in one and "Pro" in other))
    [only] = await found(embedder, "What does the Pro plan cost?", *known, reader=reader)
    assert (only.memory.memory_id, only.same) == ("mem_1", True)
    [near] = await found(embedder, "When was the lighthouse painted?", *known)
    assert (near.memory.memory_id, near.same) == ("mem_3", False)
    assert await found(embedder, "How long is the guarantee?", *known) == []


async def test_what_was_settled_for_the_own_plan(embedder: BuiltinEmbedder) -> None:
    """It was asked of "my plan (Pro)": found again for "my plan" while that is Pro."""
    for own, other, asked in (
        (
            "my plan is Pro",
            "my plan is Basic",
            (
                "What is the refund period for my plan (Pro)?",
                "What is the refund period for my plan?",
            ),
        ),
        (
            "我的套餐是专业版",
            "我的套餐是基础版",
            ("我的套餐（专业版）退款要多久？", "我的套餐退款要多久？"),
        ),
    ):
        known = memory(asked[0], "30 days", "question", number=2)
        assert (await found(embedder, asked[1], fact(own), known))[0] == Recalled(
            known, 1.0, same=True
        )
        assert [
            each.memory.text for each in await found(embedder, asked[1], fact(other), known)
        ] == [other]


async def test_recency_and_most() -> None:
    """Of equally near ones the newer first, five of them; what was asked last is what was asked
    last.
    """
    known = [
        (memory(f"Question {n}?", "a", "question", number=n, days=10 * n), 0.8 + n / 100)
        for n in range(8)
    ]
    back = await recall_memories("What did I ask you last time?", known, NOW)
    assert [each.memory.memory_id for each in back] == [f"mem_{n}" for n in range(MOST)]
    assert back[0].score > back[1].score
    twins = [
        (memory("How big is it here?", "a", "question", number=n, days=n), 0.95) for n in (2, 1)
    ]
    assert [
        each.memory.memory_id for each in await recall_memories("How big is it there?", twins, NOW)
    ] == ["mem_1", "mem_2"]


async def test_asked_back_by_subject_and_collection() -> None:
    """What was asked about a thing; settled questions of another collection only where they are
    asked for.
    """
    pump = memory(
        "How long is the warranty of the pump?", "2 years", "question", number=1, collection="a"
    )
    dogs = memory("Are dogs allowed?", "No", "question", number=2, collection="a")
    near = [(pump, 0.84), (dogs, 0.84)]
    assert [
        r.memory
        for r in await recall_memories(
            "What did I ask you about the warranty?", near, NOW, collection="b"
        )
    ] == [pump]
    assert (
        await recall_memories(
            "How long is the warranty of the pump?", [(pump, 1.0)], NOW, collection="b"
        )
        == []
    )
    [same] = await recall_memories(
        "How long is the warranty of the pump?", [(pump, 1.0)], NOW, collection="a"
    )
    assert same.same


@pytest.mark.parametrize(
    ("question", "facts", "full"),
    [
        ("What is the refund period for my plan?", ["my plan is Pro"],
         "What is the refund period for my plan (Pro)?"),
        ("我的套餐多少钱", ["我的套餐是专业版"], "我的套餐（专业版）多少钱"),
        ("What does my current plan cost?", ["我的套餐是专业版"],
         "What does my current plan (专业版) cost?"),
        ("我们公司的年假有几天？", ["我们公司叫长河科技"], "我们公司（长河科技）的年假有几天？"),
        ("How many days may my department travel on my plan?",
         ["my plan is Pro", "my department is Research"],
         "How many days may my department (Research) travel on my plan (Pro)?"),
        ("What is my plan?", ["my plan is Pro"], "What is my plan?"),
        ("What does the plan cost?", ["my plan is Pro"], "What does the plan cost?"),
        ("Is Pro the best for my plan?", ["my plan is Pro"], "Is Pro the best for my plan?"),
        ("Does my planning tool count?", ["my plan is Pro"], "Does my planning tool count?"),
        ("How much is my plan?", ["my plan is not Pro"], "How much is my plan?"),
        ("How much is my plan?", ["I use PostgreSQL"], "How much is my plan?"),
    ],
)  # fmt: skip
def test_personalised(question: str, facts: Sequence[str], full: str) -> None:
    """The user's own facts are filled in where they are meant, and those used are named."""
    known = [Recalled(fact(said, n), 0.9) for n, said in enumerate(facts)]
    told, used = personalize_question(question, known)
    assert told == full
    assert bool(used) == (full != question)
    assert all(extract_fact_value(each.text) in full for each in used)
