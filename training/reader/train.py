"""Trains the reader on a CPU: workers of one thread each, gradients summed in shared memory,
products in bfloat16.

    python training/reader/train.py --out DIR [--start CHECKPOINT] [--hours 2] [--workers 2]

A checkpoint every ten minutes holds the weights and the optimiser's state, so a run goes on where
it ended; the mix is read again whenever its file changes. The learning rate rises over the first
steps, stays, and falls to zero over the last quarter (--decay). The one rule: all workers step
together, on the sum of their gradients, each its own part of the weights.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
from batches import TASKS, Encoded, targets
from feed import Encoder, Feed, open_feed
from losses import loss_of_heads
from model import Reader, masks
from torch import Tensor, multiprocessing

from citewell.models.builtin.e5_file import load_e5

MIX = Path(__file__).with_name("mix.json")
BETAS = (0.9, 0.98)
Options = argparse.Namespace


def loss_of(model: Reader, encoder: Encoder, task: str, batch: list[Encoded], most: int) -> Tensor:
    ids, sizes = encoder.inputs(batch, most)
    rows, (mask, second) = (
        torch.from_numpy(encoder.rows(ids)),
        masks(torch.from_numpy(sizes), ids.shape[1]),
    )
    with torch.autocast("cpu", dtype=torch.bfloat16):
        heads = model(rows, mask, second, TASKS.index(task))
    return loss_of_heads(
        task,
        heads,
        {name: torch.from_numpy(values) for name, values in targets(task, batch).items()},
    )


@dataclass
class Shared:
    """What the workers share: weights, gradients, both moments, flat; `figures`: factor of the
    learning rate, save, end; then for each worker the square of its part's norm and the tokens it
    has read.
    """

    weights: Tensor
    moments: tuple[Tensor, Tensor]
    gradients: list[Tensor]
    figures: Tensor
    barrier: Any = field(repr=False)

    @classmethod
    def of(cls, size: int, workers: int) -> Shared:
        zeros = [torch.zeros(size).share_memory_() for _ in range(3 + workers)]
        figures = torch.zeros(3 + 2 * workers, dtype=torch.float64).share_memory_()
        return cls(
            zeros[0], (zeros[1], zeros[2]), zeros[3:], figures, multiprocessing.Barrier(workers)
        )


class Worker:
    """One process: its share of the mix, its part of the weights."""

    def __init__(self, rank: int, options: Options, encoder: Encoder, shared: Shared) -> None:
        torch.set_num_threads(1)
        self.rank, self.options, self.encoder, self.shared = rank, options, encoder, shared
        self.model = Reader()
        self.model.load_embedder(load_e5()[0])
        saved = torch.load(options.start, weights_only=True) if options.start else {}
        weights = {name: values.float() for name, values in saved.get("model", saved).items()}
        self.model.load_state_dict(weights, strict=bool(saved))
        self.step, self.tokens = saved.get("step", 0), saved.get("tokens", 0.0)
        self._share_weights(saved)
        size = len(shared.weights)
        workers = options.workers
        self.part = slice(size * rank // workers, size * (rank + 1) // workers)
        self.began = self.saved = time.monotonic()
        self.run, self.read_at, self.is_last = 0, 0.0, False
        self.feed: Feed | None = None

    def _share_weights(self, saved: dict[str, Any]) -> None:
        self.model.freeze()
        self.model.train()
        parameters, shared = [p for p in self.model.parameters() if p.requires_grad], self.shared
        if self.rank == 0:
            torch.cat([p.data.reshape(-1) for p in parameters], out=shared.weights)
            for moment, name in zip(shared.moments, ("M", "V"), strict=True):
                moment.copy_(saved.get(name, moment))
        shared.barrier.wait()
        at = 0
        for p in parameters:
            p.data, p.grad = (
                flat[at : at + p.numel()].view(p.shape)
                for flat in (shared.weights, shared.gradients[self.rank])
            )
            at += p.numel()

    def train(self) -> None:
        while not self.is_last:
            if self.run % 20 == 0:
                self._read_mix()
            self._step()
            if self.rank == 0 and self.run % 50 == 0:
                minutes = (time.monotonic() - self.began) / 60
                print(
                    f"step {self.step}, {minutes:.1f} min, {self._tokens() / 1e6:.2f} M "
                    f"tokens, loss {self.loss:.3f}",
                    flush=True,
                )

    def _read_mix(self) -> None:
        changed = self.options.mix.stat().st_mtime
        if changed != self.read_at:
            self.read_at, mix = changed, json.loads(self.options.mix.read_text("utf-8"))
            self.feed = open_feed(
                mix, self.encoder, self.rank, self.options.workers, self.options.seed + self.step
            )

    def _step(self) -> None:
        shared, feed, workers = self.shared, self.feed, self.options.workers
        assert feed is not None
        if self.rank == 0:
            self._plan()
        shared.gradients[self.rank].zero_()
        task, batch = feed.next()
        loss = loss_of(self.model, self.encoder, task, batch, feed.tokens)
        loss.backward()
        shared.figures[3 + workers + self.rank] += sum(len(item.ids) for item in batch)
        shared.barrier.wait()
        # of this step, for all workers alike: the first one may plan the next when they come to it
        factor, self.is_last = float(shared.figures[0]), bool(shared.figures[2])
        gradient = shared.gradients[0][self.part]
        for other in shared.gradients[1:]:
            gradient.add_(other[self.part])
        shared.figures[3 + self.rank] = float(gradient @ gradient) / workers**2
        shared.barrier.wait()
        self.step, self.run = self.step + 1, self.run + 1
        norm = float(shared.figures[3 : 3 + workers].sum()) ** 0.5
        gradient.mul_(min(1.0, 1.0 / (norm + 1e-6)) / workers)
        self._move(gradient, self.options.rate * min(1.0, self.run / self.options.warm) * factor)
        shared.barrier.wait()
        self.loss = loss.item()
        if self.rank == 0 and shared.figures[1]:
            self._save()

    def _plan(self) -> None:
        """By the clock: how high the learning rate is, whether to save, whether this step is the
        last.
        """
        now, figures, options = time.monotonic(), self.shared.figures, self.options
        left = 1 - (now - self.began) / (3600 * options.hours)
        figures[0], figures[2] = min(1.0, max(0.0, left / options.decay)), float(left <= 0)
        figures[1] = float(left <= 0 or now - self.saved > 60 * options.every)

    def _move(self, gradient: Tensor, rate: float) -> None:
        parts = [[flat[self.part]] for flat in (self.shared.weights, *self.shared.moments)]
        torch._fused_adamw_(  # torch.optim wants parameters, and these are parts of one flat tensor
            parts[0], [gradient], parts[1], parts[2], [], [torch.tensor(float(self.step))],
            amsgrad=False, lr=rate, beta1=BETAS[0], beta2=BETAS[1], weight_decay=0.01, eps=1e-6,
            maximize=False,
        )  # fmt: skip

    def _tokens(self) -> float:
        return self.tokens + float(self.shared.figures[3 + self.options.workers :].sum())

    def _save(self) -> None:
        self.saved = time.monotonic()
        file = self.options.out / f"{self.step:06d}.pt"
        moments = dict(zip(("M", "V"), self.shared.moments, strict=True))
        state = {name: values.clone() for name, values in self.model.state_dict().items()}
        torch.save(
            {"model": state, **moments, "step": self.step, "tokens": self._tokens()},
            file.with_suffix(".new"),
        )
        file.with_suffix(".new").replace(file)
        print(f"saved {file.name}", flush=True)


def work(rank: int, options: Options, encoder: Encoder, shared: Shared) -> None:
    Worker(rank, options, encoder, shared).train()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--start", type=Path, help="a checkpoint to go on from; without it, the embedder's weights"
    )
    parser.add_argument("--mix", type=Path, default=MIX)
    parser.add_argument("--hours", type=float, default=2.0)
    parser.add_argument(
        "--decay",
        type=float,
        default=0.25,
        help="share of the time in which the learning rate falls",
    )
    parser.add_argument("--every", type=float, default=10.0, help="minutes between checkpoints")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument(
        "--warm", type=int, default=60, help="steps until the learning rate is full"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    multiprocessing.set_start_method("fork")
    model = Reader()
    model.freeze()
    shared = Shared.of(
        sum(p.numel() for p in model.parameters() if p.requires_grad), options.workers
    )
    # opened once, shared by fork
    encoder = Encoder(json.loads(options.mix.read_text("utf-8"))["longest"])
    workers = [
        multiprocessing.Process(target=work, args=(rank, options, encoder, shared))
        for rank in range(options.workers)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()
