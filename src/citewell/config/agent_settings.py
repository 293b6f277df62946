"""Settings of the five agents, and of what answers draw on beside documents: memory, the web."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr

from citewell.config.setting_group import Group


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
    """The `dual_loop` agent, and what one question may cost it. Defaults are those of spec 001."""

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
    """The `website` agent: how far one question may explore. Defaults are those of spec 002."""

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
    export_rows: int = Field(
        100_000, ge=1, le=1_000_000, description="rows that a file of a result may hold"
    )
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
