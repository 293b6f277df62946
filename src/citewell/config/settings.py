"""All settings in one class, with the defaults of those that belong to no group. Settings are
closed, frozen and inert; `settings_sources` fills them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from citewell.config.access_settings import AccessSettings, FeedbackSettings
from citewell.config.agent_settings import (
    DataSettings,
    DualLoopSettings,
    MemorySettings,
    PaperSettings,
    QASettings,
    WebSettings,
    WebsiteSettings,
)
from citewell.config.document_settings import IngestSettings, SearchSettings, SyncSettings
from citewell.config.setting_group import split_values

PREFIX = "CITEWELL_"


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

    database_url: SecretStr = Field(
        SecretStr(""),
        description="address of a PostgreSQL database for all that is kept, "
        "postgresql+psycopg://user:password@host/name; empty: a file of SQLite in the home",
    )
    database_direct_url: SecretStr = Field(
        SecretStr(""),
        description="address of the same database without PgBouncer, where database_url names it: "
        "workers hear of jobs by this one; empty: they look every 5 seconds",
    )
    database_replica_urls: SecretStr = Field(
        SecretStr(""),
        description="addresses of its streaming replicas, with spaces between: searches go to one "
        "that is near enough",
    )
    database_replica_lag: float = Field(
        2.0, gt=0, description="seconds that such a replica may be behind"
    )
    database_timeout: float = Field(
        60.0, gt=0, description="seconds a statement of that database may take"
    )
    objects_url: str = Field(
        "",
        description="object store for original files, waiting uploads and copies of tables, as "
        "s3://bucket/prefix (also gs://, az://), which several servers share; its keys come from "
        "the environment (AWS_ACCESS_KEY_ID, ...); empty: they are kept in the database and the "
        "home",
    )

    llm: Literal["builtin", "openai", "scripted", "none"] = Field(
        "builtin", description="which chat model answers"
    )
    llm_file: Path | None = Field(
        None, description="a GGUF file for the built-in engine instead of the packaged model"
    )
    llm_url: str = Field(
        "",
        description="base URL of an OpenAI-compatible endpoint, with its /v1; several with commas "
        "are used as one",
    )
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
    embed_url: str = Field(
        "",
        description="base URL of an OpenAI-compatible embeddings endpoint; several with commas are "
        "used as one",
    )
    embed_model: str = Field("", description="model name at that endpoint")
    embed_key: SecretStr = Field(SecretStr(""), description="key of that endpoint")
    embed_workers: int = Field(0, ge=0, description="threads that embed; 0: one a core")

    reader: Literal["builtin", "scripted", "none"] = Field(
        "builtin", description="which model finds answers and judges claims"
    )
    reader_threads: int = Field(
        0, ge=0, description="threads of the built-in reader; 0: one a core, four at most"
    )

    models_url: str = Field(
        "",
        description="addresses, with commas, of servers started with --models-only: there the "
        "built-in embedder and reader run; empty: in this process",
    )
    models_key: SecretStr = Field(SecretStr(""), description="token of a user of those servers")
    models_timeout: float = Field(
        60.0, gt=0, description="seconds that a call to them may take, further tries included"
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
    trace_days: int = Field(30, ge=1, description="days a trace, and a job that ended, is kept")
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
    sync: SyncSettings = SyncSettings()

    @field_validator("allow_private_hosts", mode="before")
    @classmethod
    def _split(cls, value: Any) -> Any:
        return split_values(value)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments only: `load_settings` merges file and environment, to name what is unknown."""
        return (init_settings,)

    @property
    def home_is_cache(self) -> bool:
        """Whether all that is kept lies in a database and an object store that others share."""
        return bool(self.objects_url and self.database_url.get_secret_value())

    @property
    def database(self) -> Path:
        """The one file of the truth."""
        return self.home / "citewell.db"
