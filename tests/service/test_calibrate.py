"""Weights fitted on an evaluation become the library's own, and can be undone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.measure.conftest import item, replied, reported, searched

from citewell.config import Settings
from citewell.errors import ConfigError
from citewell.measure.report import Report
from citewell.retrieve.confidence import OWN, SIGNALS, load_calibration, load_own, load_shipped
from citewell.runtime.app import App
from citewell.service.admin.doctor import run_checks
from citewell.service.evaluate.calibrate import save_calibration


def report(n: int = 60, *, learnable: bool = True) -> Report:
    """Searches with high signals held, those without their gold have low ones; or signals that tell
    nothing.
    """
    items = []
    for number in range(n):
        none = dict.fromkeys(SIGNALS, 0.0) | {"own": 1.0}
        high = none | {"cosine": 0.9 - number / 1000, "coverage": 0.8}
        low = none | {"cosine": 0.8 + number / 1000, "coverage": 0.2} if learnable else high
        found = searched(1 if number % 6 else 9).model_copy(
            update={"signals": high, "without": low}
        )
        items.append(item(f"{number}", search=found))
    return reported(items, calibrate=True).model_copy(
        update={
            "run": reported(items).run.model_copy(
                update={"only": "retrieval", "embedder": "scripted"}
            )
        }
    )


async def test_kept_weights_are_in_force_and_shown(app: App, settings: Settings) -> None:
    """The next App searches with them; `doctor` says what they were fitted on and how to undo
    it.
    """
    path, told = save_calibration(app.embedder, app.settings, report())
    assert (path, told) == (settings.home / OWN, [])
    async with App(settings) as again:
        model = again.calibration.retrieval
        assert model is not None
        assert set(model.weights) == set(SIGNALS)
        assert model.fitted is not None
        assert (model.fitted.on, model.fitted.items) == ({"set": 60}, 120)
        assert model.fitted.brier < model.fitted.brier_of_the_mean
        assert again.calibration.answer == load_shipped().answer
        assert model({"cosine": 0.9, "coverage": 0.8}) > model({"cosine": 0.8, "coverage": 0.2})
    [check] = [
        one for one in (await run_checks(settings, fast=True)).checks if one.name == "calibration"
    ]
    assert check.state == "ok"
    assert "this library's own" in check.detail
    assert "120 items of set" in check.detail
    (settings.home / OWN).unlink()  # back to the shipped weights
    assert load_calibration(settings.home / OWN, "scripted") == load_shipped()


async def test_what_is_no_better_than_the_mean_is_not_kept(app: App) -> None:
    """Nor what was fitted on a handful; it says which and why."""
    path, told = save_calibration(app.embedder, app.settings, report(learnable=False))
    assert path is None
    assert "no better than always the mean" in told[0]
    path, told = save_calibration(app.embedder, app.settings, report(8))
    assert path is None
    assert "too few" in told[0]
    path, told = save_calibration(app.embedder, app.settings, report(1))
    assert path is None
    assert "nothing to learn from" in told[0]


def answered(tier: str, n: int = 60) -> Report:
    """Answers decided on in this tier: those with a high signal were right, shown or not, but for a
    few.
    """
    items = []
    for number in range(n):
        right = number % 2 == 0
        signals = {"told": 0.9 if right != (number % 15 == 0) else 0.1}
        reply = replied(right=right, refused=number % 4 == 0, signals=signals, tier=tier)
        items.append(item(f"{number}", search=None, answer=reply))
    found = reported(items, calibrate=True)
    return found.model_copy(update={"run": found.run.model_copy(update={"embedder": "scripted"})})


@pytest.mark.parametrize("tier", ["connected", "reader", "search"])
async def test_answers_are_fitted_by_tier(app: App, settings: Settings, tier: str) -> None:
    """A candidate that was withheld counts as right where it was; the other tiers keep the shipped
    weights.
    """
    made = answered(tier)
    assert [fit.name for fit in made.fits] == [f"answer:{tier}"]
    path, told = save_calibration(app.embedder, app.settings, made)
    assert (path, told) == (
        settings.home / OWN,
        [
            (
                "the retrieval confidence is left as it is: nothing to learn from: it takes "
                "items of both kinds, right and wrong"
            )
        ],
    )
    async with App(settings) as again:
        model = again.calibration.answer[tier]
        assert model({"told": 0.9}) > model.threshold > model({"told": 0.1})
        assert (model.fitted.items if model.fitted else 0) == 60
        assert {name: each for name, each in again.calibration.answer.items() if name != tier} == {
            name: each for name, each in load_shipped().answer.items() if name != tier
        }


async def test_the_other_parts_stay(app: App, settings: Settings) -> None:
    """A fit leaves what was kept before of other parts and tiers; a file that cannot be used is
    replaced and told.
    """
    kept = {"answer": {"search": {"bias": 1.0, "weights": {"retrieval": 2.0}}}}
    (settings.home / OWN).write_text(json.dumps(kept), "utf-8")
    save_calibration(app.embedder, app.settings, report())
    save_calibration(app.embedder, app.settings, answered("reader"))
    found = load_own(settings.home / OWN, "scripted")
    assert found is not None
    assert found.retrieval is not None
    assert (sorted(found.answer), found.answer["search"].bias) == (["reader", "search"], 1.0)
    (settings.home / OWN).write_text("{broken", "utf-8")
    _, told = save_calibration(app.embedder, app.settings, report())
    assert "replaced" in told[0]


def test_a_file_of_the_last_release_still_loads(settings: Settings, tmp_path: Path) -> None:
    """It had one set of weights for answers, of signals that are no more: those are left out, the
    others count.
    """
    before = {
        "retrieval": {"bias": 1.0, "weights": {"cosine": 2.0}},
        "answer": {"bias": 1.0, "weights": {"support": 2.0}},
    }
    path = tmp_path / OWN
    path.write_text(json.dumps(before), "utf-8")
    found = load_calibration(path, "scripted")
    assert found.retrieval is not None
    assert (found.retrieval.bias, found.answer) == (1.0, load_shipped().answer)
    path.write_text(json.dumps(before | {"answer": None}), "utf-8")
    assert load_calibration(path, "scripted").answer == load_shipped().answer


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Invalid JSON"),
        ('{"retrieval": {"bias": "x", "weights": {}}}', "retrieval.bias"),
        ('{"retrieval": {"bias": 1, "weights": {"moon": 1}}}', "unknown signals: moon"),
    ],
)
async def test_a_file_that_cannot_be_used_is_named_and_left_out(
    tmp_path: Path, text: str, words: str
) -> None:
    """The shipped weights are used, and `doctor` warns."""
    settings = Settings(home=tmp_path / "home", cache=tmp_path, llm="none", embedder="scripted")
    settings.home.mkdir()
    path = settings.home / OWN
    path.write_text(text, "utf-8")
    with pytest.raises(ConfigError, match=words):
        load_own(path, "scripted")
    assert load_calibration(path, "scripted") == load_shipped()
    [check] = [
        one for one in (await run_checks(settings, fast=True)).checks if one.name == "calibration"
    ]
    assert check.state == "warn"
    assert words in check.detail
    assert "delete the file" in check.advice


async def test_weights_of_another_embedder_are_left_out(app: App, settings: Settings) -> None:
    """Cosines of two embedders cannot be compared."""
    save_calibration(app.embedder, app.settings, report())
    with pytest.raises(ConfigError, match="scripted, and other is in use"):
        load_own(settings.home / OWN, "other")
    assert load_calibration(settings.home / OWN, "other") == load_shipped()
