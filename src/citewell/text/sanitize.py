"""Text made safe for native code, for JSON and for chat templates, and replies without what a model
thinks aloud. Whatever came in, what goes out is UTF-8 without NUL, and none of it is read as a turn
of the conversation.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_UNOPENED = re.compile(r"\A\s*(?![\s{]).*?</think>\s*", re.DOTALL)
_CONTROL = re.compile(
    r"<([|｜])([A-Za-z0-9_▁]{1,40})([|｜])>|\[(/?INST)\]|<(/?s|(?:start|end)_of_turn)>"
)


def replace_unsafe_chars(text: str) -> str:
    """NUL ends a C string, a lone surrogate has no UTF-8: each becomes a space."""
    return _UNSAFE.sub(" ", text)


def escape_chat_markers(text: str) -> str:
    """`replace_unsafe_chars`, and the control marks of chat templates (`<|im_start|>`, `[INST]`,
    ...) in other brackets.

    Servers read such marks in a message as the start of a real turn; a document must not be able to
    write one.
    """
    return _CONTROL.sub(
        lambda found: "‹" + found.group().strip("<>[]|｜") + "›", replace_unsafe_chars(text)
    )


def strip_thinking(text: str, *, unopened: bool = False) -> str:
    """A reply without what a reasoning model thinks aloud before it, `<think>...</think>`. One that
    was cut off while thinking has said nothing. `unopened`: the model's template opens the
    thinking, so only its end is in the reply; JSON has none.
    """
    if has_thinking_block(text) or not unopened:
        return "" if _is_thinking(text) else _THOUGHT.sub("", text)
    if text.lstrip().startswith("{"):
        return text
    return _UNOPENED.sub("", text, count=1) if "</think>" in text else ""


def has_thinking_block(text: str) -> bool:
    return text.lstrip().startswith("<think>")


def _is_thinking(text: str) -> bool:
    """Whether its reply has not begun; the first letters of `<think>` may still come."""
    opened = text.lstrip()
    return (has_thinking_block(opened) and "</think>" not in opened) or (
        "<think>".startswith(opened) and bool(opened)
    )
