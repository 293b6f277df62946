"""One line of a doctor's report: what was looked at, how it is, what to do."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from citewell.errors import CitewellError
from citewell.types import Shown

State = Literal["ok", "warn", "fail"]


class Check(Shown):
    name: str
    state: State
    detail: str
    advice: str = ""
    figures: dict[str, float] = Field(default_factory=dict)


def build_failed_check(name: str, error: CitewellError) -> Check:
    return Check(name=name, state="fail", detail=error.message, advice=error.hint)
