"""The chain of thought behind an answer in the shape of spec 004, section 4.1, whichever agent
answered. It is made of what the steps noted and what the answer shows; no model is asked, and
nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from citewell.messages import Text, translate
from citewell.service.ask.run import Run
from citewell.text.sentences import detect_language
from citewell.types import Answer, Citation, IntentAnalysis, Snapshot, Step, Trace

SUCCESS = "success"
FOUND = 3  # passages named of one search: what is packed for the small model
LONGEST = 300  # characters of a quote that the logic shows
GLIMPSE = 80  # of a passage that was found
_HAN = re.compile(r"[\u4e00-\u9fff]")


class StepNotes:
    """What the steps of a trace noted, by name."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps

    def get_all(self, name: str) -> list[Any]:
        """Every value under this name that says something, in order."""
        return [
            step.detail[name]
            for step in self.steps
            if step.detail.get(name) not in (None, "", [], {})
        ]

    def get_last(self, name: str) -> Any:
        """None where nobody noted it."""
        return next(iter(reversed(self.get_all(name))), None)


def dump_request(run: Run) -> dict[str, Any]:
    """What was asked, in full, so that it can be asked again: the conversation before it, and where
    an agent takes more from its session (a website its scope, a paper its state), that too.
    Settings and keys are not in it; who answered is, by name.
    """
    asked = run.request
    options = run.options.model_dump(mode="json", exclude_defaults=True)
    site = run.session_data.get("website")
    if site is not None:
        options |= {name: site[name] for name in ("start_urls", "allowed_domains", "instruction")}
    return {
        "question": asked.question,
        "agent": asked.agent,
        "collection": run.collection or asked.collection,
        "session_id": run.session_id,
        "history": [message.model_dump() for message in run.history],
        "options": options,
        "keep": asked.keep,
        "state": run.ending.before if run.ending else "",
        "llm": run.app.llm.name if run.app.llm else "",
        "embedder": run.app.embedder.name,
    }


def build_snapshot(trace: Trace) -> Snapshot:
    """Of any trace. `generated_logic`: the data agent's SQL, else what was searched and cited."""
    noted, answer = StepNotes(trace.steps), trace.answer
    return Snapshot(
        trace_id=trace.trace_id,
        timestamp=datetime.fromtimestamp(trace.created_at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        user_query=trace.question,
        intent_analysis=IntentAnalysis(
            intent_type=_get_intent(trace.agent, noted, answer),
            parameters=_collect_parameters(noted, answer),
            reasoning=_write_reasoning(noted, answer, trace.question),
        ),
        generated_logic=_build_logic(trace.agent, noted, answer),
        final_answer=answer.answer,
        execution_status=SUCCESS if answer.status == "answered" else answer.status,
    )


def _get_intent(agent: str, noted: StepNotes, answer: Answer) -> str:
    """As the agent named it; a message to a paper is a report, a route or a question."""
    named = noted.get_last("intent_type") or noted.get_last("intent")
    if named:
        return str(named)
    return f"paper_{(answer.data or {}).get('event', 'ask')}" if agent == "paper" else ""


# what a parameter is called, and under which names steps note it
PARAMETERS = {
    "standalone": ("standalone", "clarified_question"),
    "interest": ("interest",),
    "entities": ("entities",),
    "source": ("source",),
    "tables": ("tables",),
    "columns": ("columns", "linked"),
    "values": ("values",),
    "agents": ("agents",),
    "absent": ("absent",),
    "missing": ("missing",),
}


def _collect_parameters(noted: StepNotes, answer: Answer) -> dict[str, Any]:
    """What was taken out of the question."""
    found: dict[str, Any] = {}
    for name, notes in PARAMETERS.items():
        value = next((value for value in map(noted.get_last, notes) if value is not None), None)
        if value is not None:
            found[name] = value
    source = (answer.data or {}).get("source")
    own = noted.get_last("parameters")
    return found | ({"source": source} if source else {}) | (own if isinstance(own, dict) else {})


def _write_reasoning(noted: StepNotes, answer: Answer, question: str) -> str:
    """In words, in the language of the question."""
    lang = detect_language(question)
    said: list[str] = []

    def add_sentence(text: Text) -> None:
        if all(value not in (None, "", 0) for value in text.values.values()):
            said.append(translate(text, lang))

    if own := noted.get_last("reasoning"):
        said.append(str(own))
    reason = translate_reason(answer.agent_reason, lang)
    add_sentence(Text("{agent} was chosen: {reason}.", agent=answer.agent, reason=reason))
    intent = noted.get_last("intent_type") or noted.get_last("intent")
    add_sentence(Text("The question was read as: {intent}.", intent=intent))
    alone = _get_rewording(noted, question)
    add_sentence(Text("In full words it asks: {question}", question=alone))
    memories = len(noted.get_last("memories") or [])
    add_sentence(
        Text("What was remembered of the user and at hand: {memories}.", memories=memories)
    )
    route = (noted.get_all("route") or [None])[0]
    reason = translate_reason(noted.get_last("reason") or "", lang)
    add_sentence(
        Text("It was first searched by {route}, because {reason}.", route=route, reason=reason)
    )
    for text in _describe_work(noted, answer):
        add_sentence(text)
    return ("" if lang == "zh" else " ").join(said)


def _describe_work(noted: StepNotes, answer: Answer) -> Iterator[Text]:
    """What was done after the first search; a text with an empty value says nothing."""
    pages = sum(map(len, noted.get_all("pages")))
    rounds = max([1, *(int(n) + 1 for n in noted.get_all("iteration"))])
    yield Text(
        "Pages of the site that were looked at: {pages} (rounds: {rounds}).",
        pages=pages,
        rounds=rounds,
    )
    yield Text("Asked: {agents}.", agents=", ".join(map(str, noted.get_last("agents") or [])))
    if (confidence := noted.get_last("confidence")) is not None and noted.get_all("evidence"):
        sure = f"{float(confidence):.0%}"
        yield Text("The search was {sure} sure to have found the answer.", sure=sure)
    if (probability := noted.get_last("probability")) is not None:
        sure = f"{float(probability):.0%}"
        yield Text("The draft was held to be right with a probability of {sure}.", sure=sure)
    yield Text("Asked again in other words: {times} x.", times=noted.get_last("attempt"))
    audits = (step.action for step in reversed(noted.steps) if step.node == "control_audit")
    yield Text("The audit of the draft: {found}.", found=next(audits, None))
    items = ", ".join(each.item_id for each in answer.followed)
    yield Text("It follows what people confirmed: {items}.", items=items)
    yield Text("It ended because: {reason}.", reason=answer.stop_reason)


def translate_reason(reason: str, lang: str) -> str:
    """A reason in the language of the question. One that cannot be had in Chinese is left out of a
    Chinese text, not mixed into it.
    """
    shown = translate(reason, lang)
    return shown if lang != "zh" or isinstance(reason, Text) or _HAN.match(shown) else ""


def _get_rewording(noted: StepNotes, question: str) -> str | None:
    """The question on its own, where that is not just how it was asked."""
    alone = noted.get_last("standalone") or noted.get_last("clarified_question")
    return (
        None
        if alone is None or " ".join(str(alone).split()) == " ".join(question.split())
        else str(alone)
    )


# ---------------------------------------------------------------- the logic


def _build_logic(agent: str, noted: StepNotes, answer: Answer) -> str:
    """One line a thing done, in order, citations last. Of tables the statement as it ran."""
    if agent == "data":
        return str(
            (answer.data or {}).get("sql")
            or noted.get_last("sql")
            or noted.get_last("generated_logic")
            or ""
        )
    lines = [line for step in noted.steps for line in _describe_step(step)]
    return "\n".join([*dict.fromkeys(lines), *map(_describe_citation, answer.citations)])


def _describe_step(step: Step) -> list[str]:
    """What one step did, by what it noted."""
    return [
        line
        for name, tell in TOLD.items()
        if step.detail.get(name) not in (None, "", [], {})
        for line in tell(step.detail)
    ]


def _describe_route(detail: dict[str, Any]) -> list[str]:
    return [f"search: {detail['route']}"] if "evidence" in detail else []


def _describe_evidence(detail: dict[str, Any]) -> list[str]:
    return [
        f"found: {_format_place(hit)}: {_shorten_text(str(hit.get('text', '')), GLIMPSE)}"
        for hit in detail["evidence"][:FOUND]
    ]


def _describe_hits(detail: dict[str, Any]) -> list[str]:
    return [
        f"found: {_format_place(hit)}: {_shorten_text(str(hit.get('text', '')), GLIMPSE)}"
        for hit in detail["hits"][:FOUND]
    ]


def _describe_pages(detail: dict[str, Any]) -> list[str]:
    return [f"page: {page['url']} ({page.get('how') or 'read'})" for page in detail["pages"]]


def _describe_route_steps(detail: dict[str, Any]) -> list[str]:
    return ["route: " + " -> ".join(map(str, detail["steps"]))]


TOLD: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "query": lambda detail: [f"query: {detail['query']}"],
    "standalone": lambda detail: [] if "query" in detail else [f"query: {detail['standalone']}"],
    "clarified_question": lambda detail: [f"query: {detail['clarified_question']}"],
    "agents": lambda detail: [f"agents: {', '.join(map(str, detail['agents']))}"],
    "pages": _describe_pages,
    "route": _describe_route,
    "evidence": _describe_evidence,
    "hits": _describe_hits,
    "steps": _describe_route_steps,
    "confirmed": lambda detail: [
        f"confirmed: {each['item_id']}: {_shorten_text(str(each['question']))}"
        for each in detail["confirmed"]
    ],
}


def _format_place(hit: dict[str, Any]) -> str:
    page = f", p. {hit['page']}" if hit.get("page") else ""
    section = str(hit.get("section") or "").removeprefix(str(hit.get("title"))).removeprefix(" › ")
    return f"{hit.get('title')}{' › ' + section if section else ''}{page}"


def _describe_citation(citation: Citation) -> str:
    page = f", p. {citation.page}" if citation.page else ""
    return f"cited: [{citation.n}] {citation.title}{page}: {_shorten_text(citation.quote)}"


def _shorten_text(text: str, most: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[:most] + "…"
