"""Text made safe for native code, for JSON and for chat templates.

The one rule: whatever came in, what goes out is UTF-8 without NUL, and none of it is read as a turn of the conversation.
"""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_CONTROL = re.compile(r"<([|｜])([A-Za-z0-9_▁]{1,40})([|｜])>|\[(/?INST)\]|<(/?s|(?:start|end)_of_turn)>")


def clean(text: str) -> str:
    """NUL ends a C string early and a lone surrogate has no UTF-8: each becomes a space, so that offsets stay true."""
    return _UNSAFE.sub(" ", text)


def inert(text: str) -> str:
    """`clean`, and the control marks of chat templates (`<|im_start|>`, `[INST]`, ...) in other brackets.

    Servers read such marks in a message as the start of a real turn; a document must not be able to write one.
    """
    return _CONTROL.sub(lambda found: "‹" + found.group().strip("<>[]|｜") + "›", clean(text))
