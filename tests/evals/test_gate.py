"""The release gate: nothing that the ticks and the reader were worth at the last release is lost
unseen.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from citewell.config import Settings

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "evals"))
import gate
import proof


@pytest.fixture(scope="module")
def figures() -> list[gate.Figure]:
    """All figures of this checkout, with the built-in reader."""
    return asyncio.run(gate.measure_all(Settings(llm="none")))


def test_no_figure_is_worse_than_at_the_last_release(figures: list[gate.Figure]) -> None:
    """Each against the interval of the kept one."""
    kept = gate.read_kept()
    assert {figure.name for figure in figures} == set(kept)
    worse = [
        f"{figure.name}: {figure.share:.3f}, was {kept[figure.name]}"
        for figure in figures
        if figure.is_worse(kept[figure.name])
    ]
    assert not worse


def test_the_goals_of_the_connected_tier_hold(figures: list[gate.Figure]) -> None:
    """Right and natural drafts ticked >= 0.95, false ones <= 0.05 (DESIGN section 8)."""
    shares = {figure.name: figure.share for figure in figures}
    assert shares["connected: right drafts ticked"] >= 0.95
    assert shares["connected: false drafts ticked"] <= 0.05


async def test_without_a_judge_no_worded_draft_is_ticked() -> None:
    """Right or false: nothing that cannot be proved."""
    cases = [case for case in proof.read_cases() if case.text not in "".join(case.evidence)][:60]
    assert not any(await proof.tick_all(cases, None))


def test_a_gate_can_fail() -> None:
    """A figure outside the interval is worse, one inside is not."""
    assert gate.Figure("x", 70, 100, more_is_better=True).is_worse(0.9)
    assert not gate.Figure("x", 88, 100, more_is_better=True).is_worse(0.9)
    assert gate.Figure("x", 30, 100, more_is_better=False).is_worse(0.1)
