"""Keep a conversation within a budget: the last turns word for word, a summary of those before.
What is cut is summarised, never dropped without a trace.
"""

from __future__ import annotations

from collections.abc import Sequence

from citewell.errors import CitewellError
from citewell.models.base import CONNECTED_TIER, LLM
from citewell.models.prompt import fill_prompt, load_prompt
from citewell.text.sentences import count_tokens, detect_language, split_sentences
from citewell.types import Message

SUMMARY_TOKENS = 150


def split_by_budget(history: Sequence[Message], budget: int) -> tuple[list[Message], list[Message]]:
    """Split a history into (older, kept): the newest whole turns that fit the token budget."""
    kept: list[Message] = []
    for message in reversed(history):
        budget -= count_tokens(message.content)
        if budget < 0:
            break
        kept.insert(0, message)
    if kept and len(kept) < len(history) and kept[0].role == "assistant":
        kept = kept[1:]  # an answer without its question helps nobody
    return list(history[: len(history) - len(kept)]), kept


async def summarize_messages(older: Sequence[Message], llm: LLM | None) -> str:
    """What was said before: by a connected model, else questions and first sentences."""
    if not older:
        return ""
    if llm is not None and llm.evidence_tokens >= CONNECTED_TIER:
        said = "\n".join(f"{m.role}: {m.content[:600]}" for m in older[-12:])
        template = load_prompt(f"skills/prompts/summarize.{detect_language(older[-1].content)}.md")
        try:
            reply = await llm.chat(
                fill_prompt(template, conversation=said), max_tokens=SUMMARY_TOKENS
            )
        except CitewellError:
            return shorten_messages(
                older
            )  # the spec: where the summary fails, the words themselves serve
        return reply.text.strip() or shorten_messages(older)
    return shorten_messages(older)


def shorten_messages(older: Sequence[Message]) -> str:
    """The newest of the older messages, each its first sentence, within a budget of tokens."""
    budget, lines = SUMMARY_TOKENS, list[str]()
    for message in reversed(older):
        spans = split_sentences(message.content)
        first = message.content[slice(*spans[0])] if spans else ""
        line = f"{'Q' if message.role == 'user' else 'A'}: {first}"
        budget -= count_tokens(line)
        if budget < 0:
            break
        lines.insert(0, line)
    return "\n".join(lines)
