"""Settings of people: who reaches the server and how often, and whose word on an answer counts."""

from __future__ import annotations

from typing import Any

from pydantic import Field, field_validator

from citewell.config.setting_group import Group, split_values


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
        return split_values(value)


class AccessSettings(Group):
    """Who reaches the server, and how often. Most of it counts with `auth = "token"` only."""

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
        return split_values(value)

    @field_validator("origins")
    @classmethod
    def _normalize_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        """As browsers write them, for comparing. `null`: pages of files, and whoever says so."""
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
