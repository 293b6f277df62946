"""Settings: closed, frozen, inert. Built once, in `service.App` or the command line, and passed
down.

From the least to the most binding: defaults, `citewell.toml` (in the home folder, or the file that
`CITEWELL_CONFIG` names), environment variables `CITEWELL_<NAME>` (`CITEWELL_QA__MAX_RETRIES` for a
nested one), arguments. The one rule: an unknown key is refused by its name, wherever it comes from.
"""

from __future__ import annotations

import difflib
import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from citewell.errors import ConfigError

PREFIX = "CITEWELL_"


class Group(BaseModel):
    """A closed group of settings: `[name]` in the file, `CITEWELL_NAME__KEY` in the environment."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _split_values(value: Any) -> Any:
    """The environment has one text for several: with commas between, or a list as JSON writes
    it.
    """
    if isinstance(value, str) and value.strip().startswith("["):
        with suppress(json.JSONDecodeError):  # an address in brackets is no list
            return tuple(json.loads(value))
    return (
        tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, str)
        else value
    )


class QASettings(Group):
    """The `qa` agent. Defaults are those of spec 000."""

    question_max_chars: int = Field(
        500, ge=1, description="longest question accepted, in characters"
    )
    max_retries: int = Field(
        3, ge=0, le=5, description="quality retries of a node; more would end in the step limit"
    )
    understanding_wait: float = Field(
        1.0, ge=0, description="seconds before understanding is tried again"
    )
    retry_wait: float = Field(
        1.5,
        ge=0,
        description="first wait of retrieval and generation in seconds; doubles, with jitter",
    )
    understanding_threshold: float = Field(
        0.7, ge=0, le=1, description="understanding this sure goes on"
    )
    retrieval_threshold: float = Field(
        0.3, ge=0, le=1, description="evidence below this confidence gets a fallback answer"
    )
    history_tokens: int = Field(
        400, ge=0, description="history kept word for word, in tokens; older turns are summarised"
    )
    sensitive_words: Path | None = Field(
        None, description="a file of refused words, one a line, instead of the shipped list"
    )


class DualLoopSettings(Group):
    """The `dual_loop` agent, and how much of the chat model one question may cost it. Defaults are
    those of spec 001.
    """

    inner_loop: bool = Field(
        True,
        description="grade what was found before a word is written; search again where it is poor",
    )
    outer_loop: bool = Field(
        True,
        description="grade the answer; ask in other words where it does not settle the question",
    )
    corrections: int = Field(2, ge=0, le=5, description="times an answer is corrected")
    max_calls: int = Field(12, ge=1, description="calls of the chat model for one question")
    max_tokens: int = Field(
        100_000, ge=1, description="tokens of those calls, sent and written; cached ones count"
    )
    max_seconds: float = Field(
        120.0, gt=0, description="seconds after which no more is tried for one question"
    )


class MemorySettings(Group):
    """What is remembered of a user from question to question."""

    enabled: bool = Field(True, description="remember, and use what is remembered")
    days: float = Field(
        180.0, gt=0, description="days a memory is kept after it was last confirmed"
    )
    most: int = Field(2_000, ge=1, description="memories of one user; beyond them the oldest go")


class WebSettings(Group):
    """Searching the web, where the documents do not tell. Off unless a provider is named."""

    provider: Literal["none", "searxng", "brave", "tavily", "duckduckgo", "wikipedia"] = Field(
        "none", description="who is asked; the last two need neither key nor url"
    )
    url: str = Field(
        "",
        description="base URL of the provider, where it is not the provider's own (searxng "
        "needs it)",
    )
    key: SecretStr = Field(SecretStr(""), description="key of the provider (brave, tavily)")
    results: int = Field(4, ge=1, le=10, description="pages read of one search")
    seconds: float = Field(
        20.0, gt=0, description="seconds that a search and the reading of its pages may take"
    )
    page_bytes: int = Field(5_000_000, ge=1, description="largest page read, in bytes")
    collection: str = Field(
        "web", min_length=1, description="collection that the pages read are kept in"
    )


class WebsiteSettings(Group):
    """The `website` agent: how far one question may explore a site. Defaults are those of spec 002
    where it has them.
    """

    max_iterations: int = Field(
        5, ge=0, le=50, description="rounds of exploring before an answer is forced"
    )
    max_pages: int = Field(100, ge=1, le=5_000, description="pages asked for, for one question")
    max_urls_per_iteration: int = Field(
        5, ge=1, le=50, description="pages of one round, fetched at the same time"
    )
    content_max_chars: int = Field(
        10_000, ge=200, description="characters of one page that count: those of its best passages"
    )
    max_seconds: float = Field(
        180.0, gt=0, description="seconds after which no more is tried for one question"
    )
    page_seconds: float = Field(
        20.0, gt=0, description="seconds that one page may take, with the wait for its host's turn"
    )
    fresh_seconds: float = Field(
        600.0,
        ge=0,
        description="a page read so long ago is taken as it is; then its site is asked again",
    )
    sitemap: bool = Field(
        True, description="take the pages that a site's sitemap names into account"
    )
    browser: Literal["off", "auto"] = Field(
        "off", description="auto: run pages that only scripts write (extra citewell[browser])"
    )


class PaperSettings(Group):
    """The `paper` agent of spec 003."""

    collection: str = Field(
        "papers", min_length=1, max_length=60, description="collection that papers are kept in"
    )
    most_agents: int = Field(2, ge=1, le=6, description="section agents asked for one question")
    max_seconds: float = Field(
        180.0, gt=0, description="seconds after which no more is tried for one message"
    )


class DataSettings(Group):
    """The `data` agent of spec 004, and what one statement over tables may cost."""

    max_rows: int = Field(1_000, ge=1, le=100_000, description="rows that a statement may hand out")
    statement_seconds: float = Field(
        10.0, gt=0, le=600, description="seconds that a statement may run"
    )
    memory_mib: int = Field(
        512,
        ge=64,
        description="memory that a statement may take, in MiB, where the engine can be told",
    )
    repairs: int = Field(
        2,
        ge=0,
        le=5,
        description="times a statement that failed is written anew with the engine's message",
    )
    candidates: int = Field(
        3, ge=1, le=5, description="statements written where the first is not sure"
    )
    values: int = Field(
        30, ge=0, le=500, description="stored values of a text column that are looked at"
    )
    max_seconds: float = Field(
        180.0, gt=0, description="seconds after which no more is tried for one question"
    )


class FeedbackSettings(Group):
    """What people say of answers, and what becomes of it (spec 004)."""

    confirmations: int = Field(
        1, ge=1, le=20, description="different people who must confirm an answer before it counts"
    )
    reviewers: tuple[str, ...] = Field(
        (), description="users whose word counts, also on corrections; empty: everybody's"
    )
    stale_days: float = Field(
        365.0,
        gt=0,
        description="days without use after which a confirmed answer may be cleaned away",
    )
    half_life_days: float = Field(
        180.0, gt=0, description="days without use after which half of what newness adds is left"
    )

    @field_validator("reviewers", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return _split_values(value)


class AccessSettings(Group):
    """Who reaches the server, and how often. Most of it counts with `auth = "token"` only
    (docs/security.md).
    """

    hosts: tuple[str, ...] = Field(
        (), description="names that people ask for this server by, beside those of this machine"
    )
    origins: tuple[str, ...] = Field(
        (), description="sites whose pages may show the chat element, as https://www.example.com"
    )
    public: tuple[str, ...] = Field(
        (),
        description="collections (help) and sites (site:docs.example.com) that those pages may ask "
        "without a token",
    )
    proxies: tuple[str, ...] = Field(
        (),
        description="addresses of proxies whose X-Forwarded-For and X-Forwarded-Proto are believed",
    )
    session_hours: float = Field(
        12.0, gt=0, description="hours after which the page asks to sign in again"
    )
    idle_hours: float = Field(
        2.0, gt=0, description="hours without use after which it does so earlier"
    )
    requests_a_minute: int = Field(600, ge=1, description="requests of one user in a minute")
    tries_a_minute: int = Field(
        10, ge=1, description="tries to sign in from one address in a minute"
    )
    connections: int = Field(
        100,
        ge=1,
        description="connections of one address at the same time (not counted for proxies)",
    )
    visits_a_minute: int = Field(
        20, ge=1, description="questions and votes from one address in a minute, on those pages"
    )
    visits_a_day: int = Field(
        5_000, ge=1, description="the same in a day, of all who use one token (or none) together"
    )

    @field_validator("hosts", "origins", "public", "proxies", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return _split_values(value)

    @field_validator("origins")
    @classmethod
    def _normalize_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """As browsers write them, so that they can be compared. `null`: pages opened from a file,
        and whoever says so.
        """
        for origin in value:
            if origin == "null":
                continue
            scheme, _, rest = origin.partition("://")
            if (
                scheme not in {"http", "https"}
                or not rest
                or "/" in rest.rstrip("/")
                or "*" in rest
            ):
                raise ValueError(
                    f"{origin}: an origin is a scheme and a host, as https://www.example.com"
                )
        return tuple(origin.rstrip("/").lower() for origin in value)


class IngestSettings(Group):
    """Reading files."""

    max_bytes: int = Field(100_000_000, ge=1, description="largest file read, in bytes")
    max_pages: int = Field(3_000, ge=1, description="most pages read of one file")
    max_cells: int = Field(
        200_000, ge=1, description="most cells read of one spreadsheet; what is left out is said"
    )
    parse_seconds: float = Field(
        60.0, gt=0, description="a file may take so long; one over 2 MB longer, 10 times at most"
    )
    ocr: Literal["off", "auto"] = Field(
        "off", description="auto: pictures and pages without text are read (extra citewell[ocr])"
    )
    max_members: int = Field(2_000, ge=1, description="most files taken out of one archive or mail")
    max_unpacked: int = Field(
        500_000_000, ge=1, description="most bytes taken out of one archive or mail"
    )
    max_ratio: float = Field(
        200.0,
        ge=1,
        description="an archive that unpacks to more times its size is refused as a zip bomb",
    )
    chunker: Literal["structure", "sentences", "fixed", "semantic"] = Field(
        "structure", description="how documents are cut"
    )
    chunk_tokens: int = Field(220, ge=40, le=480, description="token budget of a chunk")
    overlap_tokens: int = Field(
        40, ge=0, le=200, description="tokens of the chunk before that a chunk repeats"
    )
    summaries: Literal["extractive", "connected", "always"] = Field(
        "connected",
        description="who summarises sections: nobody anew, a connected chat model, or the "
        "built-in one too",
    )


class SearchSettings(Group):
    """Finding passages, for questions and for `citewell search`."""

    strategy: Literal[
        "direct_chunk_search", "hierarchical_search", "words_only", "vectors_only", "rrf"
    ] = Field(
        "direct_chunk_search",
        description="how passages are found; the last three are there to compare with",
    )
    recency: float = Field(
        0.0,
        ge=0,
        le=5,
        description="what being of today adds to a passage's score; 0: nothing, 1: clearly",
    )
    half_life_days: float = Field(365.0, gt=0, description="days after which half of that is left")
    diversity: float = Field(
        0.0, ge=0, le=1, description="0: the best passages, 1: those least like each other"
    )
    neighbours: int = Field(
        1, ge=0, le=5, description="passages on either side that a connected chat model is sent too"
    )


class Settings(BaseSettings):
    """All settings. `citewell doctor` prints the ones in force."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    home: Path = Field(
        Path(platformdirs.user_data_dir("citewell", appauthor=False)),
        description="all that is kept",
    )
    cache: Path = Field(
        Path(platformdirs.user_cache_dir("citewell", appauthor=False)),
        description="what can be had again",
    )

    llm: Literal["builtin", "openai", "scripted", "none"] = Field(
        "builtin", description="which chat model answers"
    )
    llm_file: Path | None = Field(
        None, description="a GGUF file for the built-in engine instead of the packaged model"
    )
    llm_url: str = Field("", description="base URL of an OpenAI-compatible endpoint, with its /v1")
    llm_model: str = Field("", description="model name at that endpoint")
    llm_key: SecretStr = Field(SecretStr(""), description="key of that endpoint")
    llm_timeout: float = Field(
        120.0,
        gt=0,
        description="seconds a call to the chat model may take, tries after failures included",
    )
    llm_evidence: int = Field(
        8_000,
        ge=500,
        le=100_000,
        description="tokens of evidence that a connected chat model is sent with a question",
    )
    llm_threads: int = Field(
        0, ge=0, description="threads of the built-in chat model; 0: one a core"
    )

    embedder: Literal["builtin", "openai", "scripted"] = Field(
        "builtin", description="which model embeds"
    )
    embed_url: str = Field("", description="base URL of an OpenAI-compatible embeddings endpoint")
    embed_model: str = Field("", description="model name at that endpoint")
    embed_key: SecretStr = Field(SecretStr(""), description="key of that endpoint")
    embed_workers: int = Field(0, ge=0, description="threads that embed; 0: one a core")

    reader: Literal["builtin", "scripted", "none"] = Field(
        "builtin", description="which model finds answers and judges claims"
    )
    reader_threads: int = Field(
        0, ge=0, description="threads of the built-in reader; 0: one a core, two at most"
    )

    judge_url: str = Field(
        "",
        description="base URL of an endpoint that judges answers; empty: the chat model itself "
        "does",
    )
    judge_model: str = Field("", description="model name at that endpoint")
    judge_key: SecretStr = Field(SecretStr(""), description="key of that endpoint")

    reranker: Literal["none", "llm", "http"] = Field(
        "none", description="what looks again at the best passages of a search"
    )
    rerank_url: str = Field(
        "",
        description="base URL of an endpoint with /rerank, in the manner of Cohere, Jina, vLLM "
        "or TEI",
    )
    rerank_model: str = Field("", description="model name at that endpoint")
    rerank_key: SecretStr = Field(SecretStr(""), description="key of that endpoint")
    rerank_top: int = Field(
        4,
        ge=2,
        le=50,
        description="passages that it looks at; the built-in model takes seconds for each",
    )
    rerank_timeout: float = Field(
        20.0, gt=0, description="seconds that endpoint may take; then the order stays as it was"
    )

    scripted_replies: Path | None = Field(
        None, description="replies of the scripted model, a JSON list (tests, demonstrations)"
    )

    host: str = Field("127.0.0.1", description="address that `serve` listens on")
    auth: Literal["none", "token"] = Field(
        "none",
        description="none: whoever reaches this machine's own address; token: users (citewell "
        "user add)",
    )
    port: int = Field(
        8420, ge=0, le=65535, description="port that `serve` listens on; 0: any free one"
    )
    stop_seconds: float = Field(
        30.0, ge=0, le=3600, description="seconds that a stop waits for answers that are under way"
    )
    warm: bool = Field(
        True,
        description="`serve` loads the built-in models at its start, so that the first "
        "question need not wait for them",
    )
    collection: str = Field(
        "default", min_length=1, description="collection used where none is named"
    )
    trace_days: int = Field(30, ge=1, description="days a trace is kept")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "warning", description="least severe message logged"
    )
    log_format: Literal["text", "json"] = Field(
        "text", description="lines of the log: for people, or one JSON object each"
    )
    otel: bool = Field(
        False,
        description="send spans to an OpenTelemetry collector (extra citewell[otel]; "
        "OTEL_EXPORTER_OTLP_ENDPOINT)",
    )

    allow_private_hosts: tuple[str, ...] = Field(
        (),
        description="host names and networks of this house that pages may be fetched from "
        "(several: with commas between)",
    )
    user_agent: str = Field(
        "Citewell", min_length=1, description="what Citewell calls itself where it fetches pages"
    )

    qa: QASettings = QASettings()
    dual_loop: DualLoopSettings = DualLoopSettings()
    memory: MemorySettings = MemorySettings()
    web: WebSettings = WebSettings()
    website: WebsiteSettings = WebsiteSettings()
    paper: PaperSettings = PaperSettings()
    data: DataSettings = DataSettings()
    feedback: FeedbackSettings = FeedbackSettings()
    access: AccessSettings = AccessSettings()
    ingest: IngestSettings = IngestSettings()
    search: SearchSettings = SearchSettings()

    @field_validator("allow_private_hosts", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return _split_values(value)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments only: `load_settings` merges file and environment itself, so that it can name
        what is unknown.
        """
        return (init_settings,)

    @property
    def database(self) -> Path:
        """The one file of the truth."""
        return self.home / "citewell.db"


def load_settings(environ: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
    """Read file and environment once. Raises ConfigError with the key, what is wrong with it, and
    the nearest known name.
    """
    environ = os.environ if environ is None else environ
    values = _merge_values(read_config_file(environ), _read_environment(environ))
    values = _merge_values(values, {k: v for k, v in arguments.items() if v is not None})
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        what = "there is no such setting" if first["type"] == "extra_forbidden" else first["msg"]
        raise ConfigError(
            f"setting {key}: {what}", hint=_find_nearest_key(key, Settings.model_fields)
        ) from None


def read_config_file(environ: Mapping[str, str]) -> dict[str, Any]:
    """What the settings file says, not yet checked; empty where there is none. Raises ConfigError,
    which names the file.
    """
    named = environ.get(PREFIX + "CONFIG")
    home = environ.get(PREFIX + "HOME")
    path = (
        Path(named)
        if named
        else Path(home or Settings.model_fields["home"].default) / "citewell.toml"
    )
    if not path.exists():
        if named:
            raise ConfigError(
                f"{path}: no such settings file",
                hint="CITEWELL_CONFIG names it; create it or unset the variable",
            )
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise ConfigError(f"{path}: {error}", hint="the settings file is TOML, in UTF-8") from None


def _read_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, value in environ.items():
        if not name.startswith(PREFIX) or name == PREFIX + "CONFIG":
            continue
        head, _, tail = name.removeprefix(PREFIX).lower().partition("__")
        known: Iterable[str] = Settings.model_fields
        if head not in known:
            raise ConfigError(
                f"environment variable {name}: unknown setting", hint=_find_nearest_key(head, known)
            )
        if tail:
            values.setdefault(head, {})[tail] = value
        else:
            values[head] = value
    return values


def _merge_values(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    both = dict(below)
    for key, value in above.items():
        old = both.get(key)
        both[key] = (
            _merge_values(old, value)
            if isinstance(old, dict) and isinstance(value, dict)
            else value
        )
    return both


def _find_nearest_key(key: str, known: Iterable[str]) -> str:
    """The known name most like the last part of `key`; of `web.results` that is one of the group
    `web`.
    """
    name = key.rpartition(".")[2]
    if name != key and name in Settings.model_fields:
        return f"{name} belongs to no section: in the file it stands before the first one"
    group = Settings.model_fields.get(key.partition(".")[0]) if "." in key else None
    if (
        group is not None
        and isinstance(group.annotation, type)
        and issubclass(group.annotation, BaseModel)
    ):
        known = group.annotation.model_fields
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]}?" if close else "`citewell doctor` lists the settings"
