"""What the reader is taught by: the losses of a micro-batch, of tensors alone, so that every
training computes the same.

The one rule: nothing is looked up here. `batches.targets` says what the tensors of `wanted` are.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional

Wanted = dict[str, Tensor]


def loss_of_heads(task: str, heads: Sequence[Tensor], wanted: Wanted) -> Tensor:
    """`heads`: what the model gives; rows beyond those of `wanted` only filled up."""
    number = len(next(iter(wanted.values())))
    starts, ends, answerable, support, tokens = (head[:number].float() for head in heads)
    if task == "qa":
        return question_loss(starts, ends, answerable, wanted["answers"])
    return claim_loss(support, wanted["labels"], wanted["coarse"]) + token_loss(
        tokens, wanted["unbacked"], wanted["known"]
    )


def question_loss(starts: Tensor, ends: Tensor, answerable: Tensor, answers: Tensor) -> Tensor:
    """Place 0 is no answer; the head says the same once more, for it is calibrated."""
    spans = functional.cross_entropy(starts, answers[:, 0]) + functional.cross_entropy(
        ends, answers[:, 1]
    )
    return spans / 2 + functional.binary_cross_entropy_with_logits(
        answerable, (answers[:, 0] > 0).float()
    )


def claim_loss(support: Tensor, labels: Tensor, coarse: Tensor) -> Tensor:
    """Three ways; where a label is coarse, false in either way."""
    shares = functional.log_softmax(support, -1)
    exact = functional.nll_loss(shares, labels, reduction="none")
    return torch.where(coarse, -torch.logsumexp(shares[:, 1:], -1), exact).mean()


def token_loss(tokens: Tensor, unbacked: Tensor, known: Tensor) -> Tensor:
    """Of the claim's tokens whose backing is known; one that is not backed counts twice."""
    wanted, counted = unbacked.to(tokens.dtype), known.to(tokens.dtype)
    losses = (
        functional.binary_cross_entropy_with_logits(tokens, wanted, reduction="none")
        * counted
        * (1 + wanted)
    )
    return losses.sum() / counted.sum().clamp(min=1)
