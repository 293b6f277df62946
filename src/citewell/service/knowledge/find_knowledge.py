"""What people have confirmed and corrected, found for a question: only `active` ones."""

from __future__ import annotations

import time
from dataclasses import replace

import anyio.to_thread
from sqlalchemy import Connection

from citewell.runtime.access_scope import has_visible_owner
from citewell.runtime.app import App
from citewell.service.knowledge.conflicts import mark_conflicts
from citewell.skills.answer.duplicate_question import find_same_questions
from citewell.store.confirmed import items as confirmed
from citewell.store.confirmed import question_likeness as questions
from citewell.store.confirmed import rules
from citewell.store.confirmed.types import Confirmed, Known, Rule, compute_weight
from citewell.store.memory_rows import encode_vector
from citewell.text.normalize import normalize_text
from citewell.text.sentences import detect_language

MOST = 5  # items and rules that a question is shown
NEAR = 0.01  # likenesses that differ by less are as good as equal: the weight decides
AGAIN = 64  # questions embedded again at one search after the embedder was changed, as of memories


async def find_similar_items(
    app: App, question: str, *, agent: str, source: str = "", collection: str = ""
) -> list[Known]:
    """Active items and rules whose question is like this one, best first, at most MOST: of this
    source for the `data` agent, of this collection for all others. `similarity` is on one scale for
    all languages (store/confirmed/question_likeness.py). `conflicts` of an item: those beside it
    that answer the question asked otherwise.
    """
    words, group = normalize_text(question), "data" if agent == "data" else "other"
    there = await app.db.read(questions.has_candidates, group, source, collection)
    if not words or not there:
        return []
    await _embed_again(app)
    vector = encode_vector(app.embedder.name, await app.embedder.query(words))
    lang, floor = detect_language(words), questions.get_scale(app.embedder.name).floor

    def find(connection: Connection) -> list[Known]:
        items = questions.load_item_vectors(connection, group, source, collection, "active")
        near = questions.rank_similar(
            [*items, *questions.load_rule_vectors(connection, group, source, collection)],
            vector,
            lang,
        )
        near = [each for each in near if each.likeness >= floor]
        likeness = {each.id: each.likeness for each in near[: 4 * MOST]}
        found = _load_weighted(connection, likeness, app.settings.feedback.half_life_days)
        found = [each for each in found if has_visible_owner(app, each.item)]
        return sorted(
            found, key=lambda each: (-round(each.similarity / NEAR), -each.weight, -each.similarity)
        )[:MOST]

    found = await app.db.read(find)
    same = await find_same_questions(words, [each.item.question for each in found], app.reader)
    found = [replace(each, same=asks_same) for each, asks_same in zip(found, same, strict=True)]
    return found if len(found) < 2 else await anyio.to_thread.run_sync(mark_conflicts, found)


def _load_weighted(
    connection: Connection, likeness: dict[str, float], half_life: float
) -> list[Known]:
    items: list[Confirmed | Rule] = [
        *confirmed.find_items(connection, likeness).values(),
        *rules.find_rules(connection, likeness).values(),
    ]
    now = time.time()
    return [
        Known(item, likeness[_get_id(item)], compute_weight(item, now, half_life))
        for item in items
        if item.state == "active"
    ]


def _get_id(item: Confirmed | Rule) -> str:
    return item.item_id if isinstance(item, Confirmed) else item.rule_id


async def _embed_again(app: App) -> None:
    """A change of embedder loses nothing, as with memories."""
    embedder = app.embedder
    stale = await app.db.read(questions.list_stale_vectors, embedder.name, 4 * embedder.dim, AGAIN)
    for table, item_id, question in stale:
        stored = encode_vector(embedder.name, await embedder.query(question))

        def put(
            connection: Connection, what: tuple[str, str, str] = (table, item_id, question)
        ) -> None:
            questions.set_vector(connection, *what, stored)  # noqa: B023 - it is called before the next turn

        await app.db.write_beside(put)
