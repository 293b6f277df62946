"""What of the hits is sent to the model: the best sentences with their neighbours, within a token budget.

One prefix, many jobs: `prefix` puts system text, passages and question first, the same for grading, answering and auditing,
so that the prompt cache makes the second and third job nearly free. It holds no examples: side by side on a dozen
questions, four of them cost 430 tokens, made answers shorter ("520元") and grades no clearly better; a full sentence can be
checked, names and all.
The one rule: a passage is made of verbatim sentences of its document.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from citewell.ingest.sentences import count_tokens, language, sentences
from citewell.models.base import LLM
from citewell.models.prompt import load
from citewell.retrieve.rank import coverage
from citewell.types import Hit, Message

PASSAGES = 3  # measured in the notes on models: more passages cost time and mislead a small model
NEIGHBOUR = (
    0.35  # how much of a sentence's score its neighbours inherit: an answer often stands beside the words of its question
)
# How far behind the best hit's score a hit may lie and still be sent to a small model for a question of fact. On SQuAD2 and
# CMRC the right passage is then among those sent for 0.978 and 1.000 of 400 questions each, with 1.69 and 1.45 passages
# instead of 3: half the prompt, half the waiting.
CLOSE = 4.0
EXTRACTIVE_TOKENS = 500  # evidence packed where no chat model sets a budget
CONNECTED_TIER = 2_000  # evidence tokens of a tier that has room for what stands around a passage
TOKENS_EACH = 400  # of a passage with what stands around it
RANK_BONUS = 0.15  # for a sentence of the first passage over one of the second, and so on


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit as sent: `spans` are offsets into its document, `text` their words."""

    n: int
    hit: Hit
    spans: tuple[tuple[int, int], ...]
    text: str

    @property
    def heading(self) -> str:
        """Title and headings, each once."""
        return " › ".join(dict.fromkeys(part for part in (self.hit.title, *self.hit.heading_path) if part))


def pack(
    question: str, hits: Sequence[Hit], budget: int, *, most: int = PASSAGES, within: float = float("inf")
) -> list[Passage]:
    """The best `most` hits, cut to `budget` tokens in all by leaving out the sentences that serve the question least.

    `within`: hits whose score lies further than this behind the best one's are left out too.
    """
    chosen = [hit for hit in hits[:most] if hits[0].score - hit.score <= within]
    spans = [sentences(hit.text) for hit in chosen]
    pieces = [(i, a, b) for i, each in enumerate(spans) for a, b in each]
    costs = [count_tokens(chosen[i].text[a:b]) for i, a, b in pieces]
    kept = set(range(len(pieces))) if sum(costs) <= budget else _best(question, chosen, pieces, costs, budget)
    passages: list[Passage] = []
    for i, hit in enumerate(chosen):
        own = [(a, b) for k, (j, a, b) in enumerate(pieces) if j == i and k in kept]
        if own:
            text = joined(hit.text, own)
            passages.append(Passage(len(passages) + 1, hit, tuple((hit.start + a, hit.start + b) for a, b in own), text))
    return passages


Widen = Callable[[Sequence[Hit], int], Awaitable[list[Hit]]]


async def packed(question: str, hits: Sequence[Hit], llm: LLM | None, widen: Widen, *, wide: bool) -> list[Passage]:
    """What is sent to a model: for one with room, the hits with what stands around them; for a small one and a question of
    fact (not `wide`), only those that stand close to the best.
    """
    budget = llm.evidence_tokens if llm else EXTRACTIVE_TOKENS
    most = max(PASSAGES, budget // TOKENS_EACH)
    if budget >= CONNECTED_TIER:
        hits = await widen(hits[:most], budget)
    small = budget <= EXTRACTIVE_TOKENS and not wide
    return pack(question, hits, budget, most=most, within=CLOSE if small else float("inf"))


def seen(hit: Hit) -> dict[str, Any]:
    """A hit as a step of a trace tells it."""
    where = {"title": hit.title, "page": hit.page, "section": " › ".join(hit.heading_path)}
    return where | {"score": hit.score, "signals": {k: round(v, 3) for k, v in hit.signals.items()}, "text": hit.text[:200]}


def _best(
    question: str, hits: Sequence[Hit], pieces: Sequence[tuple[int, int, int]], costs: Sequence[int], budget: int
) -> set[int]:
    shares = coverage(question, [hits[i].text[a:b] for i, a, b in pieces])
    scores = []
    for k, (i, _, _) in enumerate(pieces):
        beside = max((shares[j] for j in (k - 1, k + 1) if 0 <= j < len(pieces) and pieces[j][0] == i), default=0.0)
        scores.append(max(shares[k], NEIGHBOUR * beside) + RANK_BONUS * (len(hits) - i))
    kept: set[int] = set()
    for k in sorted(range(len(pieces)), key=lambda k: -scores[k]):
        if costs[k] <= budget:
            kept.add(k)
            budget -= costs[k]
    return kept


def joined(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """Sentences with the white space that stood between them; ` … ` where some were left out."""
    parts = [text[spans[0][0] : spans[0][1]]]
    for (_, end), (start, stop) in pairwise(spans):
        gap = text[end:start]
        parts += [gap if not gap.strip() else " … ", text[start:stop]]
    return "".join(parts)


LABELS = {
    "en": ("Passages:", "Question:", "Conversation so far:"),
    "zh": ("资料：", "问题：", "此前的对话："),
}


def prefix(
    question: str, passages: Sequence[Passage], *, summary: str = "", said: Sequence[Message] = ()
) -> tuple[list[Message], str]:
    """The messages that all jobs on this evidence share, and the last user message, to which each job adds its own line.

    `summary` and `said`, the conversation before, are for models that have room for it.
    """
    lang = language(question)
    heading, asks, before = LABELS[lang]
    shown = "\n\n".join(f"[{p.n}] {p.heading}\n{p.text}" for p in passages)
    turns = "\n".join([*([summary] if summary else []), *(f"{m.role}: {m.content}" for m in said)])
    shown = f"{shown}\n\n{before}\n{turns}" if turns else shown
    return list(load(f"skills/prompts/evidence.{lang}.md")), f"{heading}\n{shown}\n\n{asks} {question}\n\n"
