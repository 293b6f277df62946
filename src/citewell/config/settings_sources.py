"""Where settings come from: the page, `citewell.toml`, the environment, arguments. An unknown key
is refused by its name, wherever it comes from.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from citewell.config.page_settings import nest_settings, read_page_settings
from citewell.config.settings import PREFIX, Settings
from citewell.errors import ConfigError


def load_settings(environ: Mapping[str, str] | None = None, **arguments: Any) -> Settings:
    """Read files and environment once. Raises ConfigError with the key, what is wrong with it, and
    the nearest known name.
    """
    environ = os.environ if environ is None else environ
    values = _merge_values(read_config_file(environ), _read_environment(environ))
    values = _merge_values(values, {k: v for k, v in arguments.items() if v is not None})
    home = Path(values.get("home", Settings.model_fields["home"].default))
    return build_settings(_merge_values(nest_settings(read_page_settings(home)), values))


def build_settings(values: Mapping[str, Any]) -> Settings:
    """Raises ConfigError with the key, what is wrong with it, and the nearest known name."""
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
    """What the settings file says, unchecked; empty without one. Raises ConfigError."""
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


def name_variable(name: str) -> str:
    """The environment variable of a setting such as `web.key`."""
    return PREFIX + name.upper().replace(".", "__")


def find_source(name: str, environ: Mapping[str, str]) -> str:
    """What says that setting (`web.key`) above the page: an environment variable, or the settings
    file; empty where neither does. Raises ConfigError.
    """
    variable = name_variable(name)
    if variable in environ:
        return variable
    group, _, last = name.rpartition(".")
    filed = read_config_file(environ)
    within = filed.get(group, {}) if group else filed
    return "citewell.toml" if isinstance(within, dict) and last in within else ""


def replace_settings(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """These settings, with others of theirs by name (`web.key`). Raises ConfigError."""
    changed = {
        name: getattr(settings, name).model_copy(update=value) if isinstance(value, dict) else value
        for name, value in nest_settings(values).items()
    }
    whole = {name: getattr(settings, name) for name in Settings.model_fields}
    plain = {
        name: value.model_dump() if isinstance(value, BaseModel) else value
        for name, value in (whole | changed).items()
    }
    return build_settings(plain)


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
    """The known name most like the last part of `key`; of `web.results` one of the group `web`."""
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
    if name in known:  # it is the value that is wrong
        return "docs/settings.md says what it takes; `citewell doctor --fast --all` lists them"
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {close[0]}?" if close else "`citewell doctor --all` lists the settings"
