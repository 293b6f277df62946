"""What every group of settings is made of: closed and frozen; an unknown key is refused."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from pydantic import BaseModel, ConfigDict


class Group(BaseModel):
    """A closed group of settings: `[name]` in the file, `CITEWELL_NAME__KEY` in the environment."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def split_values(value: Any) -> Any:
    """The environment has one text for several: with commas between, or a JSON list."""
    if isinstance(value, str) and value.strip().startswith("["):
        with suppress(json.JSONDecodeError):  # an address in brackets is no list
            return tuple(json.loads(value))
    return (
        tuple(part.strip() for part in value.split(",") if part.strip())
        if isinstance(value, str)
        else value
    )
