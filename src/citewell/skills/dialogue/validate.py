"""May this be asked? A question is cleaned first, and refused for what is left of it."""

from __future__ import annotations

import re

from citewell.errors import CitewellError, InvalidInput, SensitiveContent
from citewell.messages import Text
from citewell.skills.dialogue.sensitive import find_sensitive_word


def find_question_error(
    question: str, longest: int, sensitive: re.Pattern[str] | None
) -> tuple[str, CitewellError] | None:
    """Why a cleaned question cannot be asked: spec 000's kind of error, and the error."""
    if not question:
        return "validation_error", InvalidInput(
            Text("the question is empty"), hint=Text("ask something in words")
        )
    if len(question) > longest:
        error = InvalidInput(
            Text(
                "the question has {question} characters, {longest} are allowed",
                question=len(question),
                longest=longest,
            ),
            hint=Text("ask a shorter question, or raise the setting qa.question_max_chars"),
        )
        return "length_error", error
    if word := find_sensitive_word(question, sensitive):
        hint = Text("the setting qa.sensitive_words names the list")
        return "sensitive_content", SensitiveContent(
            Text("the question holds a refused word: {word}", word=word), hint=hint
        )
    return None
