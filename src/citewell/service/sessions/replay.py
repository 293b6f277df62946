"""Run the stored steps of a trace again, and tell what comes out otherwise. A replay keeps nothing
of the run: no session, no memory, no trace. Pages that it is told to fetch are kept, as any page
that Citewell fetches.
"""

from __future__ import annotations

from contextlib import aclosing

from citewell.agents.paper.paper_states import FIRST, PENDING_PLAN, ROUTING
from citewell.errors import CitewellError, InvalidInput, NotFound
from citewell.fetch.urls import canonicalize_url, get_url_identity
from citewell.messages import AnyText, Text
from citewell.models.metered import Metered
from citewell.models.recorded import Recorded
from citewell.runtime.app import App
from citewell.service.ask.agent_runners import AGENTS
from citewell.service.ask.begin_run import begin_run
from citewell.service.ask.keep_answer import build_trace
from citewell.service.ask.run import AskRequest, ReplayContext, Run, trim_history
from citewell.service.sessions.compare_traces import Difference, find_differences
from citewell.types import Answer, Message, Shown, Trace

STATES = {"report": FIRST, "plan": PENDING_PLAN}  # of a session when such a message comes first


class Replay(Shown):
    """`same`: nothing differs. `unknown_prompts`: of a recorded replay, what the model was asked
    that the trace does not have. `notes`: what could not be as it was then. `replayed`: how the
    answer came about this time.
    """

    trace_id: str
    same: bool
    recorded: bool
    differences: list[Difference]
    unknown_prompts: list[str]
    notes: list[AnyText]
    replayed: Trace


async def replay_trace(
    app: App, trace_id: str, user_id: str, *, recorded: bool = False, fetch: bool = False
) -> Replay:
    """`recorded`: replies of the chat model are those of the trace wherever its prompt is the same.
    `fetch`: pages of the web may be asked for anew, and are stored then. Raises NotFound,
    InvalidInput for a trace that does not say what was asked, what the agent raises.
    """
    trace = await app.traces.get(trace_id, user_id)
    run = await _build_run(app, trace, fetch=fetch)
    memory = Recorded(trace.prompts, app.llm) if recorded and (app.llm or trace.prompts) else None
    if memory is not None:
        run.meter = Metered(memory, run.budget)
    try:
        answer = await _run_agent(run)
    except NotFound as error:
        raise NotFound(
            Text(
                "{trace_id} cannot be replayed: {message}", trace_id=trace_id, message=error.message
            ),
            hint=error.hint,
        ) from None
    now = build_trace(run, answer, trace.session_id)
    found = find_differences(trace, now)
    unknown = memory.unknown if memory is not None else []
    notes = _collect_notes(app, trace, fetch=fetch)
    return Replay(
        trace_id=trace_id,
        same=not found,
        recorded=recorded,
        differences=found,
        unknown_prompts=unknown,
        notes=notes,
        replayed=now,
    )


async def _build_run(app: App, trace: Trace, *, fetch: bool) -> Run:
    asked = trace.request
    if not asked:
        hint = Text("it was kept by an earlier version; ask again, and replay that trace")
        raise InvalidInput(
            Text("trace {trace_id} does not say what was asked", trace_id=trace.trace_id),
            hint=hint,
            code="no_request",
        )
    history = [Message(**message) for message in asked["history"]]
    options = {name: value for name, value in asked["options"].items() if name != "message_id"}
    if trace.agent == "dual_loop" and not fetch:
        options["web"] = False
    request = AskRequest(
        question=asked["question"],
        agent=trace.agent,
        collection=asked["collection"] if trace.agent != "paper" else None,
        session_id=trace.session_id if trace.agent == "paper" else None,
        user_id=trace.user_id,
        history=trim_history(history),
        keep=False,
        options=options,
    )
    run = await begin_run(app, request)
    event = str((trace.answer.data or {}).get("event", ""))
    state = asked.get("state") or STATES.get(event, ROUTING)
    began = trace.created_at - trace.answer.usage.seconds.get("total", 0.0)
    run.again = ReplayContext(trace.trace_id, began, state, history, _list_read_pages(trace), fetch)
    run.history, run.agent_reason = history, trace.answer.agent_reason
    # the step in which an agent was chosen is not taken again
    run.steps = [step for step in trace.steps if step.node == "choose_agent"]
    return run


async def _run_agent(run: Run) -> Answer:
    answer: Answer | None = None
    async with aclosing(AGENTS[run.agent](run)) as events:  # type: ignore[type-var]  # generators, all of them
        async for event in events:
            answer = event.data if isinstance(event.data, Answer) else answer
    if answer is None:
        raise CitewellError(
            Text("the agent ended without an answer"),
            hint=Text("this is a fault of ours; the log has more"),
        )
    return answer


def _list_read_pages(trace: Trace) -> frozenset[str]:
    """Pages that were asked for in it."""
    urls = [page["url"] for step in trace.steps for page in step.detail.get("pages", [])]
    return frozenset(get_url_identity(canonicalize_url(url)) for url in urls)


def _collect_notes(app: App, trace: Trace, *, fetch: bool) -> list[str]:
    notes: list[str] = []
    if trace.agent == "website" and not fetch:
        notes.append(
            Text(
                "pages are read as they are kept, nothing is fetched and no sitemap is "
                "read (--fetch does)"
            )
        )
    if (
        trace.agent == "dual_loop"
        and not fetch
        and any(s.detail.get("route") == "web_search" for s in trace.steps)
    ):
        notes.append(Text("the web is not searched again (--fetch does)"))
    if trace.agent == "paper" and (trace.answer.data or {}).get("event") != "ask":
        notes.append(
            Text("report and route are made again for comparison; the session keeps those it has")
        )
    llm = app.llm.name if app.llm else ""
    for what, then, now in (
        ("chat model", trace.request.get("llm"), llm),
        ("embedder", trace.request.get("embedder"), app.embedder.name),
    ):
        if then is not None and then != now:
            notes.append(
                Text(
                    "the {what} was {then} then and is {now} now",
                    what=what,
                    then=then or "none",
                    now=now or "none",
                )
            )
    return notes
