"""How likely an answer is right, from what was measured on the way to it.

The one rule: made of measured signals, never of a figure that a model says of itself. The search's part is calibrated, and
both parts' weights stand in `retrieve/calibration.json`: these were set by hand, because on 45 drafted answers nothing
separated right from wrong well enough to fit them.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.retrieve.confidence import Logistic, shipped
from citewell.skills.grade import NEUTRAL
from citewell.types import Sentence, Verdict

_VERDICT: dict[Verdict, float] = {"supported": 1.0, "partly": 0.5, "unsupported": 0.0}


def share(verdicts: Sequence[Verdict]) -> float:
    """Share of the sentences that are proved; a partly proved one counts half."""
    return sum(_VERDICT[v] for v in verdicts) / len(verdicts) if verdicts else 0.0


def answer_signals(retrieval: float, log_odds: float | None, supported: float) -> dict[str, float]:
    """What `answer_confidence` is made of: the search's confidence, the evidence's grade, the share that is proved."""
    grade = NEUTRAL if log_odds is None else max(-4.0, min(4.0, log_odds))
    return {"retrieval": retrieval, "log_odds": grade, "support": supported}


def answer_confidence(
    retrieval: float, log_odds: float | None, sentences: Sequence[Sentence], model: Logistic | None = None
) -> float:
    """Probability that the answer shown is right; for a refusal (no sentences), that the evidence held the answer after all.

    `model`: a library's own weights.
    """
    model = model or shipped().answer
    assert model is not None, "calibration.json holds both"
    return round(model(answer_signals(retrieval, log_odds, share([s.verdict for s in sentences]))), 4)
