"""Long-term memory: remember, recall, list, show, edit, forget. A memory is recalled only while it
holds: an answer whose documents are gone or have changed since is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import compress

from citewell.errors import InvalidInput, NotFound
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.skills.answer.duplicate_question import find_same_questions
from citewell.skills.memory.recall import MOST, Recalled, recall_memories
from citewell.skills.memory.remember import LONGEST, is_list_all_request, judge_memory, parse_fact
from citewell.store.library.catalog import Catalog
from citewell.store.memory import COMPARED
from citewell.store.memory_judgement import Kept, Told
from citewell.store.memory_rows import Memory
from citewell.text.secret import has_secret, is_secret

# memories that are looked at for a question, by meaning; what is asked for by time is found among
# them
NEAREST = 200
# memories embedded again at one question after the embedder was changed: a second of work; the
# newest first
AGAIN = 64


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory, and the versions before it, the newest first."""

    memory: Memory
    history: list[Memory]


async def show_memory(app: App, user_id: str, memory_id: str) -> Remembered:
    """Raises NotFound."""
    return Remembered(
        await app.memories.get(user_id, memory_id), await app.memories.history(user_id, memory_id)
    )


async def edit_memory(app: App, user_id: str, memory_id: str, text: str) -> Memory:
    """Reword a fact; its old words become history. Raises NotFound, InvalidInput."""
    fact = parse_fact(text)
    if not fact.text or len(fact.text) > LONGEST:
        raise InvalidInput(Text("a fact has 1 to {longest} characters", longest=LONGEST))
    if is_secret(fact.text):
        raise InvalidInput(
            Text("this looks like a secret, and secrets are not remembered"),
            hint=Text("keep it in a password manager"),
        )
    await app.memories.get(user_id, memory_id)  # before a model is asked for nothing
    vector = await app.embedder.query(fact.subject)
    return await app.memories.edit(
        user_id, memory_id, fact.text, vector, judge_memory, subject=fact.subject
    )


async def store_memory(app: App, user_id: str, told: Told) -> Kept:
    """Keep what was told or settled; `dropped`, with the reason, where it must not be."""
    if not app.settings.memory.enabled:
        return Kept("dropped", reason=Text("the memory is switched off (memory.enabled)"))
    check = has_secret if told.kind == "question" else is_secret
    if check(told.text) or check(told.subject):
        return Kept("dropped", reason=Text("it looks like a secret"))
    vector, same = await app.embedder.query(told.subject), list[str]()
    if told.kind == "question":
        near = await app.memories.find_near(user_id, vector, COMPARED)
        others = [
            each.subject
            for each, _ in near
            if (each.kind, each.collection) == ("question", told.collection)
        ]
        same = list(compress(others, await find_same_questions(told.subject, others, app.reader)))
    return await app.memories.keep(user_id, told, vector, partial(judge_memory, same_asked=same))


async def find_memories(
    app: App, user_id: str, question: str, *, collection: str | None = None
) -> list[Recalled]:
    """What is remembered of this user that bears on the question, the best first. With
    `collection`, settled questions of this collection only.
    """
    if not app.settings.memory.enabled:
        return []
    await _embed_again(app, user_id)
    if is_list_all_request(question):
        facts = [memory for memory in await app.memories.list(user_id) if memory.kind == "fact"]
        return [Recalled(memory, 1.0) for memory in facts[: 2 * MOST]]
    near = await app.memories.find_near(user_id, await app.embedder.query(question), NEAREST)
    found: list[Recalled] = []
    for each in await recall_memories(
        question, near, app.memories.read_clock(), app.reader, collection=collection, most=NEAREST
    ):
        if len(found) == MOST:
            break
        if await _is_still_proved(app.catalog, each.memory):
            found.append(each)
    return found


async def _embed_again(app: App, user_id: str) -> None:
    """Nothing is lost with another embedder: what is left is embedded again, some a question."""
    for memory in await app.memories.list_stale(user_id, app.embedder.dim, AGAIN):
        await app.memories.put_vector(user_id, memory, await app.embedder.query(memory.subject))


async def _is_still_proved(catalog: Catalog, memory: Memory) -> bool:
    """Whether all that proved it is there as it was; a fact needs no proof."""
    for doc_id in memory.doc_ids:
        try:
            document = await catalog.document(doc_id)
        except NotFound:
            return False
        if document.added_at > memory.updated_at:
            return False
    return True
