"""What a correction contradicts: confirmed answers to the same question, and documents. It is told
to who reviews the correction, and decides nothing.
"""

from __future__ import annotations

from citewell.errors import CitewellError
from citewell.messages import Text
from citewell.runtime.app import App
from citewell.service.check.check_text import check_claims
from citewell.service.knowledge.chains import normalize_sql
from citewell.service.knowledge.find_knowledge import find_similar_items
from citewell.skills.answer.duplicate_question import is_same_answer
from citewell.skills.proof.judge_reader import find_nearest_units
from citewell.skills.proof.judges import build_judge
from citewell.store.confirmed.types import Confirmed
from citewell.text.claims import find_statement_spans, strip_statement_markup
from citewell.text.normalize import normalize_text

LONGEST = 160  # characters of what is quoted
MOST = 4  # sentences of a correction that are held against documents


async def list_contradictions(app: App, item: Confirmed, correction: str, logic: str) -> list[Text]:
    """`item`: the question and its place; `logic`: the correction as SQL, where it is one. Nothing
    where it cannot be looked up.
    """
    if not correction:
        return []
    try:
        found = await _list_confirmed(app, item, correction, logic)
        if item.agent != "data" and item.collection:
            found += await _list_documents(app, item.collection, correction)
    except CitewellError:
        return []
    return found


async def _list_confirmed(app: App, item: Confirmed, correction: str, logic: str) -> list[Text]:
    known = await find_similar_items(
        app, item.question, agent=item.agent, source=item.source, collection=item.collection
    )
    return [
        Text(
            "{item} confirms another answer: {answer}",
            item=each.item.item_id,
            answer=_shorten(each.item.answer),
        )
        for each in known
        if isinstance(each.item, Confirmed) and each.same and _differs(each.item, correction, logic)
    ]


def _differs(item: Confirmed, correction: str, logic: str) -> bool:
    """Of tables only statements are compared: words do not tell what rows would say."""
    if item.agent == "data":
        return bool(logic) and normalize_sql(logic, "") != normalize_sql(item.logic, "")
    return not is_same_answer(correction, item.answer, item.question)


async def _list_documents(app: App, collection: str, correction: str) -> list[Text]:
    """By the reader, which needs no chat model; it may be wrong, so the sentence is quoted."""
    judge = build_judge(None, app.reader)
    if judge is None:
        return []
    claims = [
        normalize_text(strip_statement_markup(correction[start:end]))
        for start, end in find_statement_spans(correction)
    ][:MOST]
    info = await app.collections.get(collection)
    judged = await check_claims(app, claims, [info.name], judge)
    return [
        Text(
            "{title} seems to say otherwise: “{quote}”",
            title=each.evidence[0].passage.hit.title,
            quote=_shorten(find_nearest_units(claim, each.evidence, 1)[0].text),
        )
        for claim, each in zip(claims, judged, strict=True)
        if each.verdict == "contradicted" and each.evidence
    ]


def _shorten(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= LONGEST else flat[: LONGEST - 1] + "…"
