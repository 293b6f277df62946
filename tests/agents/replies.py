"""Replies of a connected model, for scripts: a draft, and the judgement of one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


def draft(*sentences: str | dict[str, Any], status: str = "answered", **more: str) -> str:
    """A draft whose plain sentences are facts of the sentence 1.2. `more`: question_back,
    search_for.
    """
    made = [
        {"text": each, "kind": "fact", "evidence": ["1.2"]} if isinstance(each, str) else each
        for each in sentences
    ]
    return json.dumps({"status": status, "sentences": made, **more}, ensure_ascii=False)


def untold(text: str, **more: str) -> str:
    """A draft that tells nothing but what is missing."""
    return draft({"text": text, "kind": "not_told", "evidence": []}, status="not_told", **more)


def verdicts(*words: str, evidence: Sequence[str] = ("1.2",), reason: str = "") -> str:
    """One verdict a statement."""
    named = [
        {"n": n, "verdict": word, "evidence": list(evidence), "reason": reason}
        for n, word in enumerate(words, start=1)
    ]
    return json.dumps({"verdicts": named}, ensure_ascii=False)


def asked_for(call: Any) -> str:
    """What a call to a scripted model was for: draft, judge or text."""
    properties = (call.schema or {}).get("properties", {})
    return "judge" if "verdicts" in properties else "draft" if "sentences" in properties else "text"
