"""The question in full words, for models and people; else as it was joined."""

from __future__ import annotations

from collections.abc import Sequence

from citewell.models.base import LLM
from citewell.skills.dialogue.reference import rewrite_question
from citewell.skills.dialogue.summarize import shorten_messages
from citewell.types import Message

RECENT_MESSAGES = 6  # three turns, as in spec 000


async def rewrite_in_full(question: str, history: Sequence[Message], llm: LLM) -> str:
    """A leaning question made to stand alone. Raises what the model raises."""
    earlier = shorten_messages(history[:-RECENT_MESSAGES])
    return await rewrite_question(question, history[-RECENT_MESSAGES:], llm, earlier=earlier)
