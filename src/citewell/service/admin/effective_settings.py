"""Every setting as it counts here, and its source. A secret is shown as set or not set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, SecretStr

from citewell.config import Settings, name_variable, read_config_file, read_page_settings
from citewell.types import Shown


class Setting(Shown):
    """`source`: default, the page, the settings file, or the environment variable."""

    name: str
    value: str
    source: str


def list_effective_settings(settings: Settings, environ: Mapping[str, str]) -> list[Setting]:
    """Every setting with its value and where that came from; nested ones as `group.name`."""
    filed, paged = _flatten_settings(read_config_file(environ)), read_page_settings(settings.home)
    shown = []
    for name, value in _flatten_settings(settings).items():
        variable = name_variable(name)
        source = (
            variable
            if variable in environ
            else "settings file"
            if name in filed
            else "page"
            if name in paged
            else "default"
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
