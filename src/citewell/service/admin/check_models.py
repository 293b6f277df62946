"""Are the models well: chat model and endpoints, calibration, speed on this machine."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

import anyio.to_thread

from citewell.errors import CitewellError, ConfigError
from citewell.models.base import LLM, ROOMY, is_connected
from citewell.models.probe import Known
from citewell.retrieve.confidence import OWN, load_own
from citewell.runtime.app import App
from citewell.service.admin.health_check import Check, State, build_failed_check
from citewell.service.admin.readiness import get_chat_model_file, get_chat_model_state
from citewell.types import Message

# about 220 tokens, the size of a passage
PASSAGE = (
    "The lighthouse was built in 1857 on the northern cape, where the current turns and ships "
    "have to come close to the shore. "
    "Its lamp burned colza oil, later paraffin, and has been electric since 1926. The keeper's "
    "log names every wreck, "
    "the weather on the day, and who was saved. "
) * 3
WRITTEN = 48  # tokens generated for the measure


async def measure_embed_speed(app: App) -> dict[str, float]:
    """Seconds to load, passages a second."""
    started = time.perf_counter()
    await app.embedder.query("lighthouse")
    loaded = time.perf_counter()
    passages = [f"{number}. {PASSAGE}" for number in range(8)]
    await app.embedder.passages(passages)
    return {
        "seconds_to_load": loaded - started,
        "passages/s": len(passages) / max(time.perf_counter() - loaded, 1e-6),
    }


async def measure_chat_speed(app: App) -> dict[str, float]:
    """Seconds to load, prompt and generated tokens a second. Raises ModelUnavailable."""
    llm = app.llm
    if llm is None:
        return {}
    started = time.perf_counter()
    await llm.chat([Message(role="user", content="Say yes.")], max_tokens=1)
    load = time.perf_counter() - started
    read, tokens = await _time_chat(llm, f"{PASSAGE} In one word, what is it about?", 1)
    both, more = await _time_chat(llm, "Tell a long story about a lighthouse.", WRITTEN)
    return {
        "seconds_to_load": load,
        "prompt_tokens/s": tokens[0] / max(read, 1e-6),
        "generated_tokens/s": more[1] / max(both, 1e-6),
    }


async def _time_chat(llm: LLM, prompt: str, tokens: int) -> tuple[float, tuple[int, int]]:
    """Seconds, and (prompt tokens not cached, generated tokens)."""
    started = time.perf_counter()
    reply = await llm.chat([Message(role="user", content=prompt)], max_tokens=tokens)
    return time.perf_counter() - started, (
        reply.tokens.prompt - reply.tokens.cached,
        reply.tokens.completion,
    )


async def check_chat_model(app: App) -> Check:
    settings = app.settings
    state = await anyio.to_thread.run_sync(get_chat_model_state, settings)
    if state != "ok":
        detail, _, advice = state.partition("; ")
        return Check(name="chat model", state="warn", detail=detail, advice=advice)
    named = f"{settings.llm} {settings.llm_model} {settings.llm_url}".strip()
    return Check(name="chat model", state="ok", detail=str(get_chat_model_file(settings) or named))


def check_endpoints(app: App, known: Mapping[str, Known]) -> list[Check]:
    """What the endpoints of chat model and judge can do; nothing for a model of this process."""
    return [
        _check_endpoint(name, each, app.llm if name == "llm" else None)
        for name, each in known.items()
    ]


def _check_endpoint(name: str, known: Known, llm: LLM | None) -> Check:
    title = {"llm": "chat endpoint", "judge": "judge endpoint"}[name]
    context = "not told" if known.context is None else f"{known.context:,} tokens"
    said = {True: "yes", False: "no", None: "not known"}
    speed = "" if known.speed is None else f", about {known.speed:g} tokens/s"
    can = (
        f"JSON schema {said[known.keeps_schema]}, logprobs {said[known.logprobs]}, "
        f"thinks {said[known.thinks]}"
    )
    asked = f"asked {known.at:%Y-%m-%d}" if known.at > Known().at else "not asked yet"
    detail = f"context {context}, {can}{speed} ({asked})"
    figures = {"context_tokens": float(known.context or 0), "tokens/s": known.speed or 0.0}
    state: State = "ok"
    advice = ""
    if known.thinks is None:
        state, advice = (
            "warn",
            (
                f"the model did not reply: is the server running, and are {name}_url and "
                f"{name}_model right?"
            ),
        )
    elif known.context is not None and llm is not None and not is_connected(llm):
        state, advice = (
            "warn",
            (
                "too small to write answers from, so the documents' own sentences "
                f"answer: {ROOMY} are enough"
            ),
        )
    return Check(
        name=title,
        state=state,
        detail=detail,
        advice=advice,
        figures={k: v for k, v in figures.items() if v},
    )


def check_calibration(app: App) -> Check:
    """Which weights the search confidence has, and what they were fitted on."""
    path = app.settings.home / OWN
    try:
        found = load_own(path, app.embedder.name)
    except ConfigError as error:
        return Check(
            name="calibration",
            state="warn",
            detail=f"{error.message}; the shipped one is used",
            advice=error.hint,
        )
    model = app.calibration.retrieval
    fitted = model.fitted if model else None
    on = (
        ""
        if fitted is None
        else f": {fitted.items} items of {', '.join(fitted.on)}, Brier "
        f"{fitted.brier:.3f}, {fitted.at}"
    )
    if found is None:
        other = fitted is not None and fitted.embedder != app.embedder.name
        advice = (
            "fitted with another embedder; `citewell eval QUESTIONS.jsonl --calibrate --save` "
            "fits one"
            if other
            else ""
        )
        return Check(name="calibration", state="ok", detail=f"the shipped one{on}", advice=advice)
    return Check(
        name="calibration",
        state="ok",
        detail=f"this library's own, {path}{on}",
        advice="delete that file to undo it",
    )


async def measure_speeds(app: App) -> list[Check]:
    checks = []
    measures: list[tuple[str, Callable[[App], Awaitable[dict[str, float]]]]] = [
        ("embedding speed", measure_embed_speed)
    ]
    # an endpoint was timed by its probe
    if app.settings.llm != "openai" and get_chat_model_state(app.settings) == "ok":
        measures.append(("chat model speed", measure_chat_speed))
    for name, measure in measures:
        try:
            figures = await measure(app)
        except CitewellError as error:
            checks.append(build_failed_check(name, error))
            continue
        if figures:
            detail = ", ".join(
                f"{value:.1f} {unit.replace('_', ' ')}" for unit, value in figures.items()
            )
            checks.append(Check(name=name, state="ok", detail=detail, figures=figures))
    return checks
