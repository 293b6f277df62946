"""The calibrated probability that a search found what was asked for, computed from measured
signals. The weights are fitted by `citewell eval --calibrate`, never written in code:
`calibration.json` beside this file has the shipped ones, and a library may have its own.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from citewell.errors import ConfigError
from citewell.text.sentences import detect_language
from citewell.types import Hit

logger = logging.getLogger(__name__)

OWN = "calibration.json"  # a library's own weights, in its home folder
BEST = 3  # hits that are handed on as evidence: what `compute_confidence` speaks of
# stands in where a chunk has no vector yet: halfway between unrelated and answering
UNKNOWN_COSINE = 0.84


@dataclass(frozen=True, slots=True)
class Evidence:
    """A question with what a search found for it, best first."""

    question: str
    lang: str
    hits: Sequence[Hit]

    @property
    def best(self) -> Sequence[Hit]:
        return self.hits[:BEST]

    @property
    def own(self) -> list[Hit]:
        """Those in the question's language: words of another cannot be compared."""
        return [hit for hit in self.best if hit.lang == self.lang]

    @property
    def foreign(self) -> list[Hit]:
        return [hit for hit in self.best if hit.lang != self.lang]


def get_top_signal(hits: Sequence[Hit], signal: str) -> float:
    """The highest figure of that name; 0 where there is none."""
    return max((hit.signals.get(signal, 0.0) for hit in hits), default=0.0)


# A new signal is one row here; `citewell eval --calibrate` then fits a weight for it.
SIGNALS: dict[str, Callable[[Evidence], float]] = {
    "own": lambda e: float(bool(e.own)),
    "cosine": lambda e: (get_top_signal(e.own, "cosine") or UNKNOWN_COSINE) if e.own else 0.0,
    "coverage": lambda e: get_top_signal(e.own, "coverage"),
    "standing": lambda e: get_top_signal(e.own, "standing"),
    "foreign": lambda e: float(bool(e.foreign)),
    "foreign_cosine": lambda e: get_top_signal(e.foreign, "foreign_cosine"),
    "foreign_coverage": lambda e: get_top_signal(e.foreign, "coverage"),
    "foreign_standing": lambda e: get_top_signal(e.foreign, "standing"),
}


def measure_signals(question: str, hits: Sequence[Hit]) -> dict[str, float]:
    """Every signal of `SIGNALS` by its name."""
    evidence = Evidence(question, detect_language(question), hits)
    return {name: float(measure(evidence)) for name, measure in SIGNALS.items()}


class Fitted(BaseModel):
    """What a set of weights was fitted on, and how well it predicts unseen questions
    (cross-validated by question).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    on: dict[str, int]  # questions of each data set
    items: int
    positive: float  # share of the items
    brier: float
    brier_of_the_mean: float  # of always saying the share of positives
    auc: float | None
    ece: float | None
    embedder: str
    at: str  # ISO date


class Logistic(BaseModel):
    """A calibrated probability: 1 / (1 + exp(-(bias + sum of weight x signal))). `fitted` None: set
    by hand.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    bias: float
    weights: dict[str, float]
    threshold: float = 0.5  # from this probability on, what it speaks of is taken for true
    fitted: Fitted | None = None

    def __call__(self, signals: Mapping[str, float]) -> float:
        x = self.bias + sum(w * signals.get(name, 0.0) for name, w in self.weights.items())
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, x))))


class Calibration(BaseModel):
    """Weights of both confidences: that the evidence holds the answer, and by tier
    (`skills/answer/decision.py`) that the answer shown is right. A tier that is left out has the
    shipped ones.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    retrieval: Logistic | None = None
    answer: dict[str, Logistic] = {}

    @field_validator("answer", mode="before")
    @classmethod
    def _convert_old_answer(cls, value: object) -> object:
        """Up to version 0.1 this was one set of weights, of signals that no longer exist."""
        return {} if value is None or (isinstance(value, dict) and "bias" in value) else value


@cache
def load_shipped() -> Calibration:
    """The weights that come with Citewell."""
    text = resources.files("citewell.retrieve").joinpath("calibration.json").read_text("utf-8")
    return Calibration.model_validate_json(text)


def read_calibration(path: Path) -> Calibration:
    """A library's own weights. Raises ConfigError, which names what is wrong with the file."""
    try:
        own = Calibration.model_validate_json(path.read_bytes())
    except OSError as error:
        raise ConfigError(
            f"{path}: {error.strerror}", hint="make it readable, or delete it"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {where} {first['msg']}", hint=UNDO) from None
    unknown = sorted(set(own.retrieval.weights) - set(SIGNALS)) if own.retrieval else []
    if unknown:
        raise ConfigError(f"{path}: unknown signals: {', '.join(unknown)}", hint=UNDO)
    return own


def load_own(path: Path, embedder: str) -> Calibration | None:
    """The library's own weights at `path`; None if there are none. Raises ConfigError for unusable
    ones.
    """
    if not path.exists():
        return None
    found = read_calibration(path)
    for model in (found.retrieval, *found.answer.values()):
        if model and model.fitted and model.fitted.embedder != embedder:
            raise ConfigError(
                f"{path}: fitted with {model.fitted.embedder}, and {embedder} is in use", hint=UNDO
            )
    return found


def load_calibration(path: Path, embedder: str) -> Calibration:
    """The library's own weights over the shipped ones; unusable ones are logged and left out."""
    try:
        found = load_own(path, embedder)
    except ConfigError as error:
        logger.warning("%s; the shipped weights are used", error.message)
        found = None
    if found is None:
        return load_shipped()
    return Calibration(
        retrieval=found.retrieval or load_shipped().retrieval,
        answer=load_shipped().answer | found.answer,
    )


UNDO = (
    "delete the file to go back to the shipped weights, or fit anew with `citewell eval "
    "--calibrate --save`"
)


def compute_confidence(question: str, hits: Sequence[Hit], model: Logistic | None = None) -> float:
    """How likely the best three hits hold the answer, 0 to 1. `model`: the library's weights."""
    model = model or load_shipped().retrieval
    assert model is not None, "calibration.json holds both"
    return round(model(measure_signals(question, hits)), 4) if hits else 0.0
