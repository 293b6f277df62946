"""How a question to a site ends: what ends the reading, and a proved answer, the nearest with a
caution, or a plain refusal. A refusal says how far the site was read, what ended it and what could
not be read.
"""

from __future__ import annotations

from citewell.agents.website.website_state import Deps, WebsiteState
from citewell.errors import Conflict, NotFound
from citewell.graph import record_detail
from citewell.messages import Text
from citewell.models.base import is_connected
from citewell.retrieve.frontier import Promise
from citewell.skills.answer.answering import Decided, decide_answer, draft_answer, prove_answer
from citewell.skills.answer.cite import Proof
from citewell.skills.answer.decision import (
    EVEN,
    collect_answer_signals,
    get_decision_model,
    get_tier,
)
from citewell.skills.answer.ending import Ending, end_answer
from citewell.skills.answer.wording import format_message, format_nearest_sources, format_page_count
from citewell.skills.memory.recollect import mark_citation_origins
from citewell.skills.proof.prove import judge_draft, show_proof
from citewell.text.tokens import tokenize_for_index, tokenize_query

NAMED = 3  # pages that could not be read, named in an answer; the warnings name all
# of a question's words: if one passage holds as many, the question is about the site
ON_SITE = 0.5


async def prove_draft(state: WebsiteState, deps: Deps) -> Decided | None:
    """The draft judged; None where there is none, or where a page changed under its quotes
    meanwhile. That nothing is told is judged too, where a connected model says so and the site is
    not about something else.
    """
    silent = state.told == "nothing"
    if state.drafted is None or (
        silent and (state.drafted.tier != "connected" or state.stop_reason == "off_site")
    ):
        return None
    proven = await prove_answer(deps, state.drafted, history=state.conversation_history)
    if silent and proven.draft.status != "not_told":
        state.stop_reason = ""  # the repaired draft tells it after all
    state.stop_reason = state.stop_reason or proven.spent
    decided = decide_answer(deps, state.drafted, proven, state.retrieval_confidence)
    proof = show_proof(decided.proven)
    try:
        state.proof = Proof(
            proof.sentences,
            await deps.search.locate(mark_citation_origins(proof.citations, state.fetched)),
        )
    except (Conflict, NotFound) as error:
        state.warnings.append(Text("an answer was dropped: {message}", message=error.message))
        return None
    return decided


async def finish_run(state: WebsiteState, deps: Deps, decided: Decided | None) -> None:
    """Write the end of the run into the state. `decided`: the judged draft, if there is one."""
    if state.intent == "smalltalk":
        state.final_answer = format_message("smalltalk_site", state.lang, site=deps.site.name)
        state.status = "clarify"
        return
    if decided is None or state.drafted is None:
        _refuse_answer(state, deps)
    else:
        end = end_answer(
            state.drafted,
            decided,
            state.proof,
            state.documents,
            state.lang,
            degraded=state.degraded,
        )
        state.confidence = decided.probability
        if end.status == "refused":
            state.warnings += end.warnings
            _refuse_answer(state, deps, end)
        else:
            _show_answer(state, end)
    record_detail(status=state.status, stop_reason=state.stop_reason)


def _show_answer(state: WebsiteState, end: Ending) -> None:
    state.status, state.proof, state.final_answer = end.status, end.proof, end.text
    state.warnings += end.warnings
    if end.status == "fallback":
        state.stop_reason = state.stop_reason or ("model_failed" if state.degraded else "unsettled")
        state.final_answer = _join_parts(state, end.text, _format_unread(state))


def _refuse_answer(state: WebsiteState, deps: Deps, end: Ending | None = None) -> None:
    """In the model's own words for what is missing, where they are proved (`end`), else in ours."""
    state.status = "refused"
    if not state.confidence:
        model = get_decision_model(get_tier(deps.llm, deps.reader), deps.calibration)
        state.confidence = round(
            model(collect_answer_signals(state.retrieval_confidence, state.lang)), 4
        )
    state.proof = end.proof if end is not None else Proof([], [])
    read = sum(bool(page.doc_id) for page in deps.site.pages.values())
    said = {"site": deps.site.name, "pages": format_page_count(read, state.lang)}
    if state.stop_reason in {"off_site", "unreachable"}:
        state.final_answer = _join_parts(
            state, format_message(state.stop_reason, state.lang, **said), _format_unread(state)
        )
        return
    state.stop_reason = state.stop_reason or "unsettled"
    if end is not None and end.proof.sentences:
        missing = _join_parts(state, end.text, format_message("site_read", state.lang, **said))
    else:
        missing = format_message("site_refused", state.lang, **said)
    where = format_nearest_sources(state.documents, state.lang) if state.documents else ""
    state.final_answer = _join_parts(
        state, missing, where, format_message(state.stop_reason, state.lang), _format_unread(state)
    )


def _format_unread(state: WebsiteState) -> str:
    """What could not be read, and why. Reasons are English: a Chinese answer leaves them out."""
    named = list(dict.fromkeys(state.problems.values()))[:NAMED]
    if state.lang == "zh":
        named = [problem.partition(": ")[0] for problem in named]
    joint = "、" if state.lang == "zh" else "; "
    return format_message("unread", state.lang, problems=joint.join(named)) if named else ""


def _join_parts(state: WebsiteState, *parts: str) -> str:
    return ("" if state.lang == "zh" else " ").join(part for part in parts if part)


def get_end_reason(state: WebsiteState, deps: Deps) -> str:
    """What forbids another round."""
    if deps.stopped():
        return "stopped"
    return (
        "budget_seconds"
        if deps.late()
        else state.stop_reason
        if state.stop_reason.startswith("budget")
        else ""
    )


def find_stale_pages(state: WebsiteState, deps: Deps) -> dict[str, str]:
    """Pages of earlier questions in the evidence whose site was long not asked about them."""
    left = min(
        deps.settings.max_pages - len(state.visited_urls), deps.settings.max_urls_per_iteration
    )
    if left <= 0 or state.current_iteration >= deps.settings.max_iterations:
        return {}
    cited = {passage.hit.doc_id for passage in state.passages}
    stale = [page.url for page in deps.site.pages.values() if page.doc_id in cited and page.stale]
    again = [url for url in stale if state.place(url) not in state.visited_urls][:left]
    return dict.fromkeys(again, Text("read some time ago, so looked at again"))


def get_stop_reason(
    state: WebsiteState, deps: Deps, found: list[Promise], *, stranger: bool
) -> str:
    if stranger:  # its words are not those of the site, or the answer is not there
        words = set(tokenize_query(state.standalone))
        named = max(
            (len(words & set(tokenize_for_index(hit.text))) for hit in state.documents), default=0
        )
        return "site_exhausted" if state.named or named >= ON_SITE * len(words) else "off_site"
    if not found:
        return "site_exhausted"
    if len(state.visited_urls) >= deps.settings.max_pages:
        return "pages_exhausted"
    return (
        "iterations_exhausted"
        if state.current_iteration >= deps.settings.max_iterations
        else "site_exhausted"
    )


async def try_draft(state: WebsiteState, deps: Deps) -> bool:
    """Whether a draft from what was read tells the answer, the whole or a part; the same evidence
    is not drafted from twice.
    """
    if not state.passages:
        return False
    if state.graded == state.spans:
        return state.told != "nothing"
    state.graded = state.spans
    quoted_only = state.degraded or state.stop_reason.startswith("budget")
    reads_history = is_connected(deps.llm) and not quoted_only
    drafted = await draft_answer(
        deps,
        state.user_question if reads_history else state.standalone,
        state.passages,
        history=state.conversation_history,
        wanted=state.instruction,
        quoted_only=quoted_only,
        follow_up=state.follow_up,
    )
    if drafted.failure.startswith("budget"):
        state.stop_reason = drafted.failure
    elif drafted.failure:
        state.degraded = True
    state.warnings += [drafted.warning] if drafted.warning else []
    state.drafted = drafted
    if drafted.tier == "connected":
        status = drafted.draft.status
        state.told = (
            "nothing" if status == "not_told" else "part" if status == "partly" else "whole"
        )
    else:
        proven = await judge_draft(drafted.draft, state.standalone, drafted.units, None)
        decided = decide_answer(deps, drafted, proven, state.retrieval_confidence)
        sure = decided.probability >= EVEN  # an unsure one waits for what other pages tell
        state.told = "nothing" if not decided.shown else "whole" if sure else "part"
    record_detail(told=state.told)
    return state.told != "nothing"
