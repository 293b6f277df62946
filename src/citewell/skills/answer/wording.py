"""The sentences of answers that are not quoted, such as refusals, in the question's language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from citewell.messages import Text, list_languages, translate
from citewell.types import Citation, Hit

_ENGLISH = re.compile(r"[a-z]{2,} [a-z]{2,}", re.IGNORECASE)  # words, not a name or a unit
_TEXTS: Final[Mapping[str, Text]] = {
    "refused": Text("I could not find the answer in the documents."),
    "empty": Text("There is nothing in this collection that this question could be answered from."),
    "nearest": Text("The nearest passages are in: {sources}."),
    "extract": Text("The chat model gave no usable answer; this is what the documents say:"),
    "perhaps": Text("I am not sure that this answers it; the nearest that the documents say:"),
    "no_extract": Text(
        "The chat model gave no usable answer, and no sentence of the documents is "
        "surely the answer by itself."
    ),
    "unclear": Text(
        "I am not sure what you mean. Please say it in other words, or name the "
        "document or thing you ask about."
    ),
    "unproved": Text("The documents do not prove this:"),
    "part_missing": Text("I found no answer to this part: {parts}"),
    "part_untold": Text("I found no answer to a part of the question."),
    "part_denied": Text("A part of the answer could not be proved and is left out{why}."),
    "draft_unproved": Text(
        "I found no answer that the documents prove: one was drafted, and it is not shown{why}."
    ),
    "which_hold": Text("Which of the statements below hold by these sentences?"),
    "unchecked": Text("This draft could not be checked against the documents:"),
    "documents_say": Text("The documents say:"),
    "smalltalk": Text(
        "Hello! Ask me something about your documents, and I will answer with the "
        "passages that prove it."
    ),
    "offer": Text("You can ask me about what stands in: {titles}."),
    "offer_questions": Text("For example:"),
    "overview": Text("In the documents' own words:"),
    "which": Text("Do you mean {options}?"),
    "or": Text(" or "),
    "page": Text("page {page}"),
    "searched": Text("I searched {routes}."),
    "hierarchical_search": Text("section by section"),
    "direct_chunk_search": Text("passage by passage"),
    "web_search": Text("the web"),
    "web_off": Text("Searching the web is switched off."),
    "routes_exhausted": Text("No other way to search is left."),
    "corrections_exhausted": Text(
        "I asked in other words too, and no answer settled the question."
    ),
    "unsettled": Text("The answer found does not settle the question."),
    "rest_unproved": Text("What is cited above is proved; for the rest I found no proof."),
    "rest_unproved_again": Text(
        "What is cited above is proved; for the rest I found no proof, in other words either."
    ),
    "model_failed": Text("The chat model gave no usable answer."),
    "same_evidence": Text("I stopped because another search found the same passages again."),
    "same_question": Text("I stopped because there were no other words to ask in."),
    "budget_calls": Text(
        "I stopped because the model calls allowed for one question were used up."
    ),
    "budget_tokens": Text("I stopped because the tokens allowed for one question were used up."),
    "budget_seconds": Text("I stopped because the time allowed for one question was over."),
    "site_refused": Text("I could not find the answer on {site}, of which I read {pages}."),
    "site_read": Text("I read {pages} of {site}."),
    "off_site": Text(
        "This question does not seem to be about {site}: of {pages} that I looked "
        "at, none comes near it."
    ),
    "pages_one": Text("1 page"),
    "pages_many": Text("{n} pages"),
    "site_exhausted": Text("No other link there promises it."),
    "iterations_exhausted": Text("I stopped after as many rounds of exploring as are allowed."),
    "pages_exhausted": Text("I stopped because the pages allowed for one question were read."),
    "stopped": Text("I stopped because I was asked to."),
    "unreachable": Text("I could not read {site}, so I cannot answer from it."),
    "unread": Text("Not read: {problems}."),
    "smalltalk_site": Text(
        "Hello! Ask me something about {site}, and I will answer with the passages that prove it."
    ),
    "refused_paper": Text("The paper does not answer this, as far as I can find."),
    "nearest_paper": Text("Nearest: {places}."),
    "refused_figure": Text(
        "The paper's words do not answer this, as far as I can find, and what only "
        "a picture shows I cannot read. Look there: {captions}"
    ),
    "smalltalk_paper": Text(
        "Hello! Ask me something about this paper, and I will answer with the "
        "sentences that prove it."
    ),
    "explain_this": Text("Explain this passage."),
    "noted": Text("I will remember: {facts}"),
    "memory_off": Text("I cannot remember this: the memory is switched off here."),
    "secret": Text("I do not keep passwords, keys, or numbers of cards and papers."),
    "forget": Text(
        "Asking here forgets nothing; `citewell memory list` and `citewell memory forget ID` do."
    ),
    "nothing_to_note": Text(
        "I found nothing in this that I could remember; say it as: remember that my plan is Pro."
    ),
    "remembered": Text("(Remembered of you: {text})"),
    "memory": Text("memory of {day}"),
    "conversation": Text("this conversation"),
    "you": Text("You: {text}"),
    "me": Text("Citewell: {text}"),
    "confirmed_by": Text("confirmed by {names} on {day}"),
    "corrected_by": Text("correction reviewed by {names} on {day}"),
    "somebody": Text("somebody"),
    "confirmed_against": Text(
        "left out: what was {by} (“{claim}”); {title} says otherwise: “{text}”"
    ),
    "confirmed_stale": Text("left out: what was {by}, because {why}"),
    "disputed": Text(
        "people disagree: beside what was {by} ({item}) another confirmed answer says otherwise"
    ),
    "rule_against": Text("{by} (“{claim}”), while {title} says: “{text}”"),
}


def format_message(key: str, lang: str, **values: str) -> str:
    """A sentence of this module; in English where the language has none."""
    return translate(_TEXTS[key].fill(**values), lang)


def is_clarifying_question(text: str) -> bool:
    """Whether a message is one of the clarifying questions of this module."""
    asked = (translate(_TEXTS["which"], lang) for lang in list_languages())
    return any(text.startswith(question.partition("{")[0]) for question in asked)


def describe_ending(tried: Sequence[str], stop_reason: str, lang: str, *, web: bool) -> str:
    """A sentence about what was tried before giving up, and why it ended."""
    joint = "、" if lang == "zh" else ", "
    parts = (
        [
            format_message(
                "searched",
                lang,
                routes=joint.join(format_message(route, lang) for route in dict.fromkeys(tried)),
            )
        ]
        if tried
        else []
    )
    parts += [format_message(stop_reason, lang)] if stop_reason else []
    parts += [] if web or not tried or "web_search" in tried else [format_message("web_off", lang)]
    return ("" if lang == "zh" else " ").join(parts)


def format_refusal(hits: Sequence[Hit], lang: str) -> str:
    """A refusal: that the documents do not tell, and where the nearest passages are."""
    if not hits:
        return format_message("empty", lang)
    return (
        format_message("refused", lang)
        + ("" if lang == "zh" else " ")
        + format_nearest_sources(hits, lang)
    )


def format_reasons(reasons: Sequence[str], lang: str) -> str:
    """Why something is not shown, in brackets. A Chinese answer leaves out English reasons."""
    told = dict.fromkeys(
        reason.strip(" .。") for reason in reasons if lang != "zh" or not _ENGLISH.search(reason)
    )
    told.pop("", None)
    if lang == "zh":
        return f"（{'；'.join(told)}）" if told else ""
    return f" ({'; '.join(told)})" if told else ""


def format_nearest_sources(hits: Sequence[Hit] | Sequence[Citation], lang: str) -> str:
    """A sentence that names where the nearest passages are."""
    names = []
    for hit in hits[:3]:
        page = format_message("page", lang, page=str(hit.page)) if hit.page else ""
        names.append(
            f"{hit.title}{f'（{page}）' if lang == 'zh' else f' ({page})'}" if page else hit.title
        )
    joint = "、" if lang == "zh" else ", "
    return format_message("nearest", lang, sources=joint.join(dict.fromkeys(names)))


def format_page_count(n: int, lang: str) -> str:
    """How many pages, in words."""
    return format_message("pages_one" if n == 1 else "pages_many", lang, n=str(n))
