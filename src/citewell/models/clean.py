"""Text made safe for native code and for JSON. The one rule: whatever came in, what goes out is UTF-8 without NUL."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00\ud800-\udfff]")


def clean(text: str) -> str:
    """NUL ends a C string early and a lone surrogate has no UTF-8: each becomes a space, so that offsets stay true."""
    return _UNSAFE.sub(" ", text)
