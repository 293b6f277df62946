"""Searching the web: who may be asked, by name. The one rule: nobody is asked unless the settings
name a provider.
"""

from __future__ import annotations

from collections.abc import Callable

from citewell.config import Settings
from citewell.errors import ConfigError
from citewell.retrieve.providers.base import Provider, WebResult
from citewell.retrieve.providers.brave import Brave
from citewell.retrieve.providers.duckduckgo import DuckDuckGo
from citewell.retrieve.providers.searxng import SearXNG
from citewell.retrieve.providers.tavily import Tavily
from citewell.retrieve.providers.wikipedia import Wikipedia

__all__ = ["PROVIDERS", "Provider", "WebResult", "build_provider"]

PROVIDERS: dict[str, Callable[[Settings], Provider]] = {
    "searxng": SearXNG,
    "brave": Brave,
    "tavily": Tavily,
    "duckduckgo": DuckDuckGo,
    "wikipedia": Wikipedia,
}


def build_provider(settings: Settings) -> Provider:
    """The provider of the settings. Raises ConfigError where they name none, or leave out what it
    needs.
    """
    if settings.web.provider not in PROVIDERS:
        raise ConfigError(
            "web search is off: setting web.provider names nobody",
            hint=f"one of {', '.join(PROVIDERS)}; docs/web.md",
        )
    return PROVIDERS[settings.web.provider](settings)
