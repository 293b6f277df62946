"""The reader as a torch module: multilingual-e5-small's encoder (word rows frozen, outside) and
five heads.

The one rule: what is named here is named the same in a checkpoint, and `export.py` writes the same
sums as an ONNX graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

if TYPE_CHECKING:
    from citewell.models.builtin.e5_file import E5File

HIDDEN, INNER, LAYERS, HEADS = 384, 1536, 12, 12
WINDOW = 512  # positions that the embedder has
LOWER = 4  # layers that read the pair before they are told which text is which; frozen by default
FAR = -1e4  # added to what must not be chosen
# by our name: those in the embedder's file
NAMES = {"o": ["ao"], "fi": ["fi"], "fo": ["fo"], "qkv": ["q", "k", "v"]}


def masks(sizes: Tensor, length: int) -> tuple[Tensor, Tensor]:
    """`mask` and `second` [R, L] of `sizes` [R, 3]: tokens in all, where the second text begins,
    how many it has.
    """
    places, (tokens, start, seconds) = (
        torch.arange(length, device=sizes.device),
        sizes[..., None].unbind(1),
    )
    return (places < tokens).float(), ((places >= start) & (places < start + seconds)).float()


def attended(q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
    """Softmax of the scaled products, times `v`; all [B, heads, L, H]. Torch's fused attention
    where there is a card; on a CPU it takes three times as long to train as plain products.
    """
    if q.is_cuda:
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=hidden.to(q.dtype))
    weights = torch.softmax(
        (q * q.shape[-1] ** -0.5) @ k.transpose(-1, -2) + hidden.to(q.dtype), -1
    ).to(v.dtype)
    return weights @ v


class Layer(nn.Module):
    dropout = 0.0  # share of a layer's sums that is left out while it trains

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.o = nn.Linear(HIDDEN, 3 * HIDDEN), nn.Linear(HIDDEN, HIDDEN)
        self.fi, self.fo = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.ln1, self.ln2 = nn.LayerNorm(HIDDEN, 1e-12), nn.LayerNorm(HIDDEN, 1e-12)

    def forward(self, x: Tensor, hidden: Tensor) -> Tensor:
        """`hidden` [B, 1, 1, L]: `FAR` at padding."""
        rows, length, _ = x.shape
        q, k, v = (
            self.qkv(x)
            .view(rows, length, 3, HEADS, HIDDEN // HEADS)
            .permute(2, 0, 3, 1, 4)
            .unbind(0)
        )
        seen = attended(q, k, v, hidden).transpose(1, 2).reshape(rows, length, HIDDEN)
        x = self.ln1(x + self._dropped(self.o(seen)))
        return self.ln2(x + self._dropped(self.fo(functional.gelu(self.fi(x)))))

    def _dropped(self, x: Tensor) -> Tensor:
        return functional.dropout(x, self.dropout) if self.dropout and self.training else x


class Reader(nn.Module):
    """Word rows [B, L, H], mask [B, L], `second` [B, L] (1 at the second text), kind (0 a question,
    1 a claim) -> start and end log-odds [B, L] (place 0: no answer), answerable [B], support [B,
    3], unsupported tokens [B, L].
    """

    def __init__(self, frozen: int = LOWER) -> None:
        super().__init__()
        self.frozen = frozen
        self.pos, self.typ = (
            nn.Parameter(torch.zeros(WINDOW, HIDDEN)),
            nn.Parameter(torch.zeros(2, HIDDEN)),
        )
        self.ln = nn.LayerNorm(HIDDEN, 1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.seg, self.task = (
            nn.Parameter(torch.randn(HIDDEN) * 0.02),
            nn.Parameter(torch.randn(2, HIDDEN) * 0.02),
        )
        self.span, self.tok = nn.Linear(HIDDEN, 2), nn.Linear(HIDDEN, 1)
        self.na_h, self.na = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 1)
        self.sup_h, self.sup = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 3)
        for head in (self.span, self.tok, self.na_h, self.na, self.sup_h, self.sup):
            nn.init.normal_(head.weight, std=0.02)
            nn.init.zeros_(head.bias)

    def forward(self, rows: Tensor, mask: Tensor, second: Tensor, kind: int) -> tuple[Tensor, ...]:
        hidden = (1.0 - mask)[:, None, None, :] * FAR
        with torch.set_grad_enabled(torch.is_grad_enabled() and self.frozen == 0):
            x = self.ln(rows + self.pos[: rows.shape[1]] + self.typ[0])
            for layer in self.layers[: self.frozen]:
                x = layer(x, hidden)
        for number, layer in enumerate(self.layers[self.frozen :], self.frozen):
            if number == LOWER:
                x = x + second[..., None] * self.seg
                x = torch.cat([x[:, :1] + self.task[kind], x[:, 1:]], 1)
            x = layer(x, hidden)
        return self.heads(x.float(), second)

    def heads(self, x: Tensor, second: Tensor) -> tuple[Tensor, ...]:
        first = x[:, 0]
        elsewhere = 1 - second
        elsewhere = torch.cat([torch.zeros_like(elsewhere[:, :1]), elsewhere[:, 1:]], 1)[..., None]
        places = self.span(x) + elsewhere * FAR
        answerable = self.na(torch.tanh(self.na_h(first)))[:, 0]
        support = self.sup(torch.tanh(self.sup_h(first)))
        return places[..., 0], places[..., 1], answerable, support, self.tok(x)[..., 0]

    def freeze(self) -> None:
        """The embedder's positions and its lowest layers stay as they are."""
        still: list[nn.Module] = [self.ln, *self.layers[: self.frozen]] if self.frozen else []
        for parameter in (
            self.typ,
            *([self.pos] if self.frozen else []),
            *(p for module in still for p in module.parameters()),
        ):
            parameter.requires_grad_(False)

    def load_embedder(self, file: E5File) -> None:
        """The weights that training begins with."""
        # the machine with a card has neither it nor what it imports
        from citewell.models.builtin.e5_file import unpack_blocks

        state = self.state_dict()
        new = {
            "pos": file.floats("emb.pos"),
            "typ": file.floats("emb.type"),
            "ln.weight": file.floats("emb.ln.w"),
            "ln.bias": file.floats("emb.ln.b"),
        }
        for number in range(LAYERS):
            old = f"l{number}."
            for ours, theirs in NAMES.items():
                new[f"layers.{number}.{ours}.weight"] = np.concatenate(
                    [unpack_blocks(file.read_blocks(f"{old}{part}.w")) for part in theirs]
                )
                new[f"layers.{number}.{ours}.bias"] = np.concatenate(
                    [file.floats(f"{old}{part}.b") for part in theirs]
                )
            for ours, theirs in (("ln1", "aln"), ("ln2", "oln")):
                new[f"layers.{number}.{ours}.weight"] = file.floats(f"{old}{theirs}.w")
                new[f"layers.{number}.{ours}.bias"] = file.floats(f"{old}{theirs}.b")
        for name, values in new.items():
            state[name].copy_(torch.from_numpy(np.array(values)).view_as(state[name]))
