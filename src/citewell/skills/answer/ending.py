"""How every agent's answer ends: shown, partly shown, or an honest refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from citewell.messages import Text
from citewell.skills.answer.answering import Decided, Drafted
from citewell.skills.answer.cite import Proof, keep_proved
from citewell.skills.answer.decision import EVEN
from citewell.skills.answer.draft import Draft
from citewell.skills.answer.format import format_with_markers
from citewell.skills.answer.wording import (
    format_message,
    format_nearest_sources,
    format_reasons,
    format_refusal,
)
from citewell.types import Hit, Sentence, Status


@dataclass(frozen=True, slots=True)
class Ending:
    """`proof`: the sentences that are told, unproved ones marked as such behind the proved ones."""

    status: Status
    text: str
    proof: Proof
    warnings: list[str] = field(default_factory=list)


def end_answer(
    drafted: Drafted,
    decided: Decided,
    proof: Proof,
    hits: Sequence[Hit],
    lang: str,
    *,
    degraded: bool = False,
) -> Ending:
    """`proof`: of `decided`, its citations located; sentences behind those of the draft are the
    documents' own. `hits`: the nearest passages, for a refusal.
    """
    draft = decided.proven.draft
    if draft.status == "unclear":
        return Ending(
            "clarify", draft.question_back.strip() or format_message("unclear", lang), Proof([], [])
        )
    kept = keep_proved(proof)
    if not decided.shown:
        failure = decided.proven.failure
        written = drafted.tier == "connected" and draft.status != "not_told"
        if failure and written and proof.sentences:
            return _show_unchecked(draft, proof, failure, lang)
        return _refuse_answer(drafted, decided, kept, hits, lang)
    unproved, refuted = _split_doubted(decided, proof)
    text = format_with_markers(kept.sentences, lang)
    if refuted:
        text += "\n\n" + format_message(
            "part_denied", lang, why=format_reasons([reason for _, reason in refuted], lang)
        )
    warnings = [_describe_refuted(*each) for each in refuted]
    if unproved:
        warnings = [
            Text(
                "not proved: {unproved} of {sentences} sentences",
                unproved=len(unproved),
                sentences=len(proof.sentences),
            ),
            *warnings,
        ]
        return _show_unproved_apart(text, kept, unproved, warnings, lang)
    if refuted:
        return Ending("fallback", text, kept, warnings=warnings)
    if _has_unnamed_gap(draft):
        return Ending("fallback", f"{text}\n\n{format_message('part_untold', lang)}", kept)
    return _show_proved(drafted, decided, text, kept, lang, degraded=degraded)


def _show_unchecked(draft: Draft, proof: Proof, failure: str, lang: str) -> Ending:
    """An unjudged draft, said to be so; what the documents say stands behind it."""
    drafts, quotes = (
        proof.sentences[: len(draft.sentences)],
        proof.sentences[len(draft.sentences) :],
    )
    text = f"{format_message('unchecked', lang)} {format_with_markers(drafts, lang)}"
    if quotes:
        text += f"\n\n{format_message('documents_say', lang)} {format_with_markers(quotes, lang)}"
    return Ending(
        "fallback",
        text,
        proof,
        warnings=[Text("the answer could not be checked: {failure}", failure=failure)],
    )


def _show_unproved_apart(
    text: str, kept: Proof, unproved: Sequence[Sentence], warnings: list[str], lang: str
) -> Ending:
    """What is proved, and behind it a list of what is not."""
    listed = "\n".join(f"- {sentence.text}" for sentence in unproved)
    told = Proof(
        [*kept.sentences, *(s.model_copy(update={"citations": []}) for s in unproved)],
        kept.citations,
    )
    text = f"{text}\n\n{format_message('unproved', lang)}\n{listed}"
    return Ending("fallback", text, told, warnings=warnings)


def _show_proved(
    drafted: Drafted, decided: Decided, text: str, kept: Proof, lang: str, *, degraded: bool
) -> Ending:
    """All of it is proved; with a caution where no chat model wrote it, and the parts of the
    question that it does not answer.
    """
    unsure = drafted.tier != "connected" and decided.probability < EVEN
    caution = (
        format_message("extract", lang)
        if degraded
        else format_message("perhaps", lang)
        if unsure
        else ""
    )
    if caution:  # a row of a table stands on its own line
        caution += "\n\n" if text.startswith("- ") else "" if lang == "zh" else " "
    if drafted.missing:
        text += "\n\n" + format_message(
            "part_missing", lang, parts=("；" if lang == "zh" else "; ").join(drafted.missing)
        )
    return Ending("fallback" if degraded or drafted.missing else "answered", caution + text, kept)


def _has_unnamed_gap(draft: Draft) -> bool:
    """Whether a draft answers in part and does not say which part is missing."""
    return draft.status == "partly" and all(
        sentence.kind != "not_told" for sentence in draft.sentences
    )


def _split_doubted(
    decided: Decided, proof: Proof
) -> tuple[list[Sentence], list[tuple[Sentence, str]]]:
    """The sentences that are not stated, to be shown as such, and those that are contradicted, with
    the reason: what the documents deny is not shown in an answer.
    """
    judged = list(zip(proof.sentences, decided.proven.judgements, strict=False))
    unproved = [s for s, j in judged if s.verdict == "unsupported" and j.verdict != "contradicted"]
    return unproved, [(s, j.reason) for s, j in judged if j.verdict == "contradicted"]


def _describe_refuted(sentence: Sentence, reason: str) -> str:
    if reason:
        return Text(
            "left out, for the documents say otherwise: {text} ({reason})",
            text=sentence.text,
            reason=reason,
        )
    return Text("left out, for the documents say otherwise: {text}", text=sentence.text)


def _refuse_answer(
    drafted: Drafted, decided: Decided, kept: Proof, hits: Sequence[Hit], lang: str
) -> Ending:
    """The model's own words for what is missing, where the judge agrees with them; else ours, with
    the nearest passages, or with why the model did not answer. That something was drafted and could
    not be proved is told, and why; what it was, as a warning.
    """
    draft, written = decided.proven.draft, drafted.tier == "connected"
    if written and draft.status == "not_told" and kept.sentences:
        return Ending("refused", format_with_markers(kept.sentences, lang), kept)
    judged = (
        zip(draft.sentences, decided.proven.judgements, strict=True)
        if written and draft.status != "not_told"
        else ()
    )
    doubted = [
        (sentence.text, found.reason) for sentence, found in judged if found.verdict != "entailed"
    ]
    text = format_message("no_extract", lang) if drafted.warning else format_refusal(hits, lang)
    if doubted and not drafted.warning:
        text = format_message(
            "draft_unproved", lang, why=format_reasons([reason for _, reason in doubted], lang)
        )
        text += ("" if lang == "zh" else " ") + format_nearest_sources(hits, lang) if hits else ""
    warnings: list[str] = [
        Text("a draft was not proved: {sentence}", sentence=sentence) for sentence, _ in doubted
    ]
    return Ending("refused", text, Proof([], []), warnings)
