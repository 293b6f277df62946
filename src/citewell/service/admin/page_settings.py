"""The settings that can be changed while the server runs: which chat model answers, memory, OCR,
web search. A key comes in and never goes out; it goes to the server that it was given for and to no
other. What the environment or the settings file says is shown and stays.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from citewell.config import (
    PAGE_SETTINGS,
    Settings,
    find_source,
    read_page_settings,
    replace_settings,
    write_page_settings,
)
from citewell.config.page_settings import FILE
from citewell.errors import ConfigError, Conflict, InvalidInput
from citewell.ingest.picture import ocr
from citewell.messages import AnyText, Text
from citewell.models.trial import try_endpoint
from citewell.retrieve.websearch import build_provider
from citewell.runtime.app import App
from citewell.service.admin.model_address import VERSIONED, get_origin, normalize_address
from citewell.store.users.shared_home import fetch_home_files, share_home_file
from citewell.types import Shown

LONGEST_KEY = 2_000
LEARNED = {"context", "keeps_schema", "thinks", "speed"}
Provider = Literal["none", "searxng", "brave", "tavily", "duckduckgo", "wikipedia"]


class ShownModel(Shown):
    """`fixed_by`: variable or file that says it, so it cannot be changed here; empty if it can."""

    llm: str
    url: str
    model: str
    has_key: bool
    fixed_by: str


class ShownSwitch(Shown):
    """`available`: whether what it takes is installed; else `missing` says how to install it."""

    on: bool
    fixed_by: str
    available: bool = True
    missing: str = ""


class ShownWeb(Shown):
    provider: Provider
    url: str
    has_key: bool
    fixed_by: str


class PageSettings(Shown):
    model: ShownModel
    memory: ShownSwitch
    ocr: ShownSwitch
    web: ShownWeb


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ModelChange(_Part):
    """`url`, `model`, `key`: of the endpoint; left out they stay, but the key of another server is
    forgotten. An empty key is none.
    """

    llm: Literal["builtin", "openai", "none"]
    url: str | None = Field(None, max_length=500)
    model: str | None = Field(None, max_length=200)
    key: SecretStr | None = Field(None, max_length=LONGEST_KEY)


class SwitchChange(_Part):
    on: bool


class WebChange(_Part):
    provider: Provider
    url: str = Field("", max_length=500)
    key: SecretStr | None = Field(None, max_length=LONGEST_KEY)


class SettingsChange(_Part):
    """What is left out stays as it is."""

    model: ModelChange | None = None
    memory: SwitchChange | None = None
    ocr: SwitchChange | None = None
    web: WebChange | None = None


class Tested(Shown):
    """`ok`: the model replied. `url`: as it would be kept. `names`: the models that the server
    lists. `context` in tokens, `speed` in tokens a second; what is not known is null.
    """

    ok: bool
    url: str
    names: list[str]
    context: int | None = None
    keeps_schema: bool | None = None
    thinks: bool | None = None
    speed: float | None = None
    error: AnyText = ""
    hint: AnyText = ""


def describe_page_settings(settings: Settings) -> PageSettings:
    """As they are in force. Raises ConfigError where the settings file cannot be read any more."""
    s = settings
    fixed = {part: find_fixed(part) for part in PAGE_SETTINGS}
    return PageSettings(
        model=ShownModel(
            llm=s.llm,
            url=s.llm_url,
            model=s.llm_model,
            has_key=bool(s.llm_key.get_secret_value()),
            fixed_by=fixed["model"],
        ),
        memory=ShownSwitch(on=s.memory.enabled, fixed_by=fixed["memory"]),
        ocr=ShownSwitch(
            on=s.ingest.ocr == "auto",
            fixed_by=fixed["ocr"],
            available=ocr.is_available(),
            missing="" if ocr.is_available() else ocr.EXTRA,
        ),
        web=ShownWeb(
            provider=s.web.provider,
            url=s.web.url,
            has_key=bool(s.web.key.get_secret_value()),
            fixed_by=fixed["web"],
        ),
    )


async def change_page_settings(app: App, change: SettingsChange) -> PageSettings:
    """Kept and in force on return. Raises Conflict (said elsewhere), InvalidInput, StorageError."""
    async with app.part(_build_lock):
        for part in change.model_fields_set & PAGE_SETTINGS.keys():
            _check_free(part)
        values: dict[str, Any] = {}
        if change.model is not None:
            values |= await _plan_model(app.settings, change.model)
        if change.memory is not None:
            values["memory.enabled"] = change.memory.on
        if change.ocr is not None:
            values["ingest.ocr"] = _plan_ocr(on=change.ocr.on)
        if change.web is not None:
            values |= await _plan_web(app.settings, change.web)
        settings = _check_settings(app.settings, values)
        home, shared = app.settings.home, app.settings.home_is_cache
        if shared:
            await fetch_home_files(app.db)
        write_page_settings(home, read_page_settings(home) | values)
        if shared:
            await share_home_file(app.db, home / FILE)
        app.root.use_settings(settings)
        if values:
            await app.audit.record("settings.change", "home", "page", names=sorted(values))
    return describe_page_settings(app.root.settings)


async def try_model(app: App, url: str, model: str, key: SecretStr | None) -> Tested:
    """Ask the server now; nothing is kept but what its model can do. The key that is kept goes
    along where it was given for this server. Raises InvalidInput, Conflict.
    """
    _check_free("model")
    planned = await _plan_model(
        app.settings, ModelChange(llm="openai", url=url, model=model, key=key), needs_model=False
    )
    trial = await try_endpoint(replace_settings(app.settings, planned))
    error, known = trial.error, trial.known
    return Tested(
        ok=known is not None,
        url=planned["llm_url"],
        names=trial.names,
        error="" if error is None else error.message,
        hint="" if error is None else error.hint,
        **({} if known is None else known.model_dump(include=LEARNED)),
    )


def _build_lock(_: App) -> asyncio.Lock:
    return asyncio.Lock()


def find_fixed(part: str) -> str:
    """What says a part of `PAGE_SETTINGS` above the page; empty where nothing does."""
    named = (find_source(name, os.environ) for name in PAGE_SETTINGS[part])
    return next(filter(None, named), "")


def _check_free(part: str) -> None:
    if source := find_fixed(part):
        raise Conflict(
            Text("this is set by {source}, which overrides the page", source=source),
            hint=Text("change it there, or remove it and restart Citewell"),
        )


async def _plan_model(
    settings: Settings, change: ModelChange, *, needs_model: bool = True
) -> dict[str, Any]:
    """The settings of that choice. Raises InvalidInput."""
    values: dict[str, Any] = {"llm": change.llm}
    url = settings.llm_url if change.url is None else change.url.strip()
    model = settings.llm_model if change.model is None else change.model.strip()
    if url or change.llm == "openai":
        url = await normalize_address(url, VERSIONED)
    if change.llm == "openai" and needs_model and not model:
        raise InvalidInput(
            Text("no model is named"), hint=Text("Test lists the models of that server")
        )
    if not model.isprintable():
        raise InvalidInput(Text("the model name has characters that no name has"))
    same = get_origin(url) == get_origin(settings.llm_url)
    key = _plan_key(change.key, settings.llm_key if same else SecretStr(""))
    return values | {"llm_url": url, "llm_model": model, "llm_key": key}


async def _plan_web(settings: Settings, change: WebChange) -> dict[str, Any]:
    url = await normalize_address(change.url) if change.url.strip() else ""
    before = settings.web
    same = (change.provider, get_origin(url)) == (before.provider, get_origin(before.url))
    key = _plan_key(change.key, before.key if same else SecretStr(""))
    return {"web.provider": change.provider, "web.url": url, "web.key": key}


def _plan_key(given: SecretStr | None, kept: SecretStr) -> str:
    """A key travels in a header: one line of ASCII. Raises InvalidInput, which does not say it."""
    key = (kept if given is None else given).get_secret_value().strip()
    if not (key.isascii() and key.isprintable()):
        raise InvalidInput(Text("the key has characters that no key has"))
    return key


def _plan_ocr(*, on: bool) -> str:
    if on and not ocr.is_available():
        raise Conflict(Text("reading text in pictures takes an extra package"), hint=ocr.EXTRA)
    return "auto" if on else "off"


def _check_settings(settings: Settings, values: dict[str, Any]) -> Settings:
    """With these. Raises InvalidInput where they do not go together."""
    try:
        changed = replace_settings(settings, values)
        if changed.web.provider != "none" and any(name.startswith("web.") for name in values):
            build_provider(changed)
    except ConfigError as error:
        raise InvalidInput(error.message, hint=error.hint) from None
    return changed
