"""Trains the reader on one card (or a CPU, for tests) from a pack: no text, no tokenizer, nothing
from the network.

    python training/reader/train_device.py --pack DIR --out DIR [--start FILE] [--minutes 7]
        [--device cuda]

A step is `--parts` micro-batches, each of one task and similar length, together `--tokens`;
`--loaders` processes compose them from ids alone, the card looks up the word rows and computes in
bfloat16, weights stay in full precision. It starts from the shipped ONNX file, or from a
checkpoint. The learning rate rises over the first steps, stays, and falls to zero over the last
part of the time (`--decay`). Checkpoints are those of `train.py`. The one rule: the losses, the
optimiser and the clock are those of `train.py`; what differs is how fast it goes.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import queue
import time
from itertools import cycle
from pathlib import Path
from typing import Any

import torch
from batches import TASKS, Encoded, Numbers, targets
from export import WEIGHTS, state_of
from feed import Feed
from losses import Wanted, loss_of_heads
from model import LOWER, Reader, masks
from restore import restored_file
from torch import Tensor
from torch.nn import functional
from unpack import Pack, open_feed, open_pack, word_values

BETAS = (0.9, 0.98)
AHEAD = 24  # micro-batches that a loader has ready
WAIT = 120  # seconds after which a loader must have died
Options = argparse.Namespace
Made = tuple[str, Numbers, Numbers, dict[str, Numbers], int]  # task, ids, sizes, targets, tokens


def load(pack: Pack, rank: int, options: Options, ready: multiprocessing.Queue[Made]) -> None:
    """A loader's whole life."""
    tokens = options.tokens // options.parts
    feed = open_feed(pack, rank, options.loaders, tokens, options.seed)
    while True:
        ready.put(made_of(feed, *feed.next()))


def made_of(feed: Feed, task: str, batch: list[Encoded]) -> Made:
    ids, sizes = feed.encoder.inputs(batch, 0)
    return task, ids, sizes, targets(task, batch), int(sizes[:, 0].sum())


class Loaders:
    """The processes, asked in turn. They must be started before the card is first touched: a fork
    may not hold it.
    """

    def __init__(self, pack: Pack, options: Options) -> None:
        context = multiprocessing.get_context("fork")
        self._queues: list[Any] = [context.Queue(AHEAD) for _ in range(options.loaders)]
        self._processes = [
            context.Process(target=load, args=(pack, rank, options, ready), daemon=True)
            for rank, ready in enumerate(self._queues)
        ]
        for process in self._processes:
            process.start()
        self._turn = cycle(self._queues)
        self.waited = 0.0

    def next(self) -> Made:
        """Raises RuntimeError where none comes."""
        began = time.monotonic()
        try:
            made: Made = next(self._turn).get(timeout=WAIT)
        except queue.Empty as error:
            raise RuntimeError("a loader gives nothing") from error
        self.waited += time.monotonic() - began
        return made

    def close(self) -> None:
        for process in self._processes:
            process.terminate()


class Step:
    """The forward pass of micro-batches on one device."""

    def __init__(self, model: Reader, pack: Pack, device: torch.device) -> None:
        self.model, self._device = model, device
        self._words = torch.from_numpy(
            word_values(pack.arrays["words.scale"], pack.arrays["words.halves"])
        ).to(device)

    def loss(self, made: list[Made]) -> Tensor:
        """The mean of the micro-batches."""
        # one for all: the weights are rounded once
        with torch.autocast(self._device.type, dtype=torch.bfloat16):
            heads = [self._heads(task, ids, sizes) for task, ids, sizes, _, _ in made]
        losses = [
            loss_of_heads(task, each, self._wanted(wanted))
            for each, (task, _, _, wanted, _) in zip(heads, made, strict=True)
        ]
        return torch.stack(losses).mean()

    def _heads(self, task: str, ids: Numbers, sizes: Numbers) -> tuple[Tensor, ...]:
        rows = functional.embedding(self._moved(ids), self._words)
        heads: tuple[Tensor, ...] = self.model(
            rows, *masks(self._moved(sizes), ids.shape[1]), TASKS.index(task)
        )
        return heads

    def _wanted(self, wanted: dict[str, Numbers]) -> Wanted:
        return {name: self._moved(values) for name, values in wanted.items()}

    def _moved(self, values: Numbers) -> Tensor:
        tensor = torch.from_numpy(values)
        return (
            tensor.pin_memory().to(self._device, non_blocking=True)
            if self._device.type == "cuda"
            else tensor
        )


class Average:
    """A moving average of the weights that train, or the weights themselves where `share` is 0."""

    def __init__(self, model: Reader, share: float) -> None:
        self._model, self._share = model, share
        self._names = [name for name, p in model.named_parameters() if p.requires_grad]
        self._now = [p for p in model.parameters() if p.requires_grad]
        self._kept = [p.detach().clone() for p in self._now] if share else []

    @torch.no_grad()
    def update(self, step: int) -> None:
        """The first steps count for less: the average is over what there is."""
        if self._share:
            share = min(self._share, step / (step + 10))
            # one kernel for all
            torch._foreach_lerp_(self._kept, [p.detach() for p in self._now], 1 - share)

    def state(self) -> dict[str, Tensor]:
        state = {name: values.detach().clone() for name, values in self._model.state_dict().items()}
        return state | dict(zip(self._names, self._kept, strict=True)) if self._share else state


class Training:
    def __init__(self, options: Options, pack: Pack, loaders: Loaders) -> None:
        self.options, self._loaders, device = options, loaders, torch.device(options.device)
        model = Reader(options.frozen)
        model.load_state_dict(
            restored_file(options.start)
            if options.start.suffix == ".onnx"
            else state_of(options.start)
        )
        model.to(device).train().freeze()
        for layer in model.layers[options.frozen :]:
            layer.dropout = options.dropout
        self._step, self._average = Step(model, pack, device), Average(model, options.average)
        self._parameters = [p for p in model.parameters() if p.requires_grad]
        self._optimizer = torch.optim.AdamW(
            self._parameters, options.rate, BETAS, eps=1e-6, weight_decay=0.01, fused=True
        )
        self.step, self.tokens, self.began = 0, 0, time.monotonic()
        self._saved = self._told = (self.began, 0)

    def train(self) -> None:
        while (left := self._left()) > 0:
            loss = self._one_step(left)
            if self.step % self.options.tell == 0:
                self._tell(loss.item())
            if time.monotonic() - self._saved[0] > 60 * self.options.every:
                self._save()
        self._save()

    def _left(self) -> float:
        """The share of the time."""
        return 1.0 - float((time.monotonic() - self.began) / (60 * self.options.minutes))

    def _one_step(self, left: float) -> Tensor:
        options = self.options
        made = [self._loaders.next() for _ in range(options.parts)]
        loss = self._step.loss(made)
        self._optimizer.zero_grad()
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self.step, self.tokens = self.step + 1, self.tokens + sum(tokens for *_, tokens in made)
        for group in self._optimizer.param_groups:
            group["lr"] = (
                options.rate * min(1.0, self.step / options.warm) * min(1.0, left / options.decay)
            )
        self._optimizer.step()
        self._average.update(self.step)
        return loss.detach()

    def _tell(self, loss: float) -> None:
        """Raises ArithmeticError where the weights are lost; the last checkpoint is not."""
        if not math.isfinite(loss):
            raise ArithmeticError(f"loss {loss} at step {self.step}")
        now, (then, tokens) = time.monotonic(), self._told
        print(
            f"step {self.step}, {(now - self.began) / 60:.2f} min, {self.tokens / 1e6:.2f} M "
            f"tokens, loss {loss:.3f}, "
            f"{(self.tokens - tokens) / (now - then):.0f} tokens/s, "
            f"waited {self._loaders.waited:.1f} s",
            flush=True,
        )
        self._told = now, self.tokens

    def _save(self) -> None:
        """In half precision where `--half` says so, which is exact enough to go on from and to
        export.
        """
        kind = torch.float16 if self.options.half else torch.float32
        state: dict[str, Any] = {
            name: values.to("cpu", kind) for name, values in self._average.state().items()
        }
        saved = {"model": state, "step": self.step, "tokens": float(self.tokens)}
        if self.options.moments:
            saved |= {
                name: self._moment(key) for name, key in (("M", "exp_avg"), ("V", "exp_avg_sq"))
            }
        file = self.options.out / f"{self.step:06d}.pt"
        torch.save(saved, file.with_suffix(".new"))
        file.with_suffix(".new").replace(file)
        print(f"saved {file.name}", flush=True)
        self._saved = time.monotonic(), self.step

    def _moment(self, key: str) -> Tensor:
        """Flat, in the order of the parameters, as `train.py` has it."""
        return torch.cat(
            [self._optimizer.state[p][key].reshape(-1) for p in self._parameters]
        ).cpu()


def parsed(arguments: list[str] | None = None) -> Options:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pack", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--start", type=Path, default=WEIGHTS, help="a checkpoint, or an ONNX file of export.py"
    )
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=7.0)
    parser.add_argument(
        "--decay",
        type=float,
        default=0.4,
        help="share of the time in which the learning rate falls",
    )
    parser.add_argument("--every", type=float, default=2.0, help="minutes between checkpoints")
    parser.add_argument("--tokens", type=int, default=24000, help="of a step")
    parser.add_argument("--parts", type=int, default=3, help="micro-batches of a step")
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument(
        "--warm", type=int, default=60, help="steps until the learning rate is full"
    )
    parser.add_argument(
        "--frozen",
        type=int,
        default=LOWER,
        choices=range(LOWER + 1),
        help="layers that stay as they are",
    )
    parser.add_argument(
        "--dropout", type=float, default=0.0, help="in the layers that train; for many epochs"
    )
    parser.add_argument(
        "--average",
        type=float,
        default=0.0,
        help="share that the average of the weights keeps in a step",
    )
    parser.add_argument("--loaders", type=int, default=4, help="processes")
    parser.add_argument("--half", action="store_true", help="checkpoints in half precision")
    parser.add_argument("--moments", action="store_true", help="with the optimiser's state")
    parser.add_argument("--tell", type=int, default=100, help="steps between lines")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args(arguments)


def main() -> None:
    options = parsed()
    options.out.mkdir(parents=True, exist_ok=True)
    # another fused attention takes our mask, one row for all, as it is
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)
    torch.manual_seed(options.seed)
    pack = open_pack(options.pack)
    loaders = Loaders(pack, options)
    try:
        Training(options, pack, loaders).train()
    finally:
        loaders.close()


if __name__ == "__main__":
    main()
