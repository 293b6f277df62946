"""Where answers of the paper agent get lost, and what the simplest ways to answer reach in the same
run: `python evals/paper.py --losses`.

The one rule: every stage is judged by the measure of the answer itself, on all that it holds (or on
its best single sentence), so a stage can lose only what the one before it had.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from citewell.errors import TransientError
from citewell.ingest.paper.read_paper import read_paper
from citewell.measure import wording
from citewell.runtime.app import App
from citewell.service.ask.options import SearchOptions
from citewell.service.ask.search import find_hits
from citewell.service.papers.reading_sessions import PaperSession
from citewell.store.index.protocol import Filter
from citewell.text.sentences import detect_language, split_sentences
from citewell.types import Document, Hit, Message

PROMPT = {
    "en": "Answer the question from these passages of a paper in one short sentence. If they do "
    "not tell it, reply only: unknown.\n\n{text}\n\nQuestion: {question}",
    "zh": "请根据以下论文段落用一句话回答问题。如果没有写明，只回答：不知道。\n\n{text}\n\n"
    "问题：{question}",
}
NEAREST = 3  # passages of the simplest way
SEARCHED = 40  # passages of a paper that the agent's search hands on


@dataclass(slots=True)
class Trail:
    """Of one question: which stages hold the answer, which simple ways give it, and in how many
    words.
    """

    stages: dict[str, bool] = field(default_factory=dict)
    ways: dict[str, tuple[bool, int]] = field(default_factory=dict)


def gives(text: str, answers: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a text gives the gold answer, as `evals/paper.py` counts it."""
    if parts:
        return all(wording.contains_answer(text, part) for part in parts)
    return wording.is_right(text, answers)


async def follow_answer(
    app: App,
    session: PaperSession,
    question: str,
    answers: Sequence[str],
    parts: Sequence[str],
    sent: Sequence[str],
    said: str,
) -> Trail:
    """`sent`: the passages that section agents got; `said`: the answer, empty where refused."""
    trail, document = Trail(), await app.catalog.content(session.paper.doc_id)
    hits = await _search(app, session, question)
    whole = [sentence for hit in hits[:SEARCHED] for sentence in _split(hit.text)]
    trail.stages = {
        "a sentence of the paper": any(gives(s, answers, parts) for s in _split(document.text)),
        "a sentence of the search's": any(gives(s, answers, parts) for s in whole),
        "a sentence of the first 8": any(
            gives(s, answers, parts) for hit in hits[:8] for s in _split(hit.text)
        ),
        "a sentence of what agents got": any(
            gives(s, answers, parts) for text in sent for s in _split(text)
        ),
        "the answer": gives(said, answers, parts),
    }
    ways = {
        "embedder's best sentence": await _find_nearest(app, document, question),
        "three passages whole": "\n\n".join(hit.text for hit in hits[:NEAREST]),
        "our answer": said,
    }
    if app.llm is not None:
        ways["three passages, one call"] = await _ask_model(app, question, hits)
    trail.ways = {
        name: (gives(text, answers, parts), len(text.split())) for name, text in ways.items()
    }
    return trail


def _split(text: str) -> list[str]:
    return [text[a:b] for a, b in split_sentences(text)]


async def _search(app: App, session: PaperSession, question: str) -> list[Hit]:
    where = Filter(collections=(session.paper.collection,), doc_ids=(session.paper.doc_id,))
    vector = await app.embedder.query(question)
    found = await find_hits(app, SearchOptions(), question, vector, [], where, SEARCHED)
    return list(found.hits)


async def _find_nearest(app: App, document: Document, question: str) -> str:
    """Of the whole paper, each sentence under its headings."""
    paper = read_paper(document)
    spans = [
        (a, b)
        for a, b in split_sentences(document.text)
        if (part := paper.get_part_at(a)) is None or part.role != "references"
    ]
    sentences = [document.text[a:b] for a, b in spans]
    under = [part.heading if (part := paper.get_part_at(a)) else "" for a, _ in spans]
    vectors = await app.embedder.passages(
        [f"{heading}\n{sentence}" for heading, sentence in zip(under, sentences, strict=True)]
    )
    cosines = vectors @ await app.embedder.query(question)
    return sentences[int(cosines.argmax())]


async def _ask_model(app: App, question: str, hits: Sequence[Hit]) -> str:
    assert app.llm is not None, "asked only where there is one"
    text = "\n\n".join(hit.text for hit in hits[:NEAREST])
    prompt = PROMPT[detect_language(question)].format(text=text, question=question)
    try:
        return (await app.llm.chat([Message(role="user", content=prompt)], max_tokens=100)).text
    except TransientError as error:  # no reply in time is no answer
        print(f"      {error.message}")
        return ""


def describe_losses(trails: Sequence[Trail]) -> list[str]:
    """Lines: how many of the answerable questions each stage holds, and each way answers."""
    n = len(trails)
    lines = [
        f"  {name:32} {sum(each.stages[name] for each in trails):3} of {n}"
        for name in trails[0].stages
    ]
    for name in trails[0].ways:
        right = sum(each.ways[name][0] for each in trails)
        words = sum(each.ways[name][1] for each in trails) / n
        lines.append(f"  {name:32} {right:3} of {n}, {words:.0f} words")
    return lines
