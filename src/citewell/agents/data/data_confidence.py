"""How sure the `data` agent is that the rows of a statement answer the question. What the model
itself saw of its statement counts most: it is surprised where the grammar led it on another way
than its own, and where it guesses.
"""

from __future__ import annotations

import math

from citewell.agents.data.data_state import DataState
from citewell.skills.answer.tell_rows import is_empty_result

# Log-odds that an answer is right. A statement that a grammar held: HELD, less SURPRISE for each
# unit of the logarithm of how far the mean log-probability of its tokens is below zero, less
# DIFFERS as others that were written give other rows. Fitted (logistic) on 59 recorded questions of
# both languages over six databases, two statements where the first was in doubt.
HELD, SURPRISE, FLOOR, DIFFERS = -1.1, 1.4, 0.02, 0.5
# Of a statement of which that is not known (a connected model's, one written freely): BASE; where
# several were written, SEVERAL less and up to AGREED more as they agree. What people have confirmed
# was not in the fit: its figures are set by hand (as it stands 0.97, with other values or as an
# example 0.92).
BASE = {"reused": 3.5, "adapted": 2.5, "changed": 3.5, "example": 2.5, "rule": 2.5, "": 2.3}
SEVERAL, AGREED, REPAIRED, NOTHING = -3.2, 2.8, 1.6, 1.9
# another name in the place of one that was quoted: set by hand, seen twice there and wrong
TAKEN = 3.0
ANSWERABLE = 0.3  # a log-odd of the model's that the tables answer it at all
REUSED_LEAST = 0.95


def compute_confidence(state: DataState, *, other_name: bool = False) -> float:
    """That the answer shown is right; of a follow-up, that the one before is as well. `other_name`:
    one stands for a quoted one.
    """
    assert state.chosen is not None
    assert state.intent_analysis is not None
    candidate, odds = state.chosen, state.intent_analysis.log_odds
    same, ran = state.agreed
    if candidate.log_prob is not None and not candidate.how:
        total = weigh_log_prob(candidate.log_prob)
        total -= DIFFERS * (ran - same) / (ran - 1) if ran > 1 else 0.0
    else:
        total = BASE["rule" if candidate.rules and not candidate.how else candidate.how]
        total += ANSWERABLE * max(-4.0, min(4.0, odds)) if odds is not None else 0.0
        total += SEVERAL + AGREED * (same - 1) / (ran - 1) if ran > 1 else 0.0
    empty = state.rows is None or is_empty_result(state.rows)
    total -= REPAIRED * state.repairs + NOTHING * empty + TAKEN * other_name
    sure = 1 / (1 + math.exp(-total))
    if state.previous is not None and candidate.how not in {"reused", "adapted"}:
        sure *= state.previous.confidence
    whole = candidate.how == "reused" and not state.repairs
    return round(max(sure, REUSED_LEAST) if whole else sure, 4)


def weigh_log_prob(log_prob: float) -> float:
    """Log-odds that a statement is right, by how little it surprised the model."""
    return HELD - SURPRISE * math.log(FLOOR - min(log_prob, 0.0))
