"""One decision: how likely the answer at hand is right, and so whether it is shown. Fitted
(`citewell eval --calibrate`) on the scores of search, reader and judge, for each tier; nothing else
decides between an answer and a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Literal

from citewell.models.base import LLM, is_connected
from citewell.models.reader_base import Reader
from citewell.retrieve.confidence import Logistic, load_shipped
from citewell.skills.answer.draft import DraftStatus
from citewell.skills.proof.prove import Proven

Tier = Literal["connected", "reader", "search"]
EVEN = 0.5  # below it an answer is likelier wrong than right
# log-odds where nothing was drafted, so nothing was read: without them even odds would be taken
UNREAD = {"answerable": -4.6}
_TOLD: dict[DraftStatus, float] = {
    "answered": 1.0,
    "false_premise": 1.0,
    "partly": 0.5,
    "not_told": 0.0,
    "unclear": 0.0,
}


def get_tier(llm: LLM | None, reader: Reader | None) -> Tier:
    """What the answer is made by."""
    return "connected" if is_connected(llm) else "reader" if reader is not None else "search"


def collect_answer_signals(
    retrieval: float,
    lang: str,
    proven: Proven | None = None,
    reading: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """What a decision is made of. `retrieval`: the search's calibrated confidence. Of a draft: what
    it says of itself (`told`), the mean and the least of its sentences' scores; of a quoted answer
    in their place `reading`, the signals of `find_answer`.
    """
    scores = proven.scores if proven is not None else []
    return {
        "retrieval": retrieval,
        "zh": float(lang == "zh"),
        "told": _TOLD[proven.draft.status] if proven is not None else 0.0,
        "support": fmean(scores) if scores else 0.0,
        "least": min(scores, default=0.0),
        **(reading or ({} if proven is not None else UNREAD)),
    }


def get_decision_model(
    name: Tier | Literal["pick", "sentence"], own: Mapping[str, Logistic] | None = None
) -> Logistic:
    """The library's own weights for the tier, else the shipped ones; `pick`: those by which the
    reader's candidates are told apart, `sentence`: sentences of all passages.
    """
    return (own or {}).get(name) or load_shipped().answer[name]


def decide(signals: Mapping[str, float], model: Logistic) -> tuple[float, bool]:
    """The probability that the answer is right, and whether it is shown."""
    probability = round(model(signals), 4)
    return probability, probability >= model.threshold
