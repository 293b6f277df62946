"""Searching the web: who may be asked, by name. The settings name whom."""

from __future__ import annotations

from collections.abc import Callable

from citewell.config import Settings
from citewell.errors import ConfigError
from citewell.messages import Text
from citewell.retrieve.providers.base import Provider
from citewell.retrieve.providers.brave import Brave
from citewell.retrieve.providers.duckduckgo import DuckDuckGo
from citewell.retrieve.providers.searxng import SearXNG
from citewell.retrieve.providers.tavily import Tavily
from citewell.retrieve.providers.wikipedia import Wikipedia

PROVIDERS: dict[str, Callable[[Settings], Provider]] = {
    "searxng": SearXNG,
    "brave": Brave,
    "tavily": Tavily,
    "duckduckgo": DuckDuckGo,
    "wikipedia": Wikipedia,
}


def build_provider(settings: Settings) -> Provider:
    """The provider of the settings. Raises ConfigError without one, or what it needs."""
    if settings.web.provider not in PROVIDERS:
        raise ConfigError(
            Text("web search is off: setting web.provider names nobody"),
            hint=Text("one of {providers}; docs/web.md", providers=", ".join(PROVIDERS)),
        )
    return PROVIDERS[settings.web.provider](settings)
