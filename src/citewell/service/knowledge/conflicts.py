"""Confirmed items that answer one question in two ways, side by side with who stands by each.
Citewell takes no side in silence. While people disagree, neither answer is given as it stands: the
one that weighs more is an example, and it is said that there is another.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, compress, product

import anyio.to_thread
from sqlalchemy import Connection

from citewell.config import Settings
from citewell.runtime.access_scope import has_visible_owner
from citewell.runtime.app import App
from citewell.service.knowledge.chains import normalize_sql
from citewell.skills.answer.duplicate_question import (
    find_same_questions,
    has_same_words,
    is_same_answer,
)
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import question_likeness as questions
from citewell.store.confirmed.types import Confirmation, Confirmed, Known, compute_weight
from citewell.types import Shown


class Side(Shown):
    """One of the answers. `weight`: of its votes, use and age; 1 is neutral."""

    item_id: str
    agent: str
    question: str
    logic: str
    answer: str
    confirmed_by: list[Confirmation]
    uses: int
    weight: float


class Disagreement(Shown):
    """The side that weighs most comes first."""

    source: str
    collection: str
    likeness: float
    sides: list[Side]


async def list_conflicts(app: App) -> list[Disagreement]:
    """Pairs of active items that answer one question of one place otherwise, most alike first."""
    items = await app.db.read(confirmed.list_items, state="active")
    items = [item for item in items if has_visible_owner(app, item)]
    places = {(item.agent == "data", item.source, item.collection) for item in items}
    found: list[Disagreement] = []
    for tables, source, collection in sorted(places):
        here = [
            i
            for i in items
            if (i.agent == "data", i.source, i.collection) == (tables, source, collection)
        ]
        known = await app.db.read(
            partial(
                _compute_likenesses,
                "data" if tables else "other",
                source,
                collection,
                app.embedder.name,
            )
        )
        for n, one in enumerate(here):
            for other, likeness in await _find_disagreeing(app, one, here[n + 1 :], known):
                sides = sorted(
                    (_build_side(app.settings, one), _build_side(app.settings, other)),
                    key=lambda side: (-side.weight, side.item_id),
                )
                found.append(
                    Disagreement(
                        source=source, collection=collection, likeness=likeness, sides=sides
                    )
                )
    return sorted(found, key=lambda each: (-each.likeness, each.sides[0].item_id))


async def add_conflicts(app: App, item: Confirmed) -> Confirmed:
    """An item with the ids of the active ones that answer its question otherwise; what is not in
    force disagrees with none.
    """
    if item.state != "active":
        return item
    tables, embedder = item.agent == "data", app.embedder.name
    items = await app.db.read(confirmed.list_items, state="active", source=item.source)
    items = [each for each in items if has_visible_owner(app, each)]
    beside = [
        i
        for i in items
        if (i.agent == "data", i.collection) == (tables, item.collection)
        and i.item_id != item.item_id
    ]
    look = partial(
        _compute_likenesses,
        "data" if tables else "other",
        item.source,
        item.collection,
        embedder,
        only=item.item_id,
    )
    known = await app.db.read(look) if beside else {}
    against = sorted(
        other.item_id for other, _ in await _find_disagreeing(app, item, beside, known)
    )
    return item.model_copy(update={"conflicts": against})


async def _find_disagreeing(
    app: App, item: Confirmed, others: Sequence[Confirmed], likenesses: dict[frozenset[str], float]
) -> list[tuple[Confirmed, float]]:
    """Those that answer its question otherwise, most alike first; only such are looked at."""
    found = [
        (other, likenesses.get(frozenset((item.item_id, other.item_id)), 0.0)) for other in others
    ]
    least = questions.get_scale(app.embedder.name).alone
    near = [
        each
        for each in found
        if each[1] >= least or has_same_words(item.question, each[0].question)
    ]
    near.sort(key=lambda each: -each[1])
    same = await find_same_questions(
        item.question, [other.question for other, _ in near], app.reader
    )
    return [
        each
        for each in compress(near, same)
        if await anyio.to_thread.run_sync(is_disagreement, item, each[0])
    ]


def is_disagreement(one: Confirmed, other: Confirmed) -> bool:
    """Whether two items of one place, which ask the same, answer otherwise."""
    if one.agent == "data":
        if normalize_sql(one.logic, "") == normalize_sql(other.logic, ""):
            return False
        mine, theirs = _get_sorted_rows(one), _get_sorted_rows(other)
        return mine is None or theirs is None or mine != theirs
    return not is_same_answer(one.answer, other.answer, one.question)


def mark_conflicts(found: Sequence[Known]) -> list[Known]:
    """What a search for a question gave, each item with the ids of those that say otherwise."""
    items = [(each.item, each.same) for each in found if isinstance(each.item, Confirmed)]
    against: dict[str, list[str]] = {}
    for (one, near), (other, far) in combinations(items, 2):
        if ((near and far) or has_same_words(one.question, other.question)) and is_disagreement(
            one, other
        ):
            against.setdefault(one.item_id, []).append(other.item_id)
            against.setdefault(other.item_id, []).append(one.item_id)
    return [_attach_conflicts(each, against) for each in found]


def _attach_conflicts(known: Known, against: dict[str, list[str]]) -> Known:
    if not isinstance(known.item, Confirmed) or known.item.item_id not in against:
        return known
    return replace(
        known, item=known.item.model_copy(update={"conflicts": against[known.item.item_id]})
    )


def _get_sorted_rows(item: Confirmed) -> list[str] | None:
    """The rows that were confirmed, in any order: the same rows are no disagreement."""
    kept = next(iter(item.evidence), None)
    if not kept or "rows" not in kept or not kept["rows"]:
        return None
    return sorted(json.dumps(row, ensure_ascii=False, default=str) for row in kept["rows"])


def _compute_likenesses(
    group: str,
    source: str,
    collection: str,
    embedder: str,
    connection: Connection,
    *,
    only: str = "",
) -> dict[frozenset[str], float]:
    """Of each pair of items, or of `only` and each other, with vectors of this embedder."""
    import numpy as np

    rows = [
        row
        for row in questions.load_item_vectors(connection, group, source, collection, "active")
        if row["embedder"] == embedder
    ]
    vectors = [np.frombuffer(row["vec"], dtype="<f4") for row in rows]
    scale = questions.get_scale(embedder)
    found = {}
    both = list(zip(rows, vectors, strict=True))
    own = [each for each in both if each[0]["id"] == only]
    for (a, one), (b, other) in product(own, both) if only else combinations(both, 2):
        if len(one) == len(other):
            likeness = questions.compute_likeness(float(one @ other), a["lang"], b["lang"], scale)
            found[frozenset((str(a["id"]), str(b["id"])))] = likeness
    return found


def _build_side(settings: Settings, item: Confirmed) -> Side:
    weight = compute_weight(item, time.time(), settings.feedback.half_life_days)
    return Side.of(item, weight=weight)
