"""Keep weights that were fitted on an evaluation as the library's own, show which are in force, and
undo it. Weights that foretell no better than always saying the mean are not kept.
"""

from __future__ import annotations

import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from citewell.config import Settings
from citewell.errors import ConfigError, StorageError
from citewell.measure.report import Fit, Report
from citewell.models.base import Embedder
from citewell.retrieve.confidence import OWN, Calibration, Fitted, Logistic, load_own

FEWEST = 40  # items below which a fit says more about chance than about the library


def explain_rejection(fit: Fit) -> str:
    """Why a fit is not worth keeping; empty where it is."""
    whole = fit.whole
    if whole.n < FEWEST:
        return f"{whole.n} items are too few, {FEWEST} are needed"
    if whole.brier >= whole.brier_of_the_mean:
        return (
            f"its Brier score of {whole.brier:.3f} is no better than always the mean "
            f"({whole.brier_of_the_mean:.3f})"
        )
    return ""


def save_calibration(
    embedder: Embedder, settings: Settings, report: Report
) -> tuple[Path | None, list[str]]:
    """Write what is worth keeping to the library's calibration file, beside what is kept there;
    says what was left out and why.

    Raises StorageError.
    """
    path, told = settings.home / OWN, []
    kept: dict[str, Logistic] = {}
    fits = {
        "retrieval": None,
        **({} if report.run.only else {"answer": None}),
        **{fit.name: fit for fit in report.fits},
    }
    if len(fits) > 2:
        fits.pop("answer", None)  # there is a tier's
    for name, fit in fits.items():
        reason = (
            explain_rejection(fit)
            if fit
            else "nothing to learn from: it takes items of both kinds, right and wrong"
        )
        if fit and not reason:
            fitted = _build_fitted(fit, report)
            kept[name] = Logistic(
                bias=fit.bias, weights=fit.weights, threshold=fit.threshold, fitted=fitted
            )
        else:
            told.append(f"the {name} confidence is left as it is: {reason}")
    if not kept:
        return None, told
    try:
        before = load_own(path, embedder.name) or Calibration()
    except ConfigError as error:
        told.append(f"what was kept before is replaced: {error.message}")
        before = Calibration()
    answer = before.answer | {
        name.partition(":")[2]: each for name, each in kept.items() if name != "retrieval"
    }
    _write_calibration(
        path, Calibration(retrieval=kept.get("retrieval", before.retrieval), answer=answer)
    )
    return path, told


def _build_fitted(fit: Fit, report: Report) -> Fitted:
    whole = fit.whole
    return Fitted(
        on=dict(Counter(item.dataset for item in report.items)),
        items=whole.n,
        positive=round(whole.positive, 4),
        brier=round(whole.brier, 4),
        brier_of_the_mean=round(whole.brier_of_the_mean, 4),
        auc=None if whole.auc is None else round(whole.auc, 4),
        ece=round(whole.ece, 4),
        embedder=report.run.embedder,
        at=datetime.now(UTC).date().isoformat(),
    )


def _write_calibration(path: Path, calibration: Calibration) -> None:
    """Whole or not at all."""
    new = path.with_suffix(".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_text(calibration.model_dump_json(indent=2, exclude_none=True) + "\n", "utf-8")
        os.replace(new, path)  # noqa: PTH105 - the atomic one
    except OSError as error:
        raise StorageError(
            f"{path}: {error.strerror}", hint="make the home folder writable"
        ) from None
